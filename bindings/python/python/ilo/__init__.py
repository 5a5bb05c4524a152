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
    Run,
    Waiting,
    detect,
    explain,
)
from ._journal import Journal
from ._program import Program, build, card, check, convert, fix, format, graph, load
from ._run import Cancellation, Made, Suspended, idempotency_key
from ._tools import Tool, Tools, tool

__all__ = [
    "BadValue",
    "Call",
    "CallEnd",
    "CallStart",
    "Cancellation",
    "CompileError",
    "Deny",
    "Diagnostic",
    "Err",
    "EventsDropped",
    "Failure",
    "Fault",
    "IloError",
    "Journal",
    "JournalError",
    "JournalRun",
    "Made",
    "NotWaiting",
    "Ok",
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
