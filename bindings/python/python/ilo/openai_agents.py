"""A tool for agents of openai-agents that runs ilo programs: `Agent(tools=[run_program(tools)])`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agents import FunctionTool

from ._agent import NAME, SCHEMA, Refused, Runner, text_of

if TYPE_CHECKING:
    from agents.tool_context import ToolContext

    from ._agent import OnSuspend
    from ._program import Given, Notation

__all__ = ["run_program"]


def run_program(
    tools: Given, *, notation: Notation = "tool-calling", on_suspend: OnSuspend | None = None, **options: Any
) -> FunctionTool:
    """A tool that runs a program over `tools`. The model gets the diagnostics of a program with errors.

    `options` are those of `Program.run`, and `strict`: false lets programs run of which the check foretells a fault.
    `on_suspend` gets the program and the `Suspended` where a tool
    raised `ilo.Suspend`, and gives what the model gets.
    """
    runner = Runner(tools, notation, on_suspend, **options)

    async def invoke(context: ToolContext[Any], arguments: str) -> str:
        try:
            given = json.loads(arguments)
        except ValueError as error:
            return f"the arguments are not JSON: {error}"
        if not isinstance(given, dict):
            return f"expected an object with `program`, found {arguments[:80]}"
        try:
            return text_of(await runner.run(given.get("program"), given.get("input"), getattr(context, "tool_call_id", None)))
        except Refused as refused:
            return str(refused)

    # The input of a program may have any fields, which a strict schema cannot express.
    return FunctionTool(
        name=NAME,
        description=runner.description,
        params_json_schema=SCHEMA,
        on_invoke_tool=invoke,
        strict_json_schema=False,
    )
