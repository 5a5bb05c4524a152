"""Types for annotations. Nothing of the package needs them while it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypedDict, Union

from ._events import CallEnd, CallStart, EventsDropped
from ._ilo import Call, Err, Fault, Ok, Waiting
from ._run import Suspended

Ask = Callable[[Union[Call, Waiting]], Any]
Event = Union[CallStart, CallEnd, EventsDropped]
if TYPE_CHECKING:
    from ._typing import T
else:
    from typing import TypeVar

    T = TypeVar("T")

Outcome = Union[Ok[T], Err, Fault, Suspended, Waiting]


class Limits(TypedDict, total=False):
    """Limits of a run that differ from their defaults."""

    fuel: int
    memory: int
    text: int
    items: int
    value_depth: int
    tool_calls: int
    rollbacks: int
    result_bytes: int
    result_nodes: int
