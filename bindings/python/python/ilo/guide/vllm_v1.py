"""Guided generation with model runner V1 of vLLM: `LLM(model, logits_processors=["ilo.guide.vllm_v1:Guided"])`.

Requests are as for `ilo.guide.vllm`. V1 allows no logits processors together with speculative decoding.
"""

from __future__ import annotations

from typing import Any

import torch
from vllm.v1.sample.logits_processor import LogitsProcessor
from vllm.v1.sample.logits_processor.builtin import process_dict_updates

from . import Branches, batch_masks
from ._torch import forbidden
from .vllm import session_of, vocab_of

__all__ = ["Guided"]


class Guided(LogitsProcessor):  # type: ignore[misc]
    """Lets requests that have a session write only programs of it, which end within their `max_tokens`."""

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        session_of(sampling_params)

    def __init__(self, vllm_config: Any, device: Any, is_pin_memory: bool) -> None:
        self._vocab = vocab_of(vllm_config)
        # By position in the batch: the guides of a request, and its tokens so far.
        self._rows: dict[int, tuple[Branches, list[list[int]]]] = {}

    def is_argmax_invariant(self) -> bool:
        return False

    def update_state(self, batch_update: Any) -> None:
        process_dict_updates(self._rows, batch_update, self._begin)

    def _begin(self, params: Any, prompt: Any, tokens: list[int]) -> tuple[Branches, list[list[int]]] | None:
        session = session_of(params)
        if session is None:
            return None
        # vLLM appends to this list later.
        return Branches(session, self._vocab, left=params.max_tokens), [tokens]

    def apply(self, logits: Any) -> Any:
        if self._rows:
            index = torch.tensor(list(self._rows), device=logits.device)
            masks = batch_masks(self._rows.values())
            guided = logits[index]
            logits[index] = guided.masked_fill_(forbidden(masks, guided), float("-inf"))
        return logits
