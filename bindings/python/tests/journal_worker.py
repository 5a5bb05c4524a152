"""A process that runs a program in a journal, or continues it, until it has ended or is killed.

    python journal_worker.py JOURNAL EFFECTS [HOLD]

Each call writes a line with its key to EFFECTS, before or after a pause in which the test kills the process.
The call of the tool HOLD stays under way after its effect.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import ilo

STEPS = 5
SOURCE = "; fn f() -> any\n; Tools: 0=look 1=pay 2=post\n; Fields: 0=n\n" + "".join(
    f"LET {3 * n} CALL 0 1 0 LIT 1 {n}\nLET {3 * n + 1} CALL 1 1 0 REF {3 * n}\nLET {3 * n + 2} CALL 2 1 0 REF {3 * n + 1}\n"
    for n in range(STEPS)
)
SOURCE += f"RET LIST {STEPS} " + " ".join(f"REF {3 * n + 2}" for n in range(STEPS)) + "\n"


def tools(effects: Path, hold: str = "") -> ilo.Tools:
    """A read, a call that changes something, and one that may be made twice with the same key."""

    def write(name: str, n: int) -> None:
        with effects.open("a") as file:
            file.write(f"{name} {n} {ilo.idempotency_key()}\n")
            file.flush()
            os.fsync(file.fileno())
        if name == hold:
            time.sleep(3600)

    @ilo.tool(read_only=True)
    async def look(n: int) -> int:
        return n

    @ilo.tool(on_unanswered="ask")
    async def pay(n: int) -> int:
        await asyncio.sleep(0.02)
        write("pay", n)
        await asyncio.sleep(0.02)
        return n + 10

    @ilo.tool(idempotent=True)
    def post(n: int) -> int:
        write("post", n)
        return n + 100

    return ilo.Tools(look, pay, post)


def main() -> None:
    journal, effects = ilo.Journal(sys.argv[1]), Path(sys.argv[2])
    hold = sys.argv[3] if len(sys.argv) > 3 else ""
    print("ready", flush=True)
    print(ilo.build(SOURCE).run_sync(journal=journal, name="job", tools=tools(effects, hold)), flush=True)


if __name__ == "__main__":
    main()
