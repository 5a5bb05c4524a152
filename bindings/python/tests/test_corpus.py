"""Every case of the corpus: its diagnostics, its outcome, and the same fuel however it is run."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from typing import Any

import corpus
import ilo
import pytest


def options(case: corpus.Case) -> dict[str, Any]:
    """The arguments of `run` for a case's options."""
    words = case.headers.get("options", "").split()
    given = {word: words[at + 1] for at, word in enumerate(words) if word.startswith("--") and at + 1 < len(words)}
    names = {
        "--fuel": "fuel",
        "--max-calls": "tool_calls",
        "--max-items": "items",
        "--max-rollbacks": "rollbacks",
    }
    unknown = [word for word in words if word.startswith("--max-") and word not in names]
    assert not unknown, f"{unknown}: options that set no limit here"
    made: dict[str, Any] = {"limits": {name: int(given[key]) for key, name in names.items() if key in given}}
    if "--fn" in given:
        made["function"] = given["--fn"]
    return made


def needs_a_process(case: corpus.Case, tools: dict[str, Any]) -> bool:
    """Whether the case is about tools files: commands, servers and time, which this package does not have.

    Also whether it is about schemas, which the runs here are not given (rule 3.5.14 reads a text by its tool's schema;
    test_output.py has expected values).
    """
    mocks = [entry.get("mock") for entry in tools.values()]
    entries = [entry for mock in mocks for entry in (mock if isinstance(mock, list) else [mock])]
    waits = any(isinstance(entry, dict) and "delay_ms" in entry for entry in entries)
    renamed = any(not {"input", "output", "input_schema"}.isdisjoint(entry) for entry in tools.values())
    by_schema = "3.5.14" in case.headers.get("rule", "").replace(",", " ").split()
    expected = corpus.section(case, "output") is not None
    return None in mocks or waits or renamed or by_schema or expected or "--timeout" in case.headers.get("options", "")


# The Rust program that runs a program with given answers; bindings/ci.sh builds it.
REPLAY = corpus.ROOT / "bindings/target/trial/examples/replay"
CAMEL = {"tool_calls": "toolCalls"}


