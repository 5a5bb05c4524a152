"""The signature of a function: JSON Schemas of its arguments and answer, and their validation by pydantic.

Without pydantic, the names of the parameters are known and their types are not.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property
from typing import Any, get_type_hints

from ._errors import Failure

# Types whose values are passed without conversion.
_PLAIN = {str, int, float, bool, type(None)}
# Annotations without information.
_OPEN = (Any, inspect.Parameter.empty, dict, list, object)


class Signature:
    """The signature of a function."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name = name
        self.function = function
        self.parameters = {
            key: parameter
            for key, parameter in inspect.signature(function).parameters.items()
            if parameter.kind is not parameter.VAR_KEYWORD
        }
        for key, parameter in self.parameters.items():
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
                raise ValueError(f"tool `{name}`: arguments have names, and the parameter `{key}` has none to use")
        self.is_open = len(self.parameters) < len(inspect.signature(function).parameters)

    @cached_property
    def hints(self) -> dict[str, Any]:
        """The type hints; none if they cannot be resolved."""
        function: Any = self.function
        if not inspect.isroutine(function):
            function = getattr(function, "func", None) or getattr(function, "__call__", function)
        try:
            return get_type_hints(function, include_extras=True)
        except Exception as error:
            raise TypeError(f"tool `{self.name}`: its type hints cannot be resolved: {error}") from error

    @cached_property
    def _arguments(self) -> Any:
        """pydantic's adapter for the arguments; nothing if no hint adds anything to their names."""
        hints = {key: self.hints.get(key, Any) for key in self.parameters}
        pydantic = _pydantic() if any(hint not in _OPEN for hint in map(_hashable, hints.values())) else None
        if pydantic is None:
            return None
        from typing_extensions import NotRequired, TypedDict

        empty = inspect.Parameter.empty
        fields = {
            key: hint if self.parameters[key].default is empty else NotRequired[hint]
            for key, hint in hints.items()
        }
        shape: Any = TypedDict("Arguments", fields)  # type: ignore[operator, misc]
        config = pydantic.ConfigDict(extra="allow" if self.is_open else "forbid")
        setattr(shape, "__pydantic_config__", config)
        try:
            return pydantic.TypeAdapter(shape)
        except Exception as error:
            raise self._no_schema(hints, error) from error

    @cached_property
    def _result(self) -> Any:
        """pydantic's adapter for the answer; nothing if the hint has no information."""
        hint = self.hints.get("return", Any)
        pydantic = None if _hashable(hint) in _OPEN else _pydantic()
        try:
            return pydantic and pydantic.TypeAdapter(hint)
        except Exception as error:
            raise self._no_schema({"": hint}, error) from error

    @cached_property
    def _exact(self) -> dict[str, type] | None:
        """The types of the arguments if all are plain. Values of exactly these types need no validation."""
        hints = {key: self.hints.get(key, Any) for key in self.parameters}
        return hints if not self.is_open and all(_hashable(hint) in _PLAIN for hint in hints.values()) else None

    @cached_property
    def _exact_result(self) -> type | None:
        hint = self.hints.get("return", Any)
        return hint if _hashable(hint) in _PLAIN else None

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        if self._arguments is not None:
            try:
                return self._arguments.json_schema()
            except Exception as error:
                hints = {key: self.hints.get(key, Any) for key in self.parameters}
                raise self._no_schema(hints, error) from error
        empty = inspect.Parameter.empty
        required = [key for key, parameter in self.parameters.items() if parameter.default is empty]
        properties: dict[str, Any] = {key: {} for key in self.parameters}
        schema = {"type": "object", "properties": properties, "required": required}
        return schema if self.is_open else {**schema, "additionalProperties": False}

    @cached_property
    def output_schema(self) -> dict[str, Any] | None:
        """The JSON Schema of the answer, if the function declares it."""
        try:
            return self._result and self._result.json_schema(mode="serialization")
        except Exception as error:
            raise self._no_schema({"": self.hints["return"]}, error) from error

    def _no_schema(self, hints: dict[str, Any], error: Exception) -> TypeError:
        """The error for hints of which one has no JSON Schema, with the path to that."""
        path = next((found for key, hint in hints.items() if (found := unconvertible(hint, key)) is not None), "")
        place = f"argument `{path}`" if "" not in hints else f"the answer: `{path}`" if path else "the answer"
        why = " ".join(str(error).split())
        return TypeError(f"tool `{self.name}`: {place}: its type has no JSON Schema: {why[:300]}")

    def arguments(self, given: dict[str, Any]) -> dict[str, Any]:
        """Converts the arguments to those of the function."""
        exact = self._exact
        if exact is not None and len(exact) == len(given):
            for key, value in given.items():
                if type(value) is not exact.get(key):
                    break
            else:
                return given
        return given if self._arguments is None else self._valid(self._arguments, given, "argument")

    def answer(self, value: Any) -> Any:
        """Converts the answer to JSON."""
        if self._exact_result is type(value) or self._result is None:
            return value
        adapter = self._result
        return adapter.dump_python(self._valid(adapter, value, "answer"), mode="json", by_alias=True)

    def _valid(self, adapter: Any, value: Any, what: str) -> Any:
        import pydantic

        try:
            return adapter.validate_python(value)
        except pydantic.ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            path = ".".join(str(step) for step in first["loc"])
            place = f"{what} `{path}`" if path else f"the {what}"
            raise Failure(f"tool `{self.name}`: {place}: {first['msg']}") from error


def unconvertible(hint: Any, path: str, deep: int = 8) -> str | None:
    """The path to the innermost part of a hint that has no JSON Schema; nothing if all have one."""
    import pydantic

    try:
        pydantic.TypeAdapter(hint).json_schema()
        return None
    except Exception:
        fields = _fields(hint) if deep else {}
    for name, field in fields:
        found = unconvertible(field, f"{path}.{name}".strip("."), deep - 1)
        if found is not None:
            return found
    return path


def _fields(hint: Any) -> list[tuple[str, Any]]:
    """The types of the fields of a model, a dataclass or a TypedDict, or, without a name, those of which a list or a
    union is."""
    model = getattr(hint, "model_fields", None)
    if model is not None:
        return [(name, field.annotation) for name, field in model.items()]
    if hasattr(hint, "__dataclass_fields__") or hasattr(hint, "__total__") or hasattr(hint, "__attrs_attrs__"):
        try:
            return list(get_type_hints(hint).items())
        except Exception:
            return []
    return [("", part) for part in getattr(hint, "__args__", ())]


def _hashable(hint: Any) -> Any:
    try:
        hash(hint)
    except TypeError:
        return None
    return hint


def _pydantic() -> Any:
    """The package, imported when it is first needed; nothing if it is not installed."""
    try:
        import pydantic
    except ImportError:
        return None
    return pydantic
