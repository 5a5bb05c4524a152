"""Runs over tools with each call made in the calling thread. A call that hangs is not ended."""

from __future__ import annotations

import time

from ._errors import Failure, Suspend
from ._events import raised, watched
from ._ilo import Drive
from ._left import check
from ._spans import spans
from ._event_loop import cancelled
from ._run import Begun, Suspended, between, due_of, failure_of, made_of, not_confirmed, set_outcome, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._ilo import Run
    from ._observe import Observers
    from ._output import Output
    from ._run import Outcome
    from ._tools import Tools


def run_inline(
    run: Run,
    tools: Tools,
    timeout: float,
    observers: Observers,
    begun: Begun | None = None,
    output: Output | None = None,
) -> Outcome:
    """Runs to the outcome, or to a call whose tool suspends.

    What a tool raises that is no `Exception`, such as `KeyboardInterrupt`, is raised after the rollback; a second one
    skips it.
    """
    check()
    inline = _Inline(run, tools, timeout, observers, begun, output)
    found = None
    try:
        found, leaving = _steps(inline)
    finally:
        if inline.spans is not None:
            inline.spans.end(found)
    if leaving is not None:
        set_outcome(leaving, found)
        raise leaving
    return found


def _steps(inline: _Inline) -> tuple[Outcome, BaseException | None]:
    """Runs to the end. Returns it, and what a tool has raised to end the caller."""
    leaving: BaseException | None = None
    while True:
        try:
            found = inline.step()
        except Exception:
            raise
        except BaseException as error:
            if leaving is not None:
                raise
            leaving = error
            inline.leave(error)
            continue
        if found is not None:
            return found, leaving


class _Inline:
    def __init__(
        self,
        run: Run,
        tools: Tools,
        timeout: float,
        observers: Observers,
        begun: Begun | None,
        output: Output | None,
    ) -> None:
        self.spans = spans(run)
        drive = Drive(run, tools.catalogue, 1, timeout, observers.on_call is not None)
        self.output = output
        if output is not None:
            drive.expect(output.schema)
        self.drive: Drive = watched(drive, observers, self.spans)
        self.tools = tools
        self.observers = observers
        self.begun = begun
        # The call under way: its ticket, its tool, and whether it may have been made.
        self.under: tuple[int, str, bool] | None = None

    def step(self) -> Outcome | None:
        """Does the next thing. Returns how the run ended, if it has."""
        if self.begun is not None and self.begun.kind == "stopped":
            begun, self.begun = self.begun, None
            raise begun.rest[0]
        event = self.drive.next()
        kind = event[0]
        if kind == "start":
            return self._make(event)
        if kind == "made":
            self.observers.made(made_of(event))
        elif kind == "value" and self.output is not None:
            self.output.decide(self.drive, event[1])
        elif kind in ("done", "wait"):
            # Where it waits, an interrupt came just after the call was announced.
            return self.drive.outcome  # type: ignore[return-value]
        return None

    def leave(self, error: BaseException) -> None:
        """Cancels the run. A call that may have been made is in doubt."""
        self.drive.cancel()
        if self.under is None:
            return
        ticket, name, is_made = self.under
        raised(self.drive, ticket, name, error)
        self.under = None
        if is_made:
            self.drive.in_doubt(ticket, f"tool `{name}` raised {type(error).__name__}")
        else:
            self.drive.interrupted(ticket)

    def _make(self, event: tuple[Any, ...]) -> Outcome | None:
        """Makes a call, again if it may be repeated."""
        _, ticket, name, arguments, kind, *_ = event
        drive, tool, retry = self.drive, self.tools[name], 0
        while True:
            try:
                self.under = (ticket, name, False)
                if tool.confirm:
                    raise Failure(not_confirmed(name, "there is nobody to ask"))
                self.under = (ticket, name, not tool.read_only)
                if self.spans is None:
                    value = _answer(name, self._value(tool, arguments))
                else:
                    with self.spans.within(ticket):
                        value = _answer(name, self._value(tool, arguments))
            except Suspend as why:
                if call := due_of(drive, self.tools, name, arguments, kind):
                    raised(drive, ticket, name, why)
                    drive.left(ticket)
                    return Suspended(drive.snapshot() or b"", call, text_of(why))
                drive.fail(ticket, "the tool suspended a call that the run does not wait for")
            except Exception as error:
                raised(drive, ticket, name, error)
                pause = drive.pause(name, retry)
                if pause and pause[1] < drive.seconds_left:
                    self.under = (ticket, name, False)
                    time.sleep(between(pause))
                    retry += 1
                    continue
                drive.fail(ticket, failure_of(error))
            except cancelled():
                # Of an event loop within the tool.
                drive.in_doubt(ticket, f"tool `{name}` was cancelled before it had answered")
            else:
                drive.settle(ticket, value)
            self.under = None
            return None

    def _value(self, tool: Any, arguments: dict[str, Any]) -> Any:
        if self.begun is not None:
            made, self.begun = self.begun, None
            return made.value()
        if tool.retries:
            # What a tool changes in its arguments is not for the next attempt.
            import copy

            arguments = copy.deepcopy(arguments)
        return tool.call(arguments)


def _answer(name: str, value: Any) -> Any:
    """The answer of a function; one that would have to be awaited is a failure."""
    if not hasattr(value, "__await__"):
        return value
    close = getattr(value, "close", None)
    if close is not None:
        close()
    raise Failure(f"tool `{name}` gave an awaitable, and is not marked as async (`is_async=True`)")
