"""Runs the Python programs beside this file in Monty: each makes the calls of its case, and gives its outcome."""

import json
import sys

import pydantic_monty

from case import NAMES, ROOT, identifier, read


def runs(name, session):
    case = read(name)
    left = list(case["trace"])

    def tool(expected):
        def call(**given):
            entry = left.pop(0)
            assert identifier(entry["tool"]) == expected, f"{name}: {expected} in place of {entry['tool']}"
            args = {key.replace("-", "_"): value for key, value in entry["args"].items()}
            assert args == given, f"{name}: {given} in place of {args}"
            if "failed" in entry:
                raise RuntimeError(entry["failed"])
            return entry["ok"]

        return call

    code = (ROOT / "benches/savings/programs" / f"{name}.py").read_text()
    lookup = {identifier(name): tool(identifier(name)) for name in case["tools"]}
    value = session.feed_run(code, inputs=case["input"], external_lookup=lookup)
    outcome = case["outcome"]
    if isinstance(value, dict) and set(value) <= {"ok", "error"} and len(value) == 1:
        status, value = ("err", value["error"]) if "error" in value else ("ok", value["ok"])
    else:
        status = "ok"
    wanted = outcome["value"] if outcome["status"] == "ok" else outcome["error"]
    assert (status, value) == (outcome["status"], wanted), f"{name}: {json.dumps(value)} in place of {json.dumps(outcome)}"
    assert not left, f"{name}: {len(left)} calls are missing"


for name in NAMES:
    with pydantic_monty.Monty() as pool, pool.checkout() as session:
        runs(name, session)
print(f"{len(NAMES)} programs make the calls of their cases", file=sys.stderr)
