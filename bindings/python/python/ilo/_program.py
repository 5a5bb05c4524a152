"""Programs: checking and building sources, running programs over tools."""

from __future__ import annotations

import sys

from . import _ilo
from ._errors import BadValue, CompileError
from ._event_loop import in_own_loop, may_be_quick
from ._typing import ByType
from ._inline import run_inline
from ._left import check as check_left
from ._observe import Observers
from ._options import DEFAULTS, checked, with_defaults
from ._output import Output, output_of, schema_of
from ._run import RUN_SECONDS, Begun, Loop
from ._spans import in_use
from ._tools import Tool, Tools, tools_of
from ._values import partial_too

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, Literal

    from typing_extensions import TypedDict, Unpack

    from ._ilo import Diagnostic, PlannedCalls, Run
    from ._journal import Journal
    from ._stream import Stream
    from ._ask import Ask
    from ._events import OnEvent
    from ._typing import T
    from ._observe import OnError
    from ._run import Cancellation, CallResult, Outcome
    from ._types import Limits

    Notation = Literal["id", "tool-calling", "constrained", "workflow", "mcp"]
    Given = Tools | Iterable[Tool | Callable[..., Any]] | None

    class Options(TypedDict, total=False):
        """How a run over tools is driven.

        timeout: seconds for the run (600), without those in which a run with a journal waits.
        call_timeout: seconds for each call (30).
        max_concurrency: how many calls of read-only tools may be under way at once (16).
        on_call: gets each call that has ended. What it raises changes nothing of the run.
        ask: gets each call of a tool with `confirm`; returns True, False or `ilo.Deny(reason)`.
        cancel: cancels the run, which rolls back what it has done.
        on_error: gets what `on_call` and `ask` have raised.
        on_cancel: what follows when the task is cancelled: "rollback", or "drop" for none.
        rollback_timeout: seconds for that rollback (10).
        on_event: gets each start and end of a call as it happens. What it raises changes nothing of the run.
        tool_call_id: what a framework calls this run, for its events.
        """

        timeout: float | None
        call_timeout: float | None
        max_concurrency: int
        at_once: int
        on_call: Callable[[CallResult], Any] | None
        ask: Ask | None
        cancel: Cancellation | None
        on_error: OnError | None
        on_cancel: Literal["rollback", "drop"] | None
        rollback_timeout: float | None
        on_event: OnEvent | None
        tool_call_id: str | None

# The default answer of `resume`: nil would be an answer.
_NOTHING: Any = object()
# The options of runs that need no event loop.
_INLINE = {"on_call", "on_error", "max_concurrency", "on_event", "tool_call_id"}


def check(
    source: str,
    *,
    tools: Given = None,
    notation: Notation | None = None,
    signature: str | None = None,
    output: Any = None,
    strict: bool = False,
) -> list[Diagnostic]:
    """The diagnostics of a source, checked against the tools if they are given.

    `signature` is what the caller expects, such as `"email(id: text) -> result answer, text"`: another name, input or
    output is an error. `output` is the value that is expected: a type that pydantic has a schema for, or a JSON Schema
    as a dict. With `strict`, warnings that foretell a fault of the run, or another result than meant, are errors.
    """
    return _ilo.build(source, _catalogue(tools), notation, True, signature, schema_of(output), strict)[1]


def build(
    source: str,
    *,
    tools: Given = None,
    notation: Notation | None = None,
    signature: str | None = None,
    output: type[T] | dict[str, Any] | None = None,
    strict: bool = False,
    strip: bool = False,
) -> Program[T]:
    """Builds a program; raises `CompileError`, whose text is for the model that wrote the source.

    `signature`, `output` and `strict` are those of `check`. The value of a run has the type of `output`; a run that
    would end with another value is rolled back, and ends with fault `output-mismatch`.
    """
    wanted = output_of(output)
    schema = None if wanted is None else wanted.schema
    core, found = _ilo.build(source, _catalogue(tools), notation, strip, signature, schema, strict)
    if core is None:
        raise CompileError(found)
    return Program(core, found, wanted)


