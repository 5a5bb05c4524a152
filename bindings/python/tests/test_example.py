"""The example agent runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[1] / "examples" / "agent.py"


def test_the_agent_errs_reads_the_diagnostics_and_fixes() -> None:
    done = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "Ok('Ada-42.50') after 2 attempts\n"), done.stderr
