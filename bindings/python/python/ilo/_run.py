"""Runs over tools: the loop that makes the calls in an event loop. `_inline` makes them in the calling thread."""

from __future__ import annotations

# `contextvars` and `threading` would only add their own file to the time of `import ilo`.
from _contextvars import ContextVar
from _thread import get_ident

from ._ask import Deny, asked, shown
from ._errors import Failure, Suspend
from ._events import raised, watched
from ._event_loop import Timed, cancelled, detached, in_thread, is_being_cancelled, may_be_quick, poster, shielded
from ._ilo import Drive
from ._left import check
from ._observe import Observers
from ._spans import spans
from ._values import partial_too, well_formed

# The key of the call under way in a run with a journal.
_KEY: ContextVar[str | None] = ContextVar("ilo idempotency key", default=None)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any, TypeAlias

    import anyio

    from ._ask import Ask
    from ._events import OnEvent
    from ._ilo import Call, Err, Fault, Ok, Run, Session, Waiting
    from ._observe import OnError
    from ._output import Output
    from ._tools import Tool, Tools

    from typing_extensions import TypeVar

    T = TypeVar("T", default=Any)
    Outcome: TypeAlias = "Ok[T] | Err | Fault | Suspended | Waiting"

# The role of a call in its run.
_AHEAD, _READ, _CHANGE, _UNDO, _ENTRY = range(5)
# The default time limits of a run, of a call, and of the rollback of a run whose task is cancelled, in seconds.
RUN_SECONDS, CALL_SECONDS, ROLLBACK_SECONDS = 600.0, 30.0, 10.0
# What a tool raises to end the process: the run ends first, after its rollback.
EXITS = (KeyboardInterrupt, SystemExit)


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

    def to_json(self) -> str:
        """What it waits for as JSON, without the snapshot."""
        import json

        call = {"number": self.call.number, "tool": self.call.tool, "arguments": self.call.arguments}
        return json.dumps({"status": "suspended", "reason": self.reason, "call": call}, ensure_ascii=False)

    @partial_too
    def __repr__(self) -> str:
        return f"Suspended({len(self.snapshot)} bytes, {self.call!r}, {self.reason!r})"


class CallResult:
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
        return isinstance(other, CallResult) and all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    @partial_too
    def __repr__(self) -> str:
        return f"<ilo.CallResult {self.seq}: {self.tool}({self.arguments!r}) {'=' if self.ok else 'failed'} {self.value!r}>"


