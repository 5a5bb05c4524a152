"""Runs a part of a run in Python, as shared/examples/replay.rs does in Rust, with the same lines."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import ilo

sys.path.append(str(Path(__file__).parents[1] / "python/tests"))
import corpus

SNAKE = {"toolCalls": "tool_calls"}


def leg(line: str) -> str:
    given = json.loads(line)
    program = ilo.load(bytes.fromhex(given["program"]))
    limits = {SNAKE.get(name, name): value for name, value in given["limits"].items()}
    if given.get("snapshot"):
        run = program.restore(bytes.fromhex(given["snapshot"]), limits=limits)
    else:
        run = program.start(given["input"], function=given["function"], limits=limits)
    snapshots = []
    for ok, value, changes in given["answers"]:
        assert isinstance(run.step(), ilo.Call), "more answers than calls"
        snapshots.append(run.snapshot().hex())
        if changes:
            run.may_change()
        (run.answer if ok else run.fail)(json.loads(value))
    end = run.step()
    if isinstance(end, ilo.Call):
        snapshots.append(run.snapshot().hex())
        outcome = None
    else:
        outcome = corpus.outcome_of(end)
    return json.dumps({"fuel": run.fuel, "snapshots": snapshots, "outcome": outcome})


for line in sys.stdin:
    print(leg(line), flush=True)
