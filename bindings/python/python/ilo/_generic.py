"""A class with a type parameter for type checkers alone: `typing` takes long to import, and nothing else needs it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Generic

    from typing_extensions import TypeVar

    T = TypeVar("T", default=Any)

    class ByType(Generic[T]):
        pass

else:

    class ByType:
        __slots__ = ()

        def __class_getitem__(cls, item):
            return cls
