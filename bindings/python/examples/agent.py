"""An agent whose model is scripted, so that it runs without a key: it errs, reads the diagnostics, and fixes.

Replace `scripted_model` by a call of a real model: it gets the messages so far and gives the next text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import ilo

Message = dict[str, str]
Model = Callable[[list[Message]], str]


@ilo.tool(read_only=True)
async def find_orders(customer: str) -> list[dict[str, float]]:
    """The open orders of a customer."""
    return [{"id": 1, "total": 40.0}, {"id": 2, "total": 2.5}]


@ilo.tool
async def send_invoice(customer: str, amount: float) -> str:
    """Sends an invoice, and gives its number."""
    return f"{customer}-{amount:.2f}"


TOOLS = ilo.Tools(find_orders, send_invoice)
# Attempts at one program. A model that needs more rarely succeeds.
ATTEMPTS = 4

PROGRAM = """{"function": "invoice", "input": {"customer": "text"}, "output": "text", "steps": [
{"let": "orders", "call": "%s", "args": {"customer": "$input.customer"}},
{"let": "total", "expr": 0},
{"for": "order", "in": "$orders", "do": [{"let": "total", "expr": {"+": ["$total", "$order.total"]}}]},
{"let": "number", "call": "send_invoice", "args": {"customer": "$input.customer", "amount": "$total"}},
{"return": "$number"}]}"""


def scripted_model(messages: list[Message]) -> str:
    """Misspells a tool at first. Once it has read the right name, it writes that."""
    answers = [message["content"] for message in messages if message["role"] == "user"]
    return PROGRAM % ("find_orders" if "`find_orders`" in answers[-1] else "find_order")


async def run_agent(model: Model, task: str, inputs: dict[str, object]) -> tuple[object, int]:
    """Lets the model write a program for a task and runs it. Returns the outcome and the number of attempts."""
    messages = [
        {"role": "system", "content": ilo.card("tool-calling", tools=TOOLS)},
        {"role": "user", "content": task},
    ]
    for attempt in range(1, ATTEMPTS + 1):
        source = model(messages)
        messages.append({"role": "assistant", "content": source})
        try:
            program = ilo.build(source, tools=TOOLS)
        except ilo.CompileError as error:
            messages.append({"role": "user", "content": f"{error}\nWrite the whole program again."})
            continue
        return await program.run(inputs, tools=TOOLS, timeout=60), attempt
    raise RuntimeError(f"the model wrote no valid program in {ATTEMPTS} attempts")


async def main() -> None:
    outcome, attempts = await run_agent(
        scripted_model, "Send the customer one invoice for all open orders.", {"customer": "Ada"}
    )
    print(f"{outcome} after {attempts} attempts")


if __name__ == "__main__":
    asyncio.run(main())
