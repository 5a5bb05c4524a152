"""What happens to the calls of a run, at the moment at which it happens: `on_event` and `program.stream`."""

from __future__ import annotations

import sys

from ._values import partial_too
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal, TypeAlias

    from ._ilo import Drive
    from ._observe import Observers
    from ._spans import Spans


class _OfCall:
    """What the start and the end of a call say of it."""

    __slots__ = ("id", "number", "tool", "arguments", "line", "rollback", "start", "tool_call_id")

    def __init__(
        self,
        id: int,
        number: int | None,
        tool: str,
        arguments: dict[str, Any],
        line: int | None,
        rollback: bool,
        start: float,
        tool_call_id: str | None,
    ) -> None:
        self.id = id
        self.number = number
        self.tool = tool
        self.arguments = arguments
        self.line = line
        self.rollback = rollback
        self.start = start
        self.tool_call_id = tool_call_id


class CallStart(_OfCall):
    """A call begins. If its tool needs a confirmation, nobody has been asked yet.

    `id` is the same in the start and the end of a call. `number` is its number within the run, from 1; a call that
    was started ahead of its turn has none until the run comes to it. `start` is in seconds since the run began, and
    `tool_call_id` what the framework, or the option of that name, calls the whole run.
    """

    __slots__ = ()
    __match_args__ = ("tool", "arguments")

    @property
    def type(self) -> Literal["start"]:
        return "start"

    @partial_too
    def __repr__(self) -> str:
        return f"<ilo.CallStart {self.id}: {self.tool}({self.arguments!r})>"


class CallEnd(_OfCall):
    """A call has ended, after all its attempts. The run may take its answer later, or never.

    `value` is the answer as the program gets it if `ok`, else the failure; `error` is the exception that the tool has
    raised. `duration` is in seconds. The other attributes are those of its `CallStart`.
    """

    __slots__ = ("duration", "ok", "value", "error")
    __match_args__ = ("tool", "value")

    def __init__(
        self, call: tuple[Any, ...], duration: float, ok: bool, value: Any, error: BaseException | None = None
    ) -> None:
        super().__init__(*call)
        self.duration = duration
        self.ok = ok
        self.value = value
        self.error = error

    @property
    def type(self) -> Literal["end"]:
        return "end"

    @partial_too
    def __repr__(self) -> str:
        return f"<ilo.CallEnd {self.id}: {self.tool} {'=' if self.ok else 'failed'} {self.value!r}>"


class EventsDropped:
    """The reader of a stream was slow: `count` events before the next one were dropped."""

    __slots__ = __match_args__ = ("count",)

    def __init__(self, count: int) -> None:
        self.count = count

    @property
    def type(self) -> Literal["dropped"]:
        return "dropped"

    @partial_too
    def __repr__(self) -> str:
        return f"<ilo.EventsDropped {self.count}>"


if TYPE_CHECKING:
    Event: TypeAlias = CallStart | CallEnd | EventsDropped
    OnEvent: TypeAlias = Callable[[Event], Any]


class Watched:
    """A `Drive` that passes its events on as soon as it has them, and is a `Drive` in everything else."""

    def __init__(self, drive: Drive, observers: Observers, spans: Spans | None) -> None:
        self._drive = drive
        self._observers = observers
        self.spans = spans
        # What tools have raised, by the tickets of their calls.
        self.errors: dict[int, BaseException] = {}
        drive.watch(observers.tool_call_id)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._drive, name)
        return self._telling(found) if name in _TELLING else found

    def _telling(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            found = method(*arguments)
            self._tell()
            return found

        return call

    def _tell(self) -> None:
        for kind, *given in self._drive.events():
            event: Event
            if kind == "start":
                event = CallStart(*given[0])
            elif kind == "end":
                call, duration, ok, value = given
                event = CallEnd(call, duration, ok, value, self.errors.pop(call[0], None))
            else:
                continue
            if self.spans is not None:
                self.spans.event(event)
            self._observers.event(event)


# The methods of a `Drive` after which there may be events.
_TELLING = frozenset(
    ("next", "settle", "fail", "in_doubt", "timed_out", "defer", "interrupted", "not_started", "left", "leave")
)


def watched(drive: Drive, observers: Observers, spans: Spans | None) -> Any:
    """The drive of a run, which tells its events if anybody wants them."""
    if observers.on_event is None and spans is None:
        return drive
    return Watched(drive, observers, spans)


def raised(drive: Any, ticket: int, tool: str, error: BaseException) -> None:
    """Keeps what a tool has raised for the end of its call, and logs it for those who debug."""
    errors = getattr(drive, "errors", None)
    if errors is not None:
        errors[ticket] = error
    # Where nothing has imported it, nobody reads logs.
    logging = sys.modules.get("logging")
    if logging is not None and (logger := logging.getLogger("ilo")).isEnabledFor(logging.DEBUG):
        try:
            logger.debug("tool `%s` raised %s", tool, type(error).__name__, exc_info=error)
        except Exception:
            # A handler or filter of the host has failed, which changes nothing of the run.
            pass
