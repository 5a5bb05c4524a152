"""Tools of an MCP server, over a session of the package `mcp`.

Structured content is taken as it is; text is a text; anything binary becomes a record of its type and size.
"""

from __future__ import annotations

from typing import Any

from ._errors import Failure
from ._tools import Tool

# The most pages of a list of tools. A server that sends more would never end.
_PAGES = 1_000
# The flag of a record that holds one plain value, in the tool's output schema or in the answer.
_WRAPPED = "x-fastmcp-wrap-result"


async def tools_of(
    session: Any, server: str | None, read_only: frozenset[str], confirm: frozenset[str]
) -> list[Tool]:
    """The tools that the server lists."""
    listed = await _listed(session)
    names = {tool.name for tool in listed}
    for option, given in (("read_only", read_only), ("confirm", confirm)):
        if missing := sorted(given - names):
            raise ValueError(f"{option}: the server has no tool {', '.join(f'`{name}`' for name in missing)}")
    return [_tool(session, tool, server, tool.name in read_only, tool.name in confirm) for tool in listed]


async def _listed(session: Any) -> list[Any]:
    from mcp import types

    found: list[Any] = []
    cursor = None
    for _ in range(_PAGES):
        page = await session.list_tools(params=types.PaginatedRequestParams(cursor=cursor) if cursor else None)
        found.extend(page.tools)
        cursor = page.next_cursor
        if not cursor:
            return found
    raise RuntimeError(f"the MCP server's list of tools has more than {_PAGES} pages")


def _tool(session: Any, listed: Any, server: str | None, read_only: bool, confirm: bool) -> Tool:
    output = listed.output_schema
    wrapped = bool(output and output.get(_WRAPPED) is True)
    if wrapped:
        output = _unwrapped_schema(output)

    async def call(arguments: dict[str, Any]) -> Any:
        result = await session.call_tool(listed.name, arguments)
        return _answer(result, wrapped)

    return Tool(
        f"mcp://{server}/{listed.name}" if server else listed.name,
        call,
        is_async=True,
        description=listed.description,
        input_schema=listed.input_schema,
        output_schema=output,
        read_only=read_only,
        confirm=confirm,
    )


def _unwrapped_schema(schema: dict[str, Any]) -> dict[str, Any] | None:
    """The schema of the plain value, with the definitions that it may refer to."""
    inner = schema.get("properties", {}).get("result")
    if inner is None:
        return None
    return {**({"$defs": schema["$defs"]} if "$defs" in schema else {}), **inner}


def _answer(result: Any, wrapped: bool) -> Any:
    """An answer as a value; a result that is an error is a failure."""
    value = result.structured_content
    text = _text(result.content)
    if result.is_error and text is not None:
        raise Failure(text)
    if value is None:
        value = _content(result.content) if text is None else text
    elif (wrapped or _is_flagged(result.meta)) and isinstance(value, dict) and list(value) == ["result"]:
        value = value["result"]
    if result.is_error:
        raise Failure(value)
    return value


def _is_flagged(meta: Any) -> bool:
    own = meta.get("fastmcp") if isinstance(meta, dict) else None
    return isinstance(own, dict) and own.get("wrap_result") is True


def _text(content: list[Any]) -> str | None:
    """The text of an answer that consists of one text."""
    texts = [block.text for block in content if block.type == "text"]
    return "\n".join(texts) if texts and len(texts) == len(content) else None


def _content(content: list[Any]) -> Any:
    """No content is nil, a single item is itself, several are a list."""
    items = [_block(block) for block in content]
    return None if not items else items[0] if len(items) == 1 else items


def _block(block: Any) -> Any:
    if block.type == "text":
        return block.text
    data = getattr(block, "data", None)
    if data is not None:
        return {"type": block.type, "mime_type": block.mime_type, "bytes": len(data) * 3 // 4}
    return block.model_dump(mode="json", by_alias=True, exclude_none=True)
