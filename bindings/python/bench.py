"""Measures the package beside pydantic-monty in one run: rounds of both in turn, the best of each.

    python bench.py [WHEEL] [--save]

`--save` writes the table to bindings/RESULTS.md. pydantic-monty runs in worker processes; its columns are empty
where it is not installed.
"""

from __future__ import annotations

import asyncio
import datetime
import importlib.metadata
import re
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import ilo

# Many short rounds, so that some of them are not disturbed by other work of the machine.
ROUNDS = 40
ROOT = Path(__file__).parents[2]
NOTIFY = (ROOT / "examples/notify.ilo").read_text()
INPUT = {"user-id": "7", "message": "hi"}
CALLS = 200
MONTY_NOTIFY = """
user = get_user(user_id)
result = 'Email not verified'
if user['verified']:
    result = send_email(user['email'], 'Notification', message)
result
"""
USER = {"email": "ada@example.org", "verified": True}


def one(work: Callable[[], Any], times: int) -> float:
    """Microseconds for each of this number of operations."""
    begun = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - begun) / times * 1e6


async def one_async(work: Callable[[], Awaitable[Any]], times: int) -> float:
    """As `one`, in an event loop."""
    begun = time.perf_counter()
    for _ in range(times):
        await work()
    return (time.perf_counter() - begun) / times * 1e6


def import_ms(module: str) -> float:
    """Milliseconds of the first import in a fresh process."""
    code = f"import time; t = time.perf_counter(); import {module}; print((time.perf_counter() - t) * 1e3)"
    return float(subprocess.check_output([sys.executable, "-c", code]))


# A figure, or the times of runs with many calls and with one. The difference is that of their bests, since the
# difference within a round in which the shorter one was disturbed is too small.
Figure = float | tuple[float, float]


def least(rounds: list[dict[str, Figure]]) -> dict[str, float]:
    """The best of each figure."""

    def best(figures: list[Figure]) -> float:
        pairs = [figure for figure in figures if isinstance(figure, tuple)]
        if pairs:
            return (min(whole for whole, _ in pairs) - min(rest for _, rest in pairs)) / (CALLS - 1)
        return min(figure for figure in figures if not isinstance(figure, tuple))

    return {name: best([found[name] for found in rounds]) for name in rounds[0]}


def tools(is_async: bool) -> ilo.Tools:
    """The tools of notify, and one for many calls."""

    def get(arguments: Any) -> Any:
        return USER

    def send(arguments: Any) -> Any:
        return None

    async def get_async(arguments: Any) -> Any:
        return USER

    async def send_async(arguments: Any) -> Any:
        return None

    pair = (get_async, send_async) if is_async else (get, send)
    return ilo.Tools(
        ilo.Tool("get-user", pair[0], is_async=is_async),
        ilo.Tool("send-email", pair[1], is_async=is_async),
    )


def many(count: int) -> ilo.Program:
    """A program that makes this number of calls."""
    head = "; fn f() -> any\n; Tools: 0=send-email\n"
    return ilo.build(head + "LET 0 CALL 0 0\n" * count + "RET REF 0\n")


def own() -> dict[str, Figure]:
    """The figures of this package."""
    program, sync, asynchronous = ilo.build(NOTIFY), tools(False), tools(True)
    calls, none = many(CALLS), many(1)
    run = program.start(INPUT)
    run.step()

    async def in_loop() -> tuple[float, tuple[float, float]]:
        notify = await one_async(lambda: program.run(INPUT, tools=asynchronous), 200)
        whole = await one_async(lambda: calls.run(tools=asynchronous), 5)
        rest = await one_async(lambda: none.run(tools=asynchronous), 200)
        return notify, (whole, rest)

    notify_async, call_async = asyncio.run(in_loop())
    whole, rest = one(lambda: calls.run_sync(tools=sync), 5), one(lambda: none.run_sync(tools=sync), 200)

    def stepped() -> None:
        run = program.start(INPUT)
        run.step()
        run.answer(USER)
        run.step()
        run.answer(None)
        run.step()

    return {
        "import, ms": import_ms("ilo"),
        "notify, run_sync, µs": one(lambda: program.run_sync(INPUT, tools=sync), 200),
        "notify, run, µs": notify_async,
        "notify, step by step, µs": one(stepped, 200),
        "a call, run_sync, µs": (whole, rest),
        "a call, run, µs": call_async,
        "snapshot, bytes": len(run.snapshot()),
        "snapshot, µs": one(run.snapshot, 1_000),
    }


