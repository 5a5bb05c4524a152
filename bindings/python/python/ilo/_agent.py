"""Shared by the adapters for agent frameworks: one tool that runs a program over the other tools."""

from __future__ import annotations

import json
from functools import partial

from . import _program
from ._errors import BadValue, CompileError, StartError
from ._ilo import Err, Fault, Ok, Waiting
from ._options import checked
from ._tools import tools_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ._program import Given, Notation, Program
    from ._run import Outcome, Suspended

    OnSuspend = Callable[[Program, Suspended | Waiting], Any]

# The arguments of `Program.run` beside the options of every run.
_OTHER = ("function", "limits", "journal", "name")
# The name of the tool, and of its arguments.
NAME = "run_program"
SOURCE = "The program: its whole text, as described above."
INPUT = "The input of the program by name, if it has any."
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "program": {"type": "string", "description": SOURCE},
        "input": {"type": "object", "description": INPUT, "additionalProperties": True},
    },
    "required": ["program"],
    "additionalProperties": False,
}
_HEAD = """\
Runs a program that calls the tools listed at the end, and gives its result. Write one program for a task of several \
calls instead of making the calls one by one. A program is checked before anything runs; where it has errors, nothing \
has run: correct the program and call this tool again with the whole of it.

"""


_AGAIN = "Nothing has run. Correct the program, and give the whole of it again."


class Refused(Exception):
    """The program cannot run, and nothing of it has run. The text is for the model that wrote it."""


class Runner:
    """Runs the programs that a model writes. `options` are those of `Program.run`.

    The check is strict unless `strict` is false.
    """

    def __init__(
        self,
        tools: Given,
        notation: Notation = "tool-calling",
        on_suspend: OnSuspend | None = None,
        *,
        strict: bool = True,
        **options: Any,
    ) -> None:
        checked({name: value for name, value in options.items() if name not in _OTHER})
        self.tools = tools_of(tools)
        self.notation: Notation = notation
        self.on_suspend = on_suspend
        self.strict = strict
        self.options = options
        self.description = _HEAD + _program.card(notation, tools=self.tools)

    async def run(self, source: object, given: object = None, tool_call_id: str | None = None) -> Any:
        """Builds and runs a program in the event loop. Returns the text for the model; raises `Refused`."""
        program = self._build(source)
        try:
            return self._value(program, await program.run(_inputs(given), tools=self.tools, **self._options(tool_call_id)))
        except (StartError, BadValue) as error:
            raise Refused(f"{error}\n{_AGAIN}") from error

    def _options(self, tool_call_id: str | None) -> dict[str, Any]:
        return self.options if tool_call_id is None else {"tool_call_id": tool_call_id, **self.options}

    def run_sync(self, source: object, given: object = None, tool_call_id: str | None = None) -> Any:
        """As `run`, without an event loop of the caller."""
        program = self._build(source)
        try:
            inputs = _inputs(given)
            go = partial(program.run_sync, inputs, tools=self.tools, **self._options(tool_call_id))
            return self._value(program, _in_thread(go) if _program.has_loop() else go())
        except (StartError, BadValue) as error:
            raise Refused(f"{error}\n{_AGAIN}") from error

    def _build(self, source: object) -> Program:
        if not isinstance(source, str):
            raise Refused(f"`program` expects the text of a program, found {type(source).__name__}")
        try:
            return _program.build(source, tools=self.tools, strict=self.strict)
        except CompileError as error:
            raise Refused(f"{error}\n{_AGAIN}") from error

    def _value(self, program: Program, outcome: Outcome) -> Any:
        """The value of a run, or a record that says how the run ended instead; with the warnings of the check."""
        warnings = [str(warning) for warning in program.warnings]
        if isinstance(outcome, Ok):
            return {"value": outcome.value, "warnings": warnings} if warnings else outcome.value
        if isinstance(outcome, Err):
            found: dict[str, Any] = {"status": "failed", "error": outcome.error}
        elif isinstance(outcome, Fault):
            found = {"status": "fault", "code": outcome.code, "message": outcome.message}
        elif self.on_suspend is not None:
            return self.on_suspend(program, outcome)
        elif isinstance(outcome, Waiting):
            waits = f"run {outcome.run} is in state `{outcome.state}` at the call of `{outcome.tool}`"
            return {"status": "waiting", "message": waits}
        else:
            waits = f"the call of `{outcome.call.tool}` waits for somebody: {outcome.reason}"
            return {"status": "suspended", "message": waits.removesuffix(": ")}
        if outcome.rolled_back:
            found["rolled_back"] = [tool for tool, _ in outcome.rolled_back]
        if warnings:
            found["warnings"] = warnings
        if outcome.not_rolled_back:
            found["not_rolled_back"] = [f"{tool}: {why}" for tool, why in outcome.not_rolled_back]
        return found


def _in_thread(go: Callable[[], Outcome]) -> Outcome:
    """Runs in a thread, for a framework that calls tools in the thread of an event loop."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1, "ilo run") as pool:
        return pool.submit(go).result()


def text_of(value: Any) -> str:
    """A result as text for a model."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _inputs(given: object) -> dict[str, Any]:
    """The input of a program, which models also write as a text of JSON."""
    if isinstance(given, str):
        try:
            given = json.loads(given) if given.strip() else None
        except ValueError as error:
            raise Refused(f"`input` expects an object, found a text that is not JSON: {error}") from error
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise Refused(f"`input` expects an object with a field for each parameter, found {type(given).__name__}")
    return given
