"""CPython behind the workers' protocol (benches/worker/src/lib.rs). Tools are functions of Python."""

import platform
import sys
import time
from pathlib import Path

SOURCE = (Path(__file__).parent.parent / "programs" / "programs.py").read_text()


def load(tools):
    scope = dict(tools)
    exec(compile(SOURCE, "programs.py", "exec"), scope)
    return scope


def answer_user(arguments):
    return {"ok": {"email": "a@b.c", "verified": True}}


def answer_mail(arguments):
    return {"ok": {"message-id": "m1"}}


def written(number):
    """As the others write it: without a point where it is whole."""
    return str(int(number)) if number == int(number) else repr(number)


def shown_notify():
    log = []

    def telling(name, answer):
        def tool(arguments):
            log.append(f"{name}({', '.join(arguments.values())})")
            return answer(arguments)

        return tool

    tools = {"get_user": telling("get-user", answer_user), "send_email": telling("send-email", answer_mail)}
    outcome = load(tools)["notify"]("u1", "Hello")
    return " ".join([*log, "ok" if "ok" in outcome else "err"])


def repeat(function, *arguments, units=1):
    def run(count):
        for _ in range(count):
            function(*arguments)
        return count * units

    return run


def items():
    scope = load({"get_user": answer_user, "send_email": answer_mail})
    customers = [{"name": f"customer {n}", "spent": n % 13 * 100.0 + 0.5} for n in range(1_000)]
    numbers = [n % 10 + 0.5 for n in range(10_000)]
    made = scope["summaries"](customers)
    return {
        "p1": (written(scope["total"](10.5, 20.5, 0.3)), repeat(scope["total"], 10.5, 20.5, 0.3)),
        "p2": (
            " ".join(f"{s['name']} {s['level']} {s['discount']}" for s in made),
            repeat(scope["summaries"], customers, units=len(customers)),
        ),
        "p3": (shown_notify(), repeat(scope["notify"], "u1", "Hello")),
        "p4": (written(scope["sum_large"](numbers)), repeat(scope["sum_large"], numbers, units=len(numbers))),
    }


def answer(known, words):
    match words:
        case ["name"]:
            return "CPython " + platform.python_version()
        case ["items"]:
            return " ".join(known)
        case ["show", item] if item in known:
            return known[item][0]
        case ["run", item, count] if item in known:
            before = time.thread_time_ns()
            units = known[item][1](int(count))
            return f"{time.thread_time_ns() - before} {units}"
    return "?"


def main():
    known = items()
    for line in sys.stdin:
        print(answer(known, line.split()), flush=True)


main()
