"""Durable runs: a journal on disk, for runs that outlive their process."""

from __future__ import annotations

import os
import time as clock

from . import _ilo
from ._ask import Deny, asked
from ._errors import JournalError
from ._ilo import Waiting
from ._observe import Observers
from ._options import checked, renamed
from ._output import output_of
from ._run import CALL_SECONDS, RUN_SECONDS, Loop
from ._tools import tools_of
from ._values import partial_too

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ._ilo import JournalRun
    from ._typing import T
    from ._program import Given, Program
    from ._ask import Ask
    from ._events import OnEvent
    from ._observe import OnError
    from ._run import Cancellation, CallResult, Outcome
    from ._tools import Tools


class JournalCall:
    """A call of a run that a journal has kept. Times are in seconds; `at`, when it was over, is since 1970.

    `took` is `None` if the answer came from a person, from outside, or from another process. `failed` says whether `answer`
    is a failure; it is `None` if there was no answer, so that the call was in doubt.
    """

    __slots__ = ("answer", "arguments", "at", "call", "failed", "took", "tool")

    def __init__(
        self, call: int, at: float, tool: str, arguments: Any, took: float | None, answer: Any, failed: bool | None
    ) -> None:
        self.call, self.at, self.tool, self.arguments = call, at, tool, arguments
        self.took, self.answer, self.failed = took, answer, failed

    @partial_too
    def __repr__(self) -> str:
        return f"<ilo.JournalCall {self.call} of {self.tool}>"


