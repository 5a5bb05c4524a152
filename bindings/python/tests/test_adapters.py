"""The adapters in the real frameworks: a scripted model errs, reads the diagnostics, and corrects its program."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import ilo
import pytest

# What the frameworks would otherwise report to their makers.
os.environ |= {
    "LANGSMITH_TRACING": "false",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}

EXAMPLE = Path(__file__).parents[1] / "examples" / "frameworks.py"
PROGRAM = """{"function": "invoice", "input": {"customer": "text"}, "output": "text", "steps": [
{"let": "orders", "call": "%s", "args": {"customer": "$input.customer"}},
{"let": "total", "expr": 0},
{"for": "order", "in": "$orders", "do": [{"let": "total", "expr": {"+": ["$total", "$order.total"]}}]},
{"let": "number", "call": "send_invoice", "args": {"customer": "$input.customer", "amount": "$total"}},
{"return": "$number"}]}"""
WRONG, RIGHT = PROGRAM % "find_order", PROGRAM % "find_orders"
INPUT = {"customer": "Ada"}
RESULT = "Ada-42.50"


@ilo.tool(read_only=True)
async def find_orders(customer: str) -> list[dict[str, float]]:
    """The open orders of a customer."""
    return [{"id": 1, "total": 40.0}, {"id": 2, "total": 2.5}]


@ilo.tool
def send_invoice(customer: str, amount: float) -> str:
    """Sends an invoice, and gives its number."""
    if amount < 0:
        raise ValueError("an amount below zero")
    return f"{customer}-{amount:.2f}"


TOOLS = ilo.Tools(find_orders, send_invoice)


class Script:
    """What a model would say: each text is answered by the next program; what the tool gave is kept."""

    def __init__(self, *programs: str) -> None:
        self.programs = list(programs)
        self.seen: list[str] = []

    def next(self, last: str | None) -> dict[str, Any] | None:
        """The arguments of the next call, or nothing where the model has what it wants."""
        if last is not None:
            self.seen.append(last)
        if not self.programs:
            return None
        return {"program": self.programs.pop(0), "input": INPUT}

    def check(self, *, result: str = RESULT) -> None:
        diagnostics, found = self.seen
        assert "error[unknown-tool]" in diagnostics and "`find_orders`" in diagnostics, diagnostics
        assert "Nothing has run" in diagnostics
        assert result in found, found


def with_langchain(script: Script, tools: ilo.Tools, *, is_async: bool = True, **options: Any) -> Any:
    pytest.importorskip("langchain")
    from langchain.agents import create_agent
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, ToolMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    from ilo.langchain import run_program

    class Model(BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "scripted"

        def bind_tools(self, tools: Any, **more: Any) -> Any:
            assert [tool.name for tool in tools] == ["run_program"]
            assert "find_orders(customer: text)" in tools[0].description
            return self

        def _generate(self, messages: Any, *rest: Any, **more: Any) -> ChatResult:
            last = messages[-1].content if isinstance(messages[-1], ToolMessage) else None
            given = script.next(last)
            calls = [] if given is None else [{"name": "run_program", "args": given, "id": f"c{len(messages)}"}]
            message = AIMessage(content="" if calls else "done", tool_calls=calls)
            return ChatResult(generations=[ChatGeneration(message=message)])

    agent: Any = create_agent(Model(), tools=[run_program(tools, **options)])
    asked = {"messages": [{"role": "user", "content": "Send one invoice."}]}
    found = asyncio.run(agent.ainvoke(asked)) if is_async else agent.invoke(asked)
    return found["messages"]


@pytest.mark.parametrize("is_async", [True, False])
def test_langchain(is_async: bool) -> None:
    script = Script(WRONG, RIGHT)
    events: list[Any] = []
    messages = with_langchain(script, TOOLS, is_async=is_async, on_event=events.append)
    script.check()
    # The call of the framework is named in the events of its run.
    assert events and {event.tool_call_id for event in events} == {"c3"}
    assert [message.status for message in messages if message.type == "tool"] == ["error", "success"]
    assert messages[-1].content == "done"


def with_openai(script: Script, tools: ilo.Tools, **options: Any) -> Any:
    pytest.importorskip("agents")
    from agents import Agent, ModelResponse, Runner, Usage
    from agents.models.interface import Model
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    from ilo.openai_agents import run_program

    class Scripted(Model):
        async def get_response(self, *rest: Any, **given: Any) -> ModelResponse:
            assert "find_orders(customer: text)" in given["tools"][0].description
            items = given["input"] if isinstance(given["input"], list) else []
            outputs = [item["output"] for item in items if item.get("type") == "function_call_output"]
            called = script.next(outputs[-1] if outputs else None)
            item: Any
            if called is None:
                text = ResponseOutputText(text="done", type="output_text", annotations=[])
                item = ResponseOutputMessage(
                    id="m", content=[text], role="assistant", status="completed", type="message"
                )
            else:
                item = ResponseFunctionToolCall(
                    arguments=json.dumps(called), call_id=f"c{len(items)}", name="run_program", type="function_call"
                )
            return ModelResponse(output=[item], usage=Usage(), response_id=None)

        def stream_response(self, *rest: Any, **more: Any) -> Any:
            raise NotImplementedError

    agent = Agent(name="agent", model=Scripted(), tools=[run_program(tools, **options)])
    return asyncio.run(Runner.run(agent, "Send one invoice."))


def test_openai_agents() -> None:
    script = Script(WRONG, RIGHT)
    assert with_openai(script, TOOLS).final_output == "done"
    script.check()


@pytest.mark.parametrize(("arguments", "says"), [("{", "not JSON"), ("[]", "expected an object"), ("{}", "`program`")])
def test_openai_agents_answer_arguments_that_are_wrong(arguments: str, says: str) -> None:
    pytest.importorskip("agents")
    from ilo.openai_agents import run_program

    found = asyncio.run(run_program(TOOLS).on_invoke_tool(None, arguments))  # type: ignore[arg-type]
    assert says in found


def test_smolagents() -> None:
    pytest.importorskip("smolagents")
    from smolagents import ToolCallingAgent
    from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole, Model

    from ilo.smolagents import RunProgram

    script = Script(WRONG, RIGHT)

    class Scripted(Model):
        def generate(self, messages: Any, **more: Any) -> ChatMessage:
            last = messages[-1].content
            text = last[0]["text"] if isinstance(last, list) else last
            observed = text.split("Observation:", 1)[1].strip() if "Observation:" in text else None
            given = script.next(observed)
            name, arguments = ("final_answer", {"answer": "done"}) if given is None else ("run_program", given)
            function = ChatMessageToolCallFunction(name=name, arguments=arguments)
            call = ChatMessageToolCall(function=function, id=f"c{len(messages)}", type="function")
            return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[call])

    tool = RunProgram(TOOLS)
    assert "find_orders(customer: text)" in tool.description
    agent = ToolCallingAgent(tools=[tool], model=Scripted(), verbosity_level=0)
    assert agent.run("Send one invoice.") == "done"
    script.check()


def pydantic_agent(script: Script, *, capabilities: Any = (), **mode: Any) -> Any:
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel

    from ilo.pydantic_ai import IloMode

    def model(messages: Any, info: Any) -> ModelResponse:
        assert [tool.name for tool in info.function_tools] == ["run_program"]
        assert "find_orders(customer: text)" in info.function_tools[0].description
        last = messages[-1].parts[-1]
        text = None
        if isinstance(last, RetryPromptPart):
            text = last.model_response()
        elif isinstance(last, ToolReturnPart):
            text = last.model_response_str()
        given = script.next(text)
        return ModelResponse(parts=[TextPart("done") if given is None else ToolCallPart("run_program", given)])

    agent = Agent(FunctionModel(model), capabilities=[IloMode(read_only={"find_orders"}, **mode), *capabilities])
    agent.tool_plain(find_orders.function)
    agent.tool_plain(send_invoice.function)
    return agent


def test_pydantic_ai() -> None:
    script = Script(WRONG, RIGHT)
    agent = pydantic_agent(script)
    result = asyncio.run(agent.run("Send one invoice."))
    assert result.output == "done"
    script.check()
    # The calls of the program count as calls of the agent.
    assert result.usage.tool_calls == 3


def test_options_of_an_adapter_are_checked_when_it_is_made() -> None:
    pytest.importorskip("pydantic_ai")
    pytest.importorskip("langchain_core")
    import ilo.langchain
    from ilo.pydantic_ai import IloMode

    with pytest.raises(TypeError, match="`read_only` expects the names of tools, found 'find_orders'"):
        IloMode(read_only="find_orders")
    with pytest.raises(TypeError, match="there is no option `timout`, only timeout"):
        ilo.langchain.run_program([find_orders], timout=5)
    ilo.langchain.run_program([find_orders], timeout=5, limits={"fuel": 1000})


def test_pydantic_ai_calls_keep_hooks_and_limits() -> None:
    pytest.importorskip("pydantic_ai")
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.exceptions import UsageLimitExceeded
    from pydantic_ai.usage import UsageLimits

    called: list[str] = []

    class Watch(AbstractCapability[Any]):
        async def before_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any) -> Any:
            called.append(call.tool_name)
            return args

    agent = pydantic_agent(Script(RIGHT), capabilities=[Watch()])
    asyncio.run(agent.run("Send one invoice."))
    assert called == ["run_program", "find_orders", "send_invoice"]
    with pytest.raises(UsageLimitExceeded):
        asyncio.run(pydantic_agent(Script(RIGHT)).run("Send.", usage_limits=UsageLimits(tool_calls_limit=2)))


def test_pydantic_ai_refuses_calls_that_nobody_approves() -> None:
    pytest.importorskip("pydantic_ai")
    script = Script(RIGHT)
    agent = pydantic_agent(script)

    @agent.tool_plain(requires_approval=True, name="find_orders_")
    def unused() -> str:
        return ""

    call = '{"let": "x", "call": "find_orders_"}, {"return": "$x"}'
    script.programs = ['{"function": "f", "input": {"customer": "text"}, "output": "text", "steps": [' + call + "]}"]
    asyncio.run(agent.run("Go."))
    assert "needs an approval" in script.seen[0]


def test_a_failure_and_a_fault_are_said_with_what_was_rolled_back() -> None:
    program = """{"function": "f", "input": {"customer": "text"}, "output": "text", "steps": [
    {"let": "n", "call": "send_invoice", "args": {"customer": "$input.customer", "amount": 1},
     "rollback": {"call": "send_invoice", "args": {"customer": "$n", "amount": 0}}},
    {"let": "m", "call": "send_invoice", "args": {"customer": "$n", "amount": -1}}, {"return": "$m"}]}"""
    script = Script(program)
    with_openai(script, TOOLS)
    found = json.loads(script.seen[0])
    assert found["status"] in ("failed", "fault") and "below zero" in json.dumps(found), found
    assert found["rolled_back"] == ["send_invoice"]


def test_a_program_that_waits_is_given_to_the_host() -> None:
    @ilo.tool(name="send_invoice")
    async def asks(customer: str, amount: float) -> str:
        raise ilo.Suspend("the manager decides")

    kept: list[Any] = []

    def keep(program: ilo.Program, suspended: ilo.Suspended) -> str:
        kept.append((program, suspended))
        return "waits for the manager"

    tools = ilo.Tools(find_orders, asks)
    script = Script(RIGHT)
    with_openai(script, tools, on_suspend=keep)
    [(program, suspended)] = kept
    assert script.seen == ["waits for the manager"]
    assert program.resume_sync(suspended.snapshot, answer="7", tools=tools) == ilo.Ok("7")
    script = Script(RIGHT)
    with_openai(script, tools)
    assert json.loads(script.seen[0]) == {
        "status": "suspended",
        "message": "the call of `send_invoice` waits for somebody: the manager decides",
    }


def test_a_wrong_input_is_said() -> None:
    class Wrong(Script):
        def next(self, last: str | None) -> dict[str, Any] | None:
            given = super().next(last)
            return given and {**given, "input": self.inputs.pop(0)}

        inputs: list[Any] = [{"customer": 3}, "{", [1], '{"customer": "Ada"}']

    script = Wrong(RIGHT, RIGHT, RIGHT, RIGHT)
    with_openai(script, TOOLS)
    assert "input-type" in script.seen[0] and "not JSON" in script.seen[1] and "found list" in script.seen[2]
    assert script.seen[3] == RESULT


@pytest.mark.parametrize("name", ["pydantic_ai", "openai_agents", "langchain", "smolagents"])
def test_the_package_imports_no_framework(name: str) -> None:
    modules = "{'pydantic', 'pydantic_ai', 'agents', 'langchain_core', 'smolagents', 'mcp', 'anyio', 'asyncio'}"
    # These two and what they import would take a third of the time of an import.
    slow = "{'functools', 'collections'}"
    code = (
        f"import sys; before = {slow} & set(sys.modules); import ilo; "
        f"print(sorted(({modules} | {slow} - before) & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"
    framework = {"openai_agents": "agents"}.get(name, name)
    pytest.importorskip(framework)
    assert subprocess.call([sys.executable, "-c", f"import ilo.{name}, {framework}"]) == 0


def test_the_example_runs() -> None:
    pytest.importorskip("langchain")
    done = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "Ada-42.50 after 2 programs\n"), done.stderr


def test_the_check_of_an_adapter_is_strict_unless_told_otherwise() -> None:
    from ilo._agent import Refused, Runner

    source = "; fn f(c: text) -> bool\nEQ REF 0 LIT 1 1\n"
    with pytest.raises(Refused, match=r"error\[never-equal\]"):
        Runner([find_orders]).run_sync(source, {"c": "1"})
    found = Runner([find_orders], strict=False).run_sync(source, {"c": "1"})
    assert found["value"] is False and "warning[never-equal]" in found["warnings"][0]
    events: list[Any] = []
    runner = Runner([find_orders], on_event=events.append)
    call = '; fn f() -> any\n; Tools: 0=find_orders\n; Fields: 0=customer\nCALL 0 1 0 LIT 0 "Ada"\n'
    asyncio.run(runner.run(call, None, "call_1"))
    assert [event.tool_call_id for event in events] == ["call_1", "call_1"]
