"""Calls `ilo-vm serve` with the Python SDK: client.py MODE TARGET, with the mode `legacy` (the older protocol) or
the version of the newer one, and the target a URL or the command line of the server."""

import asyncio
import shlex
import sys

from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp_types import ElicitResult

SEND = "; fn f() -> text\n; Tools: 0=send\nRET CALL 0 0\n"
FAIL = "; fn f() -> number\nRET REF 7\n"
asked = []


async def confirm(context, params):
    asked.append(params.message)
    return ElicitResult(action="accept", content={"call_it": True})


async def main(mode, target):
    if not target.startswith("http"):
        command, *args = shlex.split(target)
        target = StdioServerParameters(command=command, args=args)
    async with Client(target, mode=mode, elicitation_callback=confirm) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == ["run_program", "check_program", "find_tools", "total"], names
        cards = (await client.list_resources()).resources
        card = await client.read_resource(cards[0].uri)
        assert "price" in card.contents[0].text

        result = await client.call_tool("total", {"items": [1, 2, 3]})
        assert not result.is_error and result.structured_content == {"result": 12}, result
        result = await client.call_tool("total", {"items": "no list"})
        assert result.is_error and result.structured_content is None, result
        result = await client.call_tool("find_tools", {"query": "price"})
        assert result.structured_content["tools"][0]["name"] == "price", result

        result = await client.call_tool("check_program", {"source": FAIL})
        assert result.structured_content["diagnostics"][0]["code"] == "unset-slot", result
        result = await client.call_tool("run_program", {"source": FAIL})
        assert result.is_error and result.structured_content["diagnostics"], result

        seen = []

        async def progress(done, total, message):
            seen.append((done, message))

        result = await client.call_tool("run_program", {"source": SEND}, progress_callback=progress)
        assert result.structured_content["outcome"] == {"status": "ok", "value": "sent"}, result
        assert len(asked) == 1 and "May `send` be called?" in asked[0], asked
        if mode == "legacy":
            assert seen == [(1.0, "send")], seen


asyncio.run(main(*sys.argv[1:]))
