"""Guided generation with Hugging Face transformers: `model.generate(..., logits_processor=[Guided(...)])`."""

from __future__ import annotations

from typing import Any

import torch
from transformers import LogitsProcessor

from . import Branches, Guide, Session, Vocab
from ._torch import forbidden

__all__ = ["Guided"]


class Guided(LogitsProcessor):  # type: ignore[misc]
    """Lets `generate` write only programs of a session: in batches, beam search and assisted generation.

    It serves one call of `generate`. With `max_new_tokens`, the same number as that of `generate`, each program
    ends in time. `vocab` is `read_vocab(tokenizer)`.
    """

    def __init__(self, session: Session, vocab: Vocab, *, max_new_tokens: int | None = None) -> None:
        self._branches = Branches(session, vocab, left=max_new_tokens)
        # Raises if the tokens are too few.
        Guide(session, vocab).mask(max_new_tokens)
        self._prompt: Any = None

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        if self._prompt is None:
            self._prompt = input_ids[:1].clone()
        start = self._prompt.shape[1]
        if not torch.equal(input_ids[:1, :start], self._prompt):
            raise ValueError("the prompt differs from that of the first step: make a `Guided` for each call of `generate`")
        masks = self._branches.masks(input_ids[:, start:].tolist())
        return scores.masked_fill(forbidden(masks, scores), float("-inf"))
