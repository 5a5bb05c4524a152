"""The one conversion of values that are no JSON themselves: inputs, answers, failures and decisions go through it."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def well_formed(text: str) -> str:
    """A text of the host without halves of surrogate pairs, which no other language has: each becomes `?`."""
    return text.encode(errors="replace").decode()


def partial_too(show: Callable[[Any], str]) -> Callable[[Any], str]:
    """A `__repr__` that also shows an object whose `__init__` has failed: tracebacks show every local variable."""

    def __repr__(self: Any) -> str:
        try:
            return show(self)
        except AttributeError:
            return object.__repr__(self)

    return __repr__


def plain(value: Any) -> Any:
    """The JSON form of a model of pydantic, a dataclass, a date or time, a UUID or an enum; nothing if it has none.

    Parts of it may need a conversion of their own.
    """
    if isinstance(value, type):
        return None
    pydantic = sys.modules.get("pydantic")
    if pydantic is not None and isinstance(value, pydantic.BaseModel):
        return value.model_dump(mode="json", by_alias=True)
    dataclasses = sys.modules.get("dataclasses")
    if dataclasses is not None and dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    datetime = sys.modules.get("datetime")
    if datetime is not None and isinstance(value, (datetime.date, datetime.time)):
        # As pydantic writes it.
        text = value.isoformat()
        return text[:-6] + "Z" if text.endswith("+00:00") else text
    enum = sys.modules.get("enum")
    if enum is not None and isinstance(value, enum.Enum):
        return value.value
    uuid = sys.modules.get("uuid")
    if uuid is not None and isinstance(value, uuid.UUID):
        return str(value)
    return None
