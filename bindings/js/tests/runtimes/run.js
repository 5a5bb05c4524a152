// Runs the smoke test on Node, Deno, Bun and workerd, and prints the fuel, which is the same on each.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Miniflare } from "miniflare";

const cwd = fileURLToPath(new URL(".", import.meta.url));
const found = new Map();
for (const [name, command, ...given] of [
    ["Node", process.execPath, "main.js"],
    ["Deno", "node_modules/.bin/deno", "run", "--allow-read", "--no-lock", "--node-modules-dir=manual", "main.js"],
    ["Bun", "node_modules/.bin/bun", "main.js"],
]) {
    const ran = spawnSync(command, given, { cwd, encoding: "utf8" });
    assert.equal(ran.status, 0, `${name}: ${ran.error?.message ?? ran.stderr}`);
    found.set(name, ran.stdout.trim());
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const worker = new Miniflare({
    rootPath: root,
    modulesRoot: root,
    scriptPath: "tests/runtimes/worker.js",
    modules: true,
    modulesRules: [
        { type: "ESModule", include: ["**/*.js"] },
        { type: "CompiledWasm", include: ["**/*.wasm"] },
    ],
    compatibilityDate: "2026-04-01",
});
try {
    found.set("workerd", await (await worker.dispatchFetch("http://localhost/")).text());
} finally {
    await worker.dispose();
}
for (const [name, line] of found) console.log(`${name}: ${line}`);
assert.equal(new Set(found.values()).size, 1);
assert.match(found.get("Node"), /^Hello, user 7, fuel \d+$/);
