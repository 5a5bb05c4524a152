"""Runs over tools: the loop that makes the calls, in an event loop or in the calling thread."""

from __future__ import annotations

import time
from _thread import get_ident
from contextvars import ContextVar
from functools import partial

from ._errors import Failure, Suspend
from ._event_loop import cancelled, in_thread, is_being_cancelled, may_be_quick, poster, timed
from ._ilo import Drive

# The key of the call under way in a run with a journal.
_KEY: ContextVar[str | None] = ContextVar("ilo idempotency key", default=None)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any, TypeAlias

    import anyio

    from ._ilo import Call, Err, Fault, Ok, Run, Session, Waiting
    from ._tools import Tool, Tools

    Outcome: TypeAlias = "Ok | Err | Fault | Suspended | Waiting"
    Ask = Callable[["Call | Waiting"], Any]

# The role of a call in its run.
_AHEAD, _READ, _CHANGE, _UNDO, _ENTRY = range(5)
# The default time limits of a run and of a call, in seconds.
RUN_SECONDS, CALL_SECONDS = 600.0, 30.0


def idempotency_key() -> str | None:
    """In a tool that a run with a journal calls: a key that is the same for every attempt at this call.

    A service that takes such keys carries out a call once, however often it is made after crashes.
    """
    return _KEY.get()


class Suspended:
    """A tool raised `ilo.Suspend`. `program.resume(snapshot, answer=...)` continues, in any process."""

    __slots__ = __match_args__ = ("snapshot", "call", "reason")

    def __init__(self, snapshot: bytes, call: Call, reason: str = "") -> None:
        self.snapshot = snapshot
        self.call = call
        self.reason = reason

    def __repr__(self) -> str:
        return f"Suspended({len(self.snapshot)} bytes, {self.call!r}, {self.reason!r})"


class Made:
    """An ended call. `value` is the answer if `ok`, else the failure."""

    __slots__ = (
        "seq",
        "number",
        "tool",
        "arguments",
        "ok",
        "value",
        "rollback",
        "ahead",
        "in_doubt",
    )

    def __init__(
        self,
        seq: int,
        number: int,
        tool: str,
        arguments: dict[str, Any],
        ok: bool,
        value: Any,
        rollback: bool = False,
        ahead: bool = False,
        in_doubt: bool = False,
    ) -> None:
        self.seq = seq
        self.number = number
        self.tool = tool
        self.arguments = arguments
        self.ok = ok
        self.value = value
        self.rollback = rollback
        self.ahead = ahead
        self.in_doubt = in_doubt

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Made) and all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    def __repr__(self) -> str:
        return f"<ilo.Made {self.seq}: {self.tool}({self.arguments!r}) {'=' if self.ok else 'failed'} {self.value!r}>"