class Replays:
    """Runs for Rust to repeat: their input, and their result here."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.found: list[tuple[str, list[bytes], Any]] = []

    def differences(self) -> list[str]:
        """Runs whose outcome, fuel or snapshots differ in Rust."""
        done = subprocess.run([REPLAY], input="".join(self.lines), capture_output=True, text=True, check=True)
        found = []
        for line, (name, snapshots, outcome) in zip(done.stdout.splitlines(), self.found, strict=True):
            rust = json.loads(line)
            own = [snapshot.hex() for snapshot in snapshots]
            ours = corpus.outcome_of(outcome)
            ours.pop("at", None)
            rust["outcome"].pop("at", None)
            if rust["fuel"] != outcome.fuel or rust["snapshots"] != own or not corpus.same(rust["outcome"], ours):
                found.append(f"{name}: in Rust {line[:300]}; here fuel {outcome.fuel}, {ours}, {own}")
        return found


def steps(
    program: ilo.Program, inputs: Any, tools: dict[str, corpus.Mock], replay: tuple[str, Replays] | None, **given: Any
) -> Any:
    """Runs step by step: for Rust to repeat it, or through a snapshot at every call."""
    limits = given.get("limits")
    run = program.start(inputs, **given)
    answers: list[Any] = []
    snapshots: list[bytes] = []
    while isinstance(call := run.step(), ilo.Call):
        tool = tools.get(call.tool) or tools[call.tool.rsplit("/", 1)[-1]]
        snapshots.append(run.snapshot())
        changes = not tool.entry.get("read_only")
        if changes:
            run.may_change()
        if replay is None:
            # The message of a fault for memory has a number of bytes, which differs then.
            run = program.restore(run.snapshot(), limits=limits)
        try:
            value, ok = tool(call.arguments), True
            run.answer(value)
        except ilo.Failure as failure:
            value, ok = failure.value, False
            run.fail(value)
        answers.append([ok, json.dumps(value), changes])
    assert run.step().fuel == run.fuel
    wanted = {
        "program": program.to_bytes().hex(),
        "input": inputs,
        "function": given.get("function"),
        "limits": {CAMEL.get(key, key): value for key, value in (limits or {}).items()},
        "answers": answers,
    }
    if replay is not None:
        name, replays = replay
        replays.lines.append(json.dumps(wanted) + "\n")
        replays.found.append((name, snapshots, call))
    return call


def catalogue(case: corpus.Case) -> ilo.Tools | None:
    """The tools that the check of a case knows."""
    catalog = corpus.section(case, "catalog")
    if catalog is None:
        return None
    listed = json.loads(catalog)
    listed = listed["tools"] if isinstance(listed, dict) else listed
    made = [
        ilo.Tool(
            entry["name"],
            lambda arguments: None,
            is_async=False,
            description=entry.get("description"),
            input_schema=entry.get("inputSchema"),
            output_schema=entry.get("outputSchema"),
            validate=entry.get("validate", True),
            requires_rollback=entry.get("policy", {}).get("rollback") == "required",
        )
        for entry in listed
    ]
    return ilo.Tools(*made)


def check_run(case: corpus.Case, notation: str, source: str, replays: Replays) -> str | None:
    """Runs a case in every way. Returns the runs."""
    given = json.loads(corpus.section(case, "tools", notation) or "{}")
    if needs_a_process(case, given):
        return None
    inputs = json.loads(corpus.section(case, "input", notation) or "{}")
    wanted = json.loads(corpus.section(case, "outcome", notation) or "null")
    program = ilo.build(source, tools=catalogue(case), notation=notation)  # type: ignore[arg-type]
    more = options(case)

    def mocks() -> dict[str, corpus.Mock]:
        return {name: corpus.Mock(name, entry) for name, entry in given.items()}

    def tools(is_async: bool, read_only: bool | None = None) -> ilo.Tools:
        return ilo.Tools(*(mock.tool(is_async=is_async, read_only=read_only) for mock in mocks().values()))

    inline = program.run_sync(inputs, tools=tools(False), **more)
    counted = any("times" in entry for mock in mocks().values() for entry in mock.entries)
    found = {
        "in this thread": inline,
        "packed": ilo.load(program.to_bytes()).run_sync(inputs, tools=tools(False), **more),
        "in an event loop": asyncio.run(program.run(inputs, tools=tools(True), **more)),
    }
    for way, outcome in found.items():
        made = corpus.outcome_of(outcome)
        assert corpus.same_outcome(wanted, dict(made)), f"{way}: expected {wanted}, found {made}"
        assert outcome.fuel == inline.fuel, way
    for replay in (None, (f"{case.path.name} ({notation})", replays)):
        stepped = steps(program, inputs, mocks(), replay, **more)
        assert corpus.same_outcome(wanted, corpus.outcome_of(stepped)), "step by step"
        assert stepped.fuel == inline.fuel, "step by step"
    if not counted:
        both = [asyncio.run(program.run(inputs, tools=tools(True, True), max_concurrency=n, **more)) for n in (1, 16)]
        assert corpus.same(*map(corpus.outcome_of, both)), "side by side"
        assert both[0].fuel == both[1].fuel, "side by side"
    return case.path.name


def check_diagnostics(case: corpus.Case, notation: str, source: str, wanted: str) -> None:
    """The diagnostics of the check, in order."""
    output = corpus.section(case, "output")
    schema = None if output is None else json.loads(output)
    found = ilo.check(source, tools=catalogue(case), notation=notation, output=schema)  # type: ignore[arg-type]
    expected = [line.split() for line in wanted.splitlines() if line.strip() and not line.lstrip().startswith("says")]
    if not found:
        expected = [words for words in expected if words[1] not in corpus.AT_THE_START]
    strict = "--deny-warnings" in case.headers.get("options", "")
    left = [(f.severity, f.code, f.line, f.column) for f in found]
    for severity, code, *place in expected:
        line, _, column = place[0].partition(":") if place else ("", "", "")
        fits = [
            one
            for one in left
            if one[1] == code
            and (strict or one[0] == severity)
            and (not line or one[2] == int(line))
            and (not column or one[3] == int(column))
        ]
        assert fits, f"expected {severity} {code} {place}, found {left}"
        left.remove(fits[0])
    assert not left, f"not expected: {left}"


def test_every_case_holds() -> None:
    ran, failures, replays = 0, [], Replays()
    for path in corpus.cases():
        try:
            case = corpus.read_case(path)
        except UnicodeDecodeError:
            continue
        for title, source in case.sections:
            if not title.startswith("source "):
                continue
            notation = title.split()[1]
            try:
                if (wanted := corpus.section(case, "diagnostics", notation)) is not None:
                    check_diagnostics(case, notation, source, wanted)
                if corpus.section(case, "outcome", notation) is not None:
                    ran += check_run(case, notation, source, replays) is not None
            except Exception as error:
                failures.append(f"{path.relative_to(corpus.ROOT)} ({notation}): {type(error).__name__}: {error}")
    if REPLAY.exists():
        failures += replays.differences()
    else:
        assert not os.environ.get("CI"), f"{REPLAY} is not built"
    if failures:
        pytest.fail(f"{ran} ran, {len(failures)} did not hold\n" + "\n".join(failures))
    assert ran > 1000, ran
