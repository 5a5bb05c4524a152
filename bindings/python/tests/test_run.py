"""Runs over tools that answer, raise, hang, are cancelled or suspend."""

from __future__ import annotations

import asyncio
import copy
import gc
import pickle
import threading
import time
import warnings
import weakref
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import ilo
import pytest
from conftest import NOTIFY, notify_tools

INPUT = {"user-id": "7", "message": "hi"}
ONE = ilo.build("; fn f() -> result any, any\n; Tools: 0=t\nRET_OK CALL 0 0\n")


def one(call: Any, *, is_async: bool = False, **policy: Any) -> ilo.Tools:
    return ilo.Tools(ilo.Tool("t", call, is_async=is_async, **policy))


def reads(count: int) -> ilo.Program:
    """A program that makes this number of reads, one after another."""
    lines = [f"LET {n} CALL 0 1 0 LIT 1 {n}" for n in range(count)]
    items = " ".join(f"REF {n}" for n in range(count))
    head = "; fn f() -> any\n; Tools: 0=t\n; Fields: 0=n\n"
    return ilo.build(head + "\n".join(lines) + f"\nRET LIST {count} {items}\n")


def test_sync_and_async_end_alike(notify: ilo.Program) -> None:
    sync = notify.run_sync(INPUT, tools=notify_tools())
    assert sync == ilo.Ok(None)
    for tools in (notify_tools(is_async=True), notify_tools()):
        found = asyncio.run(notify.run(INPUT, tools=tools))
        assert found == sync and found.fuel == sync.fuel
    match notify.run_sync(INPUT, tools=notify_tools(email={"email": "a@b.c", "verified": False})):
        case ilo.Err(error):
            assert error == "Email not verified"
        case other:
            pytest.fail(repr(other))


def test_it_runs_under_trio(notify: ilo.Program) -> None:
    trio = pytest.importorskip("trio")

    async def main() -> Any:
        return await notify.run(INPUT, tools=notify_tools(is_async=True))

    assert trio.run(main) == ilo.Ok(None)


def test_run_sync_inside_an_event_loop_needs_none_of_its_own(notify: ilo.Program) -> None:
    async def main(is_async: bool) -> Any:
        return notify.run_sync(INPUT, tools=notify_tools(is_async=is_async))

    with pytest.raises(RuntimeError, match="await `program.run`"):
        asyncio.run(main(True))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert asyncio.run(main(False)) == asyncio.run(main(False)) == ilo.Ok(None)
    assert [str(found.message)[:10] for found in caught] == ["`run_sync`"]


def test_reads_run_side_by_side_and_their_order_is_that_of_the_program() -> None:
    made: list[int] = []
    under_way = 0
    all_are = asyncio.Event()

    async def read(arguments: dict[str, Any]) -> Any:
        # No read ends before all twelve have begun.
        nonlocal under_way
        under_way += 1
        if under_way == 12:
            all_are.set()
        await all_are.wait()
        return arguments["n"]

    async def read_alone(arguments: dict[str, Any]) -> Any:
        return arguments["n"]

    program = reads(12)
    tools = one(read, is_async=True, read_only=True)
    found = asyncio.run(program.run(tools=tools, max_concurrency=16, on_call=lambda call: made.append(call.value)))
    assert found == ilo.Ok(list(range(12))) and made == list(range(12))
    alone = asyncio.run(program.run(tools=one(read_alone, is_async=True, read_only=True), max_concurrency=1))
    assert alone.fuel == found.fuel and alone == found


def test_functions_run_side_by_side_in_threads() -> None:
    all_are = threading.Barrier(8)

    def read(arguments: dict[str, Any]) -> Any:
        # No read ends before all eight have begun.
        all_are.wait(60)
        return threading.current_thread() is not threading.main_thread()

    assert asyncio.run(reads(8).run(tools=one(read, read_only=True))) == ilo.Ok([True] * 8)


class Odd(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("error", "seen"),
    [
        (LookupError("no user 7"), "LookupError: no user 7"),
        (KeyError("x"), "KeyError: 'x'"),
        (ValueError(), "ValueError"),
        (ilo.Failure("gone"), "gone"),
        (ilo.Failure({"code": 3}), {"code": 3}),
        (ilo.Failure(b"x"), "the tool's answer is a value of the class `bytes`, which has no form in JSON"),
        (Odd(), "Odd"),
    ],
)
def test_an_exception_is_a_failure(error: Exception, seen: Any) -> None:
    def raises(arguments: dict[str, Any]) -> Any:
        raise error

    async def raises_async(arguments: dict[str, Any]) -> Any:
        raise error

    assert ONE.run_sync(tools=one(raises)) == ilo.Err(seen)
    assert asyncio.run(ONE.run(tools=one(raises))) == ilo.Err(seen)
    assert asyncio.run(ONE.run(tools=one(raises_async, is_async=True))) == ilo.Err(seen)


