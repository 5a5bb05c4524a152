"""What callbacks of a host give and raise of every odd kind: the run ends as promised, with its rollback."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import logging
import sys
from pathlib import Path
from typing import Any

import ilo
import pytest
from test_edges import ONE, TRIP, Odd, Trip, one

# As `os.listdir` gives the name of a file that is not UTF-8.
HALF = "caf\udce9"
RUNS: list[Any] = [
    lambda program, **options: program.run_sync(**options),
    lambda program, **options: asyncio.run(program.run(**options)),
]
MANNERS: list[dict[str, Any]] = [{}, {"max_concurrency": 4}, {"on_call": lambda made: None}, {"on_event": lambda event: None}]


@pytest.mark.parametrize("manner", MANNERS, ids=str)
@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("exit", [Odd, GeneratorExit])
def test_any_exception_that_is_no_exception_of_the_call_is_raised_after_the_rollback(
    is_async: bool, manner: dict[str, Any], exit: type[BaseException]
) -> None:
    def leave(arguments: dict[str, Any]) -> Any:
        raise exit("gone")

    async def leave_async(arguments: dict[str, Any]) -> Any:
        await asyncio.sleep(0)
        raise exit("gone")

    for run in RUNS:
        trip = Trip(leave_async if is_async else leave, is_async=is_async)
        with pytest.raises(exit) as caught:
            run(TRIP, tools=trip.tools, **manner)
        assert trip.calls == ["reserve", "release 7"]
        outcome = caught.value.outcome  # type: ignore[attr-defined]
        assert outcome.code == "cancelled" and [tool for tool, _ in outcome.not_rolled_back] == ["wait"]


@pytest.mark.parametrize("manner", MANNERS, ids=str)
def test_a_run_that_nobody_awaits_any_more_ends_where_it_is(manner: dict[str, Any]) -> None:
    for is_async in (True, False):
        begun: list[int] = []

        async def waits(arguments: dict[str, Any]) -> Any:
            begun.append(1)
            await asyncio.sleep(3600)

        trip = Trip(waits if is_async else lambda arguments: waits(arguments), is_async=is_async)

        async def main() -> None:
            run = TRIP.run(tools=trip.tools, **manner)
            while not begun:
                future = run.send(None)
                while future is not None and not begun and not future.done():
                    await asyncio.sleep(0)
            run.close()

        asyncio.run(main())
        # Nothing can be awaited then: a host that wants the rollback cancels the task of the run.
        assert trip.calls == ["reserve"]


@pytest.mark.parametrize("manner", MANNERS, ids=str)
def test_a_cancellation_that_a_tool_raises_itself_fails_its_call(manner: dict[str, Any]) -> None:
    def gives_up(arguments: dict[str, Any]) -> Any:
        raise asyncio.CancelledError

    for run in RUNS:
        found = run(ONE, tools=one(gives_up), **manner)
        assert found == ilo.Err("tool `t` was cancelled before it had answered"), found


def test_the_class_of_an_exit_need_not_take_the_outcome() -> None:
    class Closed(KeyboardInterrupt):
        def __setattr__(self, name: str, value: object) -> None:
            raise LookupError(name)

    def leave(arguments: dict[str, Any]) -> Any:
        raise Closed

    for run in RUNS:
        trip = Trip(leave, is_async=False)
        with pytest.raises(Closed):
            run(TRIP, tools=trip.tools)
        assert trip.calls == ["reserve", "release 7"]


@pytest.mark.parametrize("error", [Odd(), asyncio.CancelledError(), GeneratorExit()], ids=repr)
def test_an_ask_that_raises_what_is_no_exception_decides_nothing(error: BaseException, tmp_path: Path) -> None:
    def ask(call: object) -> bool:
        raise error

    async def ask_async(call: object) -> bool:
        raise error

    made: list[str] = []
    tools = one(lambda arguments: made.append("t"), confirm=True)
    for number, callback in enumerate((ask, ask_async)):
        got: list[BaseException] = []
        found = ONE.run_sync(tools=tools, ask=callback, on_error=got.append)
        assert isinstance(found, ilo.Err) and found.error.endswith("and nobody could be asked"), found
        journal = ilo.Journal(tmp_path / str(number))
        waits = ONE.run_sync(tools=tools, ask=callback, on_error=got.append, journal=journal)
        assert isinstance(waits, ilo.Waiting) and waits.state == "asking"
        assert [type(found) for found in got] == [type(error)] * 2
    assert made == []


def test_texts_of_a_host_that_are_not_unicode_end_no_run(tmp_path: Path) -> None:
    def fails(arguments: dict[str, Any]) -> Any:
        raise LookupError(HALF)

    for run in RUNS:
        assert run(ONE, tools=one(fails)) == ilo.Err("LookupError: caf?")
        assert run(ONE, tools=one(fails, idempotent=True, retries=1)) == ilo.Err("LookupError: caf?")
        failed = run(ONE, tools=one(lambda arguments: HALF))
        assert failed == ilo.Err("the tool's answer is a text with half of a surrogate pair")
    refused = ONE.run_sync(tools=one(fails, confirm=True), ask=lambda call: ilo.Deny(HALF))
    assert isinstance(refused, ilo.Err) and refused.error.endswith(": caf?")
    journal = ilo.Journal(tmp_path / "j")
    refused = ONE.run_sync(tools=one(fails, confirm=True), ask=lambda call: ilo.Deny(HALF), journal=journal)
    assert isinstance(refused, ilo.Err) and refused.error.endswith(": caf?")

    def suspends(arguments: dict[str, Any]) -> Any:
        raise ilo.Suspend(HALF)

    waits = ONE.run_sync(tools=one(suspends))
    assert isinstance(waits, ilo.Suspended) and waits.reason == "caf?" and waits.to_json().encode()
    cancel = ilo.Cancellation()
    trip = Trip(lambda arguments: cancel.cancel(HALF), is_async=False)
    outcome = TRIP.run_sync(tools=trip.tools, cancel=cancel)
    assert isinstance(outcome, ilo.Fault) and outcome.message.endswith(": caf?"), outcome
    assert trip.calls == ["reserve", "release 7"]


def test_a_validator_may_raise_anything() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Value(pydantic.BaseModel):  # type: ignore[misc, name-defined]
        id: int

        @pydantic.field_validator("id")
        @classmethod
        def checked(cls, value: int) -> int:
            raise self_raised

    program = ilo.build("; fn f() -> any\n; Tools: 0=t 1=undo\nLET 0 CALL 0 0\nROLLBACK CALL 1 0\nRET REF 0\n", output=Value)
    for self_raised in (ValueError(HALF), LookupError(HALF), Odd(HALF), asyncio.CancelledError()):
        undone: list[object] = []
        tools = ilo.Tools(
            ilo.Tool("t", lambda arguments: {"id": 1}, is_async=False), ilo.Tool("undo", undone.append, is_async=False)
        )
        outcome = program.run_sync(tools=tools)
        assert isinstance(outcome, ilo.Fault) and outcome.code == "output-mismatch", outcome
        assert undone == [{}]


class Loud(logging.Handler):
    """A handler of logs that raises."""

    def emit(self, record: logging.LogRecord) -> None:
        raise OSError("the log is full")


def test_a_log_that_raises_changes_no_run() -> None:
    def raises(given: object) -> None:
        raise LookupError

    logger, got = logging.getLogger("ilo"), []  # type: ignore[var-annotated]
    handler, level = Loud(), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        for run in RUNS:
            assert run(ONE, tools=one(lambda arguments: 1), on_call=raises, on_error=got.append) == ilo.Ok(1)
            assert run(ONE, tools=one(raises)) == ilo.Err("LookupError")
            trip = Trip(lambda arguments: raises(arguments), is_async=False)
            assert isinstance(run(TRIP, tools=trip.tools), ilo.Fault) and trip.calls == ["reserve", "release 7"]
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    assert [type(error) for error in got] == [LookupError, LookupError]


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        raise LookupError

    __repr__ = __eq__ = __len__ = __iter__ = __str__  # type: ignore[assignment]

    def __hash__(self) -> int:
        return str.__hash__(self)


class Int(int):
    def __index__(self) -> int:
        raise LookupError

    __int__ = __repr__ = __str__ = __index__  # type: ignore[assignment]


class Dict(dict):  # type: ignore[type-arg]
    def items(self) -> Any:
        raise LookupError

    __iter__ = keys = values = __len__ = __repr__ = items  # type: ignore[assignment]


class List(list):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        raise LookupError

    __len__ = __repr__ = __iter__  # type: ignore[assignment]


class Hostile:
    def __getattribute__(self, name: str) -> Any:
        raise LookupError(name)

    def __repr__(self) -> str:
        raise LookupError

    __eq__ = __hash__ = __bool__ = __repr__  # type: ignore[assignment]


def generator() -> Any:
    yield 1


async def async_generator() -> Any:
    yield 1


@dataclasses.dataclass
class Itself:
    @property
    def inner(self) -> Any:
        raise AssertionError

    me: Any = None


def test_answers_of_every_odd_kind_are_values_or_failures() -> None:
    circular = Itself()
    circular.me = circular
    kinds: list[tuple[Any, Any]] = [
        (lambda: Text("a"), ilo.Ok("a")),
        (lambda: Int(7), ilo.Ok(7)),
        (lambda: Dict({Text("a"): Int(1)}), ilo.Ok({"a": 1})),
        (lambda: List([Text("a"), True]), ilo.Ok(["a", True])),
        (Hostile, None),
        (lambda: [Hostile()], None),
        (lambda: {"a": Hostile()}, None),
        (lambda: {Hostile: 1}, None),
        (generator, None),
        (async_generator, None),
        (lambda: circular, None),
        (lambda: (1, {"a": Hostile}), None),
        (lambda: {1: 2}, None),
        (lambda: 2**64, None),
        (lambda: float("nan"), None),
        (lambda: b"", None),
        (lambda: NotImplemented, None),
        (lambda: LookupError, None),
    ]
    for make, expected in kinds:
        for manner in MANNERS:
            for run in RUNS:
                for is_async in (False, True):

                    async def gives(arguments: dict[str, Any]) -> Any:
                        return make()

                    tools = one(gives if is_async else lambda arguments: make(), is_async=is_async)
                    found = run(ONE, tools=tools, **manner)
                    assert found == expected if expected is not None else isinstance(found, (ilo.Err, ilo.Fault)), make


def test_a_generator_of_an_async_tool_is_an_answer_without_a_form() -> None:
    for manner in MANNERS:
        for run in RUNS:
            found = run(ONE, tools=one(lambda arguments: generator(), is_async=True), **manner)
            assert found == ilo.Err(
                "the tool's answer is a value of the class `generator`, which has no form in JSON"
            ), found


def test_a_record_that_changes_while_it_is_read_is_read_as_it_was() -> None:
    class Now(datetime.date):
        def isoformat(self) -> str:
            for number in range(100):
                record[f"more {number}"] = number
            record.pop("last", None)
            return "now"

    for is_async in (False, True):
        record: dict[str, Any] = {"when": Now(2026, 1, 1), "last": 1}

        async def gives(arguments: dict[str, Any]) -> Any:
            return record

        for run in RUNS:
            record = {"when": Now(2026, 1, 1), "last": 1}
            found = run(ONE, tools=one(gives if is_async else lambda arguments: record, is_async=is_async))
            assert found == ilo.Ok({"when": "now", "last": 1}), found


def test_an_interrupt_while_an_answer_is_read_is_not_lost() -> None:
    class Slow(datetime.date):
        def isoformat(self) -> str:
            # As a person who presses Ctrl-C just now.
            raise KeyboardInterrupt

    async def gives(arguments: dict[str, Any]) -> Any:
        return Slow(2026, 1, 1)

    for manner in MANNERS:
        for run in RUNS:
            for is_async in (False, True):
                trip = Trip(gives if is_async else lambda arguments: Slow(2026, 1, 1), is_async=is_async)
                with pytest.raises(KeyboardInterrupt):
                    run(TRIP, tools=trip.tools, **manner)
                assert trip.calls == ["reserve", "release 7"]


def test_an_exit_of_an_observer_is_raised_after_the_rollback() -> None:
    def leaves(event: Any) -> None:
        if event.tool == "wait" and isinstance(event, (ilo.CallEnd, ilo.CallResult)):
            raise KeyboardInterrupt

    for observer in ("on_call", "on_event"):
        for is_async in (False, True):
            for run in RUNS:

                async def wait(arguments: dict[str, Any]) -> int:
                    return 1

                trip = Trip(wait if is_async else lambda arguments: 1, is_async=is_async)
                with pytest.raises(KeyboardInterrupt):
                    run(TRIP, tools=trip.tools, **{observer: leaves})
                assert trip.calls == ["reserve", "release 7"], (observer, is_async)


@pytest.mark.parametrize("exit", [KeyboardInterrupt, SystemExit, Odd])
@pytest.mark.parametrize("observer", ["on_call", "on_event"])
def test_an_exit_of_an_observer_leaves_no_answer_in_doubt(
    observer: str, exit: type[BaseException], tmp_path: Path
) -> None:
    def leaves(event: Any) -> None:
        if event.tool == "wait" and isinstance(event, (ilo.CallEnd, ilo.CallResult)):
            raise exit

    def wait(arguments: dict[str, Any]) -> int:
        made.append("wait")
        return 1

    for number, run in enumerate(RUNS):
        made: list[str] = []
        journal, trip = ilo.Journal(tmp_path / str(number)), Trip(wait, is_async=False)
        if exit is Odd:
            # It ends nobody, so an observer may raise it as anything else.
            assert run(TRIP, tools=trip.tools, journal=journal, name="a", **{observer: leaves}) == ilo.Ok(1)
            continue
        with pytest.raises(exit):
            run(TRIP, tools=trip.tools, journal=journal, name="a", **{observer: leaves})
        assert journal.resume_sync("a", tools=trip.tools) == ilo.Ok(1)
        assert trip.calls == ["reserve"] and made == ["wait"]


# A secret in each text of a host that is not meant for programs or models.
CANARY = "c4n4ry-7F3a9C"


def test_a_secret_of_a_host_is_in_no_message(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    said: list[str] = []

    def refused(work: Any) -> None:
        with pytest.raises(Exception) as caught:
            work()
        said.extend([str(caught.value), repr(caught.value)])

    key = "ab" * 32
    with caplog.at_level(logging.DEBUG, "ilo"):
        journal = ilo.Journal(tmp_path / "j", key=key)
        tools = one(lambda arguments: CANARY, confirm=True)
        waits = ONE.run_sync(tools=tools, journal=journal, name="a", metadata={"owner": "me"})
        assert isinstance(waits, ilo.Waiting)
        said.extend(map(repr, (journal, journal.show("a"), journal.list(), journal.decisions("a"), tools, waits)))
        refused(lambda: ilo.Journal(tmp_path / "j", key="cd" * 32).show("a").outcome or ilo.Journal(tmp_path / "j"))
        refused(lambda: ilo.Journal(tmp_path / "k", key=CANARY))
        refused(lambda: ilo.Journal(f"postgres://me:{CANARY}@127.0.0.1:1/x"))
        refused(lambda: ilo.Journal(f"postgres://me@127.0.0.1:1/x?password={CANARY}"))
        journal.approve("a", waits.call)
        assert journal.resume_sync("a", tools=tools) == ilo.Ok(CANARY)
        said.append(repr(journal.show("a")))
    said.extend(record.getMessage() for record in caplog.records)
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert key not in "".join(said) and CANARY not in "".join(said), said
    assert CANARY.encode() not in stored and key.encode() not in stored


def test_an_object_that_was_only_begun_is_shown_and_closed(tmp_path: Path) -> None:
    # Tracebacks of many tools show every local variable, also that of an `__init__` that has failed.
    shown = set()
    for module in [sys.modules[name] for name in sorted(sys.modules) if name.split(".")[0] == "ilo"]:
        for kind in vars(module).values():
            own = isinstance(kind, type) and kind.__module__.startswith("ilo") and "__repr__" in vars(kind)
            # The `__init__` of a dataclass sets every field before code of ours could fail.
            if own and not dataclasses.is_dataclass(kind):
                try:
                    begun = kind.__new__(kind)
                except TypeError:
                    continue  # A class of the extension module, which has no object before it is whole.
                assert kind.__name__ in repr(begun)
                shown.add(kind.__name__)
    assert {"Journal", "Tool", "Tools", "Program", "Deny", "CallResult", "CallStart", "CallEnd"} <= shown

    begun_journals = []

    class Own(ilo.Journal):
        def __init__(self, path: Path) -> None:
            begun_journals.append(self)
            super().__init__(path, create=False)

    with pytest.raises(ilo.JournalError):
        Own(tmp_path / "none")
    with begun_journals[0] as journal:
        pass
    journal.close()
