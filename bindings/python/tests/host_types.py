"""Code of a host, which is type-checked (`mypy --strict`, pyright) and never run."""

# pyright: strict

from __future__ import annotations

from typing import TypedDict

import ilo


@ilo.tool
def double(n: int) -> int:
    return n * 2


@ilo.tool(read_only=True)
async def find(name: str) -> list[str]:
    return [name]


class Shop:
    @ilo.tool
    def price(self, item: str) -> float:
        return 1.0


limits: ilo.Limits = {"fuel": 1000}
half: int = double(3)


def ask(call: ilo.Call | ilo.Waiting) -> bool:
    return call.tool == "find"


asks: ilo.Ask = ask


def report(event: ilo.Event) -> str:
    if isinstance(event, ilo.EventsDropped):
        return str(event.count)
    return f"{event.tool} {event.line}"


class Answer(TypedDict):
    title: str


def typed(source: str) -> str:
    outcome = ilo.build(source, output=Answer).run_sync()
    if isinstance(outcome, ilo.Ok):
        title: str = outcome.value["title"]
        return title
    return repr(outcome)


async def main(source: str) -> ilo.Outcome:
    names: list[str] = await find("a")
    tools = ilo.Tools(double, find, Shop().price)
    program = ilo.build(source, tools=tools, signature="f() -> text", strict=True)
    stream = program.stream({"names": names}, tools=tools, limits=limits, ask=ask, tool_call_id="x")
    async for event in stream:
        print(report(event), ilo.__version__)
    return await stream.outcome()
