"""Every program in the README runs as it is printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
# Each program with a part of what it prints, by page.
PRINTED = {
    "README.md": ["Ok('Hello, Ada')", "get-user(user_id: number)", "get_user", "Ok(True)", "line 2: get_user took "],
    "docs/durable-runs.md": ["asking charge {'amount': 90}\nOk('receipt for 90')\nOk('receipt for 90')\n", ""],
    "docs/guided-generation.md": ["; Tools: 0=get_user", "; fn main(n: number) -> number\n"],
}


def programs(page: str) -> list[str]:
    """The programs of a page."""
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("page", "number"), [(page, n) for page in PRINTED for n in range(len(PRINTED[page]))])
def test_a_program_of_the_documentation_runs(page: str, number: int) -> None:
    found = programs(page)
    assert len(found) == len(PRINTED[page])
    done = subprocess.run([sys.executable, "-c", found[number]], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert PRINTED[page][number] in done.stdout, done.stdout


def test_it_begins_with_ten_lines() -> None:
    assert README.startswith("```python\n") and len(programs("README.md")[0].splitlines()) <= 10
