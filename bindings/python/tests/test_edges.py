"""What callbacks of a host do wrong, and exceptions that end the caller: neither changes what a run has done."""

from __future__ import annotations

import asyncio
import logging
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import ilo
import pytest

ONE = ilo.build("; fn f() -> result any, any\n; Tools: 0=t\nRET_OK CALL 0 0\n")
# Reserves, registers the release, and then makes a call that the tests cut off.
TRIP = ilo.build(
    "; fn f() -> any\n; Tools: 0=reserve 1=release 2=wait\n; Fields: 0=id\n"
    "LET 0 CALL 0 0\nROLLBACK CALL 1 1 0 REF 0\nRET CALL 2 0\n"
)


class Trip:
    """The tools of `TRIP`, whose calls are recorded."""

    def __init__(self, wait: Any, *, is_async: bool = True, release: Any = None, **policy: Any) -> None:
        self.calls: list[str] = []

        def reserve(arguments: dict[str, Any]) -> Any:
            self.calls.append("reserve")
            return 7

        def released(arguments: dict[str, Any]) -> Any:
            self.calls.append(f"release {arguments['id']}")
            if release is not None:
                release()

        async def reserve_async(arguments: dict[str, Any]) -> Any:
            return reserve(arguments)

        async def release_async(arguments: dict[str, Any]) -> Any:
            # A rollback that takes time is not cut short by a second cancellation.
            await asyncio.sleep(0.01)
            return released(arguments)

        self.tools = ilo.Tools(
            ilo.Tool("reserve", reserve_async if is_async else reserve, is_async=is_async),
            ilo.Tool("release", release_async if is_async else released, is_async=is_async),
            ilo.Tool("wait", wait, is_async=is_async, **policy),
        )


class Waits:
    """A tool that says when it was called, and then does what another does, or waits for ever."""

    def __init__(self, then: Any = None) -> None:
        self.begun = asyncio.Event()
        self.then = then

    async def __call__(self, arguments: dict[str, Any]) -> Any:
        self.begun.set()
        return await (self.then(arguments) if self.then else asyncio.sleep(3600))


def one(call: Any, *, is_async: bool = False, **policy: Any) -> ilo.Tools:
    return ilo.Tools(ilo.Tool("t", call, is_async=is_async, **policy))


async def answer(arguments: dict[str, Any]) -> Any:
    return 1


class Odd(BaseException):
    """An exception that is not one of `Exception`."""


RAISED = [LookupError("x"), StopIteration(), asyncio.CancelledError(), Odd(), RecursionError()]