def test_an_exit_in_a_tool_ends_the_caller() -> None:
    def leave(arguments: dict[str, Any]) -> Any:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        ONE.run_sync(tools=one(leave))
    with pytest.raises(SystemExit):
        asyncio.run(ONE.run(tools=one(leave)))


def test_a_tool_that_hangs_fails_in_its_time() -> None:
    go_on = threading.Event()

    def hang(arguments: dict[str, Any]) -> Any:
        go_on.wait()

    async def hang_async(arguments: dict[str, Any]) -> Any:
        await asyncio.sleep(3600)

    late = "tool `t` took longer than its limit of 50 ms"
    assert ONE.run_sync(tools=one(hang, timeout=0.05)) == ilo.Err(late)
    assert ONE.run_sync(tools=one(hang), call_timeout=0.05) == ilo.Err(late)
    assert asyncio.run(ONE.run(tools=one(hang_async, is_async=True, timeout=0.05))) == ilo.Err(late)
    # A second, so that the call is under way when the time of the run ends.
    fault = ONE.run_sync(tools=one(hang_async, is_async=True), timeout=1)
    assert isinstance(fault, ilo.Fault) and fault.code == "timed-out", fault
    assert fault.not_rolled_back and fault.not_rolled_back[0][0] == "t"
    go_on.set()


def test_a_computation_ends_in_its_time_and_leaves_the_event_loop_free() -> None:
    program = ilo.build(
        '{"function":"f","input":{},"output":"number","steps":[{"let":"x","expr":0},'
        '{"for":"j","in":{"range":20},"do":['
        '{"for":"i","in":{"range":200000},"do":[{"let":"x","expr":{"+":["$x",1]}}]}]},{"return":"$x"}]}'
    )
    ticks = 0

    async def main() -> Any:
        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.001)

        task = asyncio.create_task(tick())
        found = await program.run(limits={"fuel": 10**9})
        task.cancel()
        return found

    assert asyncio.run(main()) == ilo.Ok(4_000_000)
    assert ticks > 1
    late = asyncio.run(program.run(limits={"fuel": 10**9}, timeout=0.001))
    assert isinstance(late, ilo.Fault) and late.code == "timed-out"


def test_a_tool_that_is_cancelled_from_inside_fails() -> None:
    async def cancelled(arguments: dict[str, Any]) -> Any:
        inner = asyncio.create_task(asyncio.sleep(5))
        inner.cancel()
        await inner

    found = asyncio.run(ONE.run(tools=one(cancelled, is_async=True)))
    assert found == ilo.Err("tool `t` was cancelled before it had answered")


def test_a_task_that_is_cancelled_ends_its_calls() -> None:
    begun, ended = [], []

    async def hang(arguments: dict[str, Any]) -> Any:
        begun.append(True)
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append(True)

    async def main(program: ilo.Program, tools: ilo.Tools, calls: int) -> None:
        task = asyncio.create_task(program.run(tools=tools))
        while len(begun) < calls:
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main(ONE, one(hang, is_async=True), 1))
    assert ended == [True]
    asyncio.run(main(reads(4), one(hang, is_async=True, read_only=True), 5))
    assert len(ended) == 5


def test_a_cancellation_rolls_back() -> None:
    source = (
        "; fn f() -> any\n; Tools: 0=reserve 1=release 2=wait\n; Fields: 0=id\n"
        "LET 0 CALL 0 0\nROLLBACK CALL 1 1 0 REF 0\nRET CALL 2 0\n"
    )
    program = ilo.build(source)
    made: list[str] = []

    for from_thread in (False, True):
        cancel = ilo.Cancellation()
        made.clear()

        async def reserve(arguments: dict[str, Any]) -> Any:
            made.append("reserve")
            return 7

        async def release(arguments: dict[str, Any]) -> Any:
            made.append(f"release {arguments['id']}")

        async def wait(arguments: dict[str, Any]) -> Any:
            if from_thread:
                threading.Timer(0.02, cancel.cancel).start()
            else:
                asyncio.get_running_loop().call_later(0.02, cancel.cancel)
            await asyncio.sleep(3600)

        tools = ilo.Tools(
            ilo.Tool("reserve", reserve, is_async=True),
            ilo.Tool("release", release, is_async=True),
            ilo.Tool("wait", wait, is_async=True, read_only=True),
        )
        found = asyncio.run(program.run(tools=tools, cancel=cancel))
        assert isinstance(found, ilo.Fault) and found.code == "cancelled", found
        assert made == ["reserve", "release 7"] and [tool for tool, _ in found.rolled_back] == ["release"]


