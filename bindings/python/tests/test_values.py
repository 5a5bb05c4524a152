"""Values in both directions, and those that have no form in the language."""

from __future__ import annotations

import collections
import decimal
import enum
import math
from typing import Any

import ilo
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