@pytest.mark.parametrize("error", RAISED, ids=repr)
@pytest.mark.parametrize("with_journal", [False, True])
def test_what_on_call_raises_changes_nothing(
    error: BaseException, with_journal: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def raises(made: ilo.CallResult) -> None:
        raise error

    got: list[BaseException] = []
    journal: dict[str, Any] = {"journal": ilo.Journal(tmp_path / "j"), "name": "a"} if with_journal else {}
    runs = [lambda tools, **more: ONE.run_sync(tools=tools, **more)]
    runs.append(lambda tools, **more: asyncio.run(ONE.run(tools=tools, **more)))
    with caplog.at_level(logging.WARNING, "ilo"):
        for run in runs:
            for tools in (one(lambda arguments: 1), one(answer, is_async=True)):
                found = run(tools, on_call=raises, on_error=got.append, **journal)
                assert found == ilo.Ok(1), found
    assert got == [error] * (1 if with_journal else 4)
    assert {record.name for record in caplog.records} == {"ilo"}
    if with_journal:
        assert journal["journal"].show("a").state == "ended"


def test_what_on_error_raises_is_only_logged() -> None:
    def raises(made: object) -> None:
        raise LookupError

    assert ONE.run_sync(tools=one(lambda arguments: 1), on_call=raises, on_error=raises) == ilo.Ok(1)


def test_an_async_on_call_is_awaited_beside_the_run() -> None:
    seen: list[int] = []
    got: list[BaseException] = []

    async def observe(made: ilo.CallResult) -> None:
        await asyncio.sleep(0)
        seen.append(made.number)
        raise LookupError("late")

    async def main() -> Any:
        found = await ONE.run(tools=one(answer, is_async=True), on_call=observe, on_error=got.append)
        while not got:
            await asyncio.sleep(0.001)
        return found

    assert asyncio.run(main()) == ilo.Ok(1) and seen == [1]
    assert [type(error) for error in got] == [LookupError]
    # Without an event loop that could await it, it is an error of the observer.
    got.clear()
    assert ONE.run_sync(tools=one(lambda arguments: 1), on_call=observe, on_error=got.append) == ilo.Ok(1)
    assert [type(error) for error in got] == [TypeError]


ASKED: list[object] = []


async def hangs(call: object) -> bool:
    ASKED.append(call)
    await asyncio.sleep(3600)
    return True


async def swallows(call: object) -> bool:
    ASKED.append(call)
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            pass


def raises(call: object) -> bool:
    raise LookupError("no line")


ASKS = [raises, lambda call: None, lambda call: 1, lambda call: "yes", lambda call: ilo.Deny, hangs, swallows]


@pytest.mark.parametrize("ask", ASKS)
def test_an_ask_that_gives_no_decision_makes_no_call(ask: Any, tmp_path: Path, monkeypatch: Any) -> None:
    got: list[BaseException] = []
    made: list[str] = []
    tools = one(lambda arguments: made.append("t"), confirm=True)
    slow = {"timeout": 0.1} if ask in (hangs, swallows) else {}
    ASKED.clear()
    found = ONE.run_sync(tools=tools, ask=ask, on_error=got.append, **slow)
    if slow:
        assert isinstance(found, ilo.Fault) and found.code == "timed-out"
    else:
        assert isinstance(found, ilo.Err) and found.error.endswith("and nobody could be asked"), found
        assert "no line" not in found.error
    # A run whose time had ended before it came to the question has asked nobody.
    assert len(got) == (len(ASKED) if slow else 1) and made == []
    got.clear()
    ASKED.clear()
    # With a journal the run waits, and a person may still decide.
    monkeypatch.setattr("ilo._journal.RUN_SECONDS", 0.1)
    journal = ilo.Journal(tmp_path / "j")
    waits = ONE.run_sync(tools=tools, ask=ask, on_error=got.append, journal=journal)
    assert isinstance(waits, ilo.Waiting) and waits.state == "asking", waits
    assert len(got) == (len(ASKED) if slow else 1) and made == []
    journal.approve(waits.run, waits.call)
    assert journal.resume_sync(waits.run, tools=tools) == ilo.Ok(None) and made == ["t"]


def test_a_denial_has_its_reason(tmp_path: Path) -> None:
    tools = one(lambda arguments: 1, confirm=True)
    deny = lambda call: ilo.Deny("too much")  # noqa: E731
    found = ONE.run_sync(tools=tools, ask=deny)
    assert isinstance(found, ilo.Err) and found.error.endswith("and it was refused: too much"), found
    found = ONE.run_sync(tools=tools, ask=deny, journal=ilo.Journal(tmp_path / "j"))
    assert isinstance(found, ilo.Err) and found.error.endswith(": too much"), found
    with pytest.raises(TypeError, match="reason"):
        ilo.Deny(5)  # type: ignore[arg-type]


def test_ask_cannot_edit_the_arguments() -> None:
    program = ilo.build("; fn f() -> any\n; Tools: 0=t\n; Fields: 0=n\nRET CALL 0 1 0 LIT 1 7\n")

    def ask(call: Any) -> bool:
        call.arguments["n"] = 1_000_000
        return True

    assert program.run_sync(tools=one(lambda arguments: arguments["n"], confirm=True), ask=ask) == ilo.Ok(7)


def test_a_retry_gets_the_arguments_that_the_program_gave() -> None:
    program = ilo.build("; fn f() -> any\n; Tools: 0=t\n; Fields: 0=n\nRET CALL 0 1 0 LIST 1 LIT 1 7\n")
    seen: list[Any] = []

    def takes(arguments: dict[str, Any]) -> Any:
        seen.append(arguments.pop("n").pop())
        if len(seen) < 3:
            raise LookupError
        return seen

    async def takes_async(arguments: dict[str, Any]) -> Any:
        return takes(arguments)

    for is_async in (False, True):
        seen.clear()
        tools = one(takes_async if is_async else takes, is_async=is_async, idempotent=True, retries=2)
        assert program.run_sync(tools=tools) == ilo.Ok([7, 7, 7])


@pytest.mark.parametrize("cancels", [1, 3])
@pytest.mark.parametrize("options", [{}, {"max_concurrency": 4}, {"cancel": ilo.Cancellation()}])
def test_a_cancelled_task_rolls_back_first(cancels: int, options: dict[str, Any]) -> None:
    waits = Waits()
    trip = Trip(waits)

    async def main() -> asyncio.CancelledError:
        task = asyncio.create_task(TRIP.run(tools=trip.tools, **options))
        await waits.begun.wait()
        for _ in range(cancels):
            task.cancel()
            await asyncio.sleep(0.002)
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
        return caught.value

    outcome: Any = asyncio.run(main()).outcome  # type: ignore[attr-defined]
    assert trip.calls == ["reserve", "release 7"]
    assert isinstance(outcome, ilo.Fault) and outcome.code == "cancelled"
    assert [tool for tool, _ in outcome.rolled_back] == ["release"]
    assert [tool for tool, _ in outcome.not_rolled_back] == ["wait"]


def test_a_rollback_after_a_cancellation_has_a_time_and_may_be_left_out() -> None:
    async def main(**options: Any) -> tuple[Trip, Any]:
        waits = Waits()
        trip = Trip(waits)
        task = asyncio.create_task(TRIP.run(tools=trip.tools, **options))
        await waits.begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
        return trip, getattr(caught.value, "outcome", "none")

    trip, outcome = asyncio.run(main(on_cancel="drop"))
    assert trip.calls == ["reserve"] and outcome == "none"
    trip, outcome = asyncio.run(main(rollback_timeout=0))
    assert trip.calls == ["reserve"] and outcome is None


def test_a_cancelled_task_with_a_journal_only_releases_its_run(tmp_path: Path) -> None:
    waits = Waits()
    trip, journal = Trip(waits), ilo.Journal(tmp_path / "j")

    async def main() -> None:
        task = asyncio.create_task(TRIP.run(tools=trip.tools, journal=journal, name="a"))
        await waits.begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert trip.calls == ["reserve"] and journal.show("a").state == "calling"


def test_under_trio_a_cancelled_scope_rolls_back() -> None:
    trio = pytest.importorskip("trio")
    calls: list[str] = []

    async def reserve(arguments: dict[str, Any]) -> Any:
        return 7

    async def release(arguments: dict[str, Any]) -> Any:
        await trio.sleep(0.01)
        calls.append("release")

    async def wait(arguments: dict[str, Any]) -> Any:
        waits.set()
        await trio.sleep(3600)

    waits = trio.Event()
    tools = ilo.Tools(*(ilo.Tool(call.__name__, call, is_async=True) for call in (reserve, release, wait)))

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: TRIP.run(tools=tools))
            await waits.wait()
            nursery.cancel_scope.cancel()

    trio.run(main)
    assert calls == ["release"]


