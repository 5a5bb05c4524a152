"""The adapters for vLLM and SGLang over their own modules, as their engines call them. No engine runs: that takes a GPU."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import ilo
import pytest
from ilo.guide import read_vocab
from parts import SESSION, built, chosen, made_up

torch = pytest.importorskip("torch")
TOKENIZER = made_up()
EOS = TOKENIZER.token_to_id("</s>")
# More token numbers than the tokenizer has, as in many models.
SIZE = EOS + 40
LEFT = 40


@pytest.fixture
def vllm(monkeypatch: pytest.MonkeyPatch) -> Any:
    pytest.importorskip("vllm.sampling_params")
    import ilo.guide.vllm
    import ilo.guide.vllm_v1

    for module in (ilo.guide.vllm, ilo.guide.vllm_v1):
        monkeypatch.setattr(module, "vocab_of", lambda config: read_vocab(TOKENIZER, eos=EOS, size=SIZE))
    return ilo.guide


def params(guided: bool = True, max_tokens: int = LEFT) -> Any:
    from vllm import SamplingParams

    return SamplingParams(max_tokens=max_tokens, extra_args={"ilo": SESSION.to_json()} if guided else None)


def test_vllm_loads_and_validates(vllm: Any) -> None:
    from vllm.v1.sample.logits_processor import _load_logitsprocs_by_fqcns
    from vllm.v1.worker.gpu.sample.logits_processor.loader import _load_v2_logitsprocs_by_fqcns

    assert _load_v2_logitsprocs_by_fqcns(["ilo.guide.vllm:Guided"]) == [vllm.vllm.Guided]
    assert _load_logitsprocs_by_fqcns(["ilo.guide.vllm_v1:Guided"]) == [vllm.vllm_v1.Guided]
    for kind in (vllm.vllm.Guided, vllm.vllm_v1.Guided):
        kind.validate_params(params())
        kind.validate_params(params(guided=False))
        for wrong in (7, "{", '{"signature": "f("}', '{"tools": []}'):
            bad = SimpleNamespace(extra_args={"ilo": wrong})
            with pytest.raises(ValueError, match="extra_args"):
                kind.validate_params(bad)


def test_vllm_v1_batches_move(vllm: Any) -> None:
    from vllm.v1.sample.logits_processor.interface import BatchUpdate, MoveDirectionality

    guided = vllm.vllm_v1.Guided(None, torch.device("cpu"), False)
    assert not guided.is_argmax_invariant()
    choice = random.Random(1)
    texts: dict[str, list[int]] = {"a": [], "b": [], "free": [], "short": []}
    rows = ["a", "free", "b", "short"]
    limits = {"short": 3}
    added = [(at, params(name != "free", limits.get(name, LEFT)), [1], texts[name]) for at, name in enumerate(rows)]
    guided.update_state(BatchUpdate(4, [], added, []))
    for step in range(LEFT):
        if step == 5:
            guided.update_state(BatchUpdate(4, [], [], [(0, 2, MoveDirectionality.SWAP)]))
            rows[0], rows[2] = rows[2], rows[0]
        logits = guided.apply(torch.zeros(4, SIZE))
        assert logits[rows.index("free")].isfinite().all()
        for name, token in zip(rows, chosen(choice, logits)):
            texts[name].append(token)
    # A budget that is too small ends the text, and not the engine.
    assert texts["short"][0] == EOS
    for name in "ab":
        assert EOS in texts[name]
        built(TOKENIZER, texts[name])
    guided.update_state(BatchUpdate(0, [0, 1, 2, 3], [], []))
    assert guided.apply(torch.zeros(1, SIZE)).isfinite().all()


def test_vllm_v2_follows_drafts(vllm: Any) -> None:
    import numpy
    from vllm.v1.worker.gpu.sample.logits_processor.interface import LogitsContext

    prompt, slots = [5, 6, 7], [3, 0, 2]
    states = SimpleNamespace(
        prompt_len=SimpleNamespace(np=numpy.full(4, len(prompt))),
        total_len=SimpleNamespace(gpu=torch.full((4,), len(prompt))),
        all_token_ids=SimpleNamespace(gpu=torch.zeros(4, 200, dtype=torch.int32)),
    )
    guided = vllm.vllm.Guided(None, states)
    # The position of a guided request now belongs to another one.
    assert guided.add_request(2, params()) and not guided.add_request(2, params(guided=False))
    assert guided.add_request(0, params()) and guided.add_request(3, params())
    texts: dict[int, list[int]] = {slot: [] for slot in slots}
    choice = random.Random(2)
    while not all(EOS in texts[slot] for slot in (0, 3)):
        drafts = {slot: [choice.randrange(EOS) for _ in range(choice.randint(0, 2))] for slot in slots}
        rows = [(slot, at) for slot in slots for at in range(len(drafts[slot]) + 1)]
        inputs = [([*prompt, *texts[slot]][-1:] + drafts[slot])[at] for slot, at in rows]
        context = LogitsContext(
            expanded_idx_mapping=torch.tensor([slot for slot, _ in rows]),
            idx_mapping=torch.tensor(slots),
            idx_mapping_np=numpy.array(slots),
            expanded_local_pos=torch.tensor([at for _, at in rows]),
            input_ids=torch.tensor(inputs),
            pos=torch.zeros(len(rows)),
            seq_lens_upper_bound_np=numpy.zeros(3),
        )
        logits = guided.apply(torch.zeros(len(rows), SIZE), context)
        tokens = dict(zip(rows, chosen(choice, logits)))
        for slot in slots:
            # A draft is accepted up to the first token that differs from what its row allows.
            for at, token in enumerate([*drafts[slot], -1]):
                if slot != 2 and at and not logits[rows.index((slot, at - 1))][drafts[slot][at - 1]].isfinite():
                    break
                if token >= 0 and (slot == 2 or logits[rows.index((slot, at))][token].isfinite()):
                    texts[slot].append(token)
                else:
                    texts[slot].append(tokens[slot, at])
                    break
            states.total_len.gpu[slot] = len(prompt) + len(texts[slot])
            whole = torch.tensor([*prompt, *texts[slot]])
            states.all_token_ids.gpu[slot, : len(whole)] = whole
        assert all(logits[row].isfinite().all() for row, (slot, _) in enumerate(rows) if slot == 2)
    for slot in (0, 3):
        assert texts[slot].index(EOS) < LEFT
        built(TOKENIZER, texts[slot][: texts[slot].index(EOS)])


@pytest.fixture
def sglang() -> Any:
    pytest.importorskip("sglang.srt.constrained.base_grammar_backend")
    import ilo.guide.sglang

    return ilo.guide.sglang


def grammar_of(sglang: Any, backend: Any, text: str) -> Any:
    """SGLang makes a grammar in a thread, keeps it, and copies it for the next request."""
    key = ("ebnf", text)
    made, known = backend.get_cached_or_future_value(key, False)
    if not known:
        made = made.result(timeout=60)
        backend.set_cache(key, made.copy())
    return made


def test_sglang_finds_the_backend(sglang: Any) -> None:
    from sglang.srt.arg_groups.choices import GRAMMAR_BACKEND_CHOICES
    from sglang.srt.constrained.base_grammar_backend import GRAMMAR_BACKEND_REGISTRY
    from sglang.srt.plugins import load_plugins

    load_plugins()
    assert GRAMMAR_BACKEND_CHOICES.count("ilo") == 1
    assert isinstance(GRAMMAR_BACKEND_REGISTRY["ilo"](None, TOKENIZER, SIZE, {EOS}), sglang.GuidedBackend)


def test_sglang_writes_programs(sglang: Any) -> None:
    from sglang.srt.constrained.base_grammar_backend import GrammarRow

    backend = sglang.GuidedBackend(TOKENIZER, SIZE, EOS)
    text = sglang.request(SESSION, max_new_tokens=LEFT)
    choice = random.Random(3)
    for _ in range(10):
        grammars = [grammar_of(sglang, backend, text) for _ in range(2)]
        texts: list[list[int]] = [[], []]
        mask = grammars[0].allocate_vocab_mask(SIZE, 3, "cpu")
        while not all(grammar.is_terminated() for grammar in grammars):
            grammars[0].reset_vocab_mask(mask)
            rows = [GrammarRow(row, grammar) for row, grammar in enumerate(grammars) if not grammar.is_terminated()]
            grammars[0].fill_vocab_mask_batched(rows, mask)
            logits = torch.zeros(3, SIZE)
            grammars[0].apply_vocab_mask(logits, grammars[0].move_vocab_mask(mask, "cpu"))
            assert logits[2].isfinite().all()
            for row, token in enumerate(chosen(choice, logits)[:2]):
                if not grammars[row].is_terminated():
                    # A draft that is taken back.
                    if choice.random() < 0.3:
                        grammars[row].accept_token(token)
                        grammars[row].rollback(1)
                    grammars[row].accept_token(token)
                    texts[row].append(token)
        for tokens in texts:
            assert len(tokens) <= LEFT
            built(TOKENIZER, tokens)
    with pytest.raises(ValueError, match="expected"):
        grammar_of(sglang, backend, text).accept_token(EOS)


def test_sglang_refuses_what_it_cannot_guide(sglang: Any) -> None:
    from sglang.srt.constrained.base_grammar_backend import InvalidGrammarObject

    backend = sglang.GuidedBackend(TOKENIZER, SIZE, EOS)
    for text, message in [
        ("root ::= x", "sglang.request"),
        ("ilo:{", "ilo: "),
        ("ilo:7", "ilo: "),
        (sglang.request(SESSION, max_new_tokens=1), "tokens left"),
        ('ilo:{"session": "{}", "left": null}', "signature"),
    ]:
        found = backend.dispatch_ebnf(text)
        assert isinstance(found, InvalidGrammarObject) and message in found.error_message
    for found in (backend.dispatch_json("{}"), backend.dispatch_regex("x"), backend.dispatch_structural_tag("{}")):
        assert isinstance(found, InvalidGrammarObject) and "ebnf" in found.error_message
