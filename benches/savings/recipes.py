"""Prints the tokens of the tasks' sources as they stand in their cases, at an earlier commit too, beside Python.

usage: recipes.py --packages FOLDER --before COMMIT
"""

import argparse
import subprocess

from case import NAMES, ROOT, read, sections
from savings import HERE, Counter


def source_at(commit, name):
    shown = ["git", "-C", str(ROOT), "show", f"{commit}:spec/programs/{name}.case"]
    return sections(subprocess.run(shown, capture_output=True, text=True, check=True).stdout)["source"]


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--packages", required=True)
parser.add_argument("--before", required=True)
args = parser.parse_args()
counter = Counter()
rows = []
for name in NAMES:
    case = read(name)
    python = (HERE / "programs" / f"{name}.py").read_text()
    places = [counter.add(text) for text in (source_at(args.before, name), case["source"], python)]
    rows.append((name, case["notation"], places))
tokens = counter.count(args.packages)
print("| recipe | notation | before | now | Python | now / Python |\n|---|---|---|---|---|---|")
totals = [0, 0, 0]
for name, notation, places in rows:
    counts = [tokens[place] for place in places]
    totals = [total + count for total, count in zip(totals, counts)]
    print(f"| {name} | {notation} | {' | '.join(map(str, counts))} | {counts[1] / counts[2]:.2f} |")
print(f"| **all** | | {' | '.join(map(str, totals))} | {totals[1] / totals[2]:.2f} |")