class Journal:
    """A journal: a file that holds runs, so that they outlive this process. Other processes may use it too.

    `path` may also be the address of a database, as `postgres://user@host/database`: then processes on other machines
    may use it too.

    Acknowledged records survive a crash. A call that may change something is made only once its record is on
    disk. Where a crash leaves unknown whether such a call was made, it is made again only if its tool is
    `idempotent`; else the run waits for a person. `key`, 64 hexadecimal digits, encrypts what runs hold.
    """

    def __init__(self, path: str | os.PathLike[str], *, create: bool = True, key: str | None = None) -> None:
        self._store = _ilo.Store(os.fspath(path), create, key)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the journal. Runs under way keep it open until they stop."""
        store: _ilo.Store | None = getattr(self, "_store", None)
        if store is not None:
            store.close()

    def list(
        self, *, state: str | None = None, name: str | None = None, metadata: Mapping[str, str] | None = None
    ) -> Sequence[JournalRun]:
        """The runs in the order of starting: those in a state, whose name begins so, that have all of the metadata."""
        return self._store.list(state, name, dict(metadata or {}))

    def show(self, run: int | str) -> JournalRun:
        """A run, by its number or name."""
        return self._store.show(self._find(run))

    def decisions(self, run: int | str) -> Sequence[tuple[int, float, str, str]]:
        """The decisions of people on a run: the number of the call, when, what, and who."""
        return self._store.decisions(self._find(run))

    def metadata(self, run: int | str) -> Mapping[str, str]:
        """The metadata with which a run was started."""
        return self._store.metadata(self._find(run))

    def wait(self, run: int | str, timeout: float | None = None) -> Outcome | None:
        """Blocks until a run has ended, in whichever process. Returns its outcome; `None` after `timeout` seconds."""
        found = self._find(run)
        end = None if timeout is None else clock.monotonic() + timeout
        while True:
            # In short turns, so that signals are handled.
            most = 0.2 if end is None else min(0.2, max(0.0, end - clock.monotonic()))
            outcome = self._store.outcome(found, most)
            if outcome is not None or (end is not None and clock.monotonic() >= end):
                return outcome

    def calls(self, run: int | str) -> Sequence[JournalCall]:
        """The calls that a run has made, where the journal keeps them: `keep_calls`."""
        return [JournalCall(*found) for found in self._store.calls(self._find(run))]

    def keep_calls(self, keep: bool = True) -> None:
        """Keeps the calls of runs from now on, with arguments and answers, in every process that opens the journal."""
        self._store.keep_calls(keep)

    def approve(self, run: int | str, call: int, *, by: str | None = None) -> str:
        """Allows a call that needs approval. Every decision returns the state that follows.

        A decision names its call, so that it cannot apply to a later call.
        """
        return self._decide(run, call, "approve", None, by)

    def deny(self, run: int | str, call: int, message: str = "", *, by: str | None = None) -> str:
        """Refuses a call that needs approval, which then fails."""
        return self._decide(run, call, "deny", message, by)

    def answer(self, run: int | str, call: int, value: Any, *, by: str | None = None) -> str:
        """Gives the answer of a call that is in doubt, or whose tool raised `ilo.Suspend`.

        Raises `BadValue` if it does not fit the tool's output schema, which is stored with the call.
        """
        return self._decide(run, call, "answer", value, by)

    def fail(self, run: int | str, call: int, message: str, *, by: str | None = None) -> str:
        """Lets such a call fail with a message."""
        return self._decide(run, call, "fail", message, by)

    def retry(self, run: int | str, call: int, *, by: str | None = None) -> str:
        """Repeats a call that is in doubt: it was not made, or making it twice does no harm."""
        return self._decide(run, call, "retry", None, by)

    def cancel(self, run: int | str, *, by: str | None = None) -> str:
        """Cancels a run: its work is rolled back when the run continues."""
        return self._decide(run, None, "cancel", None, by)

    def raise_limits(
        self,
        run: int | str,
        *,
        fuel: int | None = None,
        tool_calls: int | None = None,
        time: float | None = None,
        by: str | None = None,
    ) -> str:
        """Raises the limits of a run in state `limited`; earlier use counts. `time` is in seconds."""
        return self._store.more(self._find(run), fuel, tool_calls, time, by or _person())

    def export_run(self, run: int | str) -> bytes:
        """Exports a run as bytes for another journal; here it stays as `exported`."""
        return self._store.export(self._find(run))

    def import_run(self, exported: bytes) -> int:
        """Adds an exported run. Returns its number."""
        return self._store.add(exported)

    def prune(self, days: int = 30) -> int:
        """Removes runs that ended more than this number of days ago. Returns how many."""
        return self._store.prune(days)

    async def resume(
        self,
        run: int | str,
        *,
        tools: Given = None,
        call_timeout: float = CALL_SECONDS,
        max_concurrency: int = 16,
        at_once: int | None = None,
        on_call: Callable[[CallResult], Any] | None = None,
        ask: Ask | None = None,
        cancel: Cancellation | None = None,
        on_error: OnError | None = None,
        on_event: OnEvent | None = None,
        tool_call_id: str | None = None,
        accept_changes: bool = False,
        output: type[T] | dict[str, Any] | None = None,
    ) -> Outcome[T]:
        """Continues a run, unless somebody has to act first. Returns its outcome, or what it waits for.

        A run is `blocked`, and calls nothing, if one of its tools is missing, or has changed so that a call that was
        not made yet no longer fits; `accept_changes` continues the latter. `output` is that of `ilo.build`.
        """
        rest: dict[str, Any] = {"call_timeout": call_timeout, "max_concurrency": max_concurrency, "on_call": on_call, "ask": ask, "cancel": cancel}
        rest |= {"on_error": on_error, "on_event": on_event, "tool_call_id": tool_call_id}
        if at_once is not None:
            rest |= {"at_once": at_once}
            renamed(rest, "at_once", "max_concurrency")
        checked(rest)
        rest |= {"output": output_of(output)}
        return await self._resume(self._find(run), tools_of(tools), rest, accept_changes)

    def resume_sync(self, run: int | str, *, tools: Given = None, **options: Any) -> Outcome:
        """`resume` without an event loop of the caller."""
        from ._program import without_loop

        return without_loop(lambda: self.resume(run, tools=tools, **options))

    async def resume_all(self, *, tools: Given = None, **options: Any) -> dict[int, Outcome]:
        """Continues every run that can be continued. Returns how each was left.

        One that is blocked is among them; one on which another process works is left out.
        """
        found: dict[int, Outcome] = {}
        for run in self.list():
            if run.resumes:
                try:
                    found[run.run] = await self.resume(run.run, tools=tools, **options)
                except JournalError as error:
                    if error.code not in ("run-owned", "run-taken-over"):
                        raise
        return found

    def resume_all_sync(self, *, tools: Given = None, **options: Any) -> dict[int, Outcome]:
        """`resume_all` without an event loop of the caller."""
        from ._program import without_loop

        return without_loop(lambda: self.resume_all(tools=tools, **options))

    async def _start(
        self,
        program: Program,
        inputs: Mapping[str, Any] | None,
        function: str | None,
        limits: dict[str, int] | None,
        tools: Tools,
        name: str | None,
        timeout: float,
        rest: dict[str, Any],
        metadata: Mapping[str, str] | None,
    ) -> Outcome:
        """Runs a program; `rest` are the other arguments of the loop."""
        begun = self._store.begin(program._core, inputs, function, limits, tools.catalogue, name, timeout, dict(metadata or {}))
        return await self._drive(*begun, tools, rest)

    async def _resume(self, run: int, tools: Tools, rest: dict[str, Any], accept: bool = False) -> Outcome:
        claimed = self._store.claim(run, tools.catalogue, accept)
        if isinstance(claimed, tuple):
            return await self._drive(*claimed, tools, rest)
        output = rest["output"]
        return await self._asked(claimed if output is None else output.of(claimed), tools, rest)

    async def _drive(self, run: _ilo.Run, session: _ilo.Session, tools: Tools, rest: dict[str, Any]) -> Outcome:
        found = await Loop(run, tools, timeout=session.seconds, session=session, **rest).go()
        if isinstance(found, int):
            # A run of this name was there already.
            return await self._resume(found, tools, rest)
        return await self._asked(found, tools, rest)

    async def _asked(self, found: Outcome, tools: Tools, rest: dict[str, Any]) -> Outcome:
        """Asks about a call that needs approval, if there is somebody to ask."""
        ask = rest["ask"]
        if ask is None or not isinstance(found, Waiting) or found.state != "asking":
            return found
        allowed = await asked(ask, found, RUN_SECONDS)
        if isinstance(allowed, BaseException):
            # Nobody has decided: the run keeps waiting.
            Observers(None, rest["on_error"]).failed("ask", allowed)
            return found
        try:
            if allowed is True:
                self.approve(found.run, found.call)
            else:
                self.deny(found.run, found.call, allowed.reason if isinstance(allowed, Deny) else "")
        except JournalError as error:
            # Somebody else has decided meanwhile.
            if error.code not in ("not-in-this-state", "other-call"):
                raise
        return await self._resume(found.run, tools, rest)

    def _find(self, run: int | str) -> int:
        return self._store.find(str(run))

    def _decide(self, run: int | str, call: int | None, what: str, value: Any, by: str | None) -> str:
        return self._store.decide(self._find(run), call, what, value, by or _person())

    @partial_too
    def __repr__(self) -> str:
        return f"<ilo.Journal {self._store.place}>"


def _person() -> str:
    """The default name of the person who decides."""
    return os.environ.get("USER") or "somebody"
