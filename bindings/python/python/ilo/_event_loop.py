"""What the loop of a run needs of the event loop: posts from other threads, time limits, cancellation, threads."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator
    from typing import Any

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


async def timed(call: Coroutine[Any, Any, Any], waits: Any, seconds: float, late: list[bool]) -> Any:
    """Continues a waiting coroutine of this task, for a limited time; then `late` is not empty."""
    import asyncio

    task = asyncio.current_task()
    assert task is not None

    def end() -> None:
        late.append(True)
        task.cancel()

    timer = asyncio.get_running_loop().call_later(seconds, end)
    try:
        return await _Going(call, waits)
    finally:
        timer.cancel()
        if late:
            task.uncancel()  # type: ignore[attr-defined]


class _Going:
    """A coroutine that has begun to wait, as an awaitable."""

    __slots__ = ("call", "waits")

    def __init__(self, call: Coroutine[Any, Any, Any], waits: Any) -> None:
        self.call = call
        self.waits = waits

    def __await__(self) -> Generator[Any, Any, Any]:
        call, waits = self.call, self.waits
        while True:
            try:
                try:
                    sent = yield waits
                except GeneratorExit:
                    call.close()
                    raise
                except BaseException as error:
                    waits = call.throw(error)
                else:
                    waits = call.send(sent)
            except StopIteration as done:
                return done.value


def is_being_cancelled() -> bool:
    """Whether this task is cancelled from outside, and not by the tool itself; unknown counts as yes."""
    import asyncio

    try:
        task = asyncio.current_task()
    except RuntimeError:
        return True
    cancelling = getattr(task, "cancelling", None)
    return cancelling is None or cancelling() > 0


async def in_thread(function: Callable[[dict[str, Any]], Any], arguments: dict[str, Any]) -> Any:
    """Calls a function in its own thread. If it hangs, neither the event loop nor the process waits for it."""
    import contextvars

    import anyio

    done = anyio.Event()
    result: list[tuple[Any, BaseException | None]] = []
    post, context = poster(), contextvars.copy_context()

    def call() -> None:
        try:
            result.append((context.run(function, arguments), None))
        except BaseException as error:
            result.append((None, error))
        post(done.set)

    # Imported late: it takes half a millisecond, and most runs need no thread.
    import threading

    threading.Thread(target=call, name="ilo tool", daemon=True).start()
    await done.wait()
    value, error = result[0]
    if error is None:
        return value
    if isinstance(error, Exception):
        raise error
    # `SystemExit` and similar exceptions end the thread, not the process.
    raise RuntimeError(f"the tool raised {type(error).__name__}") from error
