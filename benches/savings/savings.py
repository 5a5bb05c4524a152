"""Counts what a model writes and reads for a task: with one tool call a round trip, with one ilo program, with Python.

usage: savings.py --bin FOLDER --packages FOLDER [--save]

--bin has `ilo-asm`, --packages has gpt-tokenizer in node_modules. `--save` writes the tables to RESULTS.md beside this file.
How it is counted stands there too. `run.sh` does it all.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

from case import NAMES, ROOT, read

HERE = pathlib.Path(__file__).resolve().parent
NOTATIONS = ["id", "constrained", "tool-calling", "mcp", "workflow"]
SINGLE = "quota-check"


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class Counter:
    """Collects texts, then counts the tokens of all in one process."""

    def __init__(self):
        self.texts = []

    def add(self, text):
        self.texts.append(text)
        return len(self.texts) - 1

    def count(self, packages):
        command = ["node", str(HERE / "count.mjs"), packages]
        run = subprocess.run(command, input=json.dumps(self.texts), capture_output=True, text=True, check=True)
        return json.loads(run.stdout)


def converted(case, notation, binary):
    """The program in a notation, as `ilo-asm convert` prints it."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as source:
        source.write(case["source"])
        source.flush()
        command = [f"{binary}/ilo-asm", "convert", source.name, "--from", case["notation"], "--to", notation]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def texts(name, binary, counter):
    """The texts of a task, as their places in the counter."""
    case = read(name)
    calls = [
        (counter.add(compact({"name": entry["tool"], "arguments": entry["args"]})),
         counter.add(compact(entry["ok"]) if "ok" in entry else "Error: " + str(entry["failed"])))
        for entry in case["trace"]
    ]
    return {
        "calls": calls,
        "request": counter.add(f"{case['about']}: {compact(case['input'])}"),
        "outcome": counter.add(compact(case["outcome"].get("value", case["outcome"].get("error")))),
        "program": {notation: counter.add(converted(case, notation, binary)) for notation in NOTATIONS},
        "python": counter.add((HERE / "programs" / f"{name}.py").read_text()),
    }


def plain(task, tokens):
    """Tokens that are written and read where each answer goes through the model."""
    written = sum(tokens[call] for call, _ in task["calls"]) + tokens[task["outcome"]]
    context, total = tokens[task["request"]], 0
    for call, answer in task["calls"]:
        total += context
        context += tokens[call] + tokens[answer]
    return written, total + context


def program(task, tokens, source):
    """The same for one program, whose outcome the model reads and says."""
    request, outcome = tokens[task["request"]], tokens[task["outcome"]]
    return tokens[source] + outcome, request + (request + tokens[source] + outcome)


def row(name, task, tokens):
    calls = len(task["calls"])
    written, total = plain(task, tokens)
    cells = [name, calls, calls + 1, f"{written} / {total}"]
    sources = [*task["program"].values(), task["python"]]
    cells += [" / ".join(map(str, program(task, tokens, source))) for source in sources]
    return "| " + " | ".join(map(str, cells)) + " |"


def total(tasks, tokens):
    pairs = [[plain(task, tokens) for task in tasks]]
    for place in [*(lambda t, n=n: t["program"][n] for n in NOTATIONS), lambda t: t["python"]]:
        pairs.append([program(task, tokens, place(task)) for task in tasks])
    cells = [f"{sum(w for w, _ in column)} / {sum(r for _, r in column)}" for column in pairs]
    calls = sum(len(task["calls"]) for task in tasks)
    return "| " + " | ".join(["**ten tasks**", str(calls), str(calls + len(tasks)), *cells]) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "target/release"))
    parser.add_argument("--packages", required=True)
    parser.add_argument("--save", action="store_true")
    args = parser.parse_args()
    counter = Counter()
    tasks = {name: texts(name, args.bin, counter) for name in NAMES}
    prompt = lambda n: subprocess.run([f"{args.bin}/ilo-asm", "prompt", "--notation", n], capture_output=True, text=True, check=True).stdout
    cards = {notation: counter.add(prompt(notation)) for notation in NOTATIONS}
    tokens = counter.count(args.packages)

    head = ["task", "calls", "round trips, plain", "plain", *NOTATIONS, "Python"]
    ten = [name for name in NAMES if name != SINGLE]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    lines += [row(name, tasks[name], tokens) for name in ten]
    lines += [total([tasks[name] for name in ten], tokens), row(SINGLE, tasks[SINGLE], tokens)]
    lines += ["", "| card | " + " | ".join(NOTATIONS) + " |", "|---" * (len(NOTATIONS) + 1) + "|",
              "| tokens | " + " | ".join(str(tokens[cards[notation]]) for notation in NOTATIONS) + " |"]
    table = "\n".join(lines) + "\n"
    print(table, end="")
    if args.save:
        page = (HERE / "RESULTS.md").read_text()
        before, rest = page.split("<!-- tables -->\n")[0], page.split("<!-- end -->\n")[1]
        (HERE / "RESULTS.md").write_text(f"{before}<!-- tables -->\n{table}<!-- end -->\n{rest}")


if __name__ == "__main__":
    main()