def test_a_cancellation_passes_over_runs_whose_event_loop_has_ended() -> None:
    program = ilo.build("; fn f() -> any\n; Tools: 0=wait\nRET CALL 0 0\n")
    cancel, begun, go_on = ilo.Cancellation(), threading.Event(), threading.Event()

    async def wait(arguments: dict[str, Any]) -> Any:
        begun.set()
        while not go_on.is_set():
            await asyncio.sleep(0.001)

    found: list[ilo.Outcome] = []

    def run() -> None:
        tools = ilo.Tools(ilo.Tool("wait", wait, is_async=True, read_only=True))
        found.append(asyncio.run(program.run(tools=tools, cancel=cancel)))

    first = threading.Thread(target=run)
    first.start()
    assert begun.wait(60)
    # What `cancel` has read at this moment, when the run is about to end.
    late = list(cancel._callbacks)
    go_on.set()
    first.join()
    assert found == [ilo.Ok(None)] and not cancel._callbacks
    begun.clear()
    go_on.clear()
    second = threading.Thread(target=run)
    second.start()
    assert begun.wait(60)
    cancel._callbacks[:0] = late
    cancel.cancel()
    second.join(60)
    go_on.set()
    assert isinstance(found[1], ilo.Fault) and found[1].code == "cancelled", found


def test_retries_are_for_tools_that_may_be_called_again() -> None:
    for is_async in (False, True):
        count = 0

        def fails(arguments: dict[str, Any]) -> Any:
            nonlocal count
            count += 1
            if count < 3:
                raise ConnectionError("down")
            return "up"

        async def fails_async(arguments: dict[str, Any]) -> Any:
            return fails(arguments)

        tools = one(fails_async if is_async else fails, is_async=is_async, idempotent=True, retries=2)
        assert ONE.run_sync(tools=tools) == ilo.Ok("up") and count == 3
    with pytest.raises(ValueError, match="`retries` is only for tools"):
        ilo.Tool("t", fails, is_async=False, retries=1)


def test_a_person_is_asked() -> None:
    asked: list[ilo.Call] = []

    def ask(answer: Any) -> Any:
        async def ask(call: ilo.Call) -> Any:
            asked.append(call)
            return answer

        return ask

    async def answer(arguments: dict[str, Any]) -> Any:
        return 1

    tools = one(answer, is_async=True, confirm=True)
    nobody = "tool `t` was not called: it needs a confirmation (`confirm`), and there is nobody to ask"
    assert ONE.run_sync(tools=tools) == ilo.Err(nobody)
    assert ONE.run_sync(tools=one(lambda arguments: 1, confirm=True)) == ilo.Err(nobody)
    assert ONE.run_sync(tools=tools, ask=ask(True)) == ilo.Ok(1)
    refused = ONE.run_sync(tools=tools, ask=ask("perhaps"))
    assert isinstance(refused, ilo.Err) and refused.error.endswith("and nobody could be asked")
    assert ONE.run_sync(tools=tools, ask=ask(False)).error.endswith("and it was refused")
    assert [call.tool for call in asked] == ["t"] * 3


@pytest.mark.parametrize("is_async", [False, True])
def test_a_tool_suspends_and_the_run_goes_on_with_the_answer(notify: ilo.Program, is_async: bool) -> None:
    def ask(arguments: dict[str, Any]) -> Any:
        raise ilo.Suspend("may this be sent?")

    async def ask_async(arguments: dict[str, Any]) -> Any:
        ask(arguments)

    get, _ = notify_tools(is_async=is_async)
    tools = ilo.Tools(get, ilo.Tool("send-email", ask_async if is_async else ask, is_async=is_async))
    match notify.run_sync(INPUT, tools=tools):
        case ilo.Suspended(snapshot, call, reason):
            assert (call.tool, call.arguments["body"], reason) == ("send-email", "hi", "may this be sent?")
        case other:
            pytest.fail(repr(other))
    again = ilo.load(notify.to_bytes())
    assert asyncio.run(again.resume(snapshot, answer=None, tools=tools)) == ilo.Ok(None)
    assert again.resume_sync(snapshot, failure="refused", tools=tools) == ilo.Err("Send failed: refused")
    assert isinstance(again.resume_sync(snapshot, tools=tools), ilo.Suspended)
    assert again.resume_sync(snapshot, tools=notify_tools()) == ilo.Ok(None)
    with pytest.raises(ilo.StartError, match="unknown-tool"):
        again.resume_sync(snapshot, answer=1)


