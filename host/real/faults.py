"""A process that is stopped for a while, a full disk and a clock that goes back, in the middle of runs with a journal,
on the command line and in `serve`: faults.py ILO_VM. A tool writes a line for each call that it carries out. Each run must
end with every call made once, or stop with a message that says what to do, and then end so after `resume`.

The full disk needs root (a small tmpfs), the clock libfaketime; what is missing is said."""

import glob
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

ilo, CALLS = sys.argv[1], 300
preloads = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
failed = []


class Trial:
    """A folder with a tools file, a program of CALLS calls, a clock that can be set, and a journal on a small disk."""

    def __init__(self, small):
        self.folder = tempfile.mkdtemp()
        self.disk = os.path.join(self.folder, "disk")
        os.mkdir(self.disk)
        self.mounted = small and subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", self.disk]).returncode == 0
        self.made = self.path("made")
        self.clock = self.path("clock")
        self.set_clock("+0")
        code = f"read a; echo \"$a\" >> {self.made}; echo '{{\"id\": \"{'x' * 300}\"}}'"
        self.tools = self.write("tools.json", json.dumps({"tools": {"pay": {"command": ["sh", "-c", code]}}}))
        self.program = self.write("shop.workflow.yaml", "name: shop\noutput: number\nsteps:\n  - let: all\n    for: i\n"
                                  f"    in: ${{range({CALLS})}}\n    yield:\n      - let: r\n        call: pay\n"
                                  "        args: {n: '${i}'}\n      - yield: ${r.id}\n  - return: ${len(all)}\n")
        self.journal = ["--journal", os.path.join(self.disk, "journal")]

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def set_clock(self, offset):
        self.write("clock", offset)

    def start(self, *line):
        environment = dict(os.environ)
        if preloads:
            environment |= {"LD_PRELOAD": preloads[0], "FAKETIME_TIMESTAMP_FILE": self.clock, "FAKETIME_NO_CACHE": "1",
                            "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        return subprocess.Popen([ilo, *line], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)

    def calls(self):
        """The calls that the tool carried out."""
        if not os.path.exists(self.made):
            return []
        with open(self.made) as file:
            return file.read().split("\n")[:-1]

    def until(self, number, process):
        while process.poll() is None and len(self.calls()) < number:
            time.sleep(0.02)

    def grow(self):
        if self.mounted:
            subprocess.run(["mount", "-o", "remount,size=64m", self.disk], check=True)

    def end(self):
        if self.mounted:
            subprocess.run(["umount", "-l", self.disk])


def stop(trial, process):
    process.send_signal(signal.SIGSTOP)
    time.sleep(3)
    process.send_signal(signal.SIGCONT)


def back(trial, _):
    trial.set_clock("-3d")


FAULTS = {"stopped for 3 s": stop, "clock set back by 3 days": back, "full disk": lambda trial, process: None}


def expect(title, holds, shown):
    print(("ok      " if holds else "FAILED  ") + title + ("" if holds else f": {shown[-600:]}"), flush=True)
    failed.extend([] if holds else [title])


def finish(trial, title, out, error):
    """Continues a run until it has ended, decides calls in doubt by what the tool wrote, and counts the calls."""
    trial.grow()
    for _ in range(5):
        if '"status":"suspended"' not in out:
            break
        state = json.loads(out)
        if state["reason"] == "in-doubt":
            call, made = state["call"], len(trial.calls())
            word = ["answer", "--value", '{"id":"x"}'] if made >= call["number"] else ["retry"]
            done = trial.start("runs", word[0], str(state["run"]), "--call", str(call["number"]), *word[1:], *trial.journal)
            done.communicate()
        process = trial.start("resume", str(state["run"]), "--tools", trial.tools, *trial.journal)
        out, error = process.communicate(timeout=300)
    numbers = [json.loads(line)["n"] for line in trial.calls()]
    expect(title, f'"value":{CALLS}' in out and numbers == list(range(CALLS)), f"{out} {error} {numbers[-3:]}")


def on_the_command_line(name):
    trial = Trial(name == "full disk")
    process = trial.start("run", trial.program, "--tools", trial.tools, *trial.journal)
    trial.until(CALLS // 6, process)
    FAULTS[name](trial, process)
    out, error = process.communicate(timeout=300)
    if trial.mounted:
        expect(f"run: {name} is said", "journal-full" in error and process.returncode == 4, f"{out} {error}")
    finish(trial, f"run: {name}, each call once", out, error)
    trial.end()


def in_serve(name):
    trial = Trial(name == "full disk")
    server = trial.start("serve", trial.program, "--http", "0", "--tools", trial.tools, *trial.journal)
    host = next(line for line in server.stderr if "serving http://" in line).split("//")[1].split("/")[0]
    threading.Thread(target=server.stderr.read, daemon=True).start()

    def call(tool):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": tool, "arguments": {}, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "faults", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {}}}})
        connection = http.client.HTTPConnection(host, timeout=300)
        connection.request("POST", "/mcp", body, {
            "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
            "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool})
        return connection.getresponse().read().decode()

    answers = []
    client = threading.Thread(target=lambda: answers.append(call("shop")))
    client.start()
    if not trial.mounted:
        trial.until(CALLS // 6, server)
    FAULTS[name](trial, server)
    client.join(timeout=300)
    answer = answers[0] if answers else "no answer"
    if trial.mounted:
        expect(f"serve: {name} is said", "journal" in answer and '"isError":true' in answer, answer)
        again = call("shop")
        expect(f"serve: {name}, and it goes on to answer", '"isError":true' in again, again)
        server.terminate()
        server.wait(timeout=100)
        trial.grow()
        listed = trial.start("runs", "list", "--json", *trial.journal).communicate()[0]
        run = json.loads(listed.splitlines()[-1])
        run = run[0] if isinstance(run, list) else run
        number = run.get("run", run.get("id", 1))
        out, error = trial.start("resume", str(number), "--tools", trial.tools, *trial.journal).communicate(timeout=300)
        finish(trial, f"serve: {name}, each call once after `resume`", out, error)
    else:
        numbers = [json.loads(line)["n"] for line in trial.calls()]
        expect(f"serve: {name}, each call once", str(CALLS) in answer and '"isError":true' not in answer
               and numbers == list(range(CALLS)), answer)
        server.terminate()
        server.wait(timeout=100)
    trial.end()


for fault in FAULTS:
    if fault == "full disk" and os.getuid() != 0:
        print("left out: a full disk needs root")
    elif fault.startswith("clock") and not preloads:
        print("left out: the clock needs libfaketime (package faketime)")
    else:
        on_the_command_line(fault)
        in_serve(fault)
sys.exit(1 if failed else 0)
