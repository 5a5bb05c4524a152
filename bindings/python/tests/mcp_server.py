"""An MCP server for the tests."""

from __future__ import annotations

import pydantic
from mcp.server.mcpserver import MCPServer

server = MCPServer("crm")


class User(pydantic.BaseModel):
    id: int
    name: str


@server.tool()
def get_user(user_id: int) -> User:
    """Looks a user up."""
    if user_id < 0:
        raise ValueError("no such user")
    return User(id=user_id, name=f"user {user_id}")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


if __name__ == "__main__":
    server.run("stdio")
