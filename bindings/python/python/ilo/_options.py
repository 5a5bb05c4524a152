"""The options of a run over tools: their defaults, and what each expects."""

from __future__ import annotations

from ._run import CALL_SECONDS, ROLLBACK_SECONDS, RUN_SECONDS, Cancellation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

DEFAULTS: Any = {
    "timeout": RUN_SECONDS,
    "call_timeout": CALL_SECONDS,
    "max_concurrency": 16,
    "on_call": None,
    "ask": None,
    "cancel": None,
    "on_error": None,
    "on_cancel": "rollback",
    "rollback_timeout": ROLLBACK_SECONDS,
    "on_event": None,
    "tool_call_id": None,
}
_LONGEST = 365 * 24 * 3600


def is_number(value: Any) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, bool)


_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "timeout": ("seconds", is_number),
    "call_timeout": ("seconds", is_number),
    "max_concurrency": ("an int", lambda value: hasattr(value, "__index__") and not isinstance(value, bool)),
    "on_call": ("a function", callable),
    "ask": ("a function", callable),
    "cancel": ("an `ilo.Cancellation`", lambda value: isinstance(value, Cancellation)),
    "on_error": ("a function", callable),
    "on_cancel": ("'rollback' or 'drop'", lambda value: value in ("rollback", "drop")),
    "rollback_timeout": ("seconds", is_number),
    "on_event": ("a function", callable),
    "tool_call_id": ("a str", lambda value: isinstance(value, str)),
}


def renamed(given: dict[str, Any], old: str, new: str) -> None:
    """Takes an argument by the name that it had in the last release."""
    if old not in given:
        return
    import warnings

    warnings.warn(f"`{old}` is `{new}` now", DeprecationWarning, stacklevel=4)
    given[new] = given.pop(old)


def checked(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are given. An unknown option, or one of another type, is an error before a run begins."""
    if "at_once" in options:
        options = dict(options)
        renamed(options, "at_once", "max_concurrency")
    given = {name: value for name, value in options.items() if value is not None or name not in _KINDS}
    for name, value in given.items():
        if name not in _KINDS:
            raise TypeError(f"there is no option `{name}`, only {', '.join(_KINDS)}")
        expected, fits = _KINDS[name]
        if not fits(value):
            raise TypeError(f"`{name}` expects {expected}, found {value!r}")
        if name in ("timeout", "call_timeout", "rollback_timeout"):
            given[name] = value if isinstance(value, int) else float(value)
            if not 0 <= given[name] <= _LONGEST:
                raise ValueError(f"`{name}` is seconds from 0 to a year, found {value!r}")
        if name == "max_concurrency" and not 0 <= value.__index__() < 1 << 32:
            raise ValueError(f"`max_concurrency` is a number of calls, found {value!r}")
    return given


def with_defaults(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are given, and the defaults of the others."""
    return {**DEFAULTS, **checked(options)}
