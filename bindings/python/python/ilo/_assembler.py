"""The command `ilo-asm` of a wheel: the program `ilo-vm` beside it, under the name of the assembler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig


def main() -> int:
    """Runs the assembler with the arguments of this process."""
    name = "ilo-vm.exe" if os.name == "nt" else "ilo-vm"
    program = os.path.join(sysconfig.get_path("scripts"), name)
    # `pip install --user` has another folder of scripts.
    if not os.path.isfile(program):
        program = shutil.which("ilo-vm") or program
    arguments = sys.argv[1:]
    if os.name == "nt":
        return subprocess.run([program, "asm", *arguments], check=False).returncode
    os.execv(program, ["ilo-asm", *arguments])