class Cancellation:
    """Cancels runs: each rolls back its work, and ends with fault `cancelled`.

    May be called from any thread and from a signal handler. There is no lock that a handler could wait for: the
    order of the steps suffices.
    """

    def __init__(self) -> None:
        self.is_cancelled = False
        self.reason = ""
        self._callbacks: list[Callable[[], None]] = []

    def cancel(self, reason: str = "") -> None:
        """Cancels the runs that have this object, without waiting for their ends. The outcomes have the reason."""
        if not isinstance(reason, str):
            raise TypeError(f"the reason of a cancellation is a str, found {reason!r}")
        if not self.is_cancelled:
            self.reason = well_formed(reason)
        self.is_cancelled = True
        for callback in list(self._callbacks):
            callback()

    def _watch(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Adds a callback. Returns a function that removes it. The caller checks `is_cancelled` after this."""
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback)


def made_of(event: tuple[Any, ...]) -> CallResult:
    _, call, rollback, ahead, in_doubt = event
    seq, number, tool, arguments, ok, value = call
    return CallResult(seq, number, tool, arguments, ok, value, rollback, ahead, in_doubt)


def failure_of(error: Exception) -> Any:
    """The failure that a program gets for an exception."""
    if isinstance(error, Failure):
        return error.value
    name, message = type(error).__name__, text_of(error)
    return f"{name}: {message}" if message else name


def text_of(error: BaseException) -> str:
    try:
        return well_formed(str(error))
    except Exception:
        return ""


def set_outcome(error: BaseException, outcome: Outcome[Any] | None) -> None:
    try:
        error.outcome = outcome  # type: ignore[attr-defined]
    except Exception:
        # It has a class that does not allow it.
        pass


def between(pause: tuple[float, float]) -> float:
    import random

    return random.uniform(*pause)


def not_confirmed(name: str, why: str) -> str:
    return f"tool `{name}` was not called: it needs a confirmation (`confirm`), and {why}"


def due_of(drive: Drive, tools: Tools, name: str, arguments: dict[str, Any], kind: int) -> Call | None:
    """The call that the run waits for, if it is this one."""
    call = drive.waiting
    if kind != _AHEAD:
        return call
    same = call is not None and tools.catalogue.own_name(call.tool) == name and call.arguments == arguments
    return call if same else None


class Begun:
    """The result of the call at which a run was passed on: its value, its exception, or a call that waits.

    Where nothing was called, an exception has ended the caller while the program computed.
    """

    __slots__ = ("kind", "rest")

    def __init__(self, kind: str, *rest: Any) -> None:
        self.kind = kind
        self.rest = rest

    def value(self) -> Any:
        """The value of the call, or its exception."""
        if self.kind == "raised":
            raise self.rest[0]
        return self.rest[0]


class Loop:
    """Runs in an event loop: calls of read-only tools in parallel, every call within its time limit."""

    def __init__(
        self,
        run: Run,
        tools: Tools,
        *,
        timeout: float,
        call_timeout: float,
        max_concurrency: int,
        on_call: Callable[[CallResult], Any] | None,
        ask: Ask | None,
        cancel: Cancellation | None,
        on_error: OnError | None = None,
        on_cancel: str = "rollback",
        rollback_timeout: float = ROLLBACK_SECONDS,
        on_event: OnEvent | None = None,
        tool_call_id: str | None = None,
        session: Session | None = None,
        begun: Begun | None = None,
        output: Output | None = None,
    ) -> None:
        check()
        self.output = output
        self.observers = Observers(on_call, on_error, on_event, tool_call_id)
        self.spans = spans(run)
        drive = Drive(run, tools.catalogue, max_concurrency, timeout, on_call is not None, session)
        if output is not None:
            drive.expect(output.schema)
        self.drive: Drive = watched(drive, self.observers, self.spans)
        self.durable = session is not None
        self.begun = begun
        self.tools = tools
        self.call_timeout = call_timeout
        self.ask = ask
        self.cancel = cancel
        # Whether the rollback runs if the task is cancelled, and for how long.
        self.rolls_back = on_cancel == "rollback" and session is None
        self.rollback_timeout = rollback_timeout
        self.suspended: Suspended | None = None
        self.cancelled = False
        # The exception of a tool that ends the process, raised after the rollback.
        self.leaving: BaseException | None = None
        # The calls under way: tool and role. A call that has not been made yet counts as a read.
        self.under: dict[int, tuple[str, int]] = {}
        self.scopes: dict[int, tuple[int, anyio.CancelScope]] = {}
        # Whether calls may begin without a scope that can end them: under asyncio, if nobody cancels.
        self.quick = cancel is None and may_be_quick()

    async def go(self) -> Outcome[Any]:
        """Runs to the outcome, or to a call whose tool suspends."""
        found = None
        try:
            found = await self._watched()
        except BaseException as error:
            found = await self._cut_off(error)
        finally:
            if self.observers.on_event is not None or self.spans is not None:
                self.drive.leave()
            if self.spans is not None:
                self.spans.end(found)
            if self.durable:
                # If it was left before its end, another process may continue it.
                self.drive.release()
        if self.leaving is not None:
            set_outcome(self.leaving, found)
            raise self.leaving
        return found

    async def _cut_off(self, error: BaseException) -> Outcome[Any]:
        """Rolls back after an exception that ends the caller, and raises it again, with the outcome."""
        if isinstance(error, Exception) or not self.rolls_back:
            raise error
        if isinstance(error, EXITS):
            if self.leaving is not None:
                # The second one asks for the end without the rollback.
                raise error
            self.leaving = error
            return await self._roll_back()
        import anyio

        if isinstance(error, anyio.get_cancelled_exc_class()):
            set_outcome(error, await shielded(self._roll_back, self.rollback_timeout))
        raise error

    async def _roll_back(self) -> Outcome[Any]:
        """Cancels the run in the middle of its calls, and drives it to its end."""
        self._cancel()
        for ticket, (name, kind) in list(self.under.items()):
            if kind in (_AHEAD, _READ):
                self.drive.interrupted(ticket)
            else:
                self.drive.in_doubt(ticket, f"tool `{name}` was cancelled before it had answered")
        self.under.clear()
        self.begun = None
        return await self._go()

    @property
    def _is_stopped(self) -> bool:
        """Whether it is left before its end."""
        return self.suspended is not None or (self.leaving is not None and self.durable)

    async def _watched(self) -> Outcome[Any]:
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
        self.drive.cancel(self.cancel.reason if self.cancel is not None else "")
        for kind, scope in list(self.scopes.values()):
            if kind in (_AHEAD, _READ):
                scope.cancel()

    async def _go(self) -> Outcome[Any]:
        """Runs as long as there is only one call at a time."""
        while not self._is_stopped:
            event = self.drive.next()
            if event[0] == "start" and not event[5]:
                return await self._side_by_side(event)
            if event[0] == "done":
                return self.drive.outcome  # type: ignore[return-value]
            await self._do(event)
        return self.suspended  # type: ignore[return-value]

    async def _do(self, event: tuple[Any, ...]) -> None:
        if event[0] == "start":
            await self._make(event)
        elif event[0] == "made":
            self.observers.made(made_of(event))
        elif event[0] == "value" and self.output is not None:
            self.output.decide(self.drive, event[1])
        elif event[0] == "computing":
            from anyio import sleep

            await sleep(0)

    async def _side_by_side(self, event: tuple[Any, ...]) -> Outcome[Any]:
        import anyio

        self.news = anyio.Event()
        raised: BaseException | None = None
        async with anyio.create_task_group() as group:
            try:
                while event[0] != "done" and not self._is_stopped:
                    if event[0] == "start" and not event[5]:
                        group.start_soon(self._make, event)
                    elif event[0] == "drop":
                        self._drop(event[1])
                    elif event[0] == "wait":
                        await self.news.wait()
                        self.news = anyio.Event()
                    else:
                        await self._do(event)
                    if not self._is_stopped:
                        event = self.drive.next()
            except (Exception, *EXITS) as error:
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
        if self.spans is None:
            return await self._make_within(event)
        with self.spans.within(event[1]):
            await self._make_within(event)

    async def _make_within(self, event: tuple[Any, ...]) -> None:
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
        self.under[ticket] = (name, kind)
        try:
            if self.begun or (alone and self.quick and tool.is_async and not (tool.confirm or tool.retries)):
                await self._quick(tool, ticket, arguments, kind)
            elif tool.confirm and not confirmed and (refused := await self._refused(tool, ticket, kind)):
                self.drive.fail(ticket, refused)
            else:
                while not await self._attempt(tool, ticket, arguments, kind, retry):
                    retry += 1
            self.under.pop(ticket, None)
        finally:
            if not alone:
                self.news.set()

    async def _quick(self, tool: Tool, ticket: int, arguments: dict[str, Any], kind: int) -> None:
        """Makes a call of an async tool once. Its time limit is set up only if it does not answer at once."""
        drive = self.drive
        own = self.call_timeout if tool.timeout is None else tool.timeout
        call: Timed | None = None
        try:
            begun, self.begun = self.begun, None
            if begun is None:
                begun = _begin(tool.call(arguments))
            if begun.kind != "waits":
                value = begun.value()
            else:
                call = Timed(*begun.rest)
                left = own if kind == _ENTRY else drive.seconds_left
                value = await call.within(min(own, left))
        except Suspend as why:
            self._suspend(ticket, tool.name, arguments, kind, why)
        except Exception as error:
            if call and call.is_late:
                self._ended(ticket, tool.name, kind, own)
            else:
                raised(drive, ticket, tool.name, error)
                drive.fail(ticket, failure_of(error))
        except cancelled():
            if is_being_cancelled():
                raise
            if call and call.is_late:
                self._ended(ticket, tool.name, kind, own)
            else:
                drive.in_doubt(ticket, f"tool `{tool.name}` was cancelled before it had answered")
        except BaseException as error:
            if call and call.is_closed:
                # Nobody awaits the run any more.
                raise
            self._leave(ticket, tool.name, kind, error)
        else:
            drive.settle(ticket, value)
        if call and call.cancelled:
            # The tool has answered in spite of it.
            self.under.pop(ticket, None)
            raise call.cancelled

    async def _refused(self, tool: Tool, ticket: int, kind: int) -> str | None:
        """Asks a person. Returns the reason why the call is not made, if there is one."""
        call = self.drive.waiting
        if self.ask is None or call is None:
            return not_confirmed(tool.name, "there is nobody to ask")
        question = shown(call, tool.name)
        if isinstance(question, str):
            return not_confirmed(tool.name, question)
        self.under[ticket] = (tool.name, _READ)
        try:
            allowed = await asked(self.ask, question, self.drive.seconds_left)
        except EXITS as error:
            self._exit(error)
            return not_confirmed(tool.name, "nobody could be asked")
        if isinstance(allowed, BaseException):
            self.observers.failed("ask", allowed)
            return not_confirmed(tool.name, "nobody could be asked")
        self.under[ticket] = (tool.name, kind)
        if allowed is True:
            # A run that was cancelled meanwhile makes no call that changes something.
            return "cancelled" if self.cancelled and kind == _CHANGE else None
        why = allowed.reason if isinstance(allowed, Deny) else ""
        return not_confirmed(tool.name, f"it was refused: {why}" if why else "it was refused")

    async def _attempt(self, tool: Tool, ticket: int, arguments: dict[str, Any], kind: int, retry: int) -> bool:
        """Makes a call once. Returns whether that was the last attempt."""
        import anyio

        drive = self.drive
        own = self.call_timeout if tool.timeout is None else tool.timeout
        left = own if kind == _ENTRY else drive.seconds_left
        hit: list[BaseException] = []
        own_exits: list[BaseException] = []
        if tool.retries:
            # What a tool changes in its arguments is not for the next attempt.
            arguments = _copy(arguments)
        with anyio.CancelScope(deadline=anyio.current_time() + min(own, left)) as scope:
            self.scopes[ticket] = (kind, scope)
            try:
                value: Any = tool.call(arguments) if tool.is_async else await in_thread(tool.call, arguments, own_exits)
                # Whatever the tool says of itself: what can be awaited is.
                if hasattr(value, "__await__"):
                    value = await detached(value, hit, own_exits)
            except Suspend as why:
                self._suspend(ticket, tool.name, arguments, kind, why)
            except Exception as error:
                raised(drive, ticket, tool.name, error)
                pause = drive.pause(tool.name, retry)
                if pause and pause[1] < drive.seconds_left and not self.cancelled:
                    self.under[ticket] = (tool.name, _READ)
                    await anyio.sleep(between(pause))
                    self.under[ticket] = (tool.name, kind)
                    return False
                drive.fail(ticket, failure_of(error))
            except anyio.get_cancelled_exc_class():
                if scope.cancel_called or is_being_cancelled():
                    raise
                drive.in_doubt(ticket, f"tool `{tool.name}` was cancelled before it had answered")
            except BaseException as error:
                if isinstance(error, GeneratorExit) and error not in own_exits:
                    # Nobody awaits the run any more.
                    raise
                self._leave(ticket, tool.name, kind, error)
            else:
                drive.settle(ticket, value)
            finally:
                del self.scopes[ticket]
        if scope.cancelled_caught:
            self._ended(ticket, tool.name, kind, own)
        elif hit and not scope.cancel_called:
            # The tool has answered in spite of a cancellation from outside.
            self.under.pop(ticket, None)
            raise hit[0]
        return True

    def _leave(self, ticket: int, name: str, kind: int, error: BaseException) -> None:
        """A tool has raised an exception that ends the process: the run ends before, after its rollback."""
        raised(self.drive, ticket, name, error)
        if not self.durable:
            message = f"tool `{name}` raised {type(error).__name__}"
            (self.drive.interrupted(ticket) if kind in (_AHEAD, _READ) else self.drive.in_doubt(ticket, message))
        self._exit(error)

    def _exit(self, error: BaseException) -> None:
        self.leaving = self.leaving or error
        if not self.durable:
            self._cancel()

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
        call = due_of(self.drive, self.tools, name, arguments, kind)
        raised(self.drive, ticket, name, why)
        if call and self.durable:
            self.drive.defer(ticket)
        elif call:
            self.drive.left(ticket)
            self.suspended = Suspended(self.drive.snapshot() or b"", call, text_of(why))
        elif kind == _AHEAD:
            # The run makes the call in its turn, and suspends there.
            self.drive.not_started(ticket)
        else:
            self.drive.fail(ticket, "the tool suspended a call that the run does not wait for")


def _begin(call: Coroutine[Any, Any, Any]) -> Begun:
    """Begins a call. Returns its value if it does not wait."""
    if not hasattr(call, "__await__"):
        return Begun("value", call)
    if not hasattr(call, "send"):
        # A future, or another object of a class of its own.
        call = _awaited(call)
    try:
        return Begun("waits", call, call.send(None))
    except StopIteration as done:
        return Begun("value", done.value)


async def _awaited(call: Any) -> Any:
    return await call


def _copy(arguments: dict[str, Any]) -> dict[str, Any]:
    import copy

    return copy.deepcopy(arguments)
