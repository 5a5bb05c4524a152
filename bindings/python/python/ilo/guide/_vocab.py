"""Vocabularies of tokenizers: the bytes of each token."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .._ilo import Vocab


def read_vocab(tokenizer: Any, *, eos: int | None = None, size: int | None = None) -> Vocab:
    """The vocabulary of a tokenizer of transformers, tokenizers, sentencepiece or llama-cpp-python.

    `eos` is the token that ends a text if it is not the tokenizer's own. `size` is the number of token numbers
    of the model, if it has more than the tokenizer. The others are never allowed.
    """
    tokens, own = _read(tokenizer)
    if eos is None:
        eos = own
    if eos is None:
        raise ValueError("the tokenizer does not say which token ends a text: pass `eos=`")
    if size is not None:
        tokens = tokens[:size] + [b""] * (size - len(tokens))
    return Vocab(tokens, eos)


def _read(tokenizer: Any) -> tuple[list[bytes], int | None]:
    if hasattr(tokenizer, "id_to_piece"):
        return _of_sentencepiece(tokenizer)
    if hasattr(tokenizer, "token_eos") and hasattr(tokenizer, "n_vocab"):
        return _of_llama_cpp(tokenizer)
    fast = tokenizer if hasattr(tokenizer, "to_str") else getattr(tokenizer, "backend_tokenizer", None)
    if fast is not None:
        return _of_tokenizers(json.loads(fast.to_str()), fast.get_vocab()), getattr(tokenizer, "eos_token_id", None)
    # The tokenizer that a slow tokenizer of transformers wraps.
    if hasattr(slow := getattr(tokenizer, "sp_model", None), "id_to_piece"):
        return _of_sentencepiece(slow)
    raise TypeError(
        f"cannot read the tokens of {type(tokenizer).__name__}: expected a tokenizer of transformers, tokenizers, "
        "sentencepiece or llama-cpp-python, or make `Vocab(tokens, eos)` of the bytes of each token"
    )


def _of_tokenizers(parts: dict[str, Any], numbers: dict[str, int]) -> list[bytes]:
    kinds = set(_kinds(parts.get("decoder")))
    if "ByteLevel" in kinds:
        alphabet = byte_alphabet()
        read = lambda piece: b"".join(alphabet.get(char, char.encode()) for char in piece)
    elif kinds & {"Metaspace", "ByteFallback", "Replace"}:
        read = _piece
    else:
        known = ", ".join(sorted(kinds)) or "none"
        raise ValueError(
            f"cannot read the tokens: expected a byte-level or sentencepiece decoder, found {known}; "
            "make `Vocab(tokens, eos)` of the bytes of each token"
        )
    tokens = [b""] * (max(numbers.values(), default=-1) + 1)
    for piece, number in numbers.items():
        tokens[number] = read(piece)
    for added in parts.get("added_tokens") or ():
        tokens[added["id"]] = b"" if added["special"] else added["content"].encode()
    return tokens


def _kinds(decoder: Any) -> Iterator[str]:
    """The kinds of a decoder and of its parts."""
    rest = [decoder]
    while rest:
        one = rest.pop()
        if isinstance(one, dict):
            yield one["type"]
            rest.extend(one.get("decoders") or ())


def _piece(piece: str) -> bytes:
    """The bytes of a sentencepiece token: a byte token, or a text in which a bar stands for a blank."""
    if len(piece) == 6 and piece.startswith("<0x") and piece.endswith(">"):
        return bytes([int(piece[3:5], 16)])
    return piece.replace("\u2581", " ").encode()


def _of_sentencepiece(model: Any) -> tuple[list[bytes], int | None]:
    def token(number: int) -> bytes:
        if model.is_control(number) or model.is_unknown(number) or model.is_unused(number):
            return b""
        return _piece(model.id_to_piece(number))

    eos = model.eos_id()
    return [token(number) for number in range(model.get_piece_size())], eos if eos >= 0 else None


def _of_llama_cpp(model: Any) -> tuple[list[bytes], int | None]:
    import ctypes

    import llama_cpp

    vocab = llama_cpp.llama_model_get_vocab(model.model)

    def token(number: int, size: int = 64) -> bytes:
        piece = (ctypes.c_char * size)()
        # Special tokens are not written. A negative length is that of the buffer that the token needs.
        length = llama_cpp.llama_token_to_piece(vocab, number, piece, size, 0, False)
        return piece.raw[:length] if length >= 0 else token(number, -length)

    eos = model.token_eos()
    return [token(number) for number in range(model.n_vocab())], eos if eos >= 0 else None


def byte_alphabet() -> dict[str, bytes]:
    """The characters for bytes in a byte-level vocabulary. Printable characters represent themselves."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(0x100) if byte not in printable]
    alphabet = {chr(byte): bytes([byte]) for byte in printable}
    return alphabet | {chr(0x100 + at): bytes([byte]) for at, byte in enumerate(others)}
