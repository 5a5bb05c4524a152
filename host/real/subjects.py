"""Subjects that attack a quiet one: subjects.py ILO_VM MINUTES. Twenty subjects behind a proxy, each in its own way,
and one that runs a small program twice a second. Meanwhile the two servers behind it are killed at random. Measured
before, without the attackers, and during the attack: the waits of the quiet subject, and the server's memory, threads
and files. A call of a killed server ends with its value, or with a failure that says whether it was made."""

import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ilo, minutes = sys.argv[1], float(sys.argv[2])
folder = tempfile.mkdtemp()
QUIET_S = 30
over = threading.Event()
counts, ends, lock = {}, {}, threading.Lock()

def write(name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


# The servers behind it are `ilo-vm serve` themselves.
inner = write("inner.json", '{"tools": {"wait": {"mock": {"delay_ms": 20, "returns": 1}}}}')
echo = write("echo.ilo", "; fn echo(x: any) -> any\n; Tools: 0=wait\nLET 1 CALL 0 0\nRET REF 0\n")
processes = [os.path.join(folder, f"process-{number}") for number in range(2)]
servers = {f"s{number}": {"command": "sh", "args": ["-c", f"echo $$ > {path}; exec {ilo} serve --tools {inner} {echo}"]}
           for number, path in enumerate(processes)}
tools = write("tools.json", json.dumps({
    "mcpServers": servers,
    "tools": {
        "wait": {"mock": {"delay_ms": 200, "returns": 1}, "read_only": True},
        "quick": {"mock": {"delay_ms": 2, "returns": 1}, "read_only": True},
        "buy": {"mock": {"returns": 1}, "confirm": True},
    },
}))


def program(body, tools="quick"):
    return {"source": f"; fn f() -> any\n; Tools: 0={tools}\n{body}\n"}


SMALL = program("RET CALL 0 0")
LONG = program("RET CALL 0 0", "wait")
ASK = program("RET CALL 0 0", "buy")
WORK = program("LET 1 RANGE LIT 1 30000\nFOR 2 REF 1 1\nLET 3 RANGE LIT 1 100\nRET LIT 1 1")
LARGE = program("LET 1 RANGE LIT 1 200000\nRET REF 1")

server = subprocess.Popen(
    [ilo, "serve", "--http", "0", "--trusted-proxy", "127.0.0.1", "--subject-header", "x-remote-user",
     "--tools", tools],
    stderr=subprocess.PIPE, text=True,
)
host = next(line for line in server.stderr if "serving http://" in line).split("//")[1].split("/")[0]
threading.Thread(target=server.stderr.read, daemon=True).start()
address = (host.split(":")[0], int(host.split(":")[1]))


def body_of(arguments):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "run_program", "arguments": arguments, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "soak", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}}})


def headers(who):
    return {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
            "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "run_program",
            "X-Remote-User": who}


def call(who, arguments, timeout=120):
    connection = http.client.HTTPConnection(host, timeout=timeout)
    try:
        connection.request("POST", "/mcp", body_of(arguments), headers(who))
        return connection.getresponse().read().decode()
    finally:
        connection.close()


def raw(who, body, length=None):
    """A connection on which a request was begun, and not ended if `length` is more than the body has."""
    lines = [f"{name}: {value}" for name, value in headers(who).items()]
    head = f"POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length or len(body)}\r\n" + "\r\n".join(lines) + "\r\n\r\n"
    connection = socket.create_connection(address, timeout=30)
    connection.sendall((head + body).encode())
    return connection


def hold(makes, number, seconds):
    """Keeps some connections open for a time."""
    held = [makes() for _ in range(number)]
    time.sleep(seconds)
    for connection in held:
        connection.close()


def begins_sessions(who):
    hello = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}})
    connection = http.client.HTTPConnection(host, timeout=30)
    connection.request("POST", "/mcp", hello, {"Content-Type": "application/json", "X-Remote-User": who,
                                               "Accept": "application/json, text/event-stream"})
    answer = connection.getresponse()
    answer.read()
    connection.close()


def half_head():
    connection = socket.create_connection(address, timeout=30)
    connection.sendall(b"POST /mcp HTTP/1.1\r\nHost: x\r\nX-A: ")
    return connection