async def stubborn(arguments: dict[str, Any]) -> Any:
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            pass


@pytest.mark.parametrize("options", [{}, {"cancel": ilo.Cancellation()}], ids=["quick", "scoped"])
def test_a_tool_that_swallows_its_cancellation_is_left_behind_at_its_limit(options: dict[str, Any]) -> None:
    found = ONE.run_sync(tools=one(stubborn, is_async=True, timeout=0.1), **options)
    assert found == ilo.Err("tool `t` took longer than its limit of 100 ms")

    async def main() -> None:
        waits = Waits(stubborn)
        task = asyncio.create_task(ONE.run(tools=one(waits, is_async=True), **options))
        await waits.begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        for left in asyncio.all_tasks() - {asyncio.current_task()}:
            left.get_coro().close()  # type: ignore[union-attr]

    loop = asyncio.new_event_loop()
    loop.run_until_complete(main())


EXITS = """
import asyncio, sys, threading, time
import ilo

ONE = ilo.build("; fn f() -> result any, any\\n; Tools: 0=t\\nRET_OK CALL 0 0\\n")

async def stubborn(arguments):
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            pass

def hang(arguments):
    time.sleep(3600)

for call, is_async in ((stubborn, True), (hang, False)):
    tools = ilo.Tools(ilo.Tool("t", call, is_async=is_async, timeout=0.05))
    assert ONE.run_sync(tools=tools).error.endswith("50 ms")
"""


