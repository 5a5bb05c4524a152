"""Tools from functions: names, signatures, policies, validation."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, Literal, Optional

import ilo
import pydantic
import pytest


class User(pydantic.BaseModel):
    email: str
    level: Literal["gold", "silver"] = "silver"


@dataclasses.dataclass
class Point:
    x: int
    y: float


@ilo.tool(name="get-user", read_only=True, timeout=5)
async def get_user(user_id: int, deep: bool = False) -> User:
    """Looks a user up.

    More about it.
    """
    return User(email=f"{user_id}@example.org")


def test_a_function_becomes_a_tool_with_its_signature() -> None:
    tools = ilo.Tools(get_user)
    assert tools.signatures() == [
        'get-user(user_id: number, deep?: bool) -> {email: text, level: "gold"|"silver"}'
    ] or tools.signatures()[0].startswith("get-user(user_id: number, deep?: bool) -> {email: text")
    assert "# Looks a user up." in ilo.card("id", tools=tools)
    assert tools["get-user"].read_only and get_user.timeout == 5


def run(function: Any, body: str, **inputs: Any) -> Any:
    return ilo.build(body).run_sync(inputs, tools=[function])


def test_arguments_and_answers_are_validated() -> None:
    def move(to: Point, by: Annotated[int, pydantic.Field(ge=0)] = 1) -> Point:
        assert isinstance(to, Point)
        return Point(to.x + by, to.y)

    body = "; fn f(to: any) -> result any, any\n; Tools: 0=move\n; Fields: 0=to\nRET_OK CALL 0 1 0 REF 0\n"
    assert run(move, body, to={"x": 1, "y": 2}) == ilo.Ok({"x": 2, "y": 2.0})
    bad = run(move, body, to={"x": "no", "y": 2})
    assert isinstance(bad, ilo.Err) and "`to.x`" in bad.error

    def wrong(to: Any) -> User:
        return {"email": 3}  # type: ignore[return-value]

    found = run(wrong, body.replace("move", "wrong"), to=1)
    assert isinstance(found, ilo.Err) and "`email`" in found.error


def test_what_no_schema_says_is_taken_as_it_is() -> None:
    def any_of(x, y=2):  # type: ignore[no-untyped-def]
        return [x, y]

    assert ilo.Tools(any_of).signatures() == ["any_of(x: any, y?: any) -> any"]
    body = "; fn f() -> any\n; Tools: 0=any_of\n; Fields: 0=x\nRET CALL 0 1 0 LIT 1 1\n"
    assert run(any_of, body) == ilo.Ok([1, 2])


def test_a_dataclass_needs_no_return_type() -> None:
    def point():  # type: ignore[no-untyped-def]
        return Point(1, 2)

    body = "; fn f() -> result any, any\n; Tools: 0=point\nRET_OK CALL 0 0\n"
    found = run(point, body)
    assert found == ilo.Ok({"x": 1, "y": 2})


def test_the_decorated_function_is_still_one() -> None:
    @ilo.tool
    def double(n: int) -> int:
        return 2 * n

    assert double(4) == 8 and isinstance(double, ilo.Tool)


def test_what_cannot_be_a_tool_says_why() -> None:
    def positional(x: int, /) -> int:
        return x

    def several(*x: int) -> int:
        return sum(x)

    for function in (positional, several):
        with pytest.raises(ValueError, match="the parameter `x` has none"):
            ilo.Tools(function)
    with pytest.raises(TypeError, match="expected a function"):
        ilo.Tools(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="two tools have the name `positional`"):
        ilo.Tools(ilo.Tool("positional", len, is_async=False), ilo.Tool("positional", len, is_async=False))
    with pytest.raises(ValueError, match="`on_unanswered`"):
        ilo.Tool("t", len, is_async=False, on_unanswered="perhaps")  # type: ignore[arg-type]
    for timeout in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="`timeout`"):
            ilo.Tools(ilo.Tool("t", len, is_async=False, timeout=timeout)).signatures()
    with pytest.raises(ValueError, match="`retries` is at most 10"):
        ilo.Tools(ilo.Tool("t", len, is_async=False, idempotent=True, retries=11)).signatures()
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"read_only": "no"}, "`read_only` expects a bool, found 'no'"),
        ({"confirm": 1}, "`confirm` expects a bool, found 1"),
        ({"validate": None}, "`validate` expects a bool, found None"),
        ({"retries": 1.5, "idempotent": True}, "`retries` expects an int, found 1.5"),
        ({"timeout": "5"}, "`timeout` expects seconds, found '5'"),
        ({"description": 5}, "`description` expects a str, found 5"),
    ]
    for policy, message in wrong:
        with pytest.raises(TypeError, match=f"^tool `t`: {message}$"):
            ilo.Tool("t", len, is_async=False, **policy)
    for retries in (-1, 2**40):
        with pytest.raises(ValueError, match="^tool `t`: `retries` is at most 10$"):
            ilo.Tools(ilo.Tool("t", len, is_async=False, idempotent=True, retries=retries)).signatures()
    with pytest.raises(TypeError, match="the name of a tool is a str, found 5"):
        ilo.Tool(5, len, is_async=False)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="tool `t`: `call` expects a function, found 5"):
        ilo.Tool("t", 5, is_async=False)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="its type hints are its schema; `input_schema` is an argument of `ilo.Tool`"):
        ilo.tool(name="t", input_schema={})(len)  # type: ignore[call-overload]


def test_a_schema_that_is_no_json_names_its_tool() -> None:
    around: dict[str, Any] = {}
    around["items"] = around
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"items": deep}
    wrong: list[Any] = [around, deep, {"minimum": float("nan")}, {"enum": {1}}, {b"a": 1}, {"title": "\ud800"}]
    for schema in wrong:
        right = ilo.Tool("right", len, is_async=False, input_schema={"type": "object"})
        with pytest.raises(ValueError, match="^tool `wrong`: its name, description or schema has no form in JSON: "):
            ilo.Tools(right, ilo.Tool("wrong", len, is_async=False, input_schema=schema)).signatures()
    half = ilo.Tool("t", len, is_async=False, input_schema={"title": "a\ud800"})
    with pytest.raises(ValueError, match="half of a surrogate pair after `.*\"title\": \"a`; write the whole character"):
        ilo.Tools(half).signatures()
    with pytest.raises(ValueError, match=r"^tool `t\?`: .* after `{\"name\": \"t`; "):
        ilo.Tools(ilo.Tool("t\ud800", len, is_async=False)).signatures()


def test_tools_come_together() -> None:
    def a() -> None: ...

    def b(x: Optional[int] = None) -> None: ...

    tools = ilo.Tools(a)
    tools |= ilo.Tools(b)
    assert [tool.name for tool in tools] == ["a", "b"] and "a" in tools and len(tools) == 2
    with pytest.raises(ValueError, match="two tools"):
        tools | ilo.Tools(a)


def test_a_method_that_is_a_tool_is_one_of_its_object() -> None:
    class Shop:
        def __init__(self, name: str) -> None:
            self.name = name

        @ilo.tool(read_only=True, name="find-item")
        def find(self, item: str) -> str:
            """Finds an item."""
            return f"{self.name}: {item}"

    tools = ilo.Tools(Shop("corner").find)
    assert tools.signatures() == ["find-item(item: text) -> text"]
    assert tools["find-item"].read_only and tools["find-item"].description == "Finds an item."
    program = ilo.build('; fn f() -> any\n; Tools: 0=find-item\n; Fields: 0=item\nCALL 0 1 0 LIT 0 "tea"\n', tools=tools)
    assert program.run_sync(tools=tools) == ilo.Ok("corner: tea")
    assert Shop("x").find("tea") == "x: tea"


def test_the_old_names_work_for_one_release() -> None:
    with pytest.warns(DeprecationWarning, match="on_unanswered"):
        assert ilo.Tool("t", lambda arguments: 1, is_async=False, on_doubt="stop").on_unanswered == "stop"
    program = ilo.build("; fn f() -> any\n; Tools: 0=t\nCALL 0 0\n")
    tools = ilo.Tools(ilo.Tool("t", lambda arguments: 1, is_async=False))
    with pytest.warns(DeprecationWarning, match="max_concurrency"):
        assert program.run_sync(tools=tools, at_once=2) == ilo.Ok(1)
    with pytest.warns(DeprecationWarning, match="CallResult"):
        assert ilo.Made is ilo.CallResult  # type: ignore[attr-defined]


def test_the_card_says_what_the_check_will_ask() -> None:
    schema = {"type": "object", "properties": {"amount": {"type": "number", "minimum": 1, "maximum": 500}}}
    pay = ilo.Tool("pay", lambda arguments: 1, is_async=False, input_schema=schema, confirm=True, requires_rollback=True)
    card = ilo.card(tools=[pay], signature="buy(amount: number) -> result text, text")
    assert "A person is asked before each call. Each call needs a rollback directly after it.\n  # amount: 1 to 500\n" in card
    assert "Write one program, of the function `buy(amount: number) -> result text, text`." in card


def test_a_host_is_type_checked() -> None:
    import os
    import subprocess
    import sys
    from pathlib import Path

    here = Path(__file__).parent
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--python-version", "3.10", "host_types.py"]
    around = {**os.environ, "MYPYPATH": str(here.parent / "python")}
    done = subprocess.run(command, cwd=here, env=around, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
