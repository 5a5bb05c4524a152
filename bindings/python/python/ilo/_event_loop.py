"""What the loop of a run needs of the event loop: posts from other threads, time limits, cancellation, threads."""

from __future__ import annotations

import sys

from ._left import GRACE, leave_task, leave_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Generator
    from typing import Any, TypeVar

    T = TypeVar("T")

# A task counts its cancellations: CPython 3.11 and later.
_has_uncancel = sys.version_info >= (3, 11)


def poster() -> Callable[[Callable[[], object]], None]:
    """A function that has another one called in the event loop that runs here.

    It may be called from any thread, does not wait, and does nothing if the event loop has ended meanwhile.
    """
    if _is_asyncio():
        import asyncio

        soon: Callable[[Callable[[], object]], object] = asyncio.get_running_loop().call_soon_threadsafe
    else:
        from trio.lowlevel import current_trio_token

        soon = current_trio_token().run_sync_soon

    def post(function: Callable[[], object]) -> None:
        try:
            soon(function)
        except RuntimeError:
            pass

    return post


def may_be_quick() -> bool:
    """Whether calls may begin without anyio: under asyncio, where a task can take a cancellation back."""
    return _has_uncancel and _is_asyncio()


def _is_asyncio() -> bool:
    """Whether the running event loop is one of asyncio, which must have been imported then."""
    asyncio = sys.modules.get("asyncio")
    try:
        return asyncio is not None and asyncio.current_task() is not None
    except RuntimeError:
        return False


def cancelled() -> type[BaseException]:
    import asyncio

    return asyncio.CancelledError


class Timed:
    """Continues a waiting coroutine of this task, for a limited time.

    At its limit the coroutine is cancelled. If it goes on in spite of that, or of a cancellation from outside, it is
    left behind in a task of its own.
    """

    __slots__ = ("call", "cancelled", "is_closed", "is_late", "leaves", "timers", "waits")

    def __init__(self, call: Coroutine[Any, Any, Any], waits: Any) -> None:
        self.call = call
        self.waits = waits
        # Whether whoever awaits the run has closed it.
        self.is_closed = False
        self.is_late = False
        # The cancellation from outside, which the coroutine may have suppressed.
        self.cancelled: BaseException | None = None
        self.leaves = False
        self.timers: list[Any] = []

    async def within(self, seconds: float) -> Any:
        import asyncio

        task = asyncio.current_task()
        assert task is not None

        def end() -> None:
            self.is_late = True
            self._leave_soon()
            task.cancel()

        self.timers.append(asyncio.get_running_loop().call_later(seconds, end))
        try:
            return await self
        finally:
            for timer in self.timers:
                timer.cancel()
            for _ in range(self.is_late + self.leaves):
                task.uncancel()  # type: ignore[attr-defined]

    def _leave_soon(self) -> None:
        import asyncio

        task = asyncio.current_task()

        def leave() -> None:
            self.leaves = True
            task.cancel()  # type: ignore[union-attr]

        self.timers.append(asyncio.get_running_loop().call_later(GRACE, leave))

    def __await__(self) -> Generator[Any, Any, Any]:
        call = self.call
        while True:
            try:
                try:
                    sent = yield self.waits
                except GeneratorExit:
                    self.is_closed = True
                    call.close()
                    raise
                except BaseException as error:
                    if self.leaves:
                        self._leave()
                        raise
                    if not self.is_late and self.cancelled is None and is_being_cancelled():
                        self.cancelled = error
                        self._leave_soon()
                    self.waits = call.throw(error)
                else:
                    self.waits = call.send(sent)
            except StopIteration as done:
                return done.value

    def _leave(self) -> None:
        """Leaves the coroutine behind, in a task that goes on where this one waits."""
        import asyncio

        waits = self.waits
        if asyncio.isfuture(waits):
            # As when it was yielded first: a task takes only a future that says so.
            waits._asyncio_future_blocking = True
        leave_task(asyncio.get_running_loop().create_task(_rest(Timed(self.call, waits))))


async def _rest(call: Timed) -> Any:
    return await call


