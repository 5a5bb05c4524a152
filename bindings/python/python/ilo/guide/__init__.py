"""Guided generation: at each point, a model that writes a program gets exactly what may come next.

`ilo.guide.transformers`, `vllm`, `sglang` and `llama_cpp` are adapters for the libraries of these names.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .._errors import CannotEnd, Refused
from .._ilo import Catalogue, Guide, GuideSession, Header, Vocab, accept_tokens, fill_masks
from .._tools import tools_of
from ._vocab import read_vocab

if TYPE_CHECKING:
    from typing_extensions import Self

    from .._program import Given

__all__ = [
    "Branches",
    "CannotEnd",
    "Guide",
    "Header",
    "Refused",
    "Session",
    "Vocab",
    "accept_tokens",
    "batch_masks",
    "fill_masks",
    "read_vocab",
]

_log = logging.getLogger(__name__)


class Session(GuideSession):
    """The signature of a program, such as `f(id: text) -> text`, and its tools.

    `above` is the text of whole functions that the program may call. `notation` is `"id"` or `"constrained"`: what the
    model writes. Many guides share a session.
    """

    _parts: dict[str, Any]

    def __new__(cls, signature: str, tools: Given = None, *, above: str = "", notation: str = "id") -> Self:
        entries = [tool.entry() for tool in tools_of(tools)]
        return cls._new(signature, entries, above, notation)

    @classmethod
    def _new(cls, signature: str, entries: Sequence[Any], above: str, notation: str) -> Self:
        self: Self = super().__new__(cls, signature, Catalogue(json.dumps(entries), [], []), above, notation)
        self._parts = {"signature": signature, "tools": entries, "above": above, "notation": notation}
        return self

    def to_json(self) -> str:
        """The session as text, for an engine in another process. The tools' functions are not in it."""
        return json.dumps(self._parts)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """A session that `to_json` wrote; `tools` may also be an MCP server's answer to `tools/list`."""
        parts = json.loads(text)
        if not isinstance(parts, dict) or not isinstance(parts.get("signature"), str):
            raise ValueError("a session: expected an object with `signature`, and with `tools` and `above` if there are any")
        if wrong := parts.keys() - {"signature", "tools", "above", "notation"}:
            raise ValueError(f"a session: `{min(wrong)}` is none of `signature`, `tools`, `above` and `notation`")
        return cls._new(parts["signature"], parts.get("tools", []), parts.get("above", ""), parts.get("notation", "id"))


class Branches:
    """The guides of texts that may share a beginning: rows of a batch, beams, drafts that are taken back.

    `left` is the most tokens of each text, including the one that ends it.
    """

    def __init__(self, session: Session, vocab: Vocab, *, left: int | None = None) -> None:
        self._vocab = vocab
        self._left = left
        end = bytearray(vocab.mask_bytes)
        end[vocab.eos // 8] = 1 << vocab.eos % 8
        #: The mask that allows the end alone.
        self.end = bytes(end)
        self._first = Guide(session, vocab)
        self._kept: dict[tuple[int, ...], Guide | None] = {(): self._first.copy()}

    def masks(self, texts: Iterable[Sequence[int]]) -> bytes:
        """The masks after texts, concatenated. Each text is the list of its tokens so far.

        A text that has ended is followed by its end only. So is a text that is wrong, since a draft may be, and one
        that cannot end within its tokens, which is logged.
        """
        return batch_masks([(self, texts)])

    def rows(self, texts: Iterable[Sequence[int]]) -> list[tuple[Guide | None, int | None]]:
        """The guide after each of some texts, or nothing if the text is wrong, and the tokens left to it."""
        eos = self._vocab.eos
        wanted = [tuple(text[: text.index(eos) + 1] if eos in text else text) for text in texts]
        self._follow(dict.fromkeys(wanted))
        return [(self._kept[text], self._of(text)) for text in wanted]

    def guide(self, text: Sequence[int]) -> Guide | None:
        """The guide after the text whose mask was made last; nothing if the text is wrong."""
        return self._kept[tuple(text)]

    def _of(self, text: tuple[int, ...]) -> int | None:
        return None if self._left is None else max(self._left - len(text), 0)

    def _follow(self, wanted: Iterable[tuple[int, ...]]) -> None:
        parents = {text: self._parent(text) for text in wanted}
        uses: dict[tuple[int, ...], int] = {}
        for parent in parents.values():
            uses[parent] = uses.get(parent, 0) + 1
        kept: dict[tuple[int, ...], Guide | None] = {}
        for text, parent in parents.items():
            uses[parent] -= 1
            guide = self._kept.get(parent)
            guide = self._first.copy() if guide is None else guide.copy() if uses[parent] else guide
            kept[text] = _moved(guide, parent, text)
        self._kept = kept

    def _parent(self, text: tuple[int, ...]) -> tuple[int, ...]:
        """The kept text with a guide that shares most with this text; the empty one if none does."""
        for near in (text[:-1], text):
            if self._kept.get(near) is not None:
                return near
        best: tuple[int, ...] = ()
        most = 0
        for kept, guide in self._kept.items():
            common = _common(kept, text)
            if guide is not None and common > most:
                best, most = kept, common
        return best


def batch_masks(requests: Iterable[tuple[Branches, Iterable[Sequence[int]]]]) -> bytes:
    """The masks after the texts of several requests with one vocabulary, concatenated; see `Branches.masks`."""
    rows: list[tuple[Guide | None, int | None]] = []
    ends: list[bytes] = []
    for branches, texts in requests:
        own = branches.rows(texts)
        rows += own
        ends += [branches.end] * len(own)
    places = [row for row, (guide, _) in enumerate(rows) if guide is not None]
    made, failed = fill_masks([guide for guide, _ in rows if guide is not None], [rows[row][1] for row in places])
    for at, why in failed.items():
        _log.warning("row %d of %d is cut off: %s", places[at], len(rows), why)
    if len(places) == len(rows):
        return made
    masks = ends
    for at, row in enumerate(places):
        size = len(ends[row])
        masks[row] = made[at * size : (at + 1) * size]
    return b"".join(masks)


def _common(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    count = 0
    for a, b in zip(one, other):
        if a != b:
            break
        count += 1
    return count


def _moved(guide: Guide, at: tuple[int, ...], text: tuple[int, ...]) -> Guide | None:
    """Moves a guide from the end of one text to that of another; nothing if the other is wrong."""
    common = min(_common(at, text), guide.steps)
    guide.rollback(guide.steps - common)
    try:
        for token in text[common:]:
            guide.accept(token)
    except Refused:
        return None
    return guide