def test_what_was_left_behind_does_not_keep_the_interpreter() -> None:
    # What was left behind would take an hour.
    process = subprocess.run([sys.executable, "-c", EXITS], check=True, timeout=300, capture_output=True, text=True)
    assert process.stderr == "", process.stderr


MANY = """
import asyncio, threading, time
import ilo

ONE = ilo.build("; fn f() -> result any, any\\n; Tools: 0=t\\nRET_OK CALL 0 0\\n")
go_on = threading.Event()
tools = ilo.Tools(ilo.Tool("t", lambda arguments: go_on.wait(), is_async=False))

async def main():
    runs = [ONE.run(tools=tools, call_timeout=0.05) for _ in range(64)]
    assert {found.error for found in await asyncio.gather(*runs)} == {"tool `t` took longer than its limit of 50 ms"}

asyncio.run(main())
for run in (lambda: ONE.run_sync(tools=tools), lambda: asyncio.run(ONE.run(tools=tools))):
    try:
        run()
    except ilo.IloError as error:
        assert "64 calls of tools did not end" in str(error)
    else:
        raise SystemExit("a run started")
go_on.set()
while True:
    try:
        assert ONE.run_sync(tools=tools) == ilo.Ok(True)
        break
    except ilo.IloError:
        time.sleep(0.01)
"""


def test_where_too_many_calls_were_left_behind_no_run_starts() -> None:
    subprocess.run([sys.executable, "-c", MANY], check=True, timeout=300)


