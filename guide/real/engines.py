"""Runs grammars in the engines that take them: what the corpus has must be accepted, and mutants that no grammar
allows must be refused. run.sh calls it with a file of samples, and how many of them to take.

It prints the rows of a table for RESULTS.md."""

import importlib.metadata
import json
import random
import re
import sys
import time

# What a mutant changes.
MUTANTS = [
    ("an unknown word", lambda text: re.sub(r"\bREF\b", "READ", text, count=1)),
    ("no operand", lambda text: re.sub(r"\bREF \d+", "REF", text, count=1)),
    ("a text that is not closed", lambda text: re.sub(r'"([^"\\\n]*)"', r'"\1', text, count=1)),
    ("an indent of one blank", lambda text: re.sub(r"(?m)^  ", " ", text, count=1)),
    ("a comma", lambda text: text.replace(" ", ", ", 1)),
    ("a tool without a number", lambda text: re.sub(r"\bCALL \d+", "CALL 9999", text, count=1)),
    ("a statement behind a way out", lambda text: text + "FAIL LIT 2 nil\nFAIL LIT 2 nil\n"),
    ("a line that is not ended", lambda text: text.rstrip("\n")),
]


class Llguidance:
    name, syntax = "llguidance", "lark"

    def __init__(self):
        import llguidance

        self.module = llguidance
        self.tokenizer = llguidance.LLTokenizer("byte")

    def compiled(self, text):
        made = self.module.grammar_from("lark", text)
        error = self.module.LLMatcher.validate_grammar(made, self.tokenizer)
        if error:
            raise ValueError(error)
        return made

    def accepts(self, made, text):
        matcher = self.module.LLMatcher(self.tokenizer, made, log_level=0)
        tokens = self.tokenizer.tokenize_bytes(text.encode())
        return all(matcher.consume_token(token) for token in tokens) and matcher.is_accepting()


class Xgrammar:
    name, syntax = "xgrammar", "ebnf"

    def __init__(self):
        import xgrammar

        self.module = xgrammar
        tokens = [bytes([byte]) for byte in range(256)] + [b"</s>"]
        self.compiler = xgrammar.GrammarCompiler(xgrammar.TokenizerInfo(tokens, stop_token_ids=[256]))

    def compiled(self, text):
        return self.compiler.compile_grammar(self.module.Grammar.from_ebnf(text))

    def accepts(self, made, text):
        matcher = self.module.GrammarMatcher(made)
        return matcher.accept_string(text.encode()) and matcher.accept_token(256)


def run(engine, samples):
    """A row, and what went wrong."""
    accepted, mutants, times, wrong = 0, 0, [], []
    for sample in samples:
        start = time.process_time()
        made = engine.compiled(sample[engine.syntax])
        times.append(time.process_time() - start)
        if not engine.accepts(made, sample["body"]):
            wrong.append(f"refused: {sample['name']}")
            continue
        accepted += 1
        for what, change in MUTANTS:
            mutant = change(sample["body"])
            if mutant != sample["body"]:
                mutants += 1
                if engine.accepts(made, mutant):
                    wrong.append(f"accepted with {what}: {sample['name']}")
    kept = mutants - sum(line.startswith("accepted") for line in wrong)
    times.sort()
    version = importlib.metadata.version(engine.name)
    row = f"| {engine.name} {version} | {engine.syntax} | {accepted} of {len(samples)} | {kept} of {mutants} "
    return row + f"| {times[len(times) // 2] * 1000:.0f} ms, at most {times[-1] * 1000:.0f} ms |", wrong


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        samples = [json.loads(line) for line in file]
    random.Random(7).shuffle(samples)
    samples = samples[: int(sys.argv[2])]
    for kind in (Llguidance, Xgrammar):
        row, wrong = run(kind(), samples)
        print(row, flush=True)
        for line in wrong:
            print(line, file=sys.stderr)


main()
