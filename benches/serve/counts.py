"""Instructions that an MCP server takes for one call of `add`, outside the kernel: counts.py stdio|http COMMAND…

Valgrind counts them for 200 and for 1,200 calls of one client; a thousandth of the difference is printed. The figure
does not depend on what else the machine does."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

over, command = sys.argv[1], sys.argv[2:]
START = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "counts", "version": "1"}}


def count(calls):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
        server = subprocess.Popen(valgrind + command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if over == "stdio":
            def send(message, answered):
                server.stdin.write((json.dumps(message) + "\n").encode())
                server.stdin.flush()
                line = b""
                while answered and b'"id"' not in line:
                    line = server.stdout.readline()
                return line.decode()
        else:
            host = None
            while host is None:
                host = re.search(rb"http://([0-9.:]+)/mcp", server.stderr.readline())
            connection = http.client.HTTPConnection(host.group(1).decode())
            headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

            def send(message, _answered):
                connection.request("POST", "/mcp", json.dumps(message), headers)
                answer = connection.getresponse()
                if session := answer.headers.get("mcp-session-id"):
                    headers.update({"Mcp-Session-Id": session, "Mcp-Protocol-Version": START["protocolVersion"]})
                return answer.read().decode()

        send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": START}, True)
        send({"jsonrpc": "2.0", "method": "notifications/initialized"}, False)
        for number in range(1, calls + 1):
            params = {"name": "add", "arguments": {"a": number, "b": 1}}
            answer = send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}, True)
            assert str(number + 1) in answer, answer
        server.stdin.close()
        if over != "stdio":
            server.send_signal(signal.SIGTERM)
        server.wait()
        with open(out) as counted:
            return int(re.search(r"^(?:totals|summary): (\d+)", counted.read(), re.M).group(1))


print((count(1200) - count(200)) // 1000)