async def detached(call: Awaitable[T], hit: list[BaseException], own_exits: list[BaseException]) -> T:
    """Awaits a call that is left behind if it goes on although it was cancelled.

    If it answers after a cancellation, that is its answer, and `hit` has the cancellation. What the call raises to end
    its caller is added to `own_exits`.
    """
    if not _is_asyncio():
        # In trio nothing outlives its scope.
        return await call
    import asyncio

    import anyio

    task = asyncio.ensure_future(_exits(call))
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError as error:
        task.cancel()
        with anyio.CancelScope(shield=True):
            try:
                await asyncio.wait({task}, timeout=GRACE)
            except asyncio.CancelledError:
                pass
        if not task.done():
            leave_task(task)
            raise
        if task.cancelled():
            raise
        hit.append(error)
    value, exit = task.result()
    if exit is not None:
        own_exits.append(exit)
        raise exit
    return value


async def _exits(call: Awaitable[T]) -> tuple[Any, BaseException | None]:
    """The value of a call, or the exception that would end the event loop if a task raised it."""
    try:
        return await call, None
    except (KeyboardInterrupt, SystemExit, GeneratorExit) as error:
        return None, error


async def shielded(work: Callable[[], Coroutine[Any, Any, T]], seconds: float) -> T | None:
    """Does work that a cancellation of this task does not end, for a limited time; nothing if it has not ended."""
    import anyio

    if not _is_asyncio():
        with anyio.CancelScope(shield=True, deadline=anyio.current_time() + seconds):
            return await work()
        return None
    import asyncio

    loop = asyncio.get_running_loop()
    until, task = loop.time() + seconds, loop.create_task(work())
    with anyio.CancelScope(shield=True):
        while not task.done() and (left := until - loop.time()) > 0:
            try:
                await asyncio.wait({task}, timeout=left)
            except asyncio.CancelledError:
                continue
    if task.done():
        return task.result()
    task.cancel()
    leave_task(task)
    return None


def is_being_cancelled() -> bool:
    """Whether this task is cancelled from outside, and not by the tool itself; unknown counts as yes."""
    import asyncio

    try:
        task = asyncio.current_task()
    except RuntimeError:
        return True
    cancelling = getattr(task, "cancelling", None)
    return cancelling is None or cancelling() > 0


async def in_thread(function: Callable[[Any], Any], given: Any, own_exits: list[BaseException]) -> Any:
    """Calls a function in its own thread. If it hangs, neither the event loop nor the process waits for it.

    What the function raises is added to `own_exits`.
    """
    import contextvars

    import anyio

    done = anyio.Event()
    result: list[tuple[Any, BaseException | None]] = []
    post, context = poster(), contextvars.copy_context()

    def call() -> None:
        try:
            result.append((context.run(function, given), None))
        except BaseException as error:
            result.append((None, error))
        post(done.set)

    # Imported late: it takes half a millisecond, and most runs need no thread.
    import threading

    thread = threading.Thread(target=call, name="ilo tool", daemon=True)
    thread.start()
    try:
        await done.wait()
    except BaseException:
        if not result:
            leave_thread(thread)
        raise
    value, error = result[0]
    if error is not None:
        own_exits.append(error)
        raise error
    return value


def in_own_loop(go: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Runs a coroutine in an event loop of its own, which is closed without awaiting calls that were left behind."""
    import asyncio

    if sys.version_info < (3, 11):
        loop = asyncio.new_event_loop()
        try:
            asyncio.set_event_loop(loop)
            return loop.run_until_complete(go())
        finally:
            _close(loop)
    runner = asyncio.Runner()
    try:
        return runner.run(go())
    finally:
        _close(runner.get_loop())


def _close(loop: Any) -> None:
    """Closes an event loop: its tasks are cancelled and awaited, except those that were left behind."""
    import asyncio

    from ._left import tasks_of

    try:
        left = tasks_of(loop)
        others = asyncio.all_tasks(loop) - left
        for task in others:
            task.cancel()
        if others:
            loop.run_until_complete(asyncio.wait(others, timeout=GRACE))
        for task in tasks_of(loop) | others:
            if not task.done():
                task._log_destroy_pending = False  # type: ignore[attr-defined]
                leave_task(task)
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        asyncio.set_event_loop(None)
        loop.close()
