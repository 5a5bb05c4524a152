"""Guided generation with llama-cpp-python: `llama(prompt, logits_processor=LogitsProcessorList([Guided(...)]))`."""

from __future__ import annotations

from typing import Any

import numpy

from . import Branches, Session, Vocab

__all__ = ["Guided"]


class Guided:
    """Lets a `Llama` write only programs of a session.

    It serves one completion; another is ended at once, because llama-cpp-python loses what is raised here. With
    `max_tokens`, the same number as that of the completion, the program ends in time. `vocab` is `read_vocab(llama)`.
    """

    def __init__(self, session: Session, vocab: Vocab, *, max_tokens: int | None = None) -> None:
        self._branches = Branches(session, vocab, left=max_tokens)
        # Raises if the tokens are too few.
        self._branches.masks([()])
        self._prompt: Any = None

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        if self._prompt is None:
            self._prompt = input_ids.copy()
        start = len(self._prompt)
        if numpy.array_equal(input_ids[:start], self._prompt):
            mask = self._branches.masks([input_ids[start:].tolist()])
        else:
            mask = self._branches.end
        allowed = numpy.unpackbits(numpy.frombuffer(mask, numpy.uint8), bitorder="little")[: len(scores)]
        guided = numpy.full_like(scores, -numpy.inf)
        kept = allowed.nonzero()
        guided[kept] = scores[kept]
        return guided
