"""Shared by the tests of adapters: tools, a session, a made-up tokenizer."""

from __future__ import annotations

import random
from typing import Any

import ilo
from ilo.guide import Session
from tokenizers import Tokenizer, decoders, models


def get_user(user_id: int) -> dict[str, str]:
    return {"email": "ada@example.org"}


def send(to: str, urgent: bool = False) -> None: ...


TOOLS = ilo.Tools(get_user, send)
SESSION = Session("f(id: number, names: list) -> result text, text", TOOLS)
PIECES = ["RET", " REF", " LIT", " 0", " 1", "LET ", '"', "CALL 0", "\n", "  ", "FAIL", "hello", "true", "nil", "12"]


def made_up() -> Any:
    """A byte-level tokenizer of all bytes and some pieces, of which the last token ends a text."""
    from ilo.guide._vocab import byte_alphabet

    chars = {byte[0]: char for char, byte in byte_alphabet().items()}
    words = [*chars.values(), *("".join(chars[byte] for byte in piece.encode()) for piece in PIECES)]
    vocab = {piece: number for number, piece in enumerate(dict.fromkeys(words))}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["</s>"])
    return tokenizer


def built(tokenizer: Any, tokens: list[int]) -> None:
    """Builds the program with this body."""
    ilo.build(SESSION.prefix + tokenizer.decode(tokens, skip_special_tokens=True), tools=TOOLS)


def chosen(choice: random.Random, logits: Any) -> list[int]:
    """A token for each row, of those that are not forbidden."""
    return [choice.choice(row.isfinite().nonzero().flatten().tolist()) for row in logits]
