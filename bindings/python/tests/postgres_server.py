"""A PostgreSQL server in a folder of its own, for the tests of journals."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def programs() -> Path | None:
    """The folder with `initdb` and `pg_ctl`, if there is a server on this machine."""
    found = [*sorted(Path("/usr/lib/postgresql").glob("*/bin")), *map(Path, os.environ.get("PATH", "").split(":"))]
    return next((folder for folder in found if (folder / "initdb").exists() and (folder / "postgres").exists()), None)


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """Runs a server whose files are in `folder`. Gives the address of its database."""
    bin = programs()
    assert bin is not None
    # PostgreSQL refuses to run as root.
    as_user: list[str] = []
    if os.geteuid() == 0:
        as_user = ["runuser", "-u", "postgres", "--"]
        shutil.chown(folder, "postgres")
        for parent in list(folder.parents)[:2]:
            parent.chmod(0o755)

    def run(name: str, *arguments: str) -> None:
        command = [*as_user, str(bin / name), "-D", str(folder / "data"), *arguments]
        subprocess.run(command, cwd="/", check=True, stdout=subprocess.DEVNULL, timeout=60)

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    run("initdb", "--username=ilo", "--auth=trust", "--no-sync")
    with_port = f"-p {port} -c unix_socket_directories=''"
    run("pg_ctl", "-w", "-l", str(folder / "log"), "-o", with_port, "start")
    try:
        yield f"postgres://ilo@127.0.0.1:{port}/postgres"
    finally:
        run("pg_ctl", "-m", "immediate", "stop")
