"""Sources: diagnostics, fixes, conversions, pictures, cards."""

from __future__ import annotations

from typing import Any

import ilo
import pytest
from conftest import NOTIFY, notify_tools

NOTATIONS = ("id", "tool-calling", "constrained", "workflow", "mcp")


def get_user(user_id: str, deep: bool = False) -> dict[str, str]:
    """Looks a user up."""
    return {"id": user_id}


def test_an_error_says_what_to_write() -> None:
    source = "; fn f() -> any\n; Tools: 0=get_usr\n; Fields: 0=user_id\nRET CALL 0 1 0 LIT 0 \"7\"\n"
    with pytest.raises(ilo.CompileError) as caught:
        ilo.build(source, tools=[get_user])
    error = caught.value
    [found] = error.diagnostics
    assert (found.code, found.nearest, found.is_error) == ("unknown-tool", "get_user", True)
    text = str(error)
    assert text.startswith("the program has 1 error")
    assert f"{found.line}:{found.column}: error[unknown-tool]" in text and "get_user" in text
    assert "no program" in ilo.explain("unknown-tool") or ilo.explain("unknown-tool")
    with pytest.raises(ValueError, match="did you mean `unknown-tool`"):
        ilo.explain("unknown-tol")


def test_places_count_characters() -> None:
    source = '; fn é() -> any\nRET CONCAT LIT 0 "é€😀" RFE 0\n'
    found = [d for d in ilo.check(source) if d.line == 2]
    assert found, ilo.check(source)
    for diagnostic in found:
        assert source[diagnostic.start : diagnostic.end]
        line = source.splitlines()[diagnostic.line - 1]
        start = sum(len(before) + 1 for before in source.splitlines()[: diagnostic.line - 1])
        assert diagnostic.start - start == diagnostic.column - 1 <= len(line)


def test_fixes_are_applied() -> None:
    step = '{"let":"user","call":"get_usr","args":{"user_id":"7"}},{"return":"$user"}'
    source = '{"function":"f","input":{},"output":"any","steps":[' + step + "]}"
    fixed, left = ilo.fix(source, tools=[get_user])
    assert "get_user" in fixed and not left
    assert ilo.build(fixed, tools=[get_user]).run_sync(tools=[get_user]) == ilo.Ok({"id": "7"})


@pytest.mark.parametrize("notation", NOTATIONS)
def test_every_notation_is_read_and_written(notation: Any) -> None:
    text = ilo.convert(NOTIFY, notation)
    assert ilo.detect(text) == notation and ilo.check(text) == []
    assert ilo.format(text) == text
    program = ilo.build(text)
    found = program.run_sync({"user-id": "7", "message": "hi"}, tools=notify_tools())
    assert found == ilo.Ok(None)
    assert "get_user" in ilo.card(notation, tools=[get_user])


def test_a_program_is_packed_and_read() -> None:
    program = ilo.build(NOTIFY)
    again = ilo.load(program.to_bytes())
    assert again.tools == ["get-user", "send-email"] and again.functions == program.functions
    assert program.functions == {"notify": {"user-id": "text", "message": "text"}}
    assert "fn notify" in program.disassemble()
    for bad in (b"", b"x" * 100, program.to_bytes()[:-1], bytes(1 << 20)):
        with pytest.raises(ValueError):
            ilo.load(bad)


def test_a_plan_says_what_a_run_would_do() -> None:
    first, second = ilo.build(NOTIFY).plan(tools=notify_tools())
    assert (first.tool, first.most, first.read_only) == ("get-user", "1", True)
    assert (second.tool, second.read_only, len(second.without_rollback)) == ("send-email", False, 1)
    assert (first.after_crash, second.after_crash) == ("again", "doubt")


@pytest.mark.parametrize("form", ["svg", "dot", "mermaid"])
def test_pictures(form: Any) -> None:
    assert "notify" in ilo.graph(NOTIFY, form)
    with pytest.raises(ilo.CompileError):
        ilo.graph("nonsense", form)
    with pytest.raises(ValueError, match="`png`"):
        ilo.graph(NOTIFY, "png")  # type: ignore[arg-type]


@pytest.mark.parametrize("source", ["", "\0", "[" * 100_000, "x" * 10_000_000, "- " * 50_000, "\ufeff{"])
def test_garbage_is_an_error_of_the_language(source: str) -> None:
    with pytest.raises(ilo.CompileError) as caught:
        ilo.build(source)
    assert caught.value.diagnostics and len(str(caught.value)) < 100_000
    for notation in NOTATIONS:
        assert any(found.is_error for found in ilo.check(source, notation=notation))
    ilo.detect(source)


def test_arguments_of_other_types_are_type_errors() -> None:
    for bad in (None, b"x", 3):
        with pytest.raises(TypeError):
            ilo.build(bad)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`yaml` is not a notation"):
        ilo.build(NOTIFY, notation="yaml")  # type: ignore[arg-type]
    with pytest.raises(UnicodeEncodeError):
        ilo.build("\ud800")
