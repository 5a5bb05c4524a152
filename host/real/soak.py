"""Clients that call `ilo-vm serve` over HTTP without a pause, while the servers behind it are killed at random:
soak.py ILO_VM MINUTES. Each run must end with a value or with a failure that says whether its call was made; the
server must stay, and its memory must not grow."""

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

ilo, minutes = sys.argv[1], float(sys.argv[2])
folder = tempfile.mkdtemp()
SERVERS, CLIENTS = 4, 8


def write(name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


# The servers are `ilo-vm serve` themselves: two over standard streams, two over HTTP, which a loop starts again.
tools = write("inner.json", '{"tools": {"wait": {"mock": {"delay_ms": 2, "returns": 1}}}}')
program = write("echo.ilo", "; fn echo(x: any) -> any\n; Tools: 0=wait\nLET 1 CALL 0 0\nRET REF 0\n")
servers, ports = {}, []
for number in range(SERVERS):
    pids = os.path.join(folder, f"pids-{number}")
    line = f"echo $$ > {pids}; exec {ilo} serve --tools {tools} {program}"
    if number % 2:
        ports.append((pids, f"{line} --http {40100 + os.getpid() % 9000 + number}"))
        servers[f"s{number}"] = {"url": f"http://127.0.0.1:{40100 + os.getpid() % 9000 + number}/mcp"}
    else:
        servers[f"s{number}"] = {"command": "sh", "args": ["-c", line]}
over = threading.Event()


def keep(line):
    while not over.is_set():
        subprocess.run(["sh", "-c", line], stderr=subprocess.DEVNULL)


for _, line in ports:
    threading.Thread(target=keep, args=(line,), daemon=True).start()
time.sleep(1)
outer = subprocess.Popen(
    [ilo, "serve", "--http", "0", "--max-client-runs", "16", "--tools", write("tools.json", json.dumps({"mcpServers": servers}))],
    stderr=subprocess.PIPE, text=True,
)
host = next(line for line in outer.stderr if "serving http://" in line).split("//")[1].split("/")[0]
threading.Thread(target=outer.stderr.read, daemon=True).start()

steps = "".join(f"LET {number + 1} CALL {number} 1 0 REF 0\n" for number in range(SERVERS))
names = " ".join(f"{number}=mcp://s{number}/echo" for number in range(SERVERS))
source = f"; fn f(x: any) -> any\n; Tools: {names}\n; Fields: 0=x\n{steps}RET REF {SERVERS}\n"
counts, lock, kills = {"ok": 0, "not made": 0, "in doubt": 0, "cancelled": 0, "wrong": []}, threading.Lock(), 0


def client(seed):
    chosen, connection = random.Random(seed), None
    while not over.is_set():
        value = {"n": chosen.randrange(1 << 40), "text": "x" * chosen.randrange(2000)}
        call = {"name": "run_program", "arguments": {"source": source, "inputs": {"x": value}}, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "soak", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {}}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
                   "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "run_program"}
        try:
            connection = connection or http.client.HTTPConnection(host, timeout=120)
            connection.request("POST", "/mcp", body, headers)
            text = connection.getresponse().read().decode()
            data = next(line[6:] for line in text.splitlines() + [text] if line.startswith("data: {")) if "data: {" in text else text
            outcome = json.loads(data)["result"]["structuredContent"]["outcome"]
        except Exception as error:
            connection = None
            with lock:
                counts["wrong"] += [] if over.is_set() else [repr(error)]
            continue
        message = outcome.get("message", "")
        with lock:
            if outcome["status"] == "ok" and outcome["value"] == value:
                counts["ok"] += 1
            elif "not made" in message:
                counts["not made"] += 1
            elif "not known" in message or "took longer" in message:
                counts["in doubt"] += 1
            elif "was cancelled, and its rollback entries have run" in message:
                counts["cancelled"] += 1
            else:
                counts["wrong"].append(json.dumps(outcome)[:300])


def memory():
    with open(f"/proc/{outer.pid}/status") as status:
        return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmRSS:"))


def files():
    return len(os.listdir(f"/proc/{outer.pid}/fd")), len(os.listdir(f"/proc/{outer.pid}/task"))


for seed in range(CLIENTS):
    threading.Thread(target=client, args=(seed,), daemon=True).start()
begun, shown, chosen, seen = time.time(), 0, random.Random(7), []
while time.time() - begun < minutes * 60 and outer.poll() is None:
    time.sleep(chosen.uniform(0.2, 2))
    victim = chosen.randrange(SERVERS)
    try:
        with open(os.path.join(folder, f"pids-{victim}")) as file:
            os.kill(int(file.read()), chosen.choice([signal.SIGKILL, signal.SIGTERM]))
        kills += 1
    except (OSError, ValueError):
        pass
    seen.append(memory())
    if (time.time() - begun) / 60 >= shown:
        (open_files, threads), shown = files(), shown + max(1, minutes / 10)
        print(f"after {(time.time() - begun) / 60:4.1f} min: {seen[-1]} MB, {threads} threads, {open_files} files, "
              f"{counts['ok']} runs, {kills} kills", flush=True)
over.set()
alive = outer.poll() is None
time.sleep(1)
outer.kill()
for number in range(SERVERS):
    subprocess.run(["sh", "-c", f"kill $(cat {folder}/pids-{number})"], stderr=subprocess.DEVNULL)
half = len(seen) // 2
first, last = seen[half:][:20], seen[-20:]
grown = sum(last) / len(last) - sum(first) / len(first)
print(f"{minutes:g} minutes, {CLIENTS} clients, {kills} kills of {SERVERS} servers: {counts['ok']} runs ended well, "
      f"{counts['not made']} failed with a call that was not made, {counts['in doubt']} with one that is in doubt, "
      f"{counts['cancelled']} with one that its server cancelled as it ended, {len(counts['wrong'])} otherwise; memory grew by {grown:.1f} MB in the second half")
for wrong in counts["wrong"][:10]:
    print(wrong)
sys.exit(0 if alive and not counts["wrong"] and grown < 4 else 1)