def load(packed: bytes, *, output: type[T] | dict[str, Any] | None = None) -> Program[T]:
    """Reads and verifies a program that `Program.to_bytes` packed. `output` is that of `build`."""
    return Program(_ilo.load(packed), (), output_of(output))


def _unpickled(packed: bytes, output: Any) -> Program[Any]:
    return load(packed, output=output)


def fix(
    source: str,
    *,
    tools: Given = None,
    notation: Notation | None = None,
    signature: str | None = None,
    output: Any = None,
    strict: bool = False,
) -> tuple[str, list[Diagnostic]]:
    """Applies every unambiguous fix. Returns the new source, and the remaining diagnostics."""
    text, _, left = _ilo.fix(source, _catalogue(tools), notation, signature, schema_of(output), strict)
    return text, left


def convert(source: str, to: Notation, *, notation: Notation | None = None) -> str:
    """The source in another notation; raises `CompileError`."""
    return _text(*_ilo.convert(source, to, notation))


def format(source: str, *, notation: Notation | None = None) -> str:
    """The source in its canonical layout; raises `CompileError`."""
    return _text(*_ilo.format(source, notation))


def graph(source: str, form: Literal["svg", "dot", "mermaid"] = "svg", *, notation: Notation | None = None) -> str:
    """A drawing of the source; raises `CompileError`."""
    return _text(*_ilo.graph(source, form, notation))


def card(
    notation: Notation = "tool-calling", *, tools: Given = None, signature: str | None = None, output: Any = None
) -> str:
    """The card that teaches a model a notation, with the signatures of the tools, and what is expected of the program."""
    return _ilo.card(notation, _catalogue(tools), signature, schema_of(output))


def _catalogue(tools: Given) -> _ilo.Catalogue | None:
    return None if tools is None else tools_of(tools).catalogue


def _text(text: str | None, found: list[Diagnostic]) -> str:
    if text is None:
        raise CompileError(found)
    return text