class Cancellation:
    """Cancels runs: each rolls back its work, and ends with fault `cancelled`.

    May be called from any thread and from a signal handler. There is no lock that a handler could wait for: the
    order of the steps suffices.
    """

    def __init__(self) -> None:
        self.is_cancelled = False
        self._callbacks: list[Callable[[], None]] = []

    def cancel(self) -> None:
        """Cancels the runs that have this object, without waiting for their ends."""
        self.is_cancelled = True
        for callback in list(self._callbacks):
            callback()

    def _watch(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Adds a callback. Returns a function that removes it. The caller checks `is_cancelled` after this."""
        self._callbacks.append(callback)
        return partial(self._callbacks.remove, callback)


def _made(event: tuple[Any, ...]) -> Made:
    _, call, rollback, ahead, in_doubt = event
    seq, number, tool, arguments, ok, value = call
    return Made(seq, number, tool, arguments, ok, value, rollback, ahead, in_doubt)


def failure_of(error: Exception) -> Any:
    """The failure that a program gets for an exception."""
    if isinstance(error, Failure):
        return error.value
    name, message = type(error).__name__, _text(error)
    return f"{name}: {message}" if message else name


def _text(error: Exception) -> str:
    try:
        return str(error)
    except Exception:
        return ""


def _between(pause: tuple[float, float]) -> float:
    import random

    return random.uniform(*pause)


def _not_confirmed(name: str, why: str) -> str:
    return f"tool `{name}` was not called: it needs a confirmation (`confirm`), and {why}"


def _is_due(drive: Drive, tools: Tools, name: str, arguments: dict[str, Any]) -> Call | None:
    """The call that the run waits for, if it is this one."""
    call = drive.waiting
    same = call is not None and tools.catalogue.own_name(call.tool) == name and call.arguments == arguments
    return call if same else None


class Begun:
    """The result of the call at which a run was passed on: its value, its exception, or a call that waits."""

    __slots__ = ("kind", "rest")

    def __init__(self, kind: str, *rest: Any) -> None:
        self.kind = kind
        self.rest = rest

    def value(self) -> Any:
        """The value of the call, or its exception."""
        if self.kind == "raised":
            raise self.rest[0]
        return self.rest[0]


def run_inline(
    run: Run, tools: Tools, timeout: float, on_call: Callable[[Made], Any] | None, begun: Begun | None = None
) -> Outcome:
    """Runs with each call made in this thread. A call that hangs is not ended."""
    drive = Drive(run, tools.catalogue, 1, timeout, on_call is not None)
    while True:
        event = drive.next()
        kind = event[0]
        if kind == "start":
            _, ticket, name, arguments, *_ = event
            tool = tools[name]
            retry = 0
            while True:
                try:
                    if tool.confirm:
                        raise Failure(_not_confirmed(name, "there is nobody to ask"))
                    if begun is None:
                        value = tool.call(arguments)
                    else:
                        made, begun = begun, None
                        value = made.value()
                except Suspend as why:
                    if call := _is_due(drive, tools, name, arguments):
                        return Suspended(drive.snapshot() or b"", call, _text(why))
                    drive.fail(ticket, "the tool suspended a call that the run does not wait for")
                except Exception as error:
                    pause = drive.pause(name, retry)
                    if pause and pause[1] < drive.seconds_left:
                        time.sleep(_between(pause))
                        retry += 1
                        continue
                    drive.fail(ticket, failure_of(error))
                else:
                    drive.settle(ticket, value)
                break
        elif kind == "made":
            if on_call is not None:
                on_call(_made(event))
        elif kind == "done":
            return drive.outcome  # type: ignore[return-value]


class Loop:
    """Runs in an event loop: calls of read-only tools in parallel, every call within its time limit."""

    def __init__(
        self,
        run: Run,
        tools: Tools,
        *,
        timeout: float,
        call_timeout: float,
        at_once: int,
        on_call: Callable[[Made], Any] | None,
        ask: Ask | None,
        cancel: Cancellation | None,
        session: Session | None = None,
        begun: Begun | None = None,
    ) -> None:
        self.drive = Drive(run, tools.catalogue, at_once, timeout, on_call is not None, session)
        self.durable = session is not None
        self.begun = begun
        self.tools = tools
        self.call_timeout = call_timeout
        self.on_call = on_call
        self.ask = ask
        self.cancel = cancel
        self.suspended: Suspended | None = None
        self.cancelled = False
        self.scopes: dict[int, tuple[int, anyio.CancelScope]] = {}
        # Whether calls may begin without a scope that can end them: under asyncio, if nobody cancels.
        self.quick = cancel is None and may_be_quick()

    async def go(self) -> Outcome:
        """Runs to the outcome, or to a call whose tool suspends."""
        if not self.durable:
            return await self._watched()
        try:
            return await self._watched()
        finally:
            # If it was left before its end, another process may continue it.
            self.drive.release()

    async def _watched(self) -> Outcome:
        """Runs, and is cancelled when the caller cancels it."""
        if self.cancel is None:
            return await self._go()
        unwatch = self.cancel._watch(self._canceller())
        try:
            if self.cancel.is_cancelled:
                self._cancel()
            return await self._go()
        finally:
            unwatch()

    def _canceller(self) -> Callable[[], None]:
        """A function that cancels this run, from any thread."""
        post, thread = poster(), get_ident()

        def cancel() -> None:
            if get_ident() == thread:
                self._cancel()
            else:
                post(self._cancel)

        return cancel

    def _cancel(self) -> None:
        """Cancels the run: calls that only read are ended, others are awaited."""
        self.cancelled = True
        self.drive.cancel()
        for kind, scope in list(self.scopes.values()):
            if kind in (_AHEAD, _READ):
                scope.cancel()

    async def _go(self) -> Outcome:
        """Runs as long as there is only one call at a time."""
        while not self.suspended:
            event = self.drive.next()
            if event[0] == "start" and not event[5]:
                return await self._side_by_side(event)
            if event[0] == "done":
                return self.drive.outcome  # type: ignore[return-value]
            await self._do(event)
        return self.suspended

    async def _do(self, event: tuple[Any, ...]) -> None:
        if event[0] == "start":
            await self._make(event)
        elif event[0] == "made":
            if self.on_call is not None:
                self.on_call(_made(event))
        elif event[0] == "computing":
            from anyio import sleep

            await sleep(0)

    async def _side_by_side(self, event: tuple[Any, ...]) -> Outcome:
        import anyio

        self.news = anyio.Event()
        raised: Exception | None = None
        async with anyio.create_task_group() as group:
            try:
                while event[0] != "done" and not self.suspended:
                    if event[0] == "start" and not event[5]:
                        group.start_soon(self._make, event)
                    elif event[0] == "drop":
                        self._drop(event[1])
                    elif event[0] == "wait":
                        await self.news.wait()
                        self.news = anyio.Event()
                    else:
                        await self._do(event)
                    if not self.suspended:
                        event = self.drive.next()
            except Exception as error:
                raised = error
            group.cancel_scope.cancel()
        if raised is not None:
            raise raised
        return self.suspended or self.drive.outcome  # type: ignore[return-value]

    def _drop(self, ticket: int) -> None:
        found = self.scopes.get(ticket)
        if found:
            found[1].cancel()

    async def _make(self, event: tuple[Any, ...]) -> None:
        """Makes a call after a person has allowed it, if its tool requires that; repeats it if it may be repeated."""
        key, confirmed = event[6:]
        if key is None:
            return await self._make_call(event, confirmed)
        token = _KEY.set(key)
        try:
            await self._make_call(event, confirmed)
        finally:
            _KEY.reset(token)

    async def _make_call(self, event: tuple[Any, ...], confirmed: bool) -> None:
        _, ticket, name, arguments, kind, alone, *_ = event
        tool, retry = self.tools[name], 0
        if self.begun or (alone and self.quick and tool.is_async and not (tool.confirm or tool.retries)):
            return await self._quick(tool, ticket, arguments, kind)
        try:
            if tool.confirm and not confirmed and (refused := await self._refused(tool)):
                return self.drive.fail(ticket, refused)
            while not await self._attempt(tool, ticket, arguments, kind, retry):
                retry += 1
        finally:
            if not alone:
                self.news.set()

    async def _quick(self, tool: Tool, ticket: int, arguments: dict[str, Any], kind: int) -> None:
        """Makes a call of an async tool once. Its time limit is set up only if it does not answer at once."""
        drive = self.drive
        own = self.call_timeout if tool.timeout is None else tool.timeout
        late: list[bool] = []
        try:
            begun, self.begun = self.begun, None
            if begun is None:
                begun = _begin(tool.call(arguments))
            if begun.kind != "waits":
                value = begun.value()
            else:
                call, waits = begun.rest
                left = own if kind == _ENTRY else drive.seconds_left
                value = await timed(call, waits, min(own, left), late)
        except Suspend as why:
            self._suspend(ticket, tool.name, arguments, kind, why)
        except Exception as error:
            if late:
                self._ended(ticket, tool.name, kind, own)
            else:
                drive.fail(ticket, failure_of(error))
        except cancelled():
            if is_being_cancelled():
                raise
            if late:
                self._ended(ticket, tool.name, kind, own)
            else:
                drive.in_doubt(ticket, f"tool `{tool.name}` was cancelled before it had answered")
        else:
            drive.settle(ticket, value)

    async def _refused(self, tool: Tool) -> str | None:
        """Asks a person. Returns the reason why the call is not made, if there is one."""
        call = self.drive.waiting
        if self.ask is None or call is None:
            return _not_confirmed(tool.name, "there is nobody to ask")
        allowed = self.ask(call)
        if hasattr(allowed, "__await__"):
            allowed = await allowed
        return None if allowed is True else _not_confirmed(tool.name, "it was refused")

    async def _attempt(self, tool: Tool, ticket: int, arguments: dict[str, Any], kind: int, retry: int) -> bool:
        """Makes a call once. Returns whether that was the last attempt."""
        import anyio

        drive = self.drive
        own = self.call_timeout if tool.timeout is None else tool.timeout
        left = own if kind == _ENTRY else drive.seconds_left
        with anyio.CancelScope(deadline=anyio.current_time() + min(own, left)) as scope:
            self.scopes[ticket] = (kind, scope)
            try:
                if tool.is_async:
                    value = await tool.call(arguments)
                else:
                    value = await in_thread(tool.call, arguments)
            except Suspend as why:
                self._suspend(ticket, tool.name, arguments, kind, why)
            except Exception as error:
                pause = drive.pause(tool.name, retry)
                if pause and pause[1] < drive.seconds_left and not self.cancelled:
                    await anyio.sleep(_between(pause))
                    return False
                drive.fail(ticket, failure_of(error))
            except anyio.get_cancelled_exc_class():
                if scope.cancel_called or is_being_cancelled():
                    raise
                drive.in_doubt(ticket, f"tool `{tool.name}` was cancelled before it had answered")
            else:
                drive.settle(ticket, value)
            finally:
                del self.scopes[ticket]
        if scope.cancelled_caught:
            self._ended(ticket, tool.name, kind, own)
        return True

    def _ended(self, ticket: int, name: str, kind: int, own: float) -> None:
        """Settles a call that was ended here: it is late, or no longer wanted."""
        if self.cancelled and kind in (_AHEAD, _READ):
            self.drive.interrupted(ticket)
        elif kind != _ENTRY and self.drive.seconds_left <= 0:
            self.drive.timed_out(ticket)
        else:
            limit = round(own * 1000)
            self.drive.in_doubt(ticket, f"tool `{name}` took longer than its limit of {limit} ms")

    def _suspend(self, ticket: int, name: str, arguments: dict[str, Any], kind: int, why: Suspend) -> None:
        call = _is_due(self.drive, self.tools, name, arguments)
        if call and self.durable:
            self.drive.defer(ticket)
        elif call:
            self.suspended = Suspended(self.drive.snapshot() or b"", call, _text(why))
        elif kind == _AHEAD:
            # The run makes the call in its turn, and suspends there.
            self.drive.not_started(ticket)
        else:
            self.drive.fail(ticket, "the tool suspended a call that the run does not wait for")


def _begin(call: Coroutine[Any, Any, Any]) -> Begun:
    """Begins a call. Returns its value if it does not wait."""
    try:
        return Begun("waits", call, call.send(None))
    except StopIteration as done:
        return Begun("value", done.value)