def monty() -> dict[str, Figure]:
    """The figures of pydantic-monty for the same work."""
    import pydantic_monty

    inputs = {"user_id": "7", "message": "hi"}
    call = "for _ in range({}):\n    x = send_email('a', 'b', 'c')\nx"

    def get(user_id: str) -> Any:
        return USER

    def send(to: str, subject: str, body: str) -> Any:
        return None

    async def get_async(user_id: str) -> Any:
        return USER

    async def send_async(to: str, subject: str, body: str) -> Any:
        return None

    found: dict[str, Figure] = {"import, ms": import_ms("pydantic_monty")}
    lookup: dict[str, Any] = {"get_user": get, "send_email": send}
    with pydantic_monty.Monty() as pool, pool.checkout(limits={"max_suspensions": 10**9}) as session:

        def feed(code: str) -> Callable[[], Any]:
            return lambda: session.feed_run(code, inputs=inputs, external_lookup=lookup)

        found["notify, run_sync, µs"] = one(feed(MONTY_NOTIFY), 20)
        whole, rest = one(feed(call.format(CALLS)), 1), one(feed(call.format(1)), 20)
        found["a call, run_sync, µs"] = (whole, rest)

    async def in_loop() -> None:
        lookup = {"get_user": get_async, "send_email": send_async}
        waits = MONTY_NOTIFY.replace("get_user(", "await get_user(").replace("send_email(", "await send_email(")
        async with pydantic_monty.AsyncMonty() as pool:
            async with pool.checkout(limits={"max_suspensions": 10**9}) as session:

                def feed(code: str) -> Callable[[], Awaitable[Any]]:
                    return lambda: session.feed_run(code, inputs=inputs, external_lookup=lookup)

                found["notify, run, µs"] = await one_async(feed(waits), 20)
                loop = call.replace("send_email(", "await send_email(")
                whole = await one_async(feed(loop.format(CALLS)), 1)
                rest = await one_async(feed(loop.format(1)), 20)
                found["a call, run, µs"] = (whole, rest)

    asyncio.run(in_loop())
    return found


def main() -> None:
    wheels = [Path(word) for word in sys.argv[1:] if not word.startswith("--")]
    ours = {"wheel, MB": wheels[0].stat().st_size / 1e6} if wheels else {}
    try:
        version = importlib.metadata.version("pydantic-monty")
    except ImportError:
        version = "not installed"
    mine: list[dict[str, Figure]] = []
    other: list[dict[str, Figure]] = []
    for _ in range(ROUNDS):
        mine.append(own())
        if version != "not installed":
            other.append(monty())
    ours |= least(mine)
    theirs = least(other) if other else {}
    targets = {
        "wheel, MB": 3,
        "import, ms": 5,
        "notify, run_sync, µs": 3,
        "notify, run, µs": 6,
        "a call, run_sync, µs": 0.3,
        "a call, run, µs": 1,
        "snapshot, bytes": 39,
        "snapshot, µs": 0.3,
    }
    rows = [f"| | ilo | target | pydantic-monty {version} |", "|---|---|---|---|"]
    for name, value in ours.items():
        other, target = theirs.get(name), targets.get(name, "")
        rows.append(f"| {name} | {value:.3g} | {target} | {'' if other is None else f'{other:.3g}'} |")
    table = "\n".join(rows)
    print(table)
    if "--save" in sys.argv:
        python = ".".join(map(str, sys.version_info[:3]))
        text = (
            "## Python\n\n"
            f"{datetime.date.today()}, CPython {python}, "
            "`bindings/compare.sh`.\n"
            f"Each figure is the best of {ROUNDS} rounds, in turn with those of pydantic-monty, which makes its calls\n"
            "over a pipe to a worker process.\n\n" + table + "\n"
        )
        path = ROOT / "bindings/RESULTS.md"
        head, *parts = re.split(r"^(?=## )", path.read_text(), flags=re.MULTILINE)
        parts = [part for part in parts if not part.startswith("## Python\n")]
        path.write_text(head + "\n".join([text, *parts]))


if __name__ == "__main__":
    main()