class Program(ByType["T"]):
    """A verified program; any number of runs and threads may share it. `T` is the type of its value."""

    __slots__ = ("_core", "_output", "warnings")

    def __init__(
        self, core: _ilo.Core, warnings: Iterable[Diagnostic] = (), output: Output | None = None
    ) -> None:
        self._core = core
        self._output = output
        self.warnings = list(warnings)

    def to_bytes(self) -> bytes:
        """The program, packed."""
        return self._core.to_bytes()

    def __reduce__(self) -> tuple[Callable[[bytes, Any], Program[Any]], tuple[bytes, Any]]:
        """A program is pickled without its warnings."""
        return _unpickled, (self.to_bytes(), None if self._output is None else self._output.given)

    @property
    def tools(self) -> list[str]:
        """The tools that the program may call."""
        return self._core.tools

    @property
    def functions(self) -> dict[str, dict[str, str]]:
        """The functions, each with its parameters and their types."""
        return {name: dict(parameters) for name, parameters in self._core.functions}

    def disassemble(self) -> str:
        """A listing of the bytecode."""
        return self._core.disassemble()

    def plan(self, *, tools: Given = None, function: str | None = None) -> list[PlannedCalls]:
        """The plan of a run: the most calls of each tool, and the calls that nothing rolls back."""
        return self._core.plan(_catalogue(tools), function)[1]

    def start(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        function: str | None = None,
        limits: Limits | None = None,
    ) -> Run:
        """Starts a run that you drive: `run.step()` returns a call, which you answer, or the outcome."""
        return self._core.start(inputs, function, _dict(limits), None)

    def restore(self, snapshot: bytes, *, limits: Limits | None = None) -> Run:
        """Restores a run from a snapshot. Its call waits for the answer."""
        return self._core.restore(snapshot, _dict(limits))

    async def run(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        tools: Given = None,
        function: str | None = None,
        limits: Limits | None = None,
        journal: Journal | None = None,
        name: str | None = None,
        metadata: Mapping[str, str] | None = None,
        **options: Unpack[Options],
    ) -> Outcome[T]:
        """Runs over tools, in an event loop of asyncio or trio.

        Up to `max_concurrency` calls of read-only tools run in parallel; the outcome does not depend on it. Functions
        that are not async run in threads. With a journal the run outlives this process; a second start with the
        same `name`, program and inputs continues the first run, or returns its outcome. `metadata`, such as a tenant or a
        user, is there to find runs by.
        """
        tools = tools_of(tools)
        if journal is not None:
            if not hasattr(journal, "_start"):
                raise TypeError(f"`journal` expects an `ilo.Journal`, found {journal!r}")
            rest = {**with_defaults(options), "output": self._output}
            timeout = rest.pop("timeout")
            return await journal._start(self, inputs, function, _dict(limits), tools, name, timeout, rest, metadata)
        if name is not None or metadata is not None:
            raise TypeError("`name` and `metadata` are those of a run in a journal: pass `journal=` too")
        check_left()
        if options or self._output is not None or not may_be_quick() or in_use():
            run = self._core.start(inputs, function, _dict(limits), tools.catalogue)
            return await Loop(run, tools, **with_defaults(options), output=self._output).go()
        quick = self._core.run_quick(inputs, function, _dict(limits), tools.catalogue, True, RUN_SECONDS)
        if type(quick) is not tuple:
            return quick
        return await Loop(quick[0], tools, **DEFAULTS, begun=_begun(quick)).go()

    def stream(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        tools: Given = None,
        function: str | None = None,
        limits: Limits | None = None,
        journal: Journal | None = None,
        name: str | None = None,
        metadata: Mapping[str, str] | None = None,
        **options: Unpack[Options],
    ) -> Stream[T]:
        """As `run`, for those who watch it: `async for event in stream`, and `await stream.outcome()` for its end.

        At most 1,024 events wait for a slow reader; of more the oldest are dropped, and `ilo.EventsDropped` counts them.
        """
        from ._stream import Stream

        if options.get("on_event") is not None:
            raise TypeError("`stream` takes the place of `on_event`: pass it to `run`, or read the stream")
        given: dict[str, Any] = {"tools": tools, "function": function, "limits": limits, "journal": journal, "name": name, "metadata": metadata}
        rest: dict[str, Any] = {**options}
        return Stream(lambda put: self.run(inputs, **given, **{**rest, "on_event": put}))

    async def resume(
        self,
        snapshot: bytes,
        *,
        answer: Any = _NOTHING,
        failure: Any = _NOTHING,
        tools: Given = None,
        limits: Limits | None = None,
        **options: Unpack[Options],
    ) -> Outcome[T]:
        """Continues from a snapshot with the answer to its call, or its failure. Without both, the call is made."""
        tools = tools_of(tools)
        run = self._restored(snapshot, answer, failure, tools, limits)
        return await Loop(run, tools, **with_defaults(options), output=self._output).go()

    def run_sync(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        tools: Given = None,
        function: str | None = None,
        limits: Limits | None = None,
        journal: Journal | None = None,
        name: str | None = None,
        metadata: Mapping[str, str] | None = None,
        **options: Unpack[Options],
    ) -> Outcome[T]:
        """Runs over tools without an event loop of the caller.

        Functions are called in this thread, one at a time, and one that hangs is not ended. If a time limit,
        `max_concurrency`, `ask`, `cancel` or a journal is given, or a tool is async or has a time limit, it is as `run`,
        in an event loop of its own; where an event loop runs already, that is a `RuntimeError`.
        """
        tools = tools_of(tools)
        if journal is not None or name is not None or metadata is not None:
            given: dict[str, Any] = {"tools": tools, "function": function, "limits": limits, "journal": journal, "name": name, "metadata": metadata}
            return without_loop(lambda: self.run(inputs, **given, **options))
        if options or self._output is not None or not self._core.is_plain(tools.catalogue) or in_use():
            run = self._core.start(inputs, function, _dict(limits), tools.catalogue)
            return self._sync(run, tools, options)
        check_left()
        _warn_in_loop()
        quick = self._core.run_quick(inputs, function, _dict(limits), tools.catalogue, False, RUN_SECONDS)
        if type(quick) is not tuple:
            return quick
        return run_inline(quick[0], tools, RUN_SECONDS, Observers(), _begun(quick))

    def resume_sync(
        self,
        snapshot: bytes,
        *,
        answer: Any = _NOTHING,
        failure: Any = _NOTHING,
        tools: Given = None,
        limits: Limits | None = None,
        **options: Unpack[Options],
    ) -> Outcome[T]:
        """`resume` without an event loop of the caller, as `run_sync` is to `run`."""
        tools = tools_of(tools)
        return self._sync(self._restored(snapshot, answer, failure, tools, limits), tools, options)

    def _restored(self, snapshot: bytes, answer: Any, failure: Any, tools: Tools, limits: Limits | None) -> Run:
        if answer is not _NOTHING and failure is not _NOTHING:
            raise TypeError("expected `answer` or `failure`, found both")
        missing = self._core.missing_tools(tools.catalogue)
        if missing is not None:
            raise missing
        run = self.restore(snapshot, limits=limits)
        if answer is not _NOTHING:
            waiting = run.waiting
            why = None if waiting is None else tools.catalogue.misfit(waiting.tool, answer)
            if why is not None:
                raise BadValue(f"the answer does not fit tool `{waiting.tool}`: {why}")  # type: ignore[union-attr]
            run.answer(answer)
        elif failure is not _NOTHING:
            run.fail(failure)
        return run

    def _sync(self, run: Run, tools: Tools, options: Options) -> Outcome[T]:
        plain = self._core.is_plain(tools.catalogue)
        given = checked(options)
        if plain and given.keys() <= _INLINE and given.get("max_concurrency", 1) == 1:
            _warn_in_loop()
            names = ("on_call", "on_error", "on_event", "tool_call_id")
            observers = Observers(*map(given.get, names))
            return run_inline(run, tools, RUN_SECONDS, observers, None, self._output)
        rest = {**DEFAULTS, "max_concurrency": 1, **given, "output": self._output}
        return without_loop(lambda: Loop(run, tools, **rest).go())

    @partial_too
    def __repr__(self) -> str:
        return f"<ilo.Program {', '.join(self.functions)}>"


