"""Tools: functions, sync or async, with the signature that their type hints say."""

from __future__ import annotations

from ._typing import cached_property
from ._ilo import Catalogue
from ._options import is_number
from ._values import partial_too

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, Generic, Literal, TypeVar, overload

    from typing_extensions import ParamSpec

    from ._signature import Signature

    Schema = dict[str, Any]
    Function = Callable[..., Any]
    P = ParamSpec("P")
    R = TypeVar("R")


class Tool:
    """A tool: a function with a name, a signature and a policy. `ilo.tool` makes it from a function.

    `call` gets the arguments as a dict and gives the answer, or an awaitable of it where `is_async`.
    """

    def __init__(
        self,
        name: str,
        call: Callable[[dict[str, Any]], Any],
        *,
        is_async: bool,
        description: str | None = None,
        input_schema: Schema | None = None,
        output_schema: Schema | None = None,
        validate: bool = True,
        read_only: bool = False,
        idempotent: bool = False,
        retries: int = 0,
        confirm: bool = False,
        timeout: float | None = None,
        on_unanswered: Literal["ask", "fail", "stop"] = "ask",
        on_doubt: Literal["ask", "fail", "stop"] | None = None,
        requires_rollback: bool = False,
    ) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of a tool is a str, found {name!r}")
        if on_doubt is not None:
            import warnings

            warnings.warn("`on_doubt` is `on_unanswered` now", DeprecationWarning, stacklevel=3)
            on_unanswered = on_doubt
        flags = {"validate": validate, "read_only": read_only, "idempotent": idempotent}
        flags |= {"confirm": confirm, "requires_rollback": requires_rollback}
        kinds: list[tuple[str, Any, bool]] = [
            *((f"`{option}` expects a bool", value, isinstance(value, bool)) for option, value in flags.items()),
            ("`retries` expects an int", retries, isinstance(retries, int)),
            ("`timeout` expects seconds", timeout, timeout is None or is_number(timeout)),
            ("`description` expects a str", description, description is None or isinstance(description, str)),
        ]
        for expected, value, fits in kinds:
            if not fits:
                raise TypeError(f"tool `{name}`: {expected}, found {value!r}")
        if not callable(call):
            raise TypeError(f"tool `{name}`: `call` expects a function, found {call!r}")
        if on_unanswered not in ("ask", "fail", "stop"):
            raise ValueError(f"tool `{name}`: `on_unanswered` is 'ask', 'fail' or 'stop', found {on_unanswered!r}")
        if retries and not (idempotent or read_only):
            raise ValueError(f"tool `{name}`: `retries` is only for tools that are `idempotent` or `read_only`")
        self.name = name
        self.call = call
        self.is_async = is_async
        self.description = description
        self.input_schema = input_schema
        self.output_schema = output_schema
        self.validate = validate
        self.read_only = read_only
        self.idempotent = idempotent
        self.retries = retries
        self.confirm = confirm
        self.timeout = None if timeout is None else float(timeout)
        self.on_unanswered = on_unanswered
        self.requires_rollback = requires_rollback
        self.function: Function | None = None

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Calls the original function."""
        if self.function is None:
            raise TypeError(f"tool `{self.name}` is not a function; a program calls it")
        return self.function(*arguments, **named)

    @partial_too
    def __repr__(self) -> str:
        return f"<ilo.Tool {self.name}>"

    def entry(self) -> Schema:
        """Its entry in a catalogue, in MCP's form."""
        entry: Schema = {"name": self.name, "validate": self.validate}
        if self.description:
            entry["description"] = self.description
        if self.input_schema is not None:
            entry["inputSchema"] = self.input_schema
        if self.output_schema is not None:
            entry["outputSchema"] = self.output_schema
        policy: Schema = {"rollback": "required"} if self.requires_rollback else {}
        if self.confirm:
            policy["confirm"] = True
        if policy:
            entry["policy"] = policy
        return entry

    def policy(self) -> tuple[str, bool, bool, int, bool, float | None, str, bool]:
        """Its policy, in the form of the catalogue."""
        # What the extension module has no number for is refused there as too many.
        retries = self.retries if 0 <= self.retries < 1 << 32 else (1 << 32) - 1
        rest = (self.confirm, self.timeout, self.on_unanswered, self.requires_rollback)
        return (self.name, self.read_only, self.idempotent, retries, *rest)


if TYPE_CHECKING:

    class FunctionTool(Tool, Generic[P, R]):
        """A tool that is called as its function is."""

        def __call__(self, *arguments: P.args, **named: P.kwargs) -> R: ...
        def __get__(self, instance: object, owner: type | None = None) -> Any: ...

    class _Decorator:
        def __call__(self, function: Callable[P, R], /) -> FunctionTool[P, R]: ...


if TYPE_CHECKING:

    @overload
    def tool(function: Callable[P, R], /) -> FunctionTool[P, R]: ...
    @overload
    def tool(
        *,
        name: str | None = None,
        description: str | None = None,
        read_only: bool = False,
        idempotent: bool = False,
        retries: int = 0,
        confirm: bool = False,
        timeout: float | None = None,
        on_unanswered: Literal["ask", "fail", "stop"] = "ask",
        requires_rollback: bool = False,
    ) -> _Decorator: ...


