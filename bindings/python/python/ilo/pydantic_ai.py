"""A capability for agents of pydantic-ai: the model runs ilo programs over the agent's own tools."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ModelRetry, UsageLimitExceeded
from pydantic_ai.messages import ToolCallPart, ToolReturn
from pydantic_ai.tool_manager import ToolManager
from pydantic_ai.tools import AgentDepsT, RunContext, ToolDefinition, ToolDenied, ToolSelector, matches_tool_selector
from pydantic_ai.toolsets.abstract import AbstractToolset, ToolsetTool
from pydantic_ai.toolsets.wrapper import WrapperToolset
from pydantic_core import to_jsonable_python
from typing_extensions import NotRequired, TypedDict

from ._agent import NAME, SCHEMA, Refused, Runner
from ._errors import Failure
from ._run import Cancellation
from ._tools import Tool, Tools

if TYPE_CHECKING:
    from ._agent import OnSuspend
    from ._program import Notation

__all__ = ["IloMode"]


class _Arguments(TypedDict):
    program: str
    input: NotRequired[Any]


@dataclass
class IloMode(AbstractCapability[AgentDepsT]):
    """The model sees one tool, `run_program`, in place of the function tools that `tools` selects.

    A program with errors is a `ModelRetry` with its diagnostics. Calls that a program makes go through the
    agent's tool manager, so that validation, hooks, approval and limits are as for calls of the model itself.
    `read_only` names the tools that change nothing: they may be called early, in parallel. `options` are
    those of `Program.run`, and `strict`: false lets programs run of which the check foretells a fault.
    """

    tools: ToolSelector[AgentDepsT] = "all"
    read_only: Collection[str] = ()
    notation: Notation = "tool-calling"
    on_suspend: OnSuspend | None = None
    options: dict[str, Any] = field(default_factory=dict)
    max_retries: int = 3

    def __post_init__(self) -> None:
        if isinstance(self.read_only, str):
            raise TypeError(f"`read_only` expects the names of tools, found {self.read_only!r}")

    @classmethod
    def get_serialization_name(cls) -> str | None:
        return None

    def get_wrapper_toolset(self, toolset: AbstractToolset[AgentDepsT]) -> AbstractToolset[AgentDepsT]:
        return _Programs(toolset, self)


@dataclass
class _Programs(WrapperToolset[AgentDepsT]):
    """A toolset in which `run_program` takes the place of the tools that programs call."""

    mode: IloMode

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        inner = await self.wrapped.get_tools(ctx)
        ours = {name: tool for name, tool in inner.items() if await self._is_ours(ctx, tool.tool_def)}
        if not ours:
            return inner
        rest = {name: tool for name, tool in inner.items() if name not in ours}
        if NAME in rest:
            raise ValueError(f"a tool of the agent has the name `{NAME}`; rename it")
        entries = [_entry(tool.tool_def, self.mode) for tool in ours.values()]
        description = Runner(entries, self.mode.notation).description
        rest[NAME] = _RunProgram(
            toolset=self,
            tool_def=ToolDefinition(
                name=NAME, description=description, parameters_json_schema=SCHEMA, sequential=True
            ),
            max_retries=self.mode.max_retries,
            args_validator=TypeAdapter(_Arguments).validator,
            inner=ours,
        )
        return rest

    async def _is_ours(self, ctx: RunContext[AgentDepsT], tool: ToolDefinition) -> bool:
        """Whether programs may call a tool. They may not call tools that end the run, or run elsewhere."""
        own = tool.kind in ("function", "unapproved") and tool.tool_kind is None and ctx.is_tool_available(tool)
        return own and await matches_tool_selector(self.mode.tools, ctx, tool)

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[AgentDepsT], tool: ToolsetTool[AgentDepsT]
    ) -> Any:
        if not isinstance(tool, _RunProgram):
            return await self.wrapped.call_tool(name, tool_args, ctx, tool)
        assert ctx.tool_manager is not None
        manager = ToolManager(
            toolset=self.wrapped,
            root_capability=ctx.tool_manager.root_capability,
            ctx=ctx,
            tools=tool.inner,
        )
        calls = _Calls(manager, ctx)
        tools = Tools(*(_entry(inner.tool_def, self.mode, calls) for inner in tool.inner.values()))
        options = {"cancel": calls.cancellation, **self.mode.options}
        runner = Runner(tools, self.mode.notation, self.mode.on_suspend, **options)
        try:
            value = await runner.run(tool_args["program"], tool_args.get("input"), ctx.tool_call_id)
        except Refused as refused:
            raise ModelRetry(str(refused)) from refused
        if calls.limit is not None:
            raise calls.limit
        return value


@dataclass(kw_only=True)
class _RunProgram(ToolsetTool[AgentDepsT]):
    inner: dict[str, ToolsetTool[AgentDepsT]]


class _Calls:
    """The calls of one program, made by the agent's tool manager."""

    def __init__(self, manager: ToolManager[Any], ctx: RunContext[Any]) -> None:
        self.manager = manager
        self.ctx = ctx
        self.number = 0
        self.cancellation = Cancellation()
        # The limit on the agent's calls that the program has exceeded: it ends the agent's run too.
        self.limit: UsageLimitExceeded | None = None

    async def make(self, name: str, arguments: dict[str, Any]) -> Any:
        """Makes a call. Whatever it raises is a failure that the program can handle."""
        self.number += 1
        part = ToolCallPart(name, arguments, f"{self.ctx.tool_call_id}-{self.number}")
        limits = self.ctx.usage_limits
        try:
            if limits is not None:
                # This call counts when it succeeds, and so does that of `run_program`.
                usage = self.ctx.usage
                limits.check_before_tool_call(replace(usage, tool_calls=usage.tool_calls + 2))
            value = await self.manager.handle_call(part, wrap_validation_errors=False)
        except UsageLimitExceeded as error:
            self.limit = self.limit or error
            self.cancellation.cancel()
            raise
        except (CallDeferred, ApprovalRequired) as error:
            raise Failure(f"tool `{name}` was not called: it needs an approval, and nobody gives it here") from error
        except ModelRetry as error:
            raise Failure(error.message) from error
        if isinstance(value, ToolDenied):
            raise Failure(f"tool `{name}` was not called: {value.message}")
        if isinstance(value, ToolReturn):
            value = value.return_value
        return to_jsonable_python(value)


def _entry(tool: ToolDefinition, mode: IloMode, calls: _Calls | None = None) -> Tool:
    """A tool of the agent, for programs; without `calls`, only its signature."""

    async def call(arguments: dict[str, Any]) -> Any:
        assert calls is not None
        return await calls.make(tool.name, arguments)

    return Tool(
        tool.name,
        call,
        is_async=True,
        description=tool.description,
        input_schema=tool.parameters_json_schema,
        output_schema=tool.return_schema,
        # The agent's own validation applies.
        validate=False,
        read_only=tool.name in mode.read_only,
    )
