"""No memory is kept for runs that have ended, failed, been dropped or been suspended."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ilo
import pytest
from conftest import NOTIFY, notify_tools
from ilo.guide import Guide, Refused, Session, Vocab, accept_tokens, fill_masks

INPUT = {"user-id": "7", "message": "hi"}
PAGE = 4096
SESSION = Session("f(n: number) -> number")
VOCAB = Vocab([b"RET", b" REF", b" 0", *(bytes([byte]) for byte in range(256)), b""], 259)


def resident() -> int:
    """Resident bytes of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def suspends(arguments: dict[str, Any]) -> Any:
    raise ilo.Suspend


def dropped(program: ilo.Program) -> None:
    run = program.start(INPUT)
    run.step()
    run.answer({"email": "x" * 1000, "verified": True})
    run.step()


def guided(program: ilo.Program) -> None:
    guide = Guide(SESSION, VOCAB)
    other = guide.copy()
    for token in (0, 1, 2):
        other.accept(token)
        fill_masks([guide, other], [None, 2])
        accept_tokens([guide.copy(), other.copy()], [0, 0])
    with contextlib.suppress(Refused):
        guide.accept(2)
    Guide(Session("f() -> nil"), VOCAB).rollback(0)


WAYS: dict[str, Callable[[ilo.Program], Any]] = {
    "ends": lambda program: program.run_sync(INPUT, tools=notify_tools()),
    "fails": lambda program: program.run_sync(INPUT, tools=notify_tools(email=b"x")),
    "is dropped in mid-call": dropped,
    "is suspended": lambda program: program.run_sync(INPUT, tools=[ilo.Tool("get-user", suspends, is_async=False), *list(notify_tools())[1:]]),
    "ends in an event loop": lambda program: asyncio.run(program.run(INPUT, tools=notify_tools(is_async=True))),
    "is built": lambda program: ilo.build(NOTIFY),
    "is guided": guided,
    "does not build": lambda program: ilo.check(NOTIFY[:-20] + "nonsense"),
}


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
@pytest.mark.parametrize("way", WAYS)
def test_memory_does_not_grow(notify: ilo.Program, way: str) -> None:
    work = WAYS[way]
    times = 100 if "loop" in way else 1_000
    for _ in range(times):
        work(notify)
    gc.collect()
    before = resident()
    tracemalloc.start()
    objects = tracemalloc.get_traced_memory()[0]
    for _ in range(times):
        work(notify)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - objects
    tracemalloc.stop()
    assert grown < 50_000, grown
    # 1,000 runs that each kept a run's 16 KB would be 16 MB.
    assert resident() - before < 6_000_000
