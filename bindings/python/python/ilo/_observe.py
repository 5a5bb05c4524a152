"""Observers of a run, such as `on_call`. What they raise is logged and handed on; it never changes the run."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ._events import Event, OnEvent
    from ._run import CallResult

    OnError = Callable[[BaseException], Any]

# The most handlers that are awaited in the background; the observer of another one is told so.
_PENDING = 100


class Observers:
    """The observers of a run."""

    __slots__ = ("on_call", "on_error", "on_event", "pending", "tool_call_id")

    def __init__(
        self,
        on_call: Callable[[CallResult], Any] | None = None,
        on_error: OnError | None = None,
        on_event: OnEvent | None = None,
        tool_call_id: str | None = None,
    ) -> None:
        self.on_call = on_call
        self.on_error = on_error
        self.on_event = on_event
        self.tool_call_id = tool_call_id
        self.pending: set[Any] = set()

    def made(self, made: CallResult) -> None:
        """Passes on a call that has ended. A handler that is async is not awaited by the run."""
        assert self.on_call is not None
        self._pass("on_call", self.on_call, made)

    def event(self, event: Event) -> None:
        """Passes on an event. A handler that is async is not awaited by the run."""
        if self.on_event is not None:
            self._pass("on_event", self.on_event, event)

    def _pass(self, what: str, handler: Callable[[Any], Any], given: Any) -> None:
        try:
            found = handler(given)
            if hasattr(found, "__await__"):
                self._soon(found, what)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            self.failed(what, error)

    def failed(self, what: str, error: BaseException) -> None:
        """Logs what a callback has raised, and passes it to `on_error`."""
        _log(what, error)
        if self.on_error is None:
            return
        try:
            found = self.on_error(error)
            if hasattr(found, "__await__"):
                self._soon(found, "on_error")
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as other:
            _log("on_error", other)

    def _soon(self, found: Any, what: str) -> None:
        """Awaits what an async handler gave, beside the run."""
        import asyncio

        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            _close(found)
            raise TypeError(f"`{what}` is async, and there is no event loop of asyncio that could await it") from None
        if len(self.pending) >= _PENDING:
            _close(found)
            raise RuntimeError(f"{_PENDING} handlers of `{what}` have not ended; this one was not called")
        task = loop.create_task(_awaited(found))
        self.pending.add(task)

        def ended(task: asyncio.Task[Any]) -> None:
            self.pending.discard(task)
            error = None if task.cancelled() else task.exception()
            if error is not None and what != "on_error":
                self.failed(what, error)
            elif error is not None:
                _log(what, error)

        task.add_done_callback(ended)


async def _awaited(found: Any) -> None:
    await found


def _close(found: Any) -> None:
    """Drops a coroutine without a warning that it was never awaited."""
    close = getattr(found, "close", None)
    if close is not None:
        close()


def _log(what: str, error: BaseException) -> None:
    # Imported late: it takes a millisecond, and few observers fail.
    import logging

    logger = logging.getLogger("ilo")
    if not any(isinstance(handler, logging.NullHandler) for handler in logger.handlers):
        logger.addHandler(logging.NullHandler())
    try:
        logger.warning("`%s` raised %s", what, type(error).__name__, exc_info=error)
    except Exception:
        # A handler or filter of the host has failed, and there is nobody left to tell.
        pass
