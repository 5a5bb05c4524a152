#!/usr/bin/env python3
"""Runs programs of other systems: ARM64 with qemu-user, Windows with wine.

usage: emulated.py TARGET...        needs release/build.sh TARGET

A target whose emulator is missing is an error, never left out in silence (Debian: qemu-user-static, libc6-arm64-cross; wine64).
"""
import json, os, pathlib, shutil, subprocess, sys

from steps import EXAMPLE, OUT, OUTCOME, RELEASE, ROOT, expect, fail, folder, purchase, run, serves

LIBRARIES = "/usr/aarch64-linux-gnu"


def qemu(target):
    emulator = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
    if emulator is None:
        sys.exit("emulated.py: there is no qemu-aarch64-static; install qemu-user-static and libc6-arm64-cross")
    command = [emulator]
    if target.endswith("-gnu"):
        if not pathlib.Path(LIBRARIES, "lib").is_dir():
            sys.exit(f"emulated.py: there is no {LIBRARIES}; install libc6-arm64-cross")
        command += ["-L", LIBRARIES]
    return [*command, OUT / target / "ilo-vm"], {"PATH": "/usr/bin:/bin", "HOME": str(folder())}


def primitives(place):
    """Builds bcryptprimitives.dll, which Rust's standard library wants and wine 8 does not have. For tests only."""
    source = place / "primitives.c"
    source.write_text("#include <stddef.h>\nint __stdcall SystemFunction036(void *, unsigned long);\n"
                      "__declspec(dllexport) int __stdcall ProcessPrng(unsigned char *bytes, size_t count) {\n"
                      "    return SystemFunction036(bytes, (unsigned long)count);\n}\n")
    command = [RELEASE / ".venv/bin/python", "-m", "ziglang", "cc", "-target", "x86_64-windows-gnu", "-shared", source,
               "-ladvapi32", "-o", place / "bcryptprimitives.dll"]
    subprocess.run(list(map(str, command)), check=True)


def wine(target):
    # Debian's `wine` is a script that looks for wine32 first.
    emulator = shutil.which("wine64") or next(iter(pathlib.Path("/usr/lib/wine").glob("wine64")), None) or shutil.which("wine")
    if emulator is None:
        sys.exit("emulated.py: there is no wine; install wine64")
    program = folder() / "ilo-vm.exe"
    shutil.copy(OUT / target / "ilo-vm.exe", program)
    primitives(program.parent)
    env = {"PATH": "/usr/bin:/bin", "HOME": str(folder()), "WINEPREFIX": str(folder()), "WINEDEBUG": "-all"}
    # What it leaves running has no pipe of ours.
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([emulator, "wineboot", "--init"], env=env, check=True, timeout=300, **quiet)
    return [emulator, program], env


def check(target):
    if not (OUT / target).is_dir():
        sys.exit(f"emulated.py: there is no program; run release/build.sh {target}")
    print(f"== {target}")
    command, env = wine(target) if "windows" in target else qemu(target)
    run([*command, "--version"], env)
    run([*command, "asm", "--version"], env)
    expect(run([*command, *EXAMPLE], env).stdout.replace("\r", ""), OUTCOME, "run")
    wrong = ROOT / "examples/data/first-try.workflow.yaml"
    run([*command, "check", wrong, "--tools", ROOT / "examples/mocks.json"], env, code=2)
    serves([*command, "serve"], env)
    place = folder()
    journal = [*command, *EXAMPLE, "--journal", place / "runs.journal"]
    expect(run(journal, env).stdout.replace("\r", ""), OUTCOME, "a run with a journal")
    run([*command, "runs", "list", "--journal", place / "runs.journal"], env)
    if "windows" not in target:
        arguments = purchase(folder() / "run")
        (pathlib.Path(arguments[1]).parent / "go").touch()
        expect(json.loads(run([*command, *arguments], env).stdout), {"status": "ok", "value": 7}, "tools that are commands")


def main():
    if not sys.argv[1:]:
        sys.exit(__doc__)
    for target in sys.argv[1:]:
        check(target)
    print(f"{len(sys.argv) - 1} passed, 0 failed")


if __name__ == "__main__":
    main()
