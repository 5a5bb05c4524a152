// The example agent runs.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

test("the agent errs, reads the diagnostics and fixes", () => {
    const example = fileURLToPath(new URL("../examples/agent.js", import.meta.url));
    const done = spawnSync(process.execPath, [example], { encoding: "utf8", timeout: 60_000 });
    assert.deepEqual([done.status, done.stdout], [0, "ok: Ada-42.50 after 2 attempts\n"], done.stderr);
});
