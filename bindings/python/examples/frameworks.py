"""An agent of langchain that writes ilo programs. Its model is scripted, so that it runs without a key.

Needs `pip install ilo-vm langchain`. Replace `Scripted()` by a real model, such as `init_chat_model("...")`. With
another framework only `main` changes:

    pydantic-ai       Agent(model, capabilities=[IloMode()]), with the agent's own tools
    openai-agents     Agent(name=..., tools=[ilo.openai_agents.run_program(TOOLS)])
    smolagents        ToolCallingAgent(tools=[ilo.smolagents.RunProgram(TOOLS)], model=model)
"""

from __future__ import annotations

from typing import Any

import ilo
from ilo.langchain import run_program
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult


@ilo.tool(read_only=True)
def find_orders(customer: str) -> list[dict[str, float]]:
    """The open orders of a customer."""
    return [{"id": 1, "total": 40.0}, {"id": 2, "total": 2.5}]


@ilo.tool
def send_invoice(customer: str, amount: float) -> str:
    """Sends an invoice, and gives its number."""
    return f"{customer}-{amount:.2f}"


TOOLS = ilo.Tools(find_orders, send_invoice)

PROGRAM = """{"function": "invoice", "input": {}, "output": "text", "steps": [
{"let": "orders", "call": "%s", "args": {"customer": "Ada"}},
{"let": "total", "expr": 0},
{"for": "order", "in": "$orders", "do": [{"let": "total", "expr": {"+": ["$total", "$order.total"]}}]},
{"let": "number", "call": "send_invoice", "args": {"customer": "Ada", "amount": "$total"}},
{"return": "$number"}]}"""


class Scripted(BaseChatModel):
    """Misspells a tool at first. Once it has read the right name, it writes that."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self

    def _generate(self, messages: list[Any], *rest: Any, **options: Any) -> ChatResult:
        results = [message for message in messages if message.type == "tool"]
        if results and results[-1].status == "success":
            message = AIMessage(f"{results[-1].content} after {len(results)} programs")
        else:
            name = "find_orders" if results and "`find_orders`" in results[-1].content else "find_order"
            call = {"name": "run_program", "args": {"program": PROGRAM % name}, "id": str(len(results))}
            message = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=message)])


def main() -> None:
    agent = create_agent(Scripted(), tools=[run_program(TOOLS, timeout=60)])
    found = agent.invoke({"messages": [{"role": "user", "content": "Send Ada one invoice for all open orders."}]})
    print(found["messages"][-1].content)


if __name__ == "__main__":
    main()
