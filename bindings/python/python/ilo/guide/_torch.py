"""Masks on tensors of torch."""

from __future__ import annotations

from typing import Any

import torch


def forbidden(masks: bytes, logits: Any) -> Any:
    """The tokens that the mask of each row of some logits does not allow.

    Numbers of a model beyond those of the vocabulary are not allowed.
    """
    packed = torch.frombuffer(bytearray(masks), dtype=torch.uint8).to(logits.device)
    return unpacked(packed.view(logits.shape[0], -1), logits.shape[-1]).logical_not_()


def unpacked(packed: Any, width: int) -> Any:
    """The first bits of rows of bytes, from the lowest bit of each byte."""
    bits = torch.arange(8, dtype=torch.uint8, device=packed.device)
    rows = ((packed.unsqueeze(-1) >> bits) & 1).bool().flatten(1)
    return torch.nn.functional.pad(rows, (0, max(width - rows.shape[1], 0)))[:, :width]
