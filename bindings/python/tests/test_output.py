"""`output=`: the check compares what it knows of the value, a value that still differs is rolled back, others are typed."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import pickle
from pathlib import Path
from typing import Annotated, Any, Callable

import ilo
import pydantic
import pytest
from typing_extensions import TypedDict

Positive = Annotated[int, pydantic.AfterValidator(lambda n: n if n > 0 else 1 // 0)]


class Report(pydantic.BaseModel):
    title: str
    at: datetime.date
    parts: list[Annotated[int, pydantic.Field(le=9)]] = []


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Pair(TypedDict):
    a: str
    b: int


# It makes a reservation with its rollback, and returns what another tool gives.
SOURCE = (
    "; fn f() -> any\n; Tools: 0=reserve 1=release 2=get\n; Fields: 0=id\n"
    "LET 0 CALL 0 0\nROLLBACK CALL 1 1 0 REF 0\nRET CALL 2 0\n"
)


class Shop:
    def __init__(self, value: Any) -> None:
        self.calls: list[str] = []
        self.value = value

    def tools(self, *, is_async: bool = False) -> ilo.Tools:
        def call(name: str, found: Any) -> Any:
            def plain(arguments: dict[str, Any]) -> Any:
                self.calls.append(name)
                return found

            async def later(arguments: dict[str, Any]) -> Any:
                return plain(arguments)

            return ilo.Tool(name, later if is_async else plain, is_async=is_async)

        return ilo.Tools(call("reserve", 7), call("release", None), call("get", self.value))


def runs(output: Any, tmp_path: Path) -> dict[str, Callable[[Shop], Any]]:
    program = ilo.build(SOURCE, output=output)
    again = pickle.loads(pickle.dumps(program)) if isinstance(output, (type, dict)) else program
    return {
        "sync": lambda shop: program.run_sync(tools=shop.tools()),
        "in an event loop": lambda shop: asyncio.run(program.run(tools=shop.tools(is_async=True))),
        "with options": lambda shop: program.run_sync(tools=shop.tools(), timeout=60),
        "from a pickle": lambda shop: again.run_sync(tools=shop.tools()),
        "in a journal": lambda shop: program.run_sync(tools=shop.tools(), journal=ilo.Journal(tmp_path / "j")),
        "streamed": lambda shop: asyncio.run(program.stream(tools=shop.tools()).outcome()),
    }


GOOD: list[tuple[Any, Any, Any]] = [
    (Report, {"title": "a", "at": "2026-01-02"}, Report(title="a", at=datetime.date(2026, 1, 2))),
    (Point, {"x": 1}, Point(1)),
    (Pair, {"a": "x", "b": 2}, {"a": "x", "b": 2}),
    (list[Point], [{"x": 1, "y": 2}], [Point(1, 2)]),
    ({"type": "object", "properties": {"a": {"type": "integer"}}}, {"a": 1}, {"a": 1}),
    (Positive, 3, 3),
]


@pytest.mark.parametrize(("output", "value", "typed"), GOOD)
def test_the_value_has_the_type_that_is_expected(output: Any, value: Any, typed: Any, tmp_path: Path) -> None:
    for way, run in runs(output, tmp_path).items():
        shop = Shop(value)
        found = run(shop)
        assert found == ilo.Ok(typed) and type(found.value) is type(typed), way
        assert shop.calls == ["reserve", "get"]


BAD: list[tuple[Any, Any, str]] = [
    # What the schema says is compared in one way everywhere; what only pydantic knows is compared after that.
    (Report, {"title": 1, "at": "2026-01-02"}, "`title`: expected text, found a number"),
    (Report, {"title": "a"}, "the field `at` is missing"),
    (Report, {"title": "a", "at": "soon"}, "`at`: Input should be a valid date"),
    (Point, {"y": 1}, "the field `x` is missing"),
    (Pair, {"a": "x", "b": "y"}, "`b`: expected number, found a text"),
    ({"type": "string"}, 7, "expected text, found a number"),
    # A validator that fails in another way refuses the value too.
    (Positive, 0, "division"),
]


@pytest.mark.parametrize(("output", "value", "why"), BAD)
def test_another_value_is_a_fault_after_the_rollback(output: Any, value: Any, why: str, tmp_path: Path) -> None:
    for way, run in runs(output, tmp_path).items():
        shop = Shop(value)
        found = run(shop)
        assert isinstance(found, ilo.Fault) and found.code == "output-mismatch", (way, found)
        assert why in found.message, (way, found.message)
        assert shop.calls == ["reserve", "get", "release"], way
        assert found.rolled_back == [("release", 3)]


def test_the_check_compares_what_it_knows() -> None:
    wrong = '{"function": "f", "input": {}, "output": "any", "steps": [{"return": {"title": 1}}]}'
    with pytest.raises(ilo.CompileError) as caught:
        ilo.build(wrong, output=Report)
    assert {found.code for found in caught.value.diagnostics} == {"other-signature"}
    assert "lacks the field `at`" in str(caught.value) and "`title`" in str(caught.value)
    assert [found.is_error for found in ilo.check(wrong, output=Report)] == [True, True]
    assert len(ilo.fix(wrong, output=Report)[1]) == 2
    assert ilo.card(output=Point).rstrip().endswith("{x: number, y?: number}")


def test_a_stored_outcome_and_a_resumed_run_are_typed(tmp_path: Path) -> None:
    journal, shop = ilo.Journal(tmp_path / "j"), Shop({"x": 1})
    program = ilo.build(SOURCE, output=Point)
    for _ in range(2):
        assert program.run_sync(tools=shop.tools(), journal=journal, name="a") == ilo.Ok(Point(1))
    assert shop.calls == ["reserve", "get"]
    assert journal.resume_sync("a", tools=shop.tools(), output=Point) == ilo.Ok(Point(1))
    assert journal.resume_sync("a", tools=shop.tools()) == ilo.Ok({"x": 1})


class Odd:
    pass


class Holds(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)
    inner: list[Odd]


@pytest.mark.parametrize(("output", "words"), [(Odd, ""), (Holds, "`inner"), (Callable[[], int], "")])
def test_what_has_no_schema_is_refused_with_its_path(output: Any, words: str) -> None:
    with pytest.raises(TypeError, match="its type has no JSON Schema") as caught:
        ilo.build(SOURCE, output=output)
    assert "`output`" in str(caught.value) and words in str(caught.value)


def test_types_of_outcomes_may_be_written_out() -> None:
    assert repr(ilo.Ok[int]).endswith("Ok[int]") and ilo.Outcome[int] is not None
    found: ilo.Outcome[Point] = ilo.build(SOURCE, output=Point).run_sync(tools=Shop({"x": 1}).tools())
    assert isinstance(found, ilo.Ok) and found.value.x == 1