def tool(function: Function | None = None, /, *, name: str | None = None, **policy: Any) -> Any:
    """Makes a tool of a function, sync or async.

    Its name, description and signature are those of the function unless given. `read_only` says that it changes
    nothing, so that it may be called early, in parallel with others. `retries` repeats a failed call of a tool
    that is `idempotent` or `read_only`; `confirm` asks a person before each call; `timeout` is in seconds.
    A method that is a tool is one of its object: `Tools(shop.find)`.
    """
    if function is None:
        return lambda function: _of_function(function, name=name, **policy)
    return _of_function(function, name=name, **policy)


def _of_function(function: Function, *, name: str | None = None, **policy: Any) -> Tool:
    import inspect

    from ._signature import Signature

    if not callable(function):
        raise TypeError(f"expected a function, found {function!r}")
    name = name or getattr(function, "__name__", None)
    if not name:
        raise ValueError(f"{function!r} has no name; pass `name=` to `ilo.tool`")
    is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)
    )
    for schema in ("input_schema", "output_schema"):
        if schema in policy:
            raise TypeError(f"tool `{name}`: its type hints are its schema; `{schema}` is an argument of `ilo.Tool`")
    description = policy.pop("description", None) or inspect.getdoc(function)
    signature = Signature(name, function)

    def call(arguments: dict[str, Any]) -> Any:
        return signature.answer(function(**signature.arguments(arguments)))

    async def call_async(arguments: dict[str, Any]) -> Any:
        return signature.answer(await function(**signature.arguments(arguments)))

    made = _Function(name, call_async if is_async else call, is_async=is_async, description=description, **policy)
    made.function = function
    made.signature = signature
    made.policy_given = policy
    return made


class _Function(Tool):
    """A tool of a function, whose schemas are made when they are first needed."""

    signature: Signature
    policy_given: dict[str, Any]

    def __get__(self, instance: object, owner: type | None = None) -> Tool:
        """A method of an object is a tool without `self`."""
        if instance is None:
            return self
        assert self.function is not None
        bound = self.function.__get__(instance, owner)
        return _of_function(bound, name=self.name, description=self.description, **self.policy_given)

    def entry(self) -> Schema:
        self.input_schema = self.signature.input_schema
        self.output_schema = self.signature.output_schema
        return super().entry()


def _json(tool: Tool) -> str:
    """The entry of a tool as JSON; an error names the tool."""
    import json

    found: object
    # What has no schema says so itself, with the tool and the place.
    entry = tool.entry()
    try:
        text = json.dumps(entry, allow_nan=False, ensure_ascii=False)
        # Half of a surrogate pair is an error here, and JSON for `dumps`.
        text.encode()
        return text
    except UnicodeEncodeError as error:
        before = text[max(0, error.start - 40) : error.start]
        found = f"half of a surrogate pair after `{before}`; write the whole character, or U+FFFD in its place"
    except (TypeError, ValueError, RecursionError) as error:
        found = error
    name = tool.name.encode(errors="replace").decode()
    raise ValueError(f"tool `{name}`: its name, description or schema has no form in JSON: {found}")


class Tools:
    """The tools that programs may call."""

    def __init__(self, *tools: Tool | Function) -> None:
        self._tools: dict[str, Tool] = {}
        for given in tools:
            made = given if isinstance(given, Tool) else _of_function(given)
            if made.name in self._tools:
                raise ValueError(f"two tools have the name `{made.name}`")
            self._tools[made.name] = made

    @classmethod
    async def from_mcp(
        cls,
        session: Any,
        *,
        server: str | None = None,
        read_only: Iterable[str] = (),
        confirm: Iterable[str] = (),
    ) -> Tools:
        """The tools of an MCP server, over a session of the package `mcp` that is initialised.

        With `server`, a tool `send` has the name `mcp://SERVER/send`, and programs may also write `send`.
        A server's own hints are not trusted: name the tools that change nothing in `read_only`.
        """
        from ._mcp import tools_of

        return cls(*await tools_of(session, server, frozenset(read_only), frozenset(confirm)))

    @cached_property
    def catalogue(self) -> Catalogue:
        """Signatures, policies and calls, as the extension module takes them."""
        entries = f"[{','.join(_json(tool) for tool in self)}]"
        calls = [(tool.name, tool.call, tool.is_async) for tool in self]
        return Catalogue(entries, [tool.policy() for tool in self], calls)

    def signatures(self) -> list[str]:
        """The signatures of the tools, for a model."""
        return self.catalogue.signatures()

    def __or__(self, other: Tools) -> Tools:
        return Tools(*self, *other) if isinstance(other, Tools) else NotImplemented

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    @partial_too
    def __repr__(self) -> str:
        return f"<ilo.Tools {', '.join(self._tools)}>"


def tools_of(given: Tools | Iterable[Tool | Function] | None) -> Tools:
    """The tools of a caller: `Tools`, or tools and functions one by one."""
    if given is None:
        return _NONE
    if isinstance(given, Tools):
        return given
    if not hasattr(given, "__iter__") or hasattr(given, "keys") or isinstance(given, str):
        raise TypeError(f"`tools` expects `ilo.Tools`, or a list of tools and functions, found {given!r}")
    return Tools(*given)


_NONE = Tools()