def test_a_read_that_suspends_ahead_of_its_turn_suspends_in_its_turn() -> None:
    suspended = asyncio.Event()

    async def read(arguments: dict[str, Any]) -> Any:
        if arguments["n"] == 2:
            suspended.set()
            raise ilo.Suspend
        if arguments["n"] < 2:
            await suspended.wait()
        return arguments["n"]

    found = asyncio.run(reads(4).run(tools=one(read, is_async=True, read_only=True)))
    assert isinstance(found, ilo.Suspended) and found.call.arguments == {"n": 2} and found.call.number == 3
    tools = one(lambda arguments: arguments["n"], read_only=True)
    assert reads(4).resume_sync(found.snapshot, answer=9, tools=tools) == ilo.Ok([0, 1, 9, 3])


def test_what_a_tool_suspended_is_pickled_with_its_program() -> None:
    def ask(n: int) -> int:
        raise ilo.Suspend("a person decides")

    program = ilo.build("; fn f() -> any\n; Tools: 0=ask\n; Fields: 0=n\nRET CALL 0 1 0 LIT 1 2\n", tools=[ask])
    suspended = program.run_sync(tools=[ask])
    assert isinstance(suspended, ilo.Suspended)
    again, found = pickle.loads(pickle.dumps((program, suspended)))
    assert found.snapshot == suspended.snapshot and found.reason == "a person decides"
    fields = ("tool", "arguments", "number", "function", "line", "column", "is_rollback")
    for field in fields:
        assert getattr(found.call, field) == getattr(suspended.call, field), field
    assert (found.call.tool, found.call.arguments, found.call.line) == ("ask", {"n": 2}, 4)
    assert again.resume_sync(found.snapshot, answer=5, tools=[ask]) == ilo.Ok(5)


def test_a_run_is_not_pickled_but_its_snapshot(notify: ilo.Program) -> None:
    run = notify.start(INPUT)
    run.step()
    for pickled in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError, match=r"run\.snapshot\(\).*program\.restore\(snapshot\)"):
            pickled(run)


def test_snapshots_that_are_none_are_refused(notify: ilo.Program) -> None:
    run = notify.start(INPUT)
    with pytest.raises(ilo.NotWaiting):
        run.snapshot()
    run.step()
    good = run.snapshot()
    for bad in (b"", b"x", good[:-1], good + b"x", bytes(1 << 20)):
        with pytest.raises(ilo.SnapshotError, match="bad-snapshot"):
            notify.restore(bad)
    with pytest.raises(ilo.SnapshotError):
        ONE.restore(good)


def test_a_call_is_answered_once(notify: ilo.Program) -> None:
    run = notify.start(INPUT)
    with pytest.raises(ilo.NotWaiting, match="no call waits"):
        run.answer(1)
    call = run.step()
    assert isinstance(call, ilo.Call) and call.tool == "get-user" and call.line == 5
    assert repr(run.step()) == repr(call)
    run.fail("gone")
    with pytest.raises(ilo.NotWaiting):
        run.fail("again")
    assert run.step() == ilo.Err("User lookup failed: gone")
    assert run.step() == ilo.Err("User lookup failed: gone")
    run.stop()


def test_a_stop_ends_the_run(notify: ilo.Program) -> None:
    run = notify.start(INPUT)
    run.step()
    run.stop()
    run.answer({"email": "a@b.c", "verified": True})
    found = run.step()
    assert isinstance(found, ilo.Fault) and found.code == "cancelled"


def test_a_run_belongs_to_no_thread(notify: ilo.Program) -> None:
    run, seen = notify.start(INPUT), []
    run.step()

    def other() -> None:
        run.answer({"email": "a@b.c", "verified": True})
        seen.append(run.step())

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert isinstance(seen[0], ilo.Call) and seen[0].tool == "send-email"


