"""The exceptions of the package."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
    from collections.abc import Sequence

    from ._ilo import Diagnostic, Problem


class IloError(Exception):
    """The base of every exception of this package, except those that a tool raises."""


class CompileError(IloError):
    """A source has errors. The text is for the model, which corrects the program with it."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__(diagnostics)
        self.diagnostics = list(diagnostics)

    def __str__(self) -> str:
        errors = sum(found.is_error for found in self.diagnostics)
        number = "1 error" if errors == 1 else f"{errors} errors"
        lines = [f"the program has {number}; each is LINE:COLUMN: error[CODE]: what is wrong; what to write"]
        lines.extend(str(found) for found in self.diagnostics)
        return "\n".join(lines)


class StartError(IloError):
    """A run could not start. `problems` lists every reason."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(problems)
        self.problems = list(problems)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


class _Coded(IloError):
    """An error with a stable code."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message, code)
        self.code = code

    def __str__(self) -> str:
        return str(self.args[0])


class SnapshotError(_Coded, ValueError):
    """Bytes are not a snapshot of this program, or exceed a limit; `code` is the stable code."""


class JournalError(_Coded):
    """A journal refuses an operation; `code` is the stable code."""


class NotWaiting(IloError, RuntimeError):
    """A run got an answer, or was asked for a snapshot, while no call waits."""


class BadValue(IloError, ValueError):
    """A value of Python that has no form in the language. The message has its path."""


class Refused(IloError, ValueError):
    """A guide refused its input and has not changed; `at` of the bytes could have come."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message, at)
        self.at = at

    def __str__(self) -> str:
        return str(self.args[0])


class CannotEnd(IloError, ValueError):
    """No token leaves an end of the program: too few are left, or the vocabulary cannot write it."""


class Failure(Exception):
    """Raised by a tool: the call fails with this text, or with this record or other value.

    Any other exception is a failure too; its message then begins with the name of its class.
    """

    def __init__(self, value: Any) -> None:
        super().__init__(value)
        self.value = value


class Suspend(Exception):
    """Raised by a tool: the run stops at this call, and `program.resume` continues with the answer.

    With a journal the run waits there, and continues when `journal.answer` has given it.
    """
