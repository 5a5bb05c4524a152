"""Times of a step of a batch: `fill_masks` and `accept_tokens` for 64 guides, as a server calls them. Prints p50 and the
longest step in ms for both notations, without a budget and within one, and the time of all cores in it: beside other
work only that says something.

`python batch.py VOCABULARY [TOOLS]`: the vocabulary is a file that `guide/real/vocabs.mjs` writes, such as that of o200k.
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
import time
from pathlib import Path
from typing import Any

from ilo.guide import Guide, Session, Vocab, accept_tokens, fill_masks

ROWS = 64
STEPS = 100
BUDGET = 400
VERBS = ["get", "list", "create", "update", "delete", "search", "send", "approve"]
SET = re.compile(rb"[^\0]")
SIGNATURE = "f(id: text, n: number, items: list text) -> result text, text"


def read(path: str) -> Vocab:
    end, *tokens = Path(path).read_text().split("\n")
    return Vocab([bytes.fromhex(token) for token in tokens[:-1]], int(end))


def tool(number: int) -> dict[str, Any]:
    properties = {"id": {"type": "string"}, f"limit_{number % 97}": {"type": "integer", "minimum": 1, "maximum": 100}}
    item = {"type": "object", "properties": {"id": {"type": "string"}, "total": {"type": "number"}}, "required": ["id"]}
    name = f"{VERBS[number % 8]}-{number}"
    return {
        "name": name,
        "inputSchema": {"type": "object", "properties": properties, "required": ["id"]},
        "outputSchema": item,
    }


def some(mask: bytes) -> list[int]:
    """Some allowed tokens: those of the next byte that has one, behind four places."""
    found = []
    for _ in range(4):
        set_byte = SET.search(mask, random.randrange(len(mask))) or SET.search(mask)
        if set_byte is not None:
            at = set_byte.start()
            found += [8 * at + bit for bit in range(8) if mask[at] >> bit & 1]
    return found


def measure(name: str, notation: str, vocab: Vocab, tools: list[dict[str, Any]], left: int | None) -> None:
    session = Session.from_json(json.dumps({"signature": SIGNATURE, "tools": tools, "notation": notation}))
    guides = [Guide(session, vocab) for _ in range(ROWS)]
    rest = [left] * ROWS
    fills: list[tuple[float, float]] = []
    accepts: list[tuple[float, float]] = []
    for _ in range(STEPS):
        start, used = time.perf_counter(), time.process_time()
        masks, failed = fill_masks(guides, rest)
        fills.append((time.perf_counter() - start, time.process_time() - used))
        assert not failed, failed
        size = len(masks) // len(guides)
        # Tokens that end the text come late.
        tokens = []
        for row in range(len(guides)):
            allowed = some(masks[row * size : (row + 1) * size])
            others = [token for token in allowed if token != vocab.eos]
            tokens.append(random.choice(others or allowed))
        start, used = time.perf_counter(), time.process_time()
        refused = accept_tokens(guides, tokens)
        accepts.append((time.perf_counter() - start, time.process_time() - used))
        assert not refused, refused
        rest = [None if it is None else it - 1 for it in rest]
        # A guide that has ended makes room for the next request.
        for row, guide in enumerate(guides):
            if guide.ended:
                guides[row], rest[row] = Guide(session, vocab), left
    for what, times in (("fill_masks", fills), ("accept_tokens", accepts)):
        columns = (sorted(column) for column in zip(*times, strict=True))
        wall, cpu = ((column[len(column) // 2] * 1e3, column[-1] * 1e3) for column in columns)
        print(f"| {name}, {what} | {wall[0]:.2f} | {wall[1]:.2f} | {cpu[0]:.2f} | {cpu[1]:.2f} |", flush=True)


def main() -> None:
    random.seed(7)
    vocab = read(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    tools = [tool(number) for number in range(count)]
    print(f"{len(vocab)} tokens, {count} tools, {ROWS} guides, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print("| ms a step | p50 | most | of CPU, p50 | of CPU, most |\n|---|---|---|---|---|")
    for notation in ("id", "constrained"):
        measure(f"{notation}, no budget", notation, vocab, tools, None)
        measure(f"{notation}, budget of {BUDGET}", notation, vocab, tools, BUDGET)


main()
