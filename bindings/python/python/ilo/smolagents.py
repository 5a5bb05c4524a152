"""A tool for agents of smolagents that runs ilo programs: `ToolCallingAgent(tools=[RunProgram(tools)], ...)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smolagents import Tool

from ._agent import INPUT, NAME, SOURCE, Refused, Runner, text_of

if TYPE_CHECKING:
    from ._agent import OnSuspend
    from ._program import Given, Notation

__all__ = ["RunProgram"]


class RunProgram(Tool):  # type: ignore[misc]
    """A tool that runs a program over `tools`. The model gets the diagnostics of a program with errors.

    `options` are those of `Program.run_sync`. `on_suspend` gets the program and the `Suspended` where a tool
    raised `ilo.Suspend`, and gives what the model gets.
    """

    name = NAME
    description = "Runs a program."
    inputs = {
        "program": {"type": "string", "description": SOURCE},
        "input": {"type": "object", "description": INPUT, "nullable": True},
    }
    output_type = "string"

    def __init__(
        self, tools: Given, *, notation: Notation = "tool-calling", on_suspend: OnSuspend | None = None, **options: Any
    ) -> None:
        self.runner = Runner(tools, notation, on_suspend, **options)
        self.description = self.runner.description
        super().__init__()

    def forward(self, program: str, input: dict | None = None) -> str:  # type: ignore[type-arg]
        try:
            return text_of(self.runner.run_sync(program, input))
        except Refused as refused:
            return str(refused)
