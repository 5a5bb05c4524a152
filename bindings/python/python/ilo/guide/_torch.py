"""Masks on tensors of torch."""

from __future__ import annotations

from typing import Any

import torch


def forbid(logits: Any, masks: bytes) -> Any:
    """Sets the logits of tokens that a row's mask does not allow to minus infinity, in place.

    Where a model has numbers behind those of the vocabulary, they are not allowed.
    """
    packed = torch.frombuffer(bytearray(masks), dtype=torch.uint8).to(logits.device)
    bits = torch.arange(8, dtype=torch.uint8, device=logits.device)
    allowed = ((packed.unsqueeze(-1) >> bits) & 1).bool().view(logits.shape[0], -1)
    width = logits.shape[-1]
    if allowed.shape[1] < width:
        allowed = torch.nn.functional.pad(allowed, (0, width - allowed.shape[1]))
    return logits.masked_fill_(~allowed[:, :width], float("-inf"))
