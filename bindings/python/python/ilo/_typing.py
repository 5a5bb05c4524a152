"""What type checkers know from `typing` and `functools`, without an import of those two, which takes long."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from functools import cached_property
    from typing import Any, Generic

    from typing_extensions import TypeVar

    T = TypeVar("T", default=Any)

    class ByType(Generic[T]):
        """A class with a type parameter for type checkers alone."""

else:

    class ByType:
        __slots__ = ()

        def __class_getitem__(cls, item):
            return cls

    class cached_property:
        """That of `functools`."""

        def __init__(self, make):
            self.make = make
            self.__doc__ = make.__doc__

        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, found, owner=None):
            if found is None:
                return self
            value = found.__dict__[self.name] = self.make(found)
            return value
