#!/usr/bin/env python3
"""Uses `serve` from the protocol's official inspector: lists the tools, checks, runs and refuses a program.

usage: inspector.py [COMMAND…]        needs release/build.sh x86_64-unknown-linux-musl, or a command in its place
                                      (`npx -y ilo-vm`, `uvx ilo-vm`), Node, and the npm registry for the inspector
"""
import json, sys

from steps import EXAMPLE, OUT, environment, expect, folder, run

INSPECTOR = ["npx", "-y", "@modelcontextprotocol/inspector", "--cli"]
SOURCE = json.dumps({"function": "f", "input": {}, "output": "any", "steps": [{"return": 42}]})


def main():
    command = [*(sys.argv[1:] or [OUT / "x86_64-unknown-linux-musl/ilo-vm"]), "serve", "--tools", EXAMPLE[3]]
    env = environment(folder())

    def ask(method, *more, code=0):
        answer = run([*INSPECTOR, *command, "--method", method, *more], env, quiet=True, code=code)
        return json.loads(answer.stdout)

    def call(tool, source, code=0):
        return ask("tools/call", "--tool-name", tool, "--tool-arg", f"source={source}", code=code)

    tools = ask("tools/list")["tools"]
    expect([tool["name"] for tool in tools], ["run_program", "check_program", "find_tools"], "the tools")
    outcome = call("run_program", SOURCE)["structuredContent"]["outcome"]
    expect(outcome, {"status": "ok", "value": 42}, "the outcome")
    expect(call("check_program", SOURCE).get("isError", False), False, "a check")
    wrong = call("run_program", SOURCE.replace("42", '"$nobody"'))
    expect((wrong["isError"], "nobody" in wrong["content"][0]["text"]), (True, True), "a wrong program")
    print(f"{wrong['content'][0]['text'][:200]}\n4 passed, 0 failed")


if __name__ == "__main__":
    main()
