"""Asks a person about a call, within its time."""

from __future__ import annotations

from ._event_loop import detached, in_thread, is_being_cancelled
from ._values import partial_too, well_formed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ._ilo import Call, Waiting

    Ask = Callable[[Call | Waiting], Any]


class Deny:
    """Returned by `ask`: the call is not made, for a reason that the program gets with its failure."""

    __slots__ = __match_args__ = ("reason",)

    def __init__(self, reason: str = "") -> None:
        if not isinstance(reason, str):
            raise TypeError(f"the reason of `ilo.Deny` is a str, found {reason!r}")
        self.reason = well_formed(reason)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Deny) and self.reason == other.reason

    def __hash__(self) -> int:
        return hash(self.reason)

    @partial_too
    def __repr__(self) -> str:
        return f"ilo.Deny({self.reason!r})"


def shown(call: Call, name: str) -> Call | str:
    """The call as a person sees it: with the name that the host has given its tool, never another text of the program.

    A text says why nobody is asked: the program calls the tool by the name of a server that is not there.
    """
    if call.tool == name:
        return call
    if call.tool.startswith("mcp://"):
        return f"the program calls it by a server that is not there; write `{name}`"
    from ._ilo import Call

    place = None if call.line is None or call.column is None else (call.line, call.column)
    return Call(name, call.arguments, call.number, call.function, place, call.is_rollback)


async def asked(ask: Ask, call: Call | Waiting, seconds: float) -> bool | Deny | BaseException:
    """What `ask` decides about a call, or why it has decided nothing: what it raises, `TimeoutError` if it takes
    longer, and `TypeError` if it returns anything else.

    Raises only what ends the process, or this task.
    """
    import anyio

    own_exits: list[BaseException] = []
    try:
        return await _decided(ask, call, seconds, own_exits)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        if isinstance(error, anyio.get_cancelled_exc_class()) and is_being_cancelled():
            raise
        if isinstance(error, GeneratorExit) and error not in own_exits:
            # Nobody awaits the run any more.
            raise
        return error


async def _decided(ask: Ask, call: Call | Waiting, seconds: float, own_exits: list[BaseException]) -> bool | Deny:
    """What `ask` returns. A function that is not async is called in a thread."""
    import inspect

    import anyio

    with anyio.fail_after(max(seconds, 0)):
        is_async = inspect.iscoroutinefunction(ask) or inspect.iscoroutinefunction(getattr(ask, "__call__", None))
        found: Any = ask(call) if is_async else await in_thread(ask, call, own_exits)
        if hasattr(found, "__await__"):
            found = await detached(found, [], own_exits)
    if isinstance(found, (bool, Deny)):
        return found
    raise TypeError(f"`ask` returns True, False or `ilo.Deny(reason)`, found {found!r}")