@pytest.mark.parametrize("exit", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("options", [{}, {"timeout": 60}, {"max_concurrency": 4}, {"on_call": lambda made: None}])
@pytest.mark.parametrize("is_async", [False, True])
def test_an_exit_of_a_tool_is_raised_after_the_rollback(
    exit: type[BaseException], options: dict[str, Any], is_async: bool
) -> None:
    def leave(arguments: dict[str, Any]) -> Any:
        raise exit

    async def leave_async(arguments: dict[str, Any]) -> Any:
        await asyncio.sleep(0)
        raise exit

    for read_only in (False, True):
        trip = Trip(leave_async if is_async else leave, is_async=is_async, read_only=read_only)
        for run in (lambda: TRIP.run_sync(tools=trip.tools, **options), lambda: asyncio.run(TRIP.run(tools=trip.tools, **options))):
            trip.calls.clear()
            with pytest.raises(exit) as caught:
                run()
            assert trip.calls == ["reserve", "release 7"]
            assert caught.value.outcome.code == "cancelled"  # type: ignore[attr-defined]
            left = [] if read_only else ["wait"]
            assert [tool for tool, _ in caught.value.outcome.not_rolled_back] == left  # type: ignore[attr-defined]


def test_a_second_exit_skips_the_rollback() -> None:
    def leave(arguments: dict[str, Any]) -> Any:
        raise KeyboardInterrupt

    def again() -> None:
        raise KeyboardInterrupt("second")

    trip = Trip(leave, is_async=False, release=again)
    with pytest.raises(KeyboardInterrupt, match="second"):
        TRIP.run_sync(tools=trip.tools)
    assert trip.calls == ["reserve", "release 7"]


COMPUTES = """
import signal, threading
import ilo

loop = "".join(f'{{"for":"{name}","in":{{"range":1000}},"do":[' for name in "abc")
source = ('{"function":"f","input":{},"output":"any","steps":[{"let":"id","call":"reserve","rollback":'
    '{"call":"release","args":{}}},{"let":"x","expr":0},%s{"let":"x","expr":{"+":["$x",1]}}]}]}]},{"return":"$x"}]}' % loop)
program = ilo.build(source)
calls = []

def reserve(arguments):
    calls.append("reserve")
    threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()
    return 7

tools = ilo.Tools(
    ilo.Tool("reserve", reserve, is_async=False),
    ilo.Tool("release", lambda arguments: calls.append("release"), is_async=False),
)
try:
    program.run_sync(tools=tools, limits={"fuel": 10**12})
except KeyboardInterrupt as error:
    assert error.outcome.code == "cancelled" and calls == ["reserve", "release"], calls
else:
    raise SystemExit("no interrupt")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_an_interrupt_of_a_computation_rolls_back() -> None:
    subprocess.run([sys.executable, "-c", COMPUTES], check=True, timeout=300)


INTERRUPTS = """
import asyncio, sys
import ilo
sys.path.insert(0, sys.argv[1])
from test_edges import TRIP, Trip

async def wait(arguments):
    print("waits", flush=True)
    await asyncio.sleep(3600)

trip = Trip(wait)
try:
    TRIP.run_sync(tools=trip.tools)
except KeyboardInterrupt:
    print(trip.calls)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_an_interrupt_of_the_process_rolls_back() -> None:
    command = [sys.executable, "-c", INTERRUPTS, str(Path(__file__).parent)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "waits\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=300)[0] == "['reserve', 'release 7']\n"


SCHEMA = {"type": "object", "properties": {"allowed": {"type": "boolean"}}, "required": ["allowed"]}
MISFITS = ["no", {"allowed": "no"}, {}, None, {"allowed": None}, [True]]


def deferred(**more: Any) -> ilo.Tools:
    def suspends(arguments: dict[str, Any]) -> Any:
        raise ilo.Suspend("a person decides")

    return one(suspends, output_schema=SCHEMA, **more)


@pytest.mark.parametrize("answer", MISFITS)
@pytest.mark.parametrize("key", [None, "0123456789abcdef" * 4])
def test_an_answer_from_outside_that_does_not_fit_is_refused_and_the_run_waits(
    answer: Any, key: str | None, tmp_path: Path
) -> None:
    journal = ilo.Journal(tmp_path / "j", key=key)
    waits = ONE.run_sync(tools=deferred(), journal=journal, name="a")
    assert isinstance(waits, ilo.Waiting) and waits.state == "deferred"
    with pytest.raises(ilo.BadValue, match="the answer does not fit tool `t`"):
        journal.answer("a", waits.call, answer)
    assert journal.show("a").state == "deferred" and journal.decisions("a") == []
    journal.answer("a", waits.call, {"allowed": False})
    # What the tool is now does not matter.
    assert journal.resume_sync("a", tools=one(lambda arguments: 1)) == ilo.Ok({"allowed": False})
    with pytest.raises(ilo.JournalError):
        journal.answer("a", waits.call, {"allowed": True})
    # It moves with the run.
    waits = ONE.run_sync(tools=deferred(), journal=journal)
    with ilo.Journal(tmp_path / "other", key=key) as other:
        moved = other.import_run(journal.export_run(waits.run))
        with pytest.raises(ilo.BadValue, match="does not fit"):
            other.answer(moved, waits.call, answer)


@pytest.mark.parametrize("answer", MISFITS)
def test_an_answer_for_a_snapshot_that_does_not_fit_is_refused(answer: Any) -> None:
    tools = deferred()
    found = ONE.run_sync(tools=tools)
    assert isinstance(found, ilo.Suspended)
    with pytest.raises(ilo.BadValue, match="the answer does not fit tool `t`"):
        ONE.resume_sync(found.snapshot, answer=answer, tools=tools)
    assert ONE.resume_sync(found.snapshot, answer={"allowed": True}, tools=tools) == ilo.Ok({"allowed": True})


def test_an_answer_without_a_stored_schema_is_compared_with_the_tool_at_resume(tmp_path: Path) -> None:
    def suspends(arguments: dict[str, Any]) -> Any:
        raise ilo.Suspend

    journal = ilo.Journal(tmp_path / "j")
    waits = ONE.run_sync(tools=one(suspends), journal=journal, name="a")
    journal.answer("a", waits.call, "no")
    again = journal.resume_sync("a", tools=deferred())
    assert isinstance(again, ilo.Waiting) and again.state == "doubt", again
    with pytest.raises(ilo.BadValue):
        journal.answer("a", again.call, "no")
    journal.answer("a", again.call, {"allowed": True})
    assert journal.resume_sync("a", tools=deferred()) == ilo.Ok({"allowed": True})


STEPS = ilo.build(
    """{"function": "buy", "input": {}, "output": "any", "steps": [
    {"let": "hold", "call": "hold", "args": {"n": 1}}, {"let": "asked", "call": "ask", "args": {"n": "$hold"}},
    {"let": "paid", "call": "pay", "args": {"amount": 90}}, {"return": "$paid"}]}"""
)


def steps(calls: list[str], amount: Any, *, hold: str = "integer", **more: Any) -> ilo.Tools:
    def tool(name: str, properties: Any, **policy: Any) -> ilo.Tool:
        schema = {"type": "object", "properties": properties, **(more if name == "pay" else {})}
        return ilo.Tool(name, lambda arguments: calls.append(name), is_async=False, input_schema=schema, **policy)

    return ilo.Tools(
        tool("hold", {"n": {"type": hold}}), tool("ask", {"n": {}}, confirm=True), tool("pay", {"amount": amount})
    )


@pytest.mark.parametrize(
    ("amount", "more", "why"),
    [
        ({"type": "number", "maximum": 50}, {}, "`amount`: expected a number of at most 50, found 90"),
        ({"type": "number"}, {"required": ["amount", "currency"]}, "the field `currency` is missing"),
        ({"type": "number"}, {"additionalProperties": True}, None),
        ({"type": "number", "maximum": 500}, {}, None),
    ],
)
def test_a_changed_tool_blocks_a_run_only_if_a_call_to_come_no_longer_fits(
    amount: Any, more: Any, why: str | None, tmp_path: Path
) -> None:
    journal, calls = ilo.Journal(tmp_path / "j"), []  # type: ignore[var-annotated]
    waits = STEPS.run_sync(tools=steps(calls, {"type": "number"}), journal=journal, name="a")
    assert isinstance(waits, ilo.Waiting) and waits.state == "asking"
    journal.approve("a", waits.call)
    # A call that was made is not compared: its tool may take anything else now.
    now = steps(calls, amount, hold="string", **more)
    found = journal.resume_all_sync(tools=now)[waits.run]
    if why is None:
        assert found == ilo.Ok(None) and calls == ["hold", "ask", "pay"]
        return
    assert isinstance(found, ilo.Waiting) and found.state == "blocked" and why in found.reason, found
    assert calls == ["hold"] and journal.show("a").state == "blocked"
    found = journal.resume_sync("a", tools=now, accept_changes=True)
    assert not isinstance(found, ilo.Waiting) and calls == ["hold", "ask"]


def test_a_sweep_goes_on_past_runs_that_are_blocked(tmp_path: Path) -> None:
    journal, calls = ilo.Journal(tmp_path / "j"), []  # type: ignore[var-annotated]
    first = STEPS.run_sync(tools=steps(calls, {"type": "number"}), journal=journal)
    second = ONE.run_sync(tools=one(lambda arguments: 1, confirm=True), journal=journal)
    for waits in (first, second):
        assert isinstance(waits, ilo.Waiting)
        journal.approve(waits.run, waits.call)
    left = journal.resume_all_sync(tools=one(lambda arguments: 1, confirm=True))
    assert [getattr(outcome, "state", outcome) for outcome in left.values()] == ["blocked", ilo.Ok(1)]


def test_a_question_has_the_name_of_the_tool_and_no_other_text_of_the_program() -> None:
    asked: list[str] = []

    def ask(call: Any) -> bool:
        asked.append(call.tool)
        return True

    def program(name: str) -> ilo.Program:
        return ilo.build(f"; fn f() -> result any, any\n; Tools: 0={name}\nRET_OK CALL 0 0\n")

    def tools(name: str) -> ilo.Tools:
        return ilo.Tools(ilo.Tool(name, lambda _: "made", is_async=False, confirm=True))

    made = program("pay").run_sync(tools=tools("mcp://bank/pay"), ask=ask)
    assert (made.value, asked) == ("made", ["mcp://bank/pay"])
    refused = program("mcp://trust-me/pay").run_sync(tools=tools("pay"), ask=ask)
    assert refused.error.endswith("the program calls it by a server that is not there; write `pay`")
    assert asked == ["mcp://bank/pay"]


def test_a_tool_is_awaited_or_not_whatever_it_says_of_itself() -> None:
    async def answers(arguments: dict[str, Any]) -> Any:
        await asyncio.sleep(0)
        return 1

    for options in ({}, {"max_concurrency": 4}, {"cancel": ilo.Cancellation()}):
        assert asyncio.run(ONE.run(tools=one(lambda arguments: 1, is_async=True), **options)) == ilo.Ok(1)
        assert asyncio.run(ONE.run(tools=one(answers), **options)) == ilo.Ok(1)
    failed = ONE.run_sync(tools=one(answers))
    assert failed == ilo.Err("tool `t` gave an awaitable, and is not marked as async (`is_async=True`)")
