"""Tools of a real MCP server, in this process and over standard input."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import ilo
import pytest

mcp = pytest.importorskip("mcp")

SERVER = Path(__file__).parent / "mcp_server.py"
PROGRAM = """{"function": "f", "input": {"n": "number"}, "output": "result any text", "steps": [
{"let": "user", "call": "get_user", "args": {"user_id": "$input.n"}},
{"let": "sum", "call": "add", "args": {"a": "$user.id", "b": 1}},
{"return": {"ok": ["$user.name", "$sum.result"]}}]}"""


async def with_session(body: Any) -> Any:
    from mcp.client.stdio import StdioServerParameters, stdio_client

    parameters = StdioServerParameters(command=sys.executable, args=[str(SERVER)])
    async with stdio_client(parameters) as (read, write):
        async with mcp.ClientSession(read, write) as session:
            await session.initialize()
            return await body(session)


def test_a_program_calls_the_tools_of_a_server() -> None:
    async def body(session: Any) -> None:
        tools = await ilo.Tools.from_mcp(session, server="crm", read_only={"get_user"})
        assert [tool.name for tool in tools] == ["mcp://crm/get_user", "mcp://crm/add"]
        assert tools.signatures()[0].startswith("mcp://crm/get_user(user_id: number) -> {")
        program = ilo.build(PROGRAM, tools=tools)
        found = await program.run({"n": 7}, tools=tools)
        assert found == ilo.Ok(["user 7", 8])
        failed = await program.run({"n": -1}, tools=tools)
        assert isinstance(failed, ilo.Err) and "get_user" in failed.error
        with pytest.raises(ilo.CompileError, match="get_user"):
            ilo.build(PROGRAM.replace("get_user", "get_usr"), tools=tools)
        with pytest.raises(ValueError, match="has no tool `get_usr`"):
            await ilo.Tools.from_mcp(session, read_only={"get_usr"})

    asyncio.run(with_session(body))
