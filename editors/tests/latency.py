#!/usr/bin/env python3
"""Measures the time from a change of a document to its diagnostics, through a real server.

Usage: latency.py ILO_ASM. It takes examples/notify.ilo, and as many copies of it as make 0.82 MB.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import time

LARGE = 820_000


class Server:
    def __init__(self, program):
        self.process = subprocess.Popen([program, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        self.process.stdin.flush()

    def read(self):
        length = int(self.process.stdout.readline().split(b":")[1])
        self.process.stdout.readline()
        return json.loads(self.process.stdout.read(length))

    def wait(self, wanted):
        while True:
            message = self.read()
            if wanted(message):
                return message


def measure(server, name, text, times):
    uri = f"file:///{name}.ilo"
    shown = lambda message: message.get("method") == "textDocument/publishDiagnostics"
    document = {"uri": uri, "languageId": "ilo", "version": 0, "text": text}
    server.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
    server.wait(shown)
    taken = []
    for version in range(1, times + 1):
        # An error that appears and disappears, as while typing.
        typed = text.replace("RET_OK LIT 2 nil", "RET_OK LIT 2 ni", 1) if version % 2 else text
        change = {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": typed}]}
        begun = time.perf_counter()
        server.send({"method": "textDocument/didChange", "params": change})
        found = server.wait(shown)["params"]["diagnostics"]
        taken.append(1000 * (time.perf_counter() - begun))
        assert bool(found) == bool(version % 2), found
    taken.sort()
    print(f"{name}: {len(text)} bytes, median {statistics.median(taken):.2f} ms, best {taken[0]:.2f} ms, {times} changes")


def main():
    notify = (pathlib.Path(__file__).parents[2] / "examples/notify.ilo").read_text()
    count = LARGE // len(notify)
    large = "\n".join(notify.replace("fn notify", f"fn notify{number}", 1) for number in range(count))
    server = Server(sys.argv[1])
    server.send({"id": 1, "method": "initialize", "params": {"capabilities": {}}})
    server.wait(lambda message: message.get("id") == 1)
    server.send({"method": "initialized", "params": {}})
    measure(server, "notify", notify, 200)
    measure(server, "large", large, 40)
    server.send({"id": 2, "method": "shutdown"})
    server.wait(lambda message: message.get("id") == 2)
    server.send({"method": "exit"})
    assert server.process.wait(10) == 0


main()
