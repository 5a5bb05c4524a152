"""Guided generation with vLLM: `LLM(model, logits_processors=["ilo.guide.vllm:Guided"])`.

A request is guided if it has a session: `SamplingParams(extra_args={"ilo": session.to_json()}, max_tokens=...)`. This
is for model runner V2, which vLLM uses if it can; `ilo.guide.vllm_v1:Guided` is for V1.
"""

from __future__ import annotations

from typing import Any

from vllm.v1.worker.gpu.sample.logits_processor.interface import LogitsProcessor

from . import Branches, Session, Vocab, batch_masks, read_vocab

__all__ = ["Guided", "session_of", "vocab_of"]


def session_of(params: Any) -> Session | None:
    """The session that a request has in its sampling parameters."""
    text = (params.extra_args or {}).get("ilo")
    if text is None:
        return None
    if not isinstance(text, str):
        raise ValueError(f"extra_args['ilo']: expected the text of `Session.to_json`, found {type(text).__name__}")
    try:
        return Session.from_json(text)
    except ValueError as error:
        raise ValueError(f"extra_args['ilo']: {error}") from error


def vocab_of(vllm_config: Any) -> Vocab:
    """The vocabulary of the model that an engine serves."""
    # Imported late: the class is loaded where parameters are validated, too.
    from vllm.tokenizers import cached_tokenizer_from_config

    model = vllm_config.model_config
    return read_vocab(cached_tokenizer_from_config(model), size=model.get_vocab_size())


class Guided(LogitsProcessor):  # type: ignore[misc]
    """Lets requests that have a session write only programs of it, which end within their `max_tokens`."""

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        session_of(sampling_params)

    def __init__(self, vllm_config: Any, req_states: Any) -> None:
        self._vocab = vocab_of(vllm_config)
        self._states = req_states
        self._slots: dict[int, Branches] = {}

    def add_request(self, req_idx: int, sampling_params: Any) -> bool:
        self._slots.pop(req_idx, None)
        session = session_of(sampling_params)
        if session is None:
            return False
        self._slots[req_idx] = Branches(session, self._vocab, left=sampling_params.max_tokens)
        return True

    def apply(self, logits: Any, ctx: Any) -> Any:
        if not any(slot in self._slots for slot in ctx.idx_mapping_np.tolist()):
            return logits
        import torch

        from ._torch import forbidden

        rows: dict[int, list[int]] = {}
        for row, slot in enumerate(ctx.expanded_idx_mapping.tolist()):
            if slot in self._slots:
                rows.setdefault(slot, []).append(row)
        inputs = ctx.input_ids.tolist()
        masks = batch_masks((self._slots[slot], self._texts(slot, own, inputs)) for slot, own in rows.items())
        index = torch.tensor([row for own in rows.values() for row in own], device=logits.device)
        guided = logits[index]
        logits[index] = guided.masked_fill_(forbidden(masks, guided), float("-inf"))
        return logits

    def _texts(self, slot: int, rows: list[int], inputs: list[int]) -> list[list[int]]:
        """The tokens before each row of a request: the certain ones, and the draft up to the row."""
        states = self._states
        start, end = int(states.prompt_len.np[slot]), int(states.total_len.gpu[slot])
        certain = states.all_token_ids.gpu[slot, start:end].tolist()
        drafts = [inputs[row] for row in rows[1:]]
        return [certain + drafts[:count] for count in range(len(rows))]
