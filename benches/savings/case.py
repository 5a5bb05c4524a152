"""Reads a case of spec/programs: its sources, tools, input, outcome and trace."""

import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The ten programs whose traces have the most calls, and one with a single call.
NAMES = [
    "top-songs", "label-mails", "saga", "over-budget", "polling", "account-rollback", "escalation", "growing-pauses",
    "move-file", "cleanup", "quota-check",
]


def sections(text):
    head, *rest = re.split(r"^=== ", text, flags=re.M)
    case = {"about": re.search(r"^about: (.*)$", head, re.M)[1]}
    for section in rest:
        title, body = section.split("\n", 1)
        case[title.split()[0]] = body
        if title.startswith("source"):
            case["notation"] = title.split()[1]
    return case


def read(name):
    case = sections((ROOT / "spec/programs" / f"{name}.case").read_text())
    case["trace"] = [json.loads(line) for line in case["trace"].splitlines() if line]
    for key in ("tools", "input", "outcome"):
        case[key] = json.loads(case.get(key) or "{}")
    return case


def identifier(tool):
    """The name of a tool as a name of Python."""
    return re.sub(r"[^a-z]", "_", tool.removeprefix("mcp://"))
