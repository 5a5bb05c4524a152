#!/usr/bin/env python3
"""Reads the quick starts of the pages and types what stands there, in an empty folder, with the packages of release/out.

usage: quickstarts.py [mcp] [python] [typescript] [rust]

Needs the packages that wheel.py and npm.py need, package indexes, and for `rust` cargo. A fence that follows `NAME` and a
colon is that file; fences of `sh` are typed. Nothing is published yet: pip finds the wheel in a folder, npm asks a registry on this
machine that passes all other names on, and `cargo add` takes the crates of the clone.
"""
import os, pathlib, re, shutil, subprocess, sys

import npm
from steps import OUT, ROOT, environment, expect, fail, folder

# The page, a file that its first fence is, and what the last command prints at least.
PAGES = {
    "mcp": ("README.md", None, "run_program"),
    "python": ("bindings/python/README.md", "greet.py", "Ok('Hello, Ada')"),
    "typescript": ("bindings/js/README.md", None, "Hello, Ada"),
    "rust": ("vm/README.md", None, '{"status":"ok","value":"Hello, Ada"}'),
}
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)


def steps_of(page):
    """The files and commands of a quick start, in the order of the page."""
    section = page.split("\n## Quick start\n")[1].split("\n## ")[0]
    for fence in FENCE.finditer(section):
        before = section[: fence.start()].strip().split("\n\n")[-1]
        names = re.findall(r"`([\w/]+\.(?:json|yaml|ts|rs|py))`", before)
        if fence[1] == "sh":
            yield None, fence[2]
        elif names:
            yield names[0], fence[2]


def typed(name, env, place):
    page, first, wanted = PAGES[name]
    text = (ROOT / page).read_text()
    print(f"== {name}: {page}")
    if first:
        (place / first).write_text(FENCE.search(text)[2])
    printed, at = "", place
    for file, content in steps_of(text):
        if file:
            (at / file).parent.mkdir(exist_ok=True)
            (at / file).write_text(content)
            print(f"    {file}: {len(content.splitlines())} lines")
            continue
        for line in content.splitlines():
            print(f"$ {line}", flush=True)
            if line.startswith("cd "):
                at = at / line[3:]
                continue
            done = subprocess.run(["sh", "-c", line], cwd=at, env=env, text=True, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=900)
            printed = done.stdout
            print("".join(f"    {out}\n" for out in (done.stdout + done.stderr).splitlines()[-12:]), end="")
            if done.returncode != 0:
                fail(f"exit code {done.returncode}")
    if wanted not in printed:
        fail(f"the last command does not print {wanted}")


def cargo(place):
    """A `cargo` whose `add` takes crates of this clone from their folders."""
    real = shutil.which("cargo") or sys.exit("quickstarts.py: there is no cargo")
    folders = "".join(f'ilo-{crate}) set -- "$@" --path "{ROOT}/{crate}";; ' for crate in ("asm", "vm", "spec", "host", "drive"))
    script = (f'#!/bin/sh\nif [ "$1" != add ]; then exec "{real}" "$@"; fi\nshift\nnames=$*\nfor name in $names; do\n'
              f'    set -- add\n    case $name in {folders}*) set -- "$@" "$name";; esac\n    "{real}" "$@" || exit\ndone\n')
    (place / "bin").mkdir()
    (place / "bin/cargo").write_text(script)
    (place / "bin/cargo").chmod(0o755)
    return {**os.environ, "PATH": f"{place}/bin{os.pathsep}{os.environ['PATH']}", "CARGO_TARGET_DIR": str(OUT / "quickstart")}


def main():
    names = sys.argv[1:] or list(PAGES)
    for name in names:
        place = folder()
        home, work = place / "home", place / "work"
        work.mkdir()
        if name == "rust":
            typed(name, cargo(place), work)
        elif name == "python":
            home.mkdir()
            python = pathlib.Path(os.path.realpath(sys.executable)).parent
            typed(name, environment(home, [python], PIP_FIND_LINKS=str(OUT / "wheels")), work)
        else:
            process, url = npm.registry(place, passes_on=True)
            try:
                npm.publish(place, url)
                typed(name, environment(npm.home_for(place, "home", url)), work)
            finally:
                process.terminate()
                process.wait()
    print(f"{len(names)} passed, 0 failed")


if __name__ == "__main__":
    main()
