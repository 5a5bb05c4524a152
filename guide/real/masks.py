"""Times of masks in the engines that take grammars, with the vocabulary and the programs that the example `measure`
has written: masks.py FOLDER. run.sh calls it after the example, so that all are measured in one run."""

import importlib.metadata
import json
import pathlib
import sys
import time

import torch

# Each time is the least of this number of measurements.
ROUNDS = 3
# Programs of which masks are measured. The engines take long.
PROGRAMS = 60


class Llguidance:
    name, syntax = "llguidance", "lark"

    def __init__(self, tokens):
        import llguidance
        import llguidance.torch

        self.module, self.torch = llguidance, llguidance.torch
        wrapper = llguidance.TokenizerWrapper(Tokens(tokens))
        self.tokenizer = llguidance.LLTokenizer(wrapper, n_vocab=len(tokens))
        self.bits = llguidance.torch.allocate_token_bitmask(1, len(tokens))

    def compiled(self, text):
        return self.module.grammar_from("lark", text)

    def begun(self, made):
        return self.module.LLMatcher(self.tokenizer, made, log_level=0)

    def fill(self, matcher):
        self.torch.fill_next_token_bitmask(matcher, self.bits, 0)

    def accept(self, matcher, token):
        return matcher.consume_token(token)


class Tokens:
    """The interface that llguidance needs of a tokenizer."""

    def __init__(self, tokens):
        self.tokens = tokens
        self.eos_token_id, self.bos_token_id = 199_999, None
        self.special_token_ids = [token for token, text in enumerate(tokens) if not text]
        self.by_bytes = {text: token for token, text in enumerate(tokens) if text}

    def __call__(self, text):
        text = text if isinstance(text, bytes) else text.encode()
        return [self.by_bytes[bytes([byte])] for byte in text]


class Xgrammar:
    name, syntax = "xgrammar", "ebnf"

    def __init__(self, tokens):
        import xgrammar

        self.module = xgrammar
        shown = [text or f"<special{token}>".encode() for token, text in enumerate(tokens)]
        self.compiler = xgrammar.GrammarCompiler(
            xgrammar.TokenizerInfo(shown, stop_token_ids=[199_999]), cache_enabled=False
        )
        self.bits = xgrammar.allocate_token_bitmask(1, len(tokens))

    def compiled(self, text):
        return self.compiler.compile_grammar(self.module.Grammar.from_ebnf(text))

    def begun(self, made):
        return self.module.GrammarMatcher(made)

    def fill(self, matcher):
        matcher.fill_next_token_bitmask(self.bits, 0)

    def accept(self, matcher, token):
        return matcher.accept_token(token)


def measured(engine, case):
    start = time.perf_counter()
    made = engine.compiled(case[engine.syntax])
    compiled = time.perf_counter() - start
    times, whole = [], 0
    programs = case["programs"][:PROGRAMS]
    for program in programs:
        matcher = engine.begun(made)
        for token in program:
            least = 1e9
            for _ in range(ROUNDS):
                start = time.perf_counter()
                engine.fill(matcher)
                least = min(least, time.perf_counter() - start)
            times.append(least * 1e6)
            if not engine.accept(matcher, token):
                break
        else:
            whole += 1
    times.sort()
    at = lambda percent: times[(len(times) - 1) * percent // 100]
    version = importlib.metadata.version(engine.name)
    return (
        f"| {engine.name} {version}, {case['tools']} tools | {at(50):.1f} | {at(90):.1f} | {at(99):.1f} "
        f"| {compiled * 1000:.0f} ms | {whole} of {len(programs)} programs |"
    )


def main():
    torch.set_num_threads(1)
    folder = pathlib.Path(sys.argv[1])
    tokens = [bytes(text) for text in json.loads((folder / "tokens.json").read_text())]
    for kind in (Llguidance, Xgrammar):
        engine = kind(tokens)
        for count in (50, 1000):
            case = json.loads((folder / f"programs-{count}.json").read_text())
            try:
                print(measured(engine, case), flush=True)
            except Exception as error:
                print(f"| {engine.name}, {count} tools | {str(error)[:200]} |", flush=True)


main()
