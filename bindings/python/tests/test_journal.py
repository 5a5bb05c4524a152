"""Durable runs: what people decide, what is left after a crash, and that nothing is lost or made twice."""

from __future__ import annotations

import asyncio
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import ilo
import journal_worker
import postgres_server
import pytest

SCHEMAS = count()
WORKER = Path(__file__).parent / "journal_worker.py"
BUY = ilo.build(
    """{"function": "buy", "input": {"amount": "number"}, "output": "result text text", "steps": [
    {"let": "hold", "call": "hold", "args": {"amount": "$input.amount"},
     "rollback": {"call": "free", "args": {"hold": "$hold"}}},
    {"let": "paid", "call": "pay", "args": {"amount": "$input.amount"}},
    {"return": {"ok": "$paid"}}]}"""
)


class Shop:
    """Tools that record their calls."""

    def __init__(self, pay: Any = None, **policy: Any) -> None:
        self.calls: list[str] = []

        async def hold(arguments: dict[str, Any]) -> Any:
            self.calls.append("hold")
            return "h1"

        async def free(arguments: dict[str, Any]) -> Any:
            self.calls.append("free")

        async def paid(arguments: dict[str, Any]) -> Any:
            self.calls.append("pay")
            return f"paid {arguments['amount']}" if pay is None else await pay()

        self.tools = ilo.Tools(
            ilo.Tool("hold", hold, is_async=True),
            ilo.Tool("free", free, is_async=True),
            ilo.Tool("pay", paid, is_async=True, **policy),
        )


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server, which runs as long as the tests of this file."""
    if postgres_server.programs() is None:
        pytest.skip("no PostgreSQL server was found: apt-get install postgresql")
    with postgres_server.server(tmp_path_factory.mktemp("postgres")) as address:
        yield address


@pytest.fixture(params=["file", "database"])
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ilo.Journal]:
    """A new journal, in a file and in a database."""
    place: Path | str = tmp_path / "runs.journal"
    if request.param == "database":
        place = f"{request.getfixturevalue('database')}?schema=t{next(SCHEMAS)}"
    with ilo.Journal(place) as journal:
        yield journal


def buy(journal: ilo.Journal, shop: Shop, **options: Any) -> Any:
    return asyncio.run(BUY.run({"amount": 9}, tools=shop.tools, journal=journal, **options))


def test_runs_are_found_waited_for_and_their_calls_are_kept(journal: ilo.Journal) -> None:
    buy(journal, Shop(), name="first", metadata={"tenant": "acme", "user": "ann"})
    assert journal.calls("first") == []
    journal.keep_calls()
    waits = buy(journal, Shop(confirm=True), name="second", metadata={"tenant": "other"})
    assert [run.name for run in journal.list(metadata={"tenant": "acme"})] == ["first"]
    assert [run.name for run in journal.list(name="sec")] == ["second"]
    assert journal.metadata("first") == {"tenant": "acme", "user": "ann"}
    assert journal.wait("first").value == "paid 9"
    assert journal.wait("second", timeout=0.05) is None
    journal.deny("second", waits.call, "no", by="ann")
    journal.resume_sync("second", tools=Shop().tools)
    found = [(call.call, call.tool, call.arguments, call.answer, call.failed) for call in journal.calls("second")]
    assert found == [
        (1, "hold", {"amount": 9}, "h1", False),
        (2, "pay", {"amount": 9}, "not approved by ann: no", True),
        (3, "free", {"hold": "h1"}, None, False),
    ]
    assert [call.took is None for call in journal.calls("second")] == [False, True, False]


def test_a_run_ends_and_its_name_gives_the_outcome(journal: ilo.Journal) -> None:
    shop = Shop()
    assert buy(journal, shop, name="order-1") == ilo.Ok("paid 9")
    assert buy(journal, shop, name="order-1") == ilo.Ok("paid 9")
    assert BUY.run_sync({"amount": 9}, tools=shop.tools, journal=journal, name="order-1") == ilo.Ok("paid 9")
    assert shop.calls == ["hold", "pay"]
    [run] = journal.list()
    assert (run.run, run.name, run.function, run.state, run.outcome) == (1, "order-1", "buy", "ended", ilo.Ok("paid 9"))
    with pytest.raises(ilo.JournalError) as caught:
        BUY.run_sync({"amount": 8}, tools=shop.tools, journal=journal, name="order-1")
    assert caught.value.code == "name-taken"
    with pytest.raises(ValueError, match="not a number"):
        buy(journal, shop, name="7")
    with pytest.raises(TypeError, match="journal"):
        BUY.run_sync({"amount": 9}, tools=shop.tools, name="x")


@pytest.mark.parametrize("approved", [True, False])
def test_a_person_approves_a_call_later(journal: ilo.Journal, approved: bool) -> None:
    shop = Shop(confirm=True)
    waits = buy(journal, shop, name="order")
    assert isinstance(waits, ilo.Waiting)
    assert (waits.run, waits.name, waits.state, waits.call, waits.tool) == (1, "order", "asking", 2, "pay")
    assert waits.arguments == {"amount": 9} and shop.calls == ["hold"]
    match waits:
        case ilo.Waiting(run, state, call):
            assert (run, state, call) == (1, "asking", 2)
    # It keeps waiting.
    assert isinstance(asyncio.run(journal.resume("order", tools=shop.tools)), ilo.Waiting)
    with pytest.raises(ilo.JournalError) as caught:
        journal.approve("order", 1)
    assert caught.value.code == "other-call"
    if approved:
        assert journal.approve(1, 2, by="ann") == "ready"
        assert journal.resume_sync("order", tools=shop.tools) == ilo.Ok("paid 9")
        assert shop.calls == ["hold", "pay"]
        assert [(call, what, who) for call, _, what, who in journal.decisions(1)] == [(2, "approve", "ann")]
    else:
        assert journal.deny("order", 2, "too much", by="ann") == "answered"
        found = journal.resume_sync("order", tools=shop.tools)
        assert found == ilo.Err("not approved by ann: too much")
        assert shop.calls == ["hold", "free"] and found.rolled_back == [("free", 3)]
    with pytest.raises(ilo.JournalError) as caught:
        journal.approve(1, 2)
    assert caught.value.code in ("not-in-this-state", "no-such-run")


@pytest.mark.parametrize(("allowed", "expected"), [(True, ilo.Ok("paid 9")), (False, None)])
def test_ask_decides_at_once(journal: ilo.Journal, allowed: bool, expected: Any) -> None:
    shop = Shop(confirm=True)
    asked: list[Any] = []

    async def ask(call: Any) -> bool:
        asked.append((call.tool, call.arguments))
        return allowed

    found = buy(journal, shop, ask=ask)
    assert found == expected if expected else isinstance(found, ilo.Err)
    assert asked == [("pay", {"amount": 9})]


def test_a_tool_that_suspends_gets_its_answer_from_outside(journal: ilo.Journal) -> None:
    async def later() -> Any:
        raise ilo.Suspend("the bank calls back")

    shop = Shop(later)
    waits = buy(journal, shop, name="order")
    assert isinstance(waits, ilo.Waiting) and waits.state == "deferred"
    [run] = journal.list(state="deferred")
    assert run.call == 2 and run.tool == "pay" and run.arguments == {"amount": 9} and not run.resumes
    assert journal.answer("order", 2, "paid later") == "answered"
    assert journal.show("order").resumes
    assert journal.resume_sync("order", tools=shop.tools) == ilo.Ok("paid later")
    assert shop.calls == ["hold", "pay"]
    waits = buy(journal, shop)
    assert journal.fail(waits.run, waits.call, "no money") == "answered"
    assert journal.resume_sync(waits.run, tools=shop.tools) == ilo.Err("no money")
    waits = buy(journal, shop)
    with pytest.raises(ilo.BadValue):
        journal.answer(waits.run, waits.call, b"x")
    journal.cancel(waits.run)
    journal.answer(waits.run, waits.call, "paid")
    found = journal.resume_sync(waits.run, tools=shop.tools)
    assert isinstance(found, ilo.Fault) and found.code == "cancelled" and shop.calls[-1] == "free"


def test_a_run_that_is_dropped_in_mid_call_is_in_doubt(journal: ilo.Journal) -> None:
    async def hang() -> Any:
        await asyncio.sleep(3600)

    shop = Shop(hang, on_unanswered="ask")

    async def dropped() -> None:
        task = asyncio.ensure_future(BUY.run({"amount": 9}, tools=shop.tools, journal=journal, name="order"))
        while "pay" not in shop.calls:
            await asyncio.sleep(0.01)
        assert journal.show("order").state == "calling"
        with pytest.raises(ilo.JournalError) as caught:
            await journal.resume("order", tools=shop.tools)
        assert caught.value.code == "run-owned"
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(dropped())
    again = Shop()
    waits = journal.resume_sync("order", tools=again.tools)
    assert isinstance(waits, ilo.Waiting) and waits.state == "doubt" and again.calls == []
    assert journal.retry("order", 2) == "ready"
    assert journal.resume_sync("order", tools=again.tools) == ilo.Ok("paid 9") and again.calls == ["pay"]


def test_a_limit_may_be_raised(journal: ilo.Journal) -> None:
    shop = Shop()
    waits = buy(journal, shop, limits={"tool_calls": 1})
    assert isinstance(waits, ilo.Waiting) and waits.state == "limited" and shop.calls == ["hold"]
    with pytest.raises(ValueError, match="expects more"):
        journal.raise_limits(waits.run, tool_calls=1)
    journal.raise_limits(waits.run, tool_calls=5)
    assert journal.resume_sync(waits.run, tools=shop.tools) == ilo.Ok("paid 9")


def test_a_missing_tool_blocks_the_run(journal: ilo.Journal) -> None:
    shop = Shop(confirm=True)
    waits = buy(journal, shop)
    journal.approve(waits.run, waits.call)
    blocked = journal.resume_sync(waits.run, tools=[shop.tools["pay"]])
    assert isinstance(blocked, ilo.Waiting) and blocked.state == "blocked" and "`hold`" in blocked.reason, blocked
    assert journal.show(waits.run).state == "blocked" and shop.calls == ["hold"]
    assert journal.show(waits.run).resumes
    assert journal.resume_sync(waits.run, tools=shop.tools) == ilo.Ok("paid 9")


def test_a_run_moves_to_another_journal(journal: ilo.Journal, tmp_path: Path) -> None:
    shop = Shop(confirm=True)
    waits = buy(journal, shop, name="order")
    with ilo.Journal(tmp_path / "other.journal") as other:
        moved = other.import_run(journal.export_run(waits.run))
        assert journal.show("order").state == "exported"
        other.approve(moved, 2)
        assert other.resume_sync("order", tools=shop.tools) == ilo.Ok("paid 9")
    with pytest.raises(ilo.JournalError) as caught:
        other.list()
    assert caught.value.code == "journal-closed"
    assert journal.prune(0) == 0


def test_what_is_no_journal_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no journal")
    for path, code in ((tmp_path / "text", "journal-other-file"), (tmp_path / "none" / "x", "journal-cannot-open")):
        with pytest.raises(ilo.JournalError) as caught:
            ilo.Journal(path)
        assert caught.value.code == code
    with pytest.raises(ilo.JournalError):
        ilo.Journal(tmp_path / "absent", create=False)
    with pytest.raises(ilo.JournalError):
        ilo.Journal(tmp_path / "key", key="short")
    key = "0123456789abcdef" * 4
    ilo.Journal(tmp_path / "key", key=key).close()
    with pytest.raises(ilo.JournalError) as caught:
        ilo.Journal(tmp_path / "key")
    assert caught.value.code == "journal-key"


def killed(path: Path, effects: Path, pause: float, hold: str) -> bool:
    """Runs the worker, and kills it some time after its first effect. Returns false if it ended before.

    With `hold` the worker stays in the call of that tool once it has had its effect, and is killed there.
    """

    def had() -> list[str]:
        return [line for line in effects.read_text().splitlines() if line.startswith(hold)]

    before = had()
    command = [sys.executable, str(WORKER), str(path), str(effects), hold]
    worker = subprocess.Popen(command, stdout=subprocess.PIPE)
    while worker.poll() is None and had() == before:
        time.sleep(0.001)
    time.sleep(pause)
    ended = worker.poll() is not None
    worker.send_signal(signal.SIGKILL)
    worker.communicate()
    return not ended


def decide(journal: ilo.Journal, effects: Path) -> bool:
    """Decides as a person who checks whether the payment is there. Returns whether there was a decision."""
    [run] = journal.list()
    if run.state != "doubt":
        return False
    assert run.arguments is not None and run.call is not None
    if run.tool == "post":
        # It was cut off so often that a person is asked. To make it again with its key does no harm.
        journal.retry("job", run.call)
    elif any(line.endswith(f" {run.key}") for line in effects.read_text().splitlines()):
        journal.answer("job", run.call, run.arguments["n"] + 10)
    else:
        journal.retry("job", run.call)
    return True


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_nothing_is_lost_or_made_twice_when_the_process_is_killed(tmp_path: Path) -> None:
    path, effects = tmp_path / "runs.journal", tmp_path / "effects"
    effects.touch()
    chance, kills, doubts = random.Random(7), 0, 0
    for _ in range(60):
        # A worker also ends if it finds the run in doubt.
        # The first kills are within calls, however fast this machine is.
        hold = ("pay", "post", "pay")[kills] if kills < 3 else ""
        kills += killed(path, effects, 0 if hold else chance.uniform(0.0, 0.04), hold)
        with ilo.Journal(path) as journal:
            if journal.list()[0].state == "ended":
                break
            doubts += decide(journal, effects)
    assert kills >= 3 and doubts >= 1, (kills, doubts)
    with ilo.Journal(path) as journal:
        found = journal.resume_sync("job", tools=journal_worker.tools(effects))
        while isinstance(found, ilo.Waiting):
            assert decide(journal, effects)
            found = journal.resume_sync("job", tools=journal_worker.tools(effects))
        assert found == ilo.Ok([n + 110 for n in range(journal_worker.STEPS)])
    lines = [line.split() for line in effects.read_text().splitlines()]
    paid = Counter(n for name, n, _ in lines if name == "pay")
    assert paid == {str(n): 1 for n in range(journal_worker.STEPS)}, "no payment is lost or made twice"
    # A call that may be made twice had the same key each time.
    posted = {(n, key) for name, n, key in lines if name == "post"}
    assert len(posted) == journal_worker.STEPS, posted
    assert len({key for _, _, key in lines}) == 2 * journal_worker.STEPS


FORKS = """
import gc, os, sys, warnings
import ilo

warnings.simplefilter("ignore", DeprecationWarning)  # of `fork` in a process with threads
PROGRAM = ilo.build("; fn f() -> any\\n; Tools: 0=pay\\nRET CALL 0 0\\n")
TOOLS = ilo.Tools(ilo.Tool("pay", lambda arguments: 7, is_async=False))

def run(journal, name):
    return PROGRAM.run_sync(tools=TOOLS, journal=journal, name=name)

journal = ilo.Journal(sys.argv[1])
assert run(journal, "a") == ilo.Ok(7)
child = os.fork()
if child == 0:
    for use in (journal.list, lambda: run(journal, "b")):
        try:
            use()
        except ilo.JournalError as error:
            assert "opened before a fork" in str(error), error
        else:
            os._exit(3)
    journal.close()
    del use, journal
    gc.collect()
    assert run(ilo.Journal(sys.argv[1]), "c") == ilo.Ok(7)
    sys.stdout.flush()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert run(journal, "d") == ilo.Ok(7)
assert [run.name for run in journal.list()] == ["a", "c", "d"]
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_journal_of_the_parent_is_refused_after_a_fork(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", FORKS, str(tmp_path / "j")], check=True, timeout=60)
