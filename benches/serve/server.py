"""An MCP server of FastMCP, to compare `ilo-vm serve` with: one tool that adds two numbers."""

import sys

from fastmcp import FastMCP

server = FastMCP("fastmcp")


@server.tool
def add(a: float, b: float) -> float:
    return a + b


if sys.argv[1] == "stdio":
    server.run(transport="stdio", show_banner=False)
else:
    port = int(sys.argv[2])
    server.run(transport="http", host="127.0.0.1", port=port, path="/mcp", show_banner=False, log_level="info")
