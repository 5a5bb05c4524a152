"""ilo: small programs that agents write, checked before they run, with tools that are your functions."""

from ._ask import Deny
from ._errors import BadValue, CompileError, Failure, IloError, JournalError, NotWaiting, SnapshotError, StartError, Suspend
from ._events import CallEnd, CallStart, EventsDropped
from ._ilo import (
    Call,
    Diagnostic,
    Err,
    Fault,
    JournalRun,
    Ok,
    PlannedCalls,
    Problem,
    VERSION as __version__,
    Run,
    Waiting,
    detect,
    explain,
)
from ._program import Program, build, card, check, convert, fix, format, graph, load
from ._run import Cancellation, CallResult, Suspended, idempotency_key
from ._tools import Tool, Tools, tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._journal import Journal, JournalCall
    from ._types import Ask, Event, Limits, Outcome


def __getattr__(name: str) -> object:
    """Journals, and the types that annotations use: what is loaded when it is first needed, so that `import ilo` is quick."""
    if name in ("Ask", "Event", "Limits", "Outcome"):
        from . import _types

        found = globals()[name] = getattr(_types, name)
        return found
    if name in ("Journal", "JournalCall"):
        from . import _journal

        found = globals()[name] = getattr(_journal, name)
        return found
    if name == "Made":
        import warnings

        warnings.warn("`ilo.Made` is `ilo.CallResult` now", DeprecationWarning, stacklevel=2)
        return CallResult
    raise AttributeError(f"module `ilo` has no attribute `{name}`")


__all__ = [
    "Ask",
    "BadValue",
    "Call",
    "CallEnd",
    "CallResult",
    "CallStart",
    "Cancellation",
    "CompileError",
    "Deny",
    "Diagnostic",
    "Err",
    "Event",
    "EventsDropped",
    "Failure",
    "Fault",
    "IloError",
    "Journal",
    "JournalError",
    "JournalCall",
    "JournalRun",
    "Limits",
    "NotWaiting",
    "Ok",
    "Outcome",
    "PlannedCalls",
    "Problem",
    "Program",
    "Run",
    "SnapshotError",
    "StartError",
    "Suspend",
    "Suspended",
    "Tool",
    "Tools",
    "Waiting",
    "__version__",
    "build",
    "card",
    "check",
    "convert",
    "detect",
    "explain",
    "fix",
    "format",
    "graph",
    "idempotency_key",
    "load",
    "tool",
]
