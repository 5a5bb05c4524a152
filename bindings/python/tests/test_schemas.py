"""Types of the libraries that hosts use, as arguments, answers and expected values; and what has no JSON Schema."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable
from typing import Annotated, Any, Literal, Optional, Union

import attrs
import ilo
import pydantic
import pytest
from typing_extensions import NotRequired, TypedDict


class CardModel(pydantic.BaseModel):
    by: Literal["card"]
    number: str


class BillModel(pydantic.BaseModel):
    by: Literal["bill"]


class OrderModel(pydantic.BaseModel):
    id: Annotated[int, pydantic.Field(ge=1)]
    kind: Literal["new", "old"] = "new"
    note: Optional[str] = None
    day: datetime.date
    lines: list[dict[str, int]]
    pay: Annotated[Union[CardModel, BillModel], pydantic.Field(discriminator="by")]


@dataclasses.dataclass
class Card:
    by: Literal["card"]
    number: str


@dataclasses.dataclass
class Bill:
    by: Literal["bill"]


@dataclasses.dataclass
class OrderData:
    id: Annotated[int, pydantic.Field(ge=1)]
    day: datetime.date
    lines: list[dict[str, int]]
    pay: Annotated[Union[Card, Bill], pydantic.Field(discriminator="by")]
    kind: Literal["new", "old"] = "new"
    note: Optional[str] = None


class CardDict(TypedDict):
    by: Literal["card"]
    number: str


class BillDict(TypedDict):
    by: Literal["bill"]


class OrderDict(TypedDict):
    id: Annotated[int, pydantic.Field(ge=1)]
    day: datetime.date
    lines: list[dict[str, int]]
    pay: Annotated[Union[CardDict, BillDict], pydantic.Field(discriminator="by")]
    kind: NotRequired[Literal["new", "old"]]
    note: NotRequired[Optional[str]]


@attrs.define
class Place:
    x: int


class Wide(pydantic.BaseModel):
    places: list[Place]

    model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)


SOURCE = """{"function": "f", "input": {"order": "any"}, "output": "any", "steps": [
    {"let": "made", "call": "buy", "args": {"order": "$input.order"}}, {"return": "$made"}]}"""
ORDER = {"id": 7, "day": "2026-01-02", "lines": [{"n": 1}], "pay": {"by": "card", "number": "1"}}


@pytest.mark.parametrize("of", [OrderModel, OrderData, OrderDict])
def test_a_model_sees_the_type_and_the_tool_gets_it(of: Any) -> None:
    got: list[Any] = []

    def buy(order: Any) -> Any:
        got.append(order)
        return order

    buy.__annotations__ = {"order": of, "return": of}
    tools = ilo.Tools(buy)
    (signature,) = tools.signatures()
    for part in ["id: number", 'kind?: "new"|"old"', "note?: text|nil", "day: text", "lines: list record", "pay: {by: "]:
        assert signature.count(part) == 2, f"{part} in {signature}"
    run = lambda order: ilo.build(SOURCE, tools=tools, output=of).run_sync({"order": order}, tools=tools)
    outcome = run(ORDER)
    assert isinstance(outcome, ilo.Ok), outcome
    read: Callable[[Any], Any] = (lambda value: value["day"]) if of is OrderDict else (lambda value: value.day)
    assert read(got[0]) == read(outcome.value) == datetime.date(2026, 1, 2)
    for name, wrong in {"id": 0, "kind": "odd", "day": "soon", "lines": [{"n": "x"}], "pay": {"by": "cash"}}.items():
        failed = run({**ORDER, name: wrong})
        assert not isinstance(failed, ilo.Ok) and name in failed.to_json(), failed


def test_what_has_no_json_schema_names_the_tool_and_the_path() -> None:
    def tool(hint: Any) -> Callable[[], Any]:
        def send(order: Any) -> None:
            return None

        send.__annotations__ = {"order": hint, "return": None}
        return lambda: ilo.Tools(send).signatures()

    @dataclasses.dataclass
    class Deep:
        places: list[Place]

    for hint, path in [
        (Place, "order"),
        (list[Place], "order"),
        (Wide, "order.places"),
        (Deep, "order.places"),
        (TypedDict("Typed", {"at": Place}), "order.at"),  # type: ignore[operator]
        (Callable[[], int], "order"),
    ]:
        with pytest.raises(TypeError, match=f"^tool `send`: argument `{path}`: its type has no JSON Schema: "):
            tool(hint)()
        with pytest.raises(TypeError, match="^`output`: .*its type has no JSON Schema: "):
            ilo.build("; fn f() -> number\nRET LIT 1 1\n", output=hint)