def test_threads_share_a_program(notify: ilo.Program) -> None:
    found: list[Any] = []

    def many() -> None:
        tools = notify_tools()
        found.extend(notify.run_sync(INPUT, tools=tools) for _ in range(200))
        found.extend(ilo.build(NOTIFY).run_sync(INPUT, tools=tools) for _ in range(20))

    threads = [threading.Thread(target=many) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 * 220 and all(outcome == ilo.Ok(None) for outcome in found)


def test_a_run_that_is_dropped_in_mid_call_is_freed(notify: ilo.Program) -> None:
    class Marked(dict[str, Any]):
        pass

    run = notify.start(INPUT)
    run.step()
    del run
    marked = Marked()
    kept = weakref.ref(marked)
    run = ONE.start()
    run.step()
    run.answer({"a": marked})
    del marked, run
    gc.collect()
    assert kept() is None


def test_on_call_gets_every_call(notify: ilo.Program) -> None:
    calls: list[ilo.CallResult] = []
    for is_async in (False, True):
        notify.run_sync(INPUT, tools=notify_tools(is_async=is_async), on_call=calls.append)
    assert [(call.seq, call.number, call.tool, call.ok) for call in calls[:2]] == [
        (0, 1, "get-user", True),
        (1, 2, "send-email", True),
    ]
    assert calls[:2] == calls[2:]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"timout": 5}, TypeError, "there is no option `timout`, only timeout, call_timeout, max_concurrency, on_call, ask, cancel, on_error"),
        ({"timout": None}, TypeError, "there is no option `timout`"),
        ({"timeout": "5"}, TypeError, "`timeout` expects seconds, found '5'"),
        ({"call_timeout": "5"}, TypeError, "`call_timeout` expects seconds, found '5'"),
        ({"call_timeout": -1}, ValueError, "`call_timeout` is seconds from 0 to a year, found -1"),
        ({"call_timeout": float("nan")}, ValueError, "`call_timeout` is seconds from 0 to a year, found nan"),
        ({"max_concurrency": "2"}, TypeError, "`max_concurrency` expects an int, found '2'"),
        ({"max_concurrency": -1}, ValueError, "`max_concurrency` is a number of calls, found -1"),
        ({"max_concurrency": 2**64}, ValueError, "`max_concurrency` is a number of calls, found 18446744073709551616"),
        ({"on_call": 5}, TypeError, "`on_call` expects a function, found 5"),
        ({"ask": True}, TypeError, "`ask` expects a function, found True"),
        ({"on_error": True}, TypeError, "`on_error` expects a function, found True"),
        ({"cancel": True}, TypeError, "`cancel` expects an `ilo.Cancellation`, found True"),
        ({"tools": "t"}, TypeError, "`tools` expects `ilo.Tools`, or a list of tools and functions, found 't'"),
        ({"tools": {"t": len}}, TypeError, "`tools` expects `ilo.Tools`, or a list"),
        ({"tools": len}, TypeError, "`tools` expects `ilo.Tools`, or a list"),
        ({"limits": []}, TypeError, r"`limits` expects a dict, found \[\]"),
        ({"limits": {1: 2}}, TypeError, "limits: `1` is not a limit; there are `fuel`"),
        ({"limits": {"fuel": True}}, ValueError, "limits: `fuel` expects a number"),
    ],
)
def test_an_option_that_there_is_not_or_of_another_type_is_refused(
    options: dict[str, Any], error: type[Exception], message: str, tmp_path: Path
) -> None:
    made: list[str] = []
    given = {"tools": one(lambda arguments: made.append("t")), **options}
    journal = ilo.Journal(tmp_path / "journal")
    for run in (
        lambda: ONE.run_sync(**given),
        lambda: asyncio.run(ONE.run(**given)),
        lambda: ONE.run_sync(journal=journal, name="a", **given),
    ):
        with pytest.raises(error, match=message):
            run()
    assert made == []
    assert list(journal.list()) == []
    if not options.keys() & {"limits", "timout", "timeout", "tools"}:
        with pytest.raises(error, match=message):
            journal.resume_sync("a", **given)


def test_seconds_may_be_any_number() -> None:
    for seconds in (5, Decimal("5"), Fraction(5, 2)):
        for options in ({"timeout": seconds}, {"call_timeout": seconds}):
            assert ONE.run_sync(tools=one(lambda arguments: 1), **options) == ilo.Ok(1)
        assert ONE.run_sync(tools=one(lambda arguments: 1, timeout=seconds)) == ilo.Ok(1)


def test_what_is_no_journal_is_refused() -> None:
    for journal in (5, "runs.journal"):
        with pytest.raises(TypeError, match=f"`journal` expects an `ilo.Journal`, found {journal!r}"):
            ONE.run_sync(tools=one(lambda arguments: 1), journal=journal)  # type: ignore[arg-type]
