"""Cases of the corpus, read for the tests, and the mocks that they hold. The format: spec/corpus/README.md."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ilo

ROOT = Path(__file__).parents[3]
FOLDERS = ("spec/corpus", "spec/programs")
# The codes of findings that a run reports as it starts; the program itself builds.
AT_THE_START = {"bad-input", "missing-input", "unknown-input", "input-type", "unknown-function", "no-single-entry"}


@dataclass
class Case:
    """A case file."""

    path: Path
    headers: dict[str, str]
    sections: list[tuple[str, str]]


def lines_of(text: str) -> list[str]:
    """The lines with their ends; only LF ends a line."""
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def read_case(path: Path) -> Case:
    """Reads a case."""
    headers: dict[str, str] = {}
    sections: list[tuple[str, list[str]]] = []
    for line in lines_of(path.read_bytes().decode()):
        if line.startswith("=== "):
            sections.append((line[4:].strip(), []))
        elif sections:
            sections[-1][1].append(line)
        elif ":" in line:
            key, _, value = line.partition(":")
            headers[key.strip()] = value.strip()
    return Case(path, headers, [(title, "".join(text)) for title, text in sections])


def cases() -> list[Path]:
    """Every case."""
    return sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.case"))


def section(case: Case, title: str, notation: str | None = None) -> str | None:
    """A section. A section for a notation precedes the one for all notations."""
    found = dict(case.sections)
    return found.get(f"{title} {notation}", found.get(title))


class Mock:
    """A tool that answers as a case says."""

    def __init__(self, name: str, entry: dict[str, Any]) -> None:
        mock = entry["mock"]
        self.name = name
        self.entries = [dict(answer) for answer in (mock if isinstance(mock, list) else [mock])]
        self.entry = entry

    def __call__(self, arguments: dict[str, Any]) -> Any:
        for entry in self.entries:
            if "when" in entry and not fits(entry["when"], arguments):
                continue
            if "times" in entry:
                if entry["times"] == 0:
                    continue
                entry["times"] -= 1
            if "fails" in entry:
                raise ilo.Failure(entry["fails"])
            return entry["returns"]
        shown = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
        raise ilo.Failure(f"no entry of the mock `{self.name}` fits the arguments {shown}")

    def tool(self, *, is_async: bool, read_only: bool | None = None) -> ilo.Tool:
        async def call(arguments: dict[str, Any]) -> Any:
            return self(arguments)

        only = self.entry.get("read_only", False) if read_only is None else read_only
        return ilo.Tool(
            self.name,
            call if is_async else self,
            is_async=is_async,
            read_only=only,
            idempotent=self.entry.get("idempotent", False),
            retries=self.entry.get("retries", 0),
            on_unanswered=self.entry.get("on_unanswered", "ask"),
            requires_rollback=self.entry.get("rollback") == "required",
        )


def fits(pattern: Any, value: Any) -> bool:
    """Whether the value contains all of the pattern: a record may have more fields."""
    if isinstance(pattern, dict) and isinstance(value, dict):
        return all(key in value and fits(pattern[key], value[key]) for key in pattern)
    if isinstance(pattern, list) and isinstance(value, list):
        return len(pattern) == len(value) and all(map(fits, pattern, value))
    return same(pattern, value)


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal as JSON: 1 and 1.0 are, True and 1 are not."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    return type(a) in (int, float) and type(b) in (int, float) and a == b or type(a) is type(b) and a == b


def outcome_of(outcome: Any) -> dict[str, Any]:
    """An outcome in the form of the corpus."""
    match outcome:
        case ilo.Ok(value):
            made: dict[str, Any] = {"status": "ok", "value": value}
        case ilo.Err(error):
            made = {"status": "err", "error": error}
        case ilo.Fault(code, message):
            at = {"function": outcome.function}
            if outcome.line is not None:
                at |= {"line": outcome.line, "column": outcome.column}
            made = {"status": "fault", "code": code, "message": message, "at": at}
        case _:
            raise AssertionError(outcome)
    if outcome.compensation_failures:
        made["compensation_failures"] = [{"tool": t, "error": e} for t, e in outcome.compensation_failures]
    if outcome.rolled_back:
        made["rolled_back"] = [{"tool": tool, "number": number} for tool, number in outcome.rolled_back]
    if outcome.not_rolled_back:
        made["not_rolled_back"] = [{"tool": tool, "why": why} for tool, why in outcome.not_rolled_back]
    return made


def same_outcome(expected: dict[str, Any], found: dict[str, Any]) -> bool:
    """Whether an outcome is the expected one. A fault's message and place count only if the case has them."""
    if expected["status"] != "fault":
        return same(expected, found)
    at = found.pop("at", {})
    if "message" not in expected:
        found.pop("message", None)
    wanted = dict(expected)
    return all(same(value, at.get(key)) for key, value in wanted.pop("at", {}).items()) and same(wanted, found)
