"""Guided generation with SGLang: serve with `--grammar-backend ilo`, which SGLang finds where this package is installed.

A request is guided if its sampling parameters have `ebnf=request(session, max_new_tokens=...)`.
"""

from __future__ import annotations

import json
from typing import Any

import torch
from sglang.srt.arg_groups.choices import GRAMMAR_BACKEND_CHOICES, add_grammar_backend_choices
from sglang.srt.constrained.base_grammar_backend import (
    BaseGrammarBackend,
    BaseGrammarObject,
    InvalidGrammarObject,
    register_grammar_backend,
)

from . import Guide, Session, read_vocab
from ._torch import unpacked

__all__ = ["GuidedBackend", "GuidedGrammar", "register", "request"]

NAME = "ilo"
_HEAD = "ilo:"


def register() -> None:
    """Registers `--grammar-backend ilo`. SGLang calls this in each of its processes, as a plugin."""
    if NAME not in GRAMMAR_BACKEND_CHOICES:
        add_grammar_backend_choices([NAME])
    register_grammar_backend(NAME, GuidedBackend.of_server)


def request(session: Session, *, max_new_tokens: int | None = None) -> str:
    """The value of `ebnf` in a request. The program ends within `max_new_tokens`, which the request has too."""
    return _HEAD + json.dumps({"session": session.to_json(), "left": max_new_tokens})


class GuidedGrammar(BaseGrammarObject):  # type: ignore[misc]
    """The guide of one request. A mask is a row of words of 32 bits, all of which are set at first."""

    def __init__(self, guide: Guide, left: int | None) -> None:
        super().__init__()
        self._guide = guide
        self._left = left

    def accept_token(self, token: int) -> None:
        if not self._guide.ended:
            self._guide.accept(token)

    def rollback(self, k: int) -> None:
        self._guide.rollback(k)

    def is_terminated(self) -> bool:
        return self._guide.ended

    def copy(self) -> GuidedGrammar:
        return GuidedGrammar(self._guide.copy(), self._left)

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: Any) -> Any:
        return torch.full((batch_size, (vocab_size + 31) // 32), -1, dtype=torch.int32)

    def fill_vocab_mask(self, vocab_mask: Any, idx: int) -> None:
        left = None if self._left is None else max(self._left - self._guide.steps, 0)
        mask = self._guide.mask(left)
        vocab_mask[idx] = torch.frombuffer(bytearray(mask), dtype=torch.int32)

    @staticmethod
    def reset_vocab_mask(vocab_mask: Any) -> None:
        vocab_mask.fill_(-1)

    @staticmethod
    def move_vocab_mask(vocab_mask: Any, device: Any) -> Any:
        return vocab_mask.to(device, non_blocking=True)

    @staticmethod
    def apply_vocab_mask(logits: Any, vocab_mask: Any) -> None:
        allowed = unpacked(vocab_mask.view(torch.uint8), logits.shape[-1])
        logits.masked_fill_(allowed.logical_not_(), float("-inf"))


class GuidedBackend(BaseGrammarBackend):  # type: ignore[misc]
    """Makes guides of the requests of a server."""

    def __init__(self, tokenizer: Any, vocab_size: int, eos: int | None = None) -> None:
        super().__init__()
        self._vocab = read_vocab(tokenizer, eos=eos, size=vocab_size)

    @classmethod
    def of_server(cls, server_args: Any, tokenizer: Any, vocab_size: int, eos_token_ids: Any) -> GuidedBackend:
        own = getattr(tokenizer, "eos_token_id", None)
        all_ends = [own] if own is not None else sorted(eos_token_ids or ())
        return cls(tokenizer, vocab_size, all_ends[0] if all_ends else None)

    def dispatch_ebnf(self, key_string: str) -> Any:
        if not key_string.startswith(_HEAD):
            return self._other("ebnf")
        try:
            parts = json.loads(key_string[len(_HEAD) :])
            left = parts["left"]
            guide = Guide(Session.from_json(parts["session"]), self._vocab)
            # The budget is large enough now, so no later mask can fail.
            guide.mask(left)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            return InvalidGrammarObject(f"ilo: {error}")
        return GuidedGrammar(guide, left)

    def dispatch_json(self, key_string: str) -> Any:
        return self._other("json_schema")

    def dispatch_regex(self, key_string: str) -> Any:
        return self._other("regex")

    def dispatch_structural_tag(self, key_string: str) -> Any:
        return self._other("structural_tag")

    def _other(self, kind: str) -> Any:
        return InvalidGrammarObject(
            f"{kind}: with --grammar-backend ilo, expected `ebnf` with what `ilo.guide.sglang.request` gives"
        )
