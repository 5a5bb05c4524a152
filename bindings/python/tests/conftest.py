"""Shared by the tests."""

from __future__ import annotations

from pathlib import Path

import ilo
import pytest

ROOT = Path(__file__).parents[3]
NOTIFY = (ROOT / "examples/notify.ilo").read_text()


def notify_tools(*, is_async: bool = False, email: object = None) -> ilo.Tools:
    """The tools of the example `notify`, whose names are those of no function of Python."""

    def get_user(arguments: dict[str, object]) -> object:
        return email or {"email": "ada@example.org", "verified": True}

    def send_email(arguments: dict[str, object]) -> object:
        return None

    async def get_user_async(arguments: dict[str, object]) -> object:
        return get_user(arguments)

    async def send_email_async(arguments: dict[str, object]) -> object:
        return send_email(arguments)

    get, send = (get_user_async, send_email_async) if is_async else (get_user, send_email)
    return ilo.Tools(
        ilo.Tool("get-user", get, is_async=is_async, read_only=True),
        ilo.Tool("send-email", send, is_async=is_async),
    )


@pytest.fixture
def notify() -> ilo.Program:
    """The example `notify`."""
    return ilo.build(NOTIFY)


@pytest.fixture
def anyio_backend() -> str:
    """The default event loop of tests."""
    return "asyncio"
