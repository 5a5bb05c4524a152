"""Guided generation with Hugging Face transformers: `model.generate(..., logits_processor=[Guided(...)])`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import LogitsProcessor

from . import Branches, Guide, Session, Vocab, batch_masks
from ._torch import forbidden

__all__ = ["Guided"]


class Guided(LogitsProcessor):  # type: ignore[misc]
    """Lets `generate` write only programs of a session: in batches, beam search and assisted generation.

    It serves one call of `generate`, whose prompts all have the one session or each have their own. With
    `max_new_tokens`, the same number as that of `generate`, each program ends in time. `vocab` is
    `read_vocab(tokenizer)`.
    """

    def __init__(
        self, session: Session | Sequence[Session], vocab: Vocab, *, max_new_tokens: int | None = None
    ) -> None:
        sessions = [session] if isinstance(session, Session) else list(session)
        self._branches = [Branches(each, vocab, left=max_new_tokens) for each in sessions]
        for each in sessions:
            # Raises if the tokens are too few.
            Guide(each, vocab).mask(max_new_tokens)
        self._prompt: Any = None

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        if self._prompt is None:
            self._prompt = input_ids[:1].clone()
        start = self._prompt.shape[1]
        if not torch.equal(input_ids[:1, :start], self._prompt):
            raise ValueError("the prompt differs from that of the first step: make a `Guided` for each call of `generate`")
        texts = input_ids[:, start:].tolist()
        # The beams and samples of a prompt are next to each other.
        each, rest = divmod(len(texts), len(self._branches))
        if rest:
            raise ValueError(f"{len(self._branches)} sessions for {len(texts)} rows: give one session, or one for each prompt")
        parts = [texts[at : at + each] for at in range(0, len(texts), each)]
        masks = batch_masks(list(zip(self._branches, parts)))
        return scores.masked_fill(forbidden(masks, scores), float("-inf"))
