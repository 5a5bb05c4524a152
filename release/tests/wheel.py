#!/usr/bin/env python3
"""Installs the wheel into fresh environments without Rust and without network, and uses all that is in it.

usage: wheel.py            needs release/wheel.sh x86_64-unknown-linux and, once, a package index (for `anyio`)
"""
import os, subprocess, sys, time

import steps
from steps import EXAMPLE, OUT, OUTCOME, RELEASE, environment, expect, fail, folder, run, serves

TOOLS = RELEASE / ".venv" / "bin"
LIBRARY = '''
import ilo
def get_user(user_id: int) -> dict[str, str]:
    return {"name": "Ada"}
source = """{"function": "greet", "input": {"id": "number"}, "output": "text", "steps": [
    {"let": "user", "call": "get_user", "args": {"user_id": "$input.id"}}, {"return": "Hello, $user.name"}]}"""
print(ilo.build(source, tools=[get_user]).run_sync({"id": 7}, tools=[get_user]).value)
'''


def audited(wheel):
    done = run([TOOLS / "auditwheel", "show", wheel], {**os.environ, "PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}"})
    text = " ".join(done.stdout.split())
    if '"manylinux_2_28_x86_64"' not in text and '"manylinux_2_17_x86_64"' not in text:
        fail("auditwheel finds another tag for the library and the programs together")


def main():
    wheels = sorted((OUT / "wheels").glob("ilo_vm-*manylinux*x86_64.whl"))
    if not wheels:
        sys.exit("wheel.py: there is no wheel; run release/wheel.sh x86_64-unknown-linux")
    print(f"{wheels[-1].name}: {wheels[-1].stat().st_size} bytes")
    audited(wheels[-1])
    place = folder()
    home, shelf, venv = place / "home", place / "shelf", place / "venv"
    home.mkdir()
    shelf.mkdir()
    (shelf / wheels[-1].name).write_bytes(wheels[-1].read_bytes())
    # What the library needs. From here on nothing has an index.
    subprocess.run([TOOLS / "pip", "download", "--quiet", "--dest", shelf, "anyio>=4"], check=True)
    python = os.path.realpath(sys.executable)
    env = environment(home, [venv / "bin"])
    run([python, "-m", "venv", venv], env, quiet=True)
    run([venv / "bin/pip", "install", "--quiet", "--no-index", "--find-links", shelf, "ilo-vm"], env)
    expect(run([venv / "bin/python", "-c", LIBRARY], env).stdout, "Hello, Ada\n", "the library")
    for command in ("ilo-vm", "ilo-asm"):
        run([command, "--version"], env)
    expect(run(["ilo-vm", *EXAMPLE], env).stdout, OUTCOME, "ilo-vm")
    run(["ilo-asm", "check", EXAMPLE[1]], env)
    serves(["ilo-vm", "serve"], env)
    steps.on_terminal("ilo-vm of the wheel", ["ilo-vm"], env)
    steps.with_signal("ilo-vm of the wheel", ["ilo-vm"], env)

    offline = ["--offline", "--no-index", "--find-links", shelf, "--python", python]
    uvx = environment(home, [TOOLS], UV_CACHE_DIR=str(place / "cache"))
    for time_of in ("first", "second"):
        print(f"uvx, {time_of} time:")
        expect(run(["uvx", *offline, "ilo-vm", *EXAMPLE], uvx).stdout, OUTCOME, "uvx")
    run(["uvx", *offline, "--from", "ilo-vm", "ilo-asm", "--version"], uvx)
    serves(["uvx", *offline, "ilo-vm", "serve"], uvx)
    steps.on_terminal("uvx", ["uvx", *offline, "ilo-vm"], uvx)
    steps.with_signal("uvx", ["uvx", *offline, "ilo-vm"], uvx)

    print("empty environment, in /, home that cannot be written:")
    serves([venv / "bin/ilo-vm", "serve"], {})
    serves([venv / "bin/ilo-vm", "serve"], {"HOME": "/proc"})
    run([venv / "bin/pip", "uninstall", "--quiet", "--yes", "ilo-vm"], env)
    expect(sorted(p.name for p in (venv / "bin").glob("ilo-*")), [], "what is left after uninstalling")
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
