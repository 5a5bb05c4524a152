"""Values in both directions, and those that have no form in the language."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import json
import math
import uuid
from typing import Any

import ilo
import pydantic
import pytest

ECHO = ilo.build("; fn f() -> any\n; Tools: 0=t\nRET CALL 0 0\n")
INPUT = ilo.build("; fn f(x: any) -> any\nRET REF 0\n")
RESULT = ilo.build("; fn f() -> result any, any\n; Tools: 0=t\nRET_OK CALL 0 0\n")


def tool(answer: Any) -> ilo.Tools:
    return ilo.Tools(ilo.Tool("t", lambda arguments: answer, is_async=False))


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


class Colour(str, enum.Enum):
    RED = "red"


class Size(enum.Enum):
    LARGE = 3


@dataclasses.dataclass
class Point:
    x: int
    y: Any


class User(pydantic.BaseModel):
    name: str = pydantic.Field(serialization_alias="Name")
    since: datetime.date


GOOD: list[tuple[Any, Any]] = [
    (None, None),
    (True, True),
    (0, 0),
    (2**63 - 1, 2**63 - 1),
    (-(2**63), -(2**63)),
    (0.5, 0.5),
    ("é\0", "é\0"),
    ([1, [2]], [1, [2]]),
    ((1, (2,)), [1, [2]]),
    ({"a": {"": 1}}, {"a": {"": 1}}),
    (collections.OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
    (collections.namedtuple("P", "x y")(1, 2), [1, 2]),
    (Colour.RED, "red"),
    (Size.LARGE, 3),
    (Point(1, [Point(2, None)]), {"x": 1, "y": [{"x": 2, "y": None}]}),
    (datetime.datetime(2026, 1, 2, 3, 4, tzinfo=datetime.timezone.utc), "2026-01-02T03:04:00Z"),
    (datetime.date(2026, 1, 2), "2026-01-02"),
    (datetime.time(3, 4), "03:04:00"),
    (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (User(name="Ada", since=datetime.date(2026, 1, 2)), {"Name": "Ada", "since": "2026-01-02"}),
    (nested(128), nested(128)),
]


@pytest.mark.parametrize(("given", "expected"), GOOD)
def test_a_value_comes_back(given: Any, expected: Any) -> None:
    for outcome in (ECHO.run_sync(tools=tool(given)), INPUT.run_sync({"x": given})):
        assert isinstance(outcome, ilo.Ok)
        assert outcome.value == expected and type(outcome.value) is type(expected)


def circular() -> Any:
    value: dict[str, Any] = {"a": []}
    value["a"].append(value)
    return value


BAD: list[tuple[Any, str]] = [
    (2**63, "an integer past 64 bits"),
    (-(2**63) - 1, "an integer past 64 bits"),
    (math.nan, "not finite"),
    (math.inf, "not finite"),
    (b"x", "the class `bytes`"),
    (bytearray(b"x"), "the class `bytearray`"),
    ({1, 2}, "the class `set`"),
    ((n for n in [1]), "the class `generator`"),
    (object(), "the class `object`"),
    (decimal.Decimal(1), "the class `Decimal`"),
    (len, "the class `builtin_function_or_method`"),
    ({1: 2}, "a record with the key 1, which is not a text"),
    ({None: 2}, "a record with the key None, which is not a text"),
    ("\ud800", "half of a surrogate pair"),
    (circular(), "contains itself"),
]


@pytest.mark.parametrize(("given", "why"), BAD, ids=lambda value: value if isinstance(value, str) else "")
def test_what_is_no_value_fails_the_call_and_refuses_the_input(given: Any, why: str) -> None:
    found = RESULT.run_sync(tools=tool({"deep": [0, given]}))
    assert isinstance(found, ilo.Err), found
    assert why in found.error and "deep[1]" in found.error, found.error
    with pytest.raises(ilo.BadValue, match="the input has"):
        INPUT.run_sync({"x": given})
    run = ECHO.start()
    run.step()
    with pytest.raises(ilo.BadValue, match="the answer (is|has)"):
        run.answer(given)
    run.answer("better")
    assert run.step() == ilo.Ok("better")


def test_what_passes_a_limit_is_a_fault_that_no_program_handles() -> None:
    wide = nested(1)
    for _ in range(60):
        wide = [wide, wide]
    for given, code in ((nested(129), "depth"), (nested(400), "depth"), (wide, "too-large")):
        found = RESULT.run_sync(tools=tool(given))
        assert isinstance(found, ilo.Fault) and code in found.code, found
        run = ECHO.start()
        run.step()
        run.answer(given)
        assert isinstance(run.step(), ilo.Fault)
    text = RESULT.run_sync(tools=tool("x" * (3 << 20)))
    assert isinstance(text, ilo.Fault), text


@pytest.mark.parametrize("given", [b"x", 3, "x", [1], None])
def test_inputs_are_one_dict(given: Any) -> None:
    if given is None:
        with pytest.raises(ilo.StartError, match="missing-input"):
            INPUT.run_sync(given)
    else:
        with pytest.raises((ilo.StartError, ilo.BadValue)):
            INPUT.run_sync(given)


def test_every_problem_is_reported_at_once() -> None:
    program = ilo.build("; fn f(amount: number, name: text) -> any\n; Tools: 0=get-usr\nRET CALL 0 0\n")
    tools = ilo.Tools(ilo.Tool("get-user", lambda arguments: 1, is_async=False))
    with pytest.raises(ilo.StartError) as caught:
        program.run_sync({"amuont": 1, "name": 2}, tools=tools)
    assert [problem.code for problem in caught.value.problems] == [
        "missing-input",
        "input-type",
        "unknown-input",
        "unknown-tool",
    ]
    assert "did you mean `get-user`?" in str(caught.value)


def test_limits_are_named() -> None:
    with pytest.raises(TypeError, match="did you mean `fuel`"):
        INPUT.run_sync({"x": 1}, limits={"feul": 1})
    for bad in (-1, 2**64, "1", None):
        with pytest.raises(ValueError, match="`fuel` expects a number"):
            INPUT.run_sync({"x": 1}, limits={"fuel": bad})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="at most 512"):
        INPUT.run_sync({"x": 1}, limits={"value_depth": 513})
    assert isinstance(INPUT.run_sync({"x": 1}, limits={"fuel": 0}), ilo.Fault)


@dataclasses.dataclass
class Endless:
    x: Any = dataclasses.field(default=None)


def test_a_conversion_that_raises_or_never_ends_fails_the_call() -> None:
    class Raises(pydantic.BaseModel):
        x: Any = None

        def model_dump(self, **options: Any) -> Any:
            raise LookupError("no dump")

    found = RESULT.run_sync(tools=tool(Raises()))
    assert isinstance(found, ilo.Err) and "could not be read" in found.error and "no dump" in found.error
    endless = Endless()
    endless.x = endless
    found = RESULT.run_sync(tools=tool(endless))
    assert isinstance(found, ilo.Fault) or "contains itself" in found.error


def test_an_outcome_is_json_to_the_digit() -> None:
    value = {"big": 2**63 - 1, "half": 0.5, "whole": 2.0, "text": "é\"\n", "list": [None, True]}
    found = ECHO.run_sync(tools=tool(value))
    assert found.to_json() == json.dumps({"status": "ok", "value": value}, ensure_ascii=False, separators=(",", ":"))

    def fails(arguments: dict[str, Any]) -> Any:
        raise ilo.Failure({"code": 2**60})

    failed = ilo.Tools(ilo.Tool("t", fails, is_async=False))
    assert RESULT.run_sync(tools=failed).to_json() == '{"status":"err","error":{"code":1152921504606846976}}'
    fault = json.loads(ECHO.run_sync(tools=failed).to_json())
    assert fault["code"] == "tool-failed" and fault["at"]["line"] == 3, fault


class Connection:
    pass


class Config(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)
    name: str
    inner: list[Connection]


def test_a_schema_that_cannot_be_converted_names_its_tool_and_path() -> None:
    def connect(host: str, config: Config) -> None: ...

    with pytest.raises(TypeError, match=r"tool `connect`: argument `config\.inner`: "):
        ilo.Tools(connect).signatures()

    def opens() -> Connection: ...

    with pytest.raises(TypeError, match=r"tool `opens`: the answer: "):
        ilo.Tools(opens).signatures()
