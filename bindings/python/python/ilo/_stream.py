"""A run whose events are read as they happen."""

from __future__ import annotations

from collections import deque

from ._events import EventsDropped
from ._typing import ByType

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator, Callable, Coroutine
    from typing import Any

    from ._events import Event, OnEvent
    from ._typing import T
    from ._run import Outcome

# The most events that wait for their reader; of more, the oldest are dropped and counted.
MOST = 1024

# The runs under way. An event loop keeps no task alive.
_tasks: set[asyncio.Task[Any]] = set()


class Stream(ByType["T"]):
    """The events of a run: `async for event in stream`, and `await stream.outcome()` for its end.

    The run begins when it is first read, in an event loop of asyncio, and goes on beside its reader. A reader that stops
    early does not end it; one that is cancelled does, after its rollback.
    """

    def __init__(self, go: Callable[[OnEvent], Coroutine[Any, Any, Outcome[T]]]) -> None:
        self._go = go
        self._task: asyncio.Task[Outcome[T]] | None = None
        self._events: deque[Event] = deque()
        self._dropped = 0

    def _begun(self) -> asyncio.Task[Outcome[T]]:
        if self._task is not None:
            return self._task
        import asyncio

        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise RuntimeError("`program.stream` is read in an event loop of asyncio; `on_event` needs none") from None
        self._news = asyncio.Event()
        self._task = task = loop.create_task(self._go(self._put))
        _tasks.add(task)
        task.add_done_callback(_tasks.discard)
        task.add_done_callback(lambda _: self._news.set())
        return task

    def _put(self, event: Event) -> None:
        if len(self._events) >= MOST:
            self._events.popleft()
            self._dropped += 1
        self._events.append(event)
        self._news.set()

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        task = self._begun()
        while True:
            if self._dropped:
                dropped, self._dropped = self._dropped, 0
                return EventsDropped(dropped)
            if self._events:
                return self._events.popleft()
            if task.done():
                # What the run has raised, its reader gets.
                task.result()
                raise StopAsyncIteration
            self._news.clear()
            await self._within(self._news.wait())

    async def outcome(self) -> Outcome[T]:
        """How the run has ended. It may be asked before, while and after the events are read."""
        import asyncio

        task = self._begun()
        if not task.done():
            await self._within(asyncio.wait({task}))
        return task.result()

    async def _within(self, wait: Coroutine[Any, Any, Any]) -> None:
        """Waits. If this reader is cancelled, so is the run, and its rollback is awaited."""
        import asyncio

        assert self._task is not None
        try:
            await wait
        except asyncio.CancelledError as error:
            while not self._task.done():
                self._task.cancel()
                try:
                    await asyncio.wait({self._task})
                except asyncio.CancelledError:
                    continue
            try:
                self._task.result()
            except BaseException as inner:
                error.outcome = getattr(inner, "outcome", None)  # type: ignore[attr-defined]
            raise