def _begun(quick: tuple[Any, ...]) -> Begun | None:
    """The result of the call that a quick run waits for; nothing if that was not made."""
    _, kind, *rest = quick
    return None if kind == "not made" else Begun(kind, *rest)


def _dict(limits: Limits | None) -> dict[str, int] | None:
    if limits is None:
        return None
    if not hasattr(limits, "keys"):
        raise TypeError(f"`limits` expects a dict, found {limits!r}")
    return dict(limits)  # type: ignore[arg-type]


def without_loop(go: Callable[[], Any]) -> Any:
    """Runs the coroutine of a function in an event loop of its own, if this thread has none."""
    if has_loop():
        raise RuntimeError(
            "this run needs an event loop (a tool is async or has a time limit, or an option asks for one), "
            "and one runs in this thread already: await `program.run`, or `resume`, in place of the `_sync` one"
        )
    return in_own_loop(go)


def has_loop() -> bool:
    """Whether an event loop of asyncio runs in this thread."""
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and asyncio._get_running_loop() is not None


_warned = False


def _warn_in_loop() -> None:
    """Warns once that a run holds up the event loop of its thread."""
    global _warned
    if not _warned and has_loop():
        _warned = True
        import warnings

        text = "`run_sync` holds up the event loop that runs in this thread until its tools have answered; await `run`"
        warnings.warn(text, RuntimeWarning, stacklevel=3)