def calls_what_is_killed(who):
    value = random.randrange(1 << 40)
    source = "; fn f(x: any) -> any\n; Tools: 0=mcp://s0/echo 1=mcp://s1/echo\n; Fields: 0=x\n" \
        "LET 1 CALL 0 1 0 REF 0\nRET CALL 1 1 0 REF 1\n"
    text = call(who, {"source": source, "inputs": {"x": value}})
    if "data: {" in text:
        text = next(line[6:] for line in text.splitlines() if line.startswith("data: {"))
    outcome = json.loads(text).get("result", {}).get("structuredContent", {}).get("outcome", {})
    message = outcome.get("message", "")
    kind = "ok" if outcome.get("status") == "ok" and outcome["value"] == value else \
        "not made" if "not made" in message else \
        "in doubt" if "not known" in message or "took longer" in message else \
        "cancelled" if "was cancelled" in message else \
        "refused" if "nothing was done" in text else "wrong"
    with lock:
        ends[kind] = ends.get(kind, 0) + 1
        if kind == "wrong" and ends[kind] <= 5:
            print("  ", text[:400], flush=True)


def kill_servers():
    while not over.is_set():
        time.sleep(random.uniform(0.5, 3))
        try:
            with open(random.choice(processes)) as file:
                os.kill(int(file.read()), random.choice([signal.SIGKILL, signal.SIGTERM]))
            with lock:
                ends["killed"] = ends.get("killed", 0) + 1
        except (OSError, ValueError):
            pass


ATTACKS = {
    "killed servers": calls_what_is_killed,
    "many runs": lambda who: call(who, LONG),
    "computations": lambda who: call(who, WORK),
    "sessions": begins_sessions,
    "half heads": lambda who: hold(half_head, 40, 3),
    "slow bodies": lambda who: hold(lambda: raw(who, "x" * 70_000, 900_000), 8, 3),
    "unread answers": lambda who: hold(lambda: raw(who, body_of(LARGE)), 8, 3),
    "open questions": lambda who: call(who, ASK, 20),
    "no JSON": lambda who: raw(who, "{" * 10_000).close(),
    "broken off": lambda who: hold(lambda: raw(who, body_of(LONG)), 8, 0.05),
    "deep programs": lambda who: call(who, program("RET " + "NOT " * 50_000 + "1")),
}


def attack(who, name):
    while not over.is_set():
        try:
            ATTACKS[name](who)
            with lock:
                counts[name] = counts.get(name, 0) + 1
        except (OSError, http.client.HTTPException):
            time.sleep(0.05)


def quiet(seconds):
    """The waits of the quiet subject in milliseconds. Anything but an outcome is an error."""
    waits, wrong, until = [], [], time.time() + seconds
    while time.time() < until and server.poll() is None:
        begun = time.time()
        try:
            answer = call("quiet", SMALL)
            if '"status":"ok"' not in answer and r'\"status\":\"ok\"' not in answer:
                wrong.append(answer[:300])
        except (OSError, http.client.HTTPException) as error:
            wrong.append(repr(error))
        waits.append((time.time() - begun) * 1000)
        time.sleep(0.5)
    return sorted(waits), wrong


def state():
    with open(f"/proc/{server.pid}/status") as status:
        memory = next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmRSS:"))
    return f"{memory} MB, {len(os.listdir(f'/proc/{server.pid}/task'))} threads, {len(os.listdir(f'/proc/{server.pid}/fd'))} files"


def shown(title, waits, wrong):
    print(f"{title}: {len(waits)} runs of the quiet subject, median {waits[len(waits) // 2]:.0f} ms, "
          f"99 % {waits[len(waits) * 99 // 100]:.0f} ms, longest {waits[-1]:.0f} ms, {len(wrong)} wrong", flush=True)
    for line in wrong[:5]:
        print("  ", line)


print("at the start:", state(), flush=True)
idle, wrong = quiet(QUIET_S)
shown("without attackers", idle, wrong)
for number in range(20):
    for _ in range(4):
        threading.Thread(target=attack, args=(f"loud-{number}", list(ATTACKS)[number % len(ATTACKS)]), daemon=True).start()
threading.Thread(target=kill_servers, daemon=True).start()
halves = [quiet(minutes * 30)]
middle = state()
halves.append(quiet(minutes * 30))
during, failed = sorted(halves[0][0] + halves[1][0]), halves[0][1] + halves[1][1]
shown(f"{minutes:g} minutes with twenty attackers", during, failed)
print(f"in the middle: {middle}\nat the end: {state()}", flush=True)
alive = server.poll() is None
over.set()
time.sleep(12)
after, wrong_after = quiet(QUIET_S)
shown("after them", after, wrong_after)
print("at the end:", state())
print("attacks:", ", ".join(f"{name} {number}" for name, number in sorted(counts.items())))
print("calls of killed servers:", ", ".join(f"{name} {number}" for name, number in sorted(ends.items())))
server.kill()
sys.exit(0 if alive and not failed and not wrong and not wrong_after and "wrong" not in ends else 1)
