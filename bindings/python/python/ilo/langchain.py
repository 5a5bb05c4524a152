"""A tool for agents of langchain that runs ilo programs: `create_agent(model, tools=[run_program(tools)])`."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from langchain_core.tools import StructuredTool, ToolException

from ._agent import NAME, SCHEMA, Refused, Runner, text_of

if TYPE_CHECKING:
    from ._agent import OnSuspend
    from ._program import Given, Notation

__all__ = ["run_program"]


# What the framework calls the call under way.
_call: ContextVar[str | None] = ContextVar("ilo call of langchain", default=None)


class _RunProgram(StructuredTool):  # type: ignore[misc]
    """A tool that tells its function what the framework calls a call."""

    def run(self, *args: Any, tool_call_id: str | None = None, **more: Any) -> Any:
        token = _call.set(tool_call_id)
        try:
            return super().run(*args, tool_call_id=tool_call_id, **more)
        finally:
            _call.reset(token)

    async def arun(self, *args: Any, tool_call_id: str | None = None, **more: Any) -> Any:
        token = _call.set(tool_call_id)
        try:
            return await super().arun(*args, tool_call_id=tool_call_id, **more)
        finally:
            _call.reset(token)


def run_program(
    tools: Given, *, notation: Notation = "tool-calling", on_suspend: OnSuspend | None = None, **options: Any
) -> StructuredTool:
    """A tool that runs a program over `tools`. The model gets the diagnostics of a program with errors.

    `options` are those of `Program.run`, and `strict`: false lets programs run of which the check foretells a fault.
    `on_suspend` gets the program and the `Suspended` where a tool
    raised `ilo.Suspend`, and gives what the model gets.
    """
    runner = Runner(tools, notation, on_suspend, **options)

    async def run(program: Any, input: Any = None) -> str:
        try:
            return text_of(await runner.run(program, input, _call.get()))
        except Refused as refused:
            raise ToolException(str(refused)) from refused

    def run_sync(program: Any, input: Any = None) -> str:
        try:
            return text_of(runner.run_sync(program, input, _call.get()))
        except Refused as refused:
            raise ToolException(str(refused)) from refused

    return _RunProgram.from_function(
        func=run_sync,
        coroutine=run,
        name=NAME,
        description=runner.description,
        args_schema=SCHEMA,
        handle_tool_error=True,
    )
