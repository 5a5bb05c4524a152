"""What a host expects of the value of a run: `output=` of `build`, and of those that follow from it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._ilo import Drive


class Output:
    """The value that is expected: its JSON Schema, and the conversion to the host's own type.

    It is a JSON Schema as a dict, or a type that pydantic has a schema for: its models, dataclasses, TypedDicts, and
    what they are made of.
    """

    __slots__ = ("given", "schema", "_adapter")

    def __init__(self, given: Any) -> None:
        import json

        self.given = given
        self._adapter: Any = None
        if isinstance(given, dict):
            self.schema = json.dumps(given)
            return
        self._adapter = _adapter(given)
        try:
            self.schema = json.dumps(self._adapter.json_schema())
        except Exception as error:
            raise _no_schema(given, error) from error

    def typed(self, value: Any) -> Any:
        """The value in the type of the host. Raises `ValueError` where it is none."""
        if self._adapter is None:
            return value
        from pydantic import ValidationError

        try:
            return self._adapter.validate_python(value)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            path = ".".join(str(step) for step in first["loc"])
            raise ValueError(f"`{path}`: {first['msg']}" if path else first["msg"]) from error

    def of(self, found: Any) -> Any:
        """An outcome that a journal has stored, with its value in the type of the host."""
        from ._ilo import Ok

        return found._with(self.typed(found.value)) if isinstance(found, Ok) else found

    def decide(self, drive: Drive, value: Any) -> None:
        """Accepts the value of a run that is about to end with it, or refuses it. Then the run is rolled back."""
        try:
            typed = self.typed(value)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            from ._run import text_of

            drive.refuse_value(text_of(error) or type(error).__name__)
        else:
            drive.accept_value(typed)


def output_of(given: Any) -> Output | None:
    """What is expected, if something is."""
    return given if given is None or isinstance(given, Output) else Output(given)


def schema_of(given: Any) -> str | None:
    found = output_of(given)
    return None if found is None else found.schema


def _adapter(given: Any) -> Any:
    try:
        from pydantic import TypeAdapter
    except ImportError:
        raise TypeError(f"`output` expects a JSON Schema as a dict; of {given!r} pydantic makes one, which is not installed") from None
    try:
        return TypeAdapter(given)
    except Exception as error:
        raise _no_schema(given, error) from error


def _no_schema(given: Any, error: Exception) -> TypeError:
    from ._signature import unconvertible

    path = unconvertible(given, "")
    why = " ".join(str(error).split())
    return TypeError(f"`output`: {f'`{path}`: ' if path else ''}its type has no JSON Schema: {why[:300]}")
