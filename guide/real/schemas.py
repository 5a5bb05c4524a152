"""Tries schemas with the package jsonschema-rs, which reads them independently, and those for Outlines with outlines_core
too: functions of the corpus, and mutants that no schema allows. schemas.sh calls it with a file of samples, and takes
every how many of them.

It prints the rows of a table for RESULTS.md, and what was refused or accepted against that on standard error."""

import importlib.metadata
import json
import sys

import jsonschema_rs
import outlines_core
from outlines_core.json_schema import build_regex_from_schema


def mutants(program):
    """Programs with one mistake."""
    body = program["body"]
    for step in [
        {"lett": "x", "expr": 1},
        {"ret": 1, "let": "x"},
        {"let": "x", "call": "no such tool", "args": {}},
        {"let": "x", "op": "++", "a": 1, "b": 2},
        {"for": "x", "yield": []},
    ]:
        yield {**program, "body": [*body, step]}
    yield {key: value for key, value in program.items() if key != "out"}
    yield {**program, "out": "no such type"}


def by_jsonschema(schema):
    """Whether documents are valid, by the package jsonschema-rs."""
    return jsonschema_rs.Draft202012Validator(json.loads(schema)).is_valid


def by_outlines(schema):
    """Whether documents can be written byte by byte, in outlines_core."""
    tokens = outlines_core.Vocabulary(0, {bytes([byte]): [byte] for byte in range(1, 256)})
    index = outlines_core.Index(build_regex_from_schema(schema), tokens)

    def accepts(program):
        state = index.get_initial_state()
        for byte in json.dumps(program, ensure_ascii=False, separators=(",", ":")).encode():
            state = index.get_next_state(state, byte)
            if state is None:
                return False
        return index.is_final_state(state)

    return accepts


def main():
    step = int(sys.argv[2])
    with open(sys.argv[1], encoding="utf-8") as file:
        samples = [json.loads(line) for number, line in enumerate(file) if number % step == 0]
    samples = [sample for sample in samples if sample["program"]]
    engines = [(host, "jsonschema-rs", by_jsonschema) for host in ["none", "openai", "anthropic", "outlines"]]
    for host, package, engine in [*engines, ("outlines", "outlines_core", by_outlines)]:
        accepted, refused, made, total = 0, 0, 0, 0
        for sample in samples:
            if sample[host] is None:
                continue
            total += 1
            accepts = engine(sample[host])
            program = json.loads(sample["program"])
            if not accepts(program):
                print(f"{host}, {package} refused: {sample['name']}", file=sys.stderr)
                continue
            accepted += 1
            for mutant in mutants(program):
                made += 1
                refused += not accepts(mutant)
                if accepts(mutant):
                    print(f"{host}, {package} accepted: {sample['name']}: {mutant['body'][-1]}", file=sys.stderr)
        version = importlib.metadata.version(package)
        print(f"| {host} | {package} {version} | {accepted} of {total} | {refused} of {made} |", flush=True)


main()
