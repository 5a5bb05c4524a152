"""Guided generation: a program that a guide allows builds and runs, whatever the tokens are."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
from typing import Any

import ilo
import pytest
from ilo.guide import Branches, CannotEnd, Guide, Header, Refused, Session, Vocab, accept_tokens, fill_masks, read_vocab

# A made-up tokenizer: each byte, pieces of the language that cross words, numbers and lines, special tokens.
PIECES = [
    *(bytes([byte]) for byte in range(256)),
    *(b"RET", b" REF", b" REF 0", b"RET LIT 0 \"", b"L", b"LET ", b"\n  ", b"\n", b"\"\n", b"MATCH ", b"ER", b"R 2 1\n"),
    *(b"CALL 0", b" 1 ", b" 0 ", b"12", b" LIT 1 ", b"LIT", b"hello", "ü".encode(), b"true", b"nil", b"ADD ", b"RE"),
    *(b"", b"", b""),
]
EOS = len(PIECES) - 1
VOCAB = Vocab(PIECES, EOS)
DOUBLE = "double(n: number) -> number"


def get_user(user_id: int) -> dict[str, str]:
    return {"email": "ada@example.org", "name": "Ada"}


def send(to: str, urgent: bool = False) -> None:
    if "@" not in to:
        raise ilo.Failure("no address")


TOOLS = ilo.Tools(get_user, send)


def allowed(mask: bytes) -> list[int]:
    """The tokens whose bits are set."""
    return [8 * at + bit for at, byte in enumerate(mask) for bit in range(8) if byte >> bit & 1]


def write(session: Session, seed: int, left: int, vocab: Vocab = VOCAB) -> Guide:
    """A model that likes each token equally."""
    choice = random.Random(seed)
    guide = Guide(session, vocab)
    for used in range(left):
        guide.accept(choice.choice(allowed(guide.mask(left - used))))
        if guide.ended:
            return guide
    raise AssertionError(f"no end within {left} tokens: {guide.text!r}")


@pytest.mark.parametrize(
    "signature, inputs",
    [
        (DOUBLE, {"n": 4}),
        ("f(id: number, names: list) -> result text, text", {"id": 1, "names": ["a"]}),
        ("g(user: map) -> nil", {"user": {"email": "x"}}),
        ("h() -> list number", {}),
    ],
)
def test_all_that_a_model_writes_builds_and_runs(signature: str, inputs: dict[str, Any]) -> None:
    session = Session(signature, TOOLS)
    ends = set()
    for seed in range(60):
        guide = write(session, seed, 20 + seed)
        program = ilo.build(guide.finish(), tools=TOOLS)
        ends.add(type(program.run_sync(inputs, tools=TOOLS)))
    assert ends <= {ilo.Ok, ilo.Err, ilo.Fault} and ilo.Ok in ends


@pytest.mark.parametrize("signature, inputs", [(DOUBLE, {"n": 4}), ("f(id: number, names: list) -> result text, text", {"id": 1, "names": []})])
def test_what_a_model_writes_in_constrained_builds_and_runs(signature: str, inputs: dict[str, Any]) -> None:
    session = Session(signature, TOOLS, notation="constrained")
    assert session.prefix.startswith('{"fn":')
    again = Session.from_json(session.to_json())
    assert again.prefix == session.prefix
    for seed in range(60):
        guide = write(again, seed, 60 + seed)
        program = ilo.build(guide.finish(), tools=TOOLS, notation="constrained")
        assert isinstance(program.run_sync(inputs, tools=TOOLS), (ilo.Ok, ilo.Err, ilo.Fault))
    guide = Guide(session, VOCAB)
    assert guide.forced() == b'{"' and '{"let":"' in guide.next()
    with pytest.raises(Refused, match='1:3 of the body: expected .*`let":"`.*; found "x"'):
        guide.accept_bytes(b'{"x')
    with pytest.raises(ValueError, match="a header is ID text"):
        Header(session)
    with pytest.raises(ValueError, match='expected "id" or "constrained", found "yaml"'):
        Session(signature, notation="yaml")


def test_a_mask_has_what_can_be_accepted_alone() -> None:
    session = Session("f(id: number) -> result text, text", TOOLS)
    for seed in range(4):
        taken: list[int] = []
        end = write(session, seed, 40)
        guide = Guide(session, VOCAB)
        while not guide.ended:
            mask = allowed(guide.mask())
            assert mask == [token for token in range(len(VOCAB)) if guide.validate([token])]
            taken.append(next(token for token in mask if end.text.startswith(guide.text + VOCAB.token(token))))
            if guide.text + VOCAB.token(taken[-1]) == end.text and guide.may_end:
                taken[-1] = EOS
            guide.accept(taken[-1])
        assert Guide(session, VOCAB).validate(taken) == len(taken)


def test_the_first_token_of_the_documentation() -> None:
    vocab = Vocab([b"</s>", b"RET", b" REF", b" ", b"0", b"\n", b" MUL", *PIECES[:256]], 0)
    guide = Guide(Session(DOUBLE), vocab)
    assert vocab.mask_bytes == 36 and 1 in allowed(guide.mask()) and not {2, 3, 4, 5, 6} & set(allowed(guide.mask()))
    guide.accept(1)
    assert guide.validate([2, 3, 4, 0]) == 4 and guide.validate([2, 3, 5]) == 2
    assert guide.text == b"RET"


def test_tokens_split_characters() -> None:
    guide = Guide(Session("f() -> text"), VOCAB)
    guide.accept_bytes(b'RET LIT 0 "')
    first, second = "ü".encode()
    guide.accept(first)
    # RFC 3629: a byte from 0x80 to 0xBF follows 0xC3.
    assert allowed(guide.mask()) == list(range(0x80, 0xC0))
    guide.accept(second)
    guide.accept_bytes(b'"')
    assert 'RET LIT 0 "ü"' in guide.finish()


def test_tokens_split_names() -> None:
    guide = Guide(Session(DOUBLE), VOCAB)
    for piece in (b"RE", b"T", b" REF", b" 0 "[:1], b"0"):
        guide.accept(PIECES.index(piece))
    assert ilo.build(guide.finish()).run_sync({"n": 4}) == ilo.Ok(4)


def test_special_tokens_are_never_allowed_and_the_end_is_where_a_program_may_end() -> None:
    guide = Guide(Session("f() -> text"), VOCAB)
    for piece in (b"RET", b" ", b'LIT', b" ", b"0", b" ", b'"', b'"'):
        assert not guide.may_end and EOS not in allowed(guide.mask())
        assert not {EOS - 1, EOS - 2} & set(allowed(guide.mask()))
        guide.accept(PIECES.index(piece))
    assert guide.may_end and EOS in allowed(guide.mask())
    guide.accept(EOS)
    assert guide.ended and allowed(guide.mask()) == [EOS] and guide.validate([EOS]) == 0
    with pytest.raises(Refused, match="the text has ended"):
        guide.accept(EOS)


def test_tokens_with_the_same_bytes_are_alike() -> None:
    vocab = Vocab([b"RET", b"RET", b" LIT 2 nil", b"", *PIECES[:256]], 3)
    assert {0, 1} < set(allowed(Guide(Session("f() -> any"), vocab).mask()))
    # All twice: whatever is allowed is allowed in both.
    twice = Vocab([*PIECES[:256], *PIECES[:256], b""], 512)
    for left in (None, 400):
        mask = allowed(Guide(Session("f() -> any"), twice).mask(left))
        assert [token - 256 for token in mask if 256 <= token < 512] == [token for token in mask if token < 256]


@pytest.mark.parametrize(
    "tokens, eos, message",
    [
        ([], 0, "at least one token"),
        ([b"RET"], 1, "the end is token 1, but the last token is 0"),
        ([b"RET"], -1, "eos: expected a number from 0"),
    ],
)
def test_a_vocabulary_that_is_none(tokens: list[bytes], eos: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Vocab(tokens, eos)


def test_a_vocabulary_that_cannot_write_the_program() -> None:
    """It is refused at the first mask, with what it lacks."""
    lacks = [bytes([byte]) for byte in range(256) if byte not in b"{}\n"] + [b'{"', b"\n  ", b""]
    for left in (None, 100):
        with pytest.raises(CannotEnd, match=r"the vocabulary has no token for `\\n`, which a program may need"):
            Guide(Session(DOUBLE), Vocab(lacks, len(lacks) - 1)).mask(left)
        with pytest.raises(CannotEnd, match="no token for `{`, `}`, which"):
            Guide(Session(DOUBLE, notation="constrained"), Vocab(lacks, len(lacks) - 1)).mask(left)


def test_too_few_tokens() -> None:
    guide = Guide(Session(DOUBLE), VOCAB)
    with pytest.raises(CannotEnd, match=r"tokens left: it takes \d+"):
        guide.mask(2)


def test_a_guide_that_fails_is_reported_by_its_row() -> None:
    guides = [Guide(Session(DOUBLE), VOCAB) for _ in range(40)]
    left = [2 if row % 13 == 5 else 40 for row in range(40)]
    masks, failed = fill_masks(guides, left)
    assert list(failed) == [5, 18, 31] and all("tokens left" in why for why in failed.values())
    size = VOCAB.mask_bytes
    for row, guide in enumerate(guides):
        mask = masks[row * size : (row + 1) * size]
        assert allowed(mask) == [EOS] if row in failed else mask == guide.mask(40)
    # Tokens likewise: the rows that refuse theirs have not changed.
    tokens = [PIECES.index(b"hello" if row in failed else b"RET") for row in range(40)]
    refused = accept_tokens(guides, tokens)
    assert list(refused) == [5, 18, 31] and all('"hello"' in why for why in refused.values())
    assert [guide.text for guide in guides] == [b"" if row in failed else b"RET" for row in range(40)]
    assert fill_masks([]) == (b"", {}) and accept_tokens([], []) == {}


@pytest.mark.parametrize("signature", ["", "f(", "f(n: number", "f() -> text\nRET LIT 0 \"\"", "; ;", "f() -> result"])
def test_a_signature_that_is_none(signature: str) -> None:
    with pytest.raises(ValueError, match="^[^\n]+$"):
        Session(signature)


def test_a_tool_that_no_program_can_call() -> None:
    """The argument has a type that no constant has, so the program does not call the tool."""
    never = ilo.Tool("never", lambda arguments: None, is_async=False, input_schema={
        "type": "object", "properties": {"x": {"enum": []}}, "required": ["x"],
    })
    for seed in range(10):
        guide = write(Session("f() -> nil", [never]), seed, 30)
        ilo.build(guide.finish(), tools=[never])


def test_a_beginning_that_is_wrong() -> None:
    guide = Guide(Session(DOUBLE), VOCAB)
    with pytest.raises(Refused, match='^1:5 of the body: expected .*REF, LIT, .* more; found "x"$') as refused:
        guide.accept_bytes(b"RET x")
    assert refused.value.at == 4 and guide.text == b"" and guide.steps == 0
    with pytest.raises(Refused, match="^2:9 of the body: expected 0 .slot n: number., 1 .slot: number.; found \"9\"$"):
        guide.accept_bytes(b"LET 1 LIT 1 2\nRET REF 9")


HOSTILE = ['a', "ab", "abc", 'x"y', "new\nline", "; fn f() -> text", "ü", "0=a", "1", " ", "tab\t", "\u202e", "'", "mcp://s/a", "=", "#"]


def test_hostile_names_of_tools_and_fields() -> None:
    properties = {name: {"type": "number"} for name in HOSTILE}
    schema = {"type": "object", "properties": properties, "required": HOSTILE[3:6]}
    tools = ilo.Tools(*(ilo.Tool(name, lambda arguments: 1, is_async=False, input_schema=schema) for name in HOSTILE))
    session = Session("f() -> any", tools)
    called = set()
    for seed in range(60):
        guide = write(session, seed, 120)
        called |= set(ilo.build(guide.finish(), tools=tools).tools)
    assert called


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Vocab(["RET"], 0),  # type: ignore[list-item]
        lambda: Vocab(7, 0),  # type: ignore[arg-type]
        lambda: Vocab(None, 0),  # type: ignore[arg-type]
        lambda: Session(None),  # type: ignore[arg-type]
        lambda: Session("f() -> nil", 7),  # type: ignore[arg-type]
        lambda: Session("f() -> nil", above=7),  # type: ignore[arg-type]
        lambda: Guide(VOCAB, VOCAB),  # type: ignore[arg-type]
        lambda: Guide(Session("f() -> nil")).mask(),
        lambda: Guide(Session("f() -> nil"), VOCAB).accept("RET"),  # type: ignore[arg-type]
        lambda: Guide(Session("f() -> nil"), VOCAB).accept(1.5),  # type: ignore[arg-type]
        lambda: Guide(Session("f() -> nil"), VOCAB).accept_bytes("RET"),  # type: ignore[arg-type]
        lambda: Guide(Session("f() -> nil"), VOCAB).mask("all"),  # type: ignore[arg-type]
        lambda: Guide(Session("f() -> nil"), VOCAB).rollback(None),  # type: ignore[arg-type]
        lambda: fill_masks([VOCAB]),  # type: ignore[list-item]
    ],
)
def test_arguments_of_a_wrong_type(wrong: Any) -> None:
    with pytest.raises(TypeError):
        wrong()


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda guide: guide.accept(-1), "token: expected a number from 0"),
        (lambda guide: guide.accept(2**40), "token: expected a number from 0"),
        (lambda guide: guide.accept(2**31), "the vocabulary has only"),
        (lambda guide: guide.mask(-1), "left: expected"),
        (lambda guide: guide.rollback(-1), "steps: expected"),
        (lambda guide: guide.rollback(1), "only 0 were taken"),
        (lambda guide: guide.validate([0, -1]), "token: expected"),
        (lambda guide: fill_masks([guide], []), "one for each guide"),
        (lambda guide: accept_tokens([guide], [1, 2]), "expected 1 numbers in `tokens`"),
        (lambda guide: fill_masks([guide, Guide(Session(DOUBLE), Vocab([b"RET"], 0))]), "guide 1 has another vocabulary"),
    ],
)
def test_numbers_that_are_wrong(wrong: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wrong(Guide(Session(DOUBLE), VOCAB))


def test_steps_are_taken_back() -> None:
    session = Session("f(id: number) -> result text, text", TOOLS)
    tokens = [*(VOCAB.cut(write(session, 3, 60).text) or []), EOS]
    guide = Guide(session, VOCAB)
    masks = []
    for token in tokens:
        masks.append(guide.mask())
        guide.accept(token)
    assert guide.ended and guide.steps == len(tokens)
    while guide.steps:
        guide.rollback()
        assert guide.mask() == masks[guide.steps] and not guide.ended
    for token in tokens:
        guide.accept(token)
    guide.rollback(len(tokens))
    assert guide.text == b"" and guide.mask() == masks[0]


def test_a_copy_goes_on_by_itself() -> None:
    guide = Guide(Session(DOUBLE), VOCAB)
    guide.accept_bytes(b"RET ")
    other = guide.copy()
    guide.accept_bytes(b"REF 0")
    other.accept_bytes(b"LIT 1 7")
    assert guide.finish() != other.finish()
    assert ilo.build(other.finish()).run_sync({"n": 1}) == ilo.Ok(7)
    other.rollback(2)
    assert (guide.text, other.text) == (b"RET REF 0", b"")


def test_forced_text_and_an_end_are_what_may_come() -> None:
    # send has one required argument, and two optional ones.
    session = Session("f() -> result nil, text", TOOLS)
    guide = Guide(session, Vocab(PIECES[:256] + [b" 1", b""], 257))
    guide.accept_bytes(b"LET 0 CALL 1")
    assert guide.forced() == b" "
    # A longer token could cover the blank and the text after it.
    assert guide.forced_tokens() == []
    guide = Guide(session, Vocab(PIECES[:256] + [b""], 256))
    guide.accept_bytes(b"LET 0 CALL 1")
    assert guide.forced_tokens() == guide.forced_tokens([ord(" ")]) == [ord(" ")]
    assert guide.forced_tokens([ord("x")]) == []
    end = guide.close()
    assert end is not None
    guide.accept_bytes(end)
    ilo.build(guide.finish(), tools=TOOLS)


def test_a_session_as_text() -> None:
    session = Session("f(id: number) -> text", TOOLS, above="; fn one() -> number\nRET LIT 1 1\n")
    again = Session.from_json(session.to_json())
    assert again.prefix == session.prefix and "Tools: 0=one 1=get_user 2=send" in again.prefix
    assert again.to_json() == session.to_json()
    for wrong in ("7", "{}", '{"signature": 1}', '{"signature": "f() -> nil", "tool": []}', "{"):
        with pytest.raises(ValueError):
            Session.from_json(wrong)


def test_branches_follow_rows_beams_and_drafts() -> None:
    session = Session("f(id: number) -> result text, text", TOOLS)
    ends = [VOCAB.cut(write(session, seed, 60).text) for seed in range(3)]
    branches = Branches(session, VOCAB)

    def alone(tokens: list[int]) -> bytes:
        guide = Guide(session, VOCAB)
        for token in tokens:
            guide.accept(token)
        return guide.mask()

    size = VOCAB.mask_bytes
    choice = random.Random(5)
    one = ends[0] or []
    for _ in range(60):
        # Rows change places, share guides, and move by several tokens forward and back.
        texts = [one[: choice.randint(0, len(one))] for one in choice.choices([end or [] for end in ends], k=4)]
        masks = branches.masks(texts)
        assert [masks[at * size : (at + 1) * size] for at in range(4)] == [alone(text) for text in texts]
    wrong = [*one[:2], ord("\x00"), 7]
    ended = [*one, EOS, 0, 0]
    masks = branches.masks([wrong, ended, one[:1]])
    assert allowed(masks[:size]) == [EOS] == allowed(masks[size : 2 * size])
    assert branches.guide(wrong) is None and masks[2 * size :] == alone(one[:1])


def test_branches_end_in_time() -> None:
    session = Session("f(id: number) -> result text, text", TOOLS)
    branches, choice, rows = Branches(session, VOCAB, left=30), random.Random(1), [[] for _ in range(4)]
    size = VOCAB.mask_bytes
    for _ in range(30):
        masks = branches.masks(rows)
        for at, row in enumerate(rows):
            row.append(choice.choice(allowed(masks[at * size : (at + 1) * size])))
    for row in rows:
        assert EOS in row
        guide = Guide(session, VOCAB)
        guide.accept_bytes(b"".join(VOCAB.token(token) for token in row))
        ilo.build(guide.finish(), tools=TOOLS)


def test_threads_share_a_session() -> None:
    session = Session("f(id: number) -> result text, text", TOOLS)
    expected = [write(session, seed, 60).text for seed in range(8)]
    found: dict[int, bytes] = {}
    threads = [threading.Thread(target=lambda seed=seed: found.update({seed: write(session, seed, 60).text})) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [found[seed] for seed in range(8)] == expected


def test_a_guide_outlives_its_session_and_vocabulary() -> None:
    def made() -> Guide:
        return Guide(Session(DOUBLE, ilo.Tools(get_user)), Vocab(PIECES, EOS))

    guide = made()
    guide.accept_bytes(b"RET MUL REF 0 REF 0")
    guide.accept(EOS)
    assert ilo.build(guide.finish()).run_sync({"n": 3}) == ilo.Ok(9)


def test_nothing_of_it_is_imported_with_ilo() -> None:
    code = "import ilo, sys; print([name for name in sys.modules if name.startswith('ilo.guide') or name == 'json'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr


class Tokenizer:
    """The parts of a tokenizer of the package tokenizers that `read_vocab` uses."""

    eos_token_id = 1

    def __init__(self, decoder: Any, vocab: list[str], added: list[tuple[int, str, bool]] = []) -> None:
        self.vocab = {piece: number for number, piece in enumerate(vocab)}
        tokens = [{"id": number, "content": text, "special": special} for number, text, special in added]
        self.parts = {"decoder": decoder, "added_tokens": tokens}

    def to_str(self) -> str:
        return json.dumps(self.parts)

    def get_vocab(self) -> dict[str, int]:
        return self.vocab


def test_a_byte_level_vocabulary() -> None:
    # In byte-level vocabularies a blank is written as U+0120, a line end as U+010A, and the bytes of an "ü" as "Ã¼".
    pieces = ["RET", "</s>", "\u0120REF", "\u010a\u0120\u0120", "\u00c3\u00bc", "\u00c3", "<tool>"]
    vocab = read_vocab(Tokenizer({"type": "ByteLevel"}, pieces, [(1, "</s>", True), (6, "<tool>", False)]), size=9)
    expected = [b"RET", b"", b" REF", b"\n  ", "ü".encode(), b"\xc3", b"<tool>", b"", b""]
    assert [vocab.token(token) for token in range(len(vocab))] == expected and vocab.eos == 1


def test_a_sentencepiece_vocabulary() -> None:
    decoder = {"type": "Sequence", "decoders": [{"type": "Replace"}, {"type": "ByteFallback"}, {"type": "Fuse"}]}
    pieces = ["<unk>", "</s>", "\u2581REF", "RET", "<0x0A>", "<0xC3>", "ü"]
    vocab = read_vocab(Tokenizer(decoder, pieces, [(0, "<unk>", True), (1, "</s>", True)]))
    assert [vocab.token(token) for token in range(7)] == [b"", b"", b" REF", b"RET", b"\n", b"\xc3", "ü".encode()]


@pytest.mark.parametrize("decoder", [None, {"type": "WordPiece"}, {"type": "Sequence", "decoders": []}])
def test_a_vocabulary_that_cannot_be_read(decoder: Any) -> None:
    with pytest.raises(ValueError, match="byte-level or sentencepiece decoder, found"):
        read_vocab(Tokenizer(decoder, ["a", "b"]))
    with pytest.raises(TypeError, match="cannot read the tokens of object"):
        read_vocab(object())


@pytest.mark.parametrize("seed", range(12))
def test_files_with_helpers_build(seed: int) -> None:
    choice = random.Random(seed)
    above = ""
    while True:
        header = Header(Session(DOUBLE, TOOLS, above=above), VOCAB)
        for used in range(200):
            if header.ended:
                break
            header.accept(choice.choice(allowed(header.mask(200 - used))))
        guide = write(Session(header.text.decode(), TOOLS, above=above), seed, 200)
        above = guide.finish()
        if header.is_own:
            break
    assert "double" in ilo.build(above, tools=TOOLS).functions


def test_a_header_says_what_was_expected() -> None:
    header = Header(Session(DOUBLE, TOOLS), VOCAB)
    header.accept_bytes(b"; fn sen")
    with pytest.raises(Refused, match="1:10 of the header: expected one of .*; found ") as refused:
        header.accept_bytes(b"d(")  # a tool
    assert refused.value.at == 1
    assert header.text == b"; fn sen"
    header.rollback()
    header.accept_bytes(b"; fn double")
    assert header.forced() == b""
    fork = header.copy()
    fork.accept_bytes(b"-more() -> nil\n")
    assert fork.ended and not fork.is_own and not header.ended
    assert header.close() == b"(n: number) -> number\n"
    header.accept_bytes(header.close())
    assert header.ended and header.is_own and header.steps == 2
    assert allowed(header.mask()) == [EOS]
    header.accept(EOS)


def test_a_header_needs_tokens_and_a_vocabulary() -> None:
    header = Header(Session(DOUBLE), VOCAB)
    with pytest.raises(CannotEnd, match="the header cannot end within the tokens left: it takes"):
        header.mask(3)
    with pytest.raises(TypeError, match="no vocabulary"):
        Header(Session(DOUBLE)).mask()
    with pytest.raises(ValueError, match="only 0 were taken"):
        header.rollback()
    with pytest.raises(CannotEnd, match="no token for what may come next"):
        Header(Session(DOUBLE), Vocab([b"x", b""], 1)).mask()


def test_a_header_says_which_token_was_wrong() -> None:
    vocab = Vocab([*(bytes([byte]) for byte in range(256)), b"</s>", b""], eos=256)
    header = Header(Session(DOUBLE), vocab)
    for token, found in [
        (65, 'token 65, "A"'),
        (256, "token 256, which ends the text"),
        (257, "token 257, which has no text"),
        (9999, "token 9999, and the vocabulary has only 258"),
    ]:
        with pytest.raises(Refused) as refused:
            header.accept(token)
        assert str(refused.value) == f'1:1 of the header: expected ";"; found {found}'
