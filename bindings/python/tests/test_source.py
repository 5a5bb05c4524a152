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


def test_an_expected_signature_is_compared_and_fixed() -> None:
    source = "; fn mail(id: number) -> result any, number\nRET_OK REF 0\n"
    signature = "email(id: text) -> result answer, text"
    with pytest.raises(ilo.CompileError) as raised:
        ilo.build(source, signature=signature)
    assert [found.code for found in raised.value.diagnostics] == ["other-signature"] * 3
    assert [found.text for found in ilo.check(source, signature=signature)] == [found.text for found in raised.value.diagnostics]
    fixed, left = ilo.fix(source, signature=signature)
    assert not left and ilo.build(fixed, signature=signature).functions == {"email": {"id": "text"}}
    for wrong in ("", "email", "f() -> text\nRET"):
        with pytest.raises(ValueError, match="is not a signature"):
            ilo.check(source, signature=wrong)


def test_a_strict_check_refuses_what_warnings_foretell() -> None:
    source = "; fn f(c: text) -> bool\nEQ REF 0 LIT 1 1\n"
    assert [found.code for found in ilo.build(source).warnings] == ["never-equal"]
    with pytest.raises(ilo.CompileError, match=r"error\[never-equal\]"):
        ilo.build(source, strict=True)


def test_errors_and_outcomes_are_pickled() -> None:
    import pickle

    source = '; fn f(id: number) -> any\n; Tools: 0=t\nCALL 0 0 1\n'
    with pytest.raises(ilo.CompileError) as raised:
        ilo.build(source, signature="g(id: text) -> any")
    again = pickle.loads(pickle.dumps(raised.value))
    assert str(again) == str(raised.value) and again.diagnostics[0].edits == raised.value.diagnostics[0].edits
    with pytest.raises(ilo.StartError) as refused:
        ilo.build("; fn f(id: number) -> any\nREF 0\n").run_sync({})
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)
    for error in (ilo.SnapshotError("a", "b"), ilo.JournalError("a", "b"), ilo.BadValue("a"), ilo.Failure({"a": 1})):
        copied = pickle.loads(pickle.dumps(error))
        assert type(copied) is type(error) and copied.args == error.args
    echo = ilo.build("; fn f(id: any) -> result any, any\nRET_OK REF 0\n")
    outcome = echo.run_sync({"id": [1, 2.5, 2**63 - 1, None, {"a": "ä"}]})
    copied = pickle.loads(pickle.dumps(outcome))
    assert copied == outcome and copied.fuel == outcome.fuel > 0
    fault = ilo.build("; fn f(a: number) -> number\nDIV REF 0 LIT 1 0\n").run_sync({"a": 1})
    assert isinstance(fault, ilo.Fault) and fault.line == 2
    copied = pickle.loads(pickle.dumps(fault))
    assert copied == fault and (copied.line, copied.instruction) == (fault.line, fault.instruction)
