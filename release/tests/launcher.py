#!/usr/bin/env python3
"""Runs the npm launcher with several versions of Node: the one on PATH, and those that are given.

usage: launcher.py [VERSION...]        needs release/build.sh x86_64-unknown-linux-musl, and the npm registry for the versions

From Node 22.15 on the program takes the place of node; before, node stays and passes signals on.
"""
import pathlib, shutil, signal, subprocess, sys

import steps
from steps import EXAMPLE, OUT, OUTCOME, ROOT, environment, expect, folder, run, serves


def installed(place):
    """What npm makes of the packages `ilo-vm` and `@ilo-vm/linux-x64`. Returns the launcher."""
    package, platform = place / "node_modules/ilo-vm", place / "node_modules/@ilo-vm/linux-x64"
    package.mkdir(parents=True)
    platform.mkdir(parents=True)
    shutil.copytree(ROOT / "bindings/js/bin", package / "bin")
    shutil.copy(ROOT / "bindings/js/package.json", package)
    shutil.copy(OUT / "x86_64-unknown-linux-musl/ilo-vm", platform)
    (platform / "package.json").write_text('{"name": "@ilo-vm/linux-x64", "version": "0.1.0"}')
    for file in (package / "bin").iterdir():
        file.chmod(0o755)
    return package / "bin/ilo-vm.js"


def node(version, place):
    """The folder of the program `node` of a version, from the npm registry."""
    place.mkdir()
    (place / "package.json").write_text('{"private": true}')
    subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", f"node@{version}"], cwd=place, check=True)
    return next(path.parent for path in place.rglob("bin/node") if path.is_file())


def check(launcher, path):
    env = environment(folder(), path)
    version = run(["node", "--version"], env).stdout.strip()
    expect(run([launcher, *EXAMPLE], env).stdout, OUTCOME, "a run")
    run([launcher.with_name("ilo-asm.js"), "--version"], env)
    run([launcher, "check", ROOT / "examples/data/first-try.workflow.yaml"], env, code=2, quiet=True)
    expect(run([launcher, *EXAMPLE], {**env, "HOME": "/proc"}).stdout, OUTCOME, "a home that cannot be written")
    # Nothing but the way to node, in /.
    serves([launcher, "serve"], {"PATH": env["PATH"]})
    steps.on_terminal(f"Node {version}", [launcher], env)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        steps.with_signal(f"Node {version}", [launcher], env, number)
    # Whether node stays beside the program.
    client = steps.Client([launcher, "serve"], env)
    client.open()
    beside = "execve" not in run(["node", "--print", "Object.keys(process).join()"], env, quiet=True).stdout
    replaced = pathlib.Path(f"/proc/{client.process.pid}/exe").resolve().name == "ilo-vm"
    expect(replaced, not beside, "the program in place of node")
    client.close()
    print(f"Node {version}: {'node stays beside the program' if beside else 'the program takes the place of node'}")


def main():
    if not (OUT / "x86_64-unknown-linux-musl/ilo-vm").is_file():
        sys.exit("launcher.py: there is no program; run release/build.sh x86_64-unknown-linux-musl")
    place = folder()
    launcher = installed(place)
    paths = [[], *([node(version, place / version)] for version in sys.argv[1:])]
    for path in paths:
        check(launcher, path)
    shutil.rmtree(place)
    print(f"{len(paths)} passed, 0 failed")


if __name__ == "__main__":
    main()
