"""Events and streams of runs: what they say, when they come, and that nothing of a run depends on those who watch."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import Any

import ilo
import pytest

ONE = ilo.build("; fn f() -> result any, any\n; Tools: 0=t\nRET_OK CALL 0 0\n")
MANY = ilo.build(
    "; fn f() -> any\n; Tools: 0=t\n; Fields: 0=n\nLET 0 RANGE LIT 1 1000\nFOR 1 REF 0 2\n  LET 2 CALL 0 1 0 REF 1\n  REF 2\n"
)
TWO = ilo.build(
    "; fn f() -> any\n; Tools: 0=t\n; Fields: 0=n\nLET 0 CALL 0 1 0 LIT 1 1\nLET 1 CALL 0 1 0 LIT 1 2\nLIST 2 REF 0 REF 1\n"
)


def one(call: Any, *, is_async: bool = False, **policy: Any) -> ilo.Tools:
    return ilo.Tools(ilo.Tool("t", call, is_async=is_async, **policy))


async def number(arguments: dict[str, Any]) -> Any:
    return arguments.get("n", 0)


def shown(event: Any) -> tuple[Any, ...]:
    match event:
        case ilo.CallStart(tool, arguments):
            return ("start", event.id, event.number, tool, arguments)
        case ilo.CallEnd(tool, value):
            return ("end", event.id, event.number, event.ok, value)
        case ilo.EventsDropped(count):
            return ("dropped", count)
    raise AssertionError(event)


def test_a_call_has_a_start_and_an_end_with_what_the_tool_has_raised() -> None:
    error = LookupError("no")

    def fails(arguments: dict[str, Any]) -> Any:
        raise error

    async def fails_async(arguments: dict[str, Any]) -> Any:
        raise error

    for tools, run in (
        (one(fails), ONE.run_sync),
        (one(fails_async, is_async=True), ONE.run_sync),
        (one(fails), lambda **more: asyncio.run(ONE.run(**more))),
        (one(fails_async, is_async=True, retries=1, idempotent=True), lambda **more: asyncio.run(ONE.run(**more))),
    ):
        events: list[Any] = []
        assert run(tools=tools, on_event=events.append, tool_call_id="call_7") == ilo.Err("LookupError: no")
        begin, end = events
        assert begin.type == "start" and begin.line == 3 and begin.tool_call_id == "call_7" and not begin.rollback
        assert shown(begin) == ("start", 1, 1, "t", {})
        assert shown(end) == ("end", 1, 1, False, "LookupError: no")
        assert end.error is error and end.type == "end" and end.tool_call_id == "call_7" and end.line == 3
        assert 0 <= end.start <= end.start + end.duration < 60


def test_events_come_at_the_moment_and_calls_ahead_have_no_number_yet() -> None:
    events: list[Any] = []
    seen: list[int] = []
    told = asyncio.Event()

    def observe(event: Any) -> None:
        events.append(event)
        if event.type == "end":
            told.set()

    async def slow_first(arguments: dict[str, Any]) -> Any:
        # The first read goes on when the end of the second has been told.
        if arguments["n"] == 1:
            await told.wait()
        seen.append(len(events))
        return arguments["n"]

    tools = one(slow_first, is_async=True, read_only=True)
    assert asyncio.run(TWO.run(tools=tools, on_event=observe)) == ilo.Ok([1, 2])
    assert sorted(map(shown, events[:2]), key=repr) == [
        ("start", 1, None, "t", {"n": 2}),
        ("start", 2, 1, "t", {"n": 1}),
    ]
    assert list(map(shown, events[2:])) == [("end", 1, None, True, 2), ("end", 2, 1, True, 1)]
    # The end of the second was told before the first had ended.
    assert seen == [2, 3]


def test_handlers_that_raise_hang_or_are_slow_change_nothing(caplog: pytest.LogCaptureFixture) -> None:
    got: list[BaseException] = []

    def raises(event: Any) -> None:
        raise LookupError("observer")

    async def hangs(event: Any) -> None:
        await asyncio.sleep(3600)

    async def slow(event: Any) -> None:
        await asyncio.sleep(0.001)

    expected = ilo.Ok(list(range(1000)))
    tools = one(number, is_async=True)
    with caplog.at_level(logging.WARNING, "ilo"):
        assert asyncio.run(MANY.run(tools=tools, on_event=raises, on_error=got.append)) == expected
    assert len(got) == 2000 and all(type(error) is LookupError for error in got)
    assert len(caplog.records) == 2000 and {record.levelname for record in caplog.records} == {"WARNING"}
    for handler in (hangs, slow):
        got.clear()
        assert asyncio.run(MANY.run(tools=tools, on_event=handler, on_error=got.append)) == expected
        # At most 100 are under way; of the others the observer is told.
        assert all("100 handlers" in str(error) for error in got) and len(got) <= 1900


def test_a_tool_that_raises_is_logged_for_those_who_debug(caplog: pytest.LogCaptureFixture) -> None:
    def fails(arguments: dict[str, Any]) -> Any:
        raise LookupError("no")

    with caplog.at_level(logging.DEBUG, "ilo"):
        assert ONE.run_sync(tools=one(fails)) == ilo.Err("LookupError: no")
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("DEBUG", "tool `t` raised LookupError")
    ]
    caplog.clear()
    with caplog.at_level(logging.INFO, "ilo"):
        ONE.run_sync(tools=one(fails))
    assert not caplog.records


def test_a_stream_gives_the_events_and_the_outcome() -> None:
    async def main() -> None:
        stream = TWO.stream(tools=one(number, is_async=True), tool_call_id="x")
        events = [event async for event in stream]
        assert [shown(event)[:3] for event in events] == [("start", 1, 1), ("end", 1, 1), ("start", 2, 2), ("end", 2, 2)]
        assert all(event.tool_call_id == "x" for event in events if event.type != "dropped")
        assert await stream.outcome() == ilo.Ok([1, 2]) == await stream.outcome()
        # A reader that stops early does not end the run.
        early = TWO.stream(tools=one(number, is_async=True))
        async for _ in early:
            break
        assert await early.outcome() == ilo.Ok([1, 2])
        # What the run raises, its reader gets.
        with pytest.raises(ilo.StartError):
            async for _ in TWO.stream():
                pass

    asyncio.run(main())
    with pytest.raises(RuntimeError, match="event loop"):
        TWO.stream().__anext__().send(None)
    with pytest.raises(TypeError, match="on_event"):
        TWO.stream(on_event=print)


def test_a_slow_reader_loses_the_oldest_events_and_gets_their_number() -> None:
    async def main() -> list[Any]:
        stream = MANY.stream(tools=one(number, is_async=True))
        assert (await stream.outcome()).value == list(range(1000))  # type: ignore[union-attr]
        return [event async for event in stream]

    events = asyncio.run(main())
    assert shown(events[0]) == ("dropped", 2000 - 1024)
    assert len(events) == 1025
    assert shown(events[-1]) == ("end", 1000, 1000, True, 999)


def test_a_reader_that_is_cancelled_ends_the_run_after_its_rollback() -> None:
    trip = ilo.build(
        "; fn f() -> any\n; Tools: 0=reserve 1=release 2=wait\n; Fields: 0=id\n"
        "LET 0 CALL 0 0\nROLLBACK CALL 1 1 0 REF 0\nRET CALL 2 0\n"
    )
    calls: list[str] = []

    async def reserve(arguments: dict[str, Any]) -> Any:
        calls.append("reserve")
        return 7

    async def release(arguments: dict[str, Any]) -> Any:
        await asyncio.sleep(0.01)
        calls.append("release")

    async def wait(arguments: dict[str, Any]) -> Any:
        waits.set()
        await asyncio.sleep(3600)

    tools = ilo.Tools(
        *(ilo.Tool(call.__name__, call, is_async=True) for call in (reserve, release, wait))
    )
    waits = asyncio.Event()

    async def main() -> None:
        async def read() -> None:
            async for _ in trip.stream(tools=tools):
                pass

        reader = asyncio.create_task(read())
        await waits.wait()
        reader.cancel()
        with pytest.raises(asyncio.CancelledError) as raised:
            await reader
        assert raised.value.outcome.rolled_back == [("release", 3)]  # type: ignore[attr-defined]

    asyncio.run(main())
    assert calls == ["reserve", "release"]


def test_a_call_that_suspends_has_ended_with_the_reason() -> None:
    def waits(arguments: dict[str, Any]) -> Any:
        raise ilo.Suspend("a person decides")

    events: list[Any] = []
    found = ONE.run_sync(tools=one(waits), on_event=events.append)
    assert isinstance(found, ilo.Suspended)
    assert [event.type for event in events] == ["start", "end"] and isinstance(events[1].error, ilo.Suspend)


def test_spans_are_recorded_without_arguments_answers_or_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a stand-in for the package `opentelemetry`: what is called of it, in which order."""
    import sys
    from contextlib import contextmanager
    from types import SimpleNamespace

    log: list[tuple[Any, ...]] = []
    current: list[str] = []

    class Span:
        def __init__(self, name: str) -> None:
            self.name = name

        def set_attribute(self, key: str, value: str) -> None:
            log.append((self.name, key, value))

        def set_status(self, status: object) -> None:
            log.append((self.name, status))

        def end(self) -> None:
            log.append((self.name, "end"))

    def start_span(name: str, context: Any = None, attributes: Any = None) -> Span:
        log.append(("start", name, context, attributes))
        return Span(name)

    @contextmanager
    def use_span(span: Span, **_: Any) -> Any:
        current.append(span.name)
        try:
            yield
        finally:
            current.pop()

    trace = SimpleNamespace(
        get_tracer_provider=lambda: object(),
        get_tracer=lambda name: SimpleNamespace(start_span=start_span),
        set_span_in_context=lambda span: span.name,
        use_span=use_span,
        StatusCode=SimpleNamespace(ERROR="error"),
    )
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", trace)

    def fails(arguments: dict[str, Any]) -> Any:
        log.append(("within", *current))
        raise LookupError("secret")

    expected = [
        ("start", "invoke_workflow f", None, {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "f"}),
        ("start", "execute_tool t", "invoke_workflow f", {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t"}),
        ("within", "execute_tool t"),
        ("execute_tool t", "error.type", "LookupError"),
        ("execute_tool t", "error"),
        ("execute_tool t", "end"),
        ("invoke_workflow f", "error.type", "err"),
        ("invoke_workflow f", "error"),
        ("invoke_workflow f", "end"),
    ]
    before = threading.enumerate()
    for run in (ONE.run_sync, lambda **more: asyncio.run(ONE.run(**more))):
        log.clear()
        assert run(tools=one(fails)) == ilo.Err("LookupError: secret")
        assert log == expected
    # Threads of these runs end with them: one that is just ending is waited for.
    for thread in threading.enumerate():
        if thread.name.startswith("ilo ") and thread not in before:
            thread.join(60)
            assert not thread.is_alive(), thread.name
