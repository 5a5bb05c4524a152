// The examples of the README run.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

test("the examples of the README run", () => {
    const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
    const examples = [...readme.matchAll(/^```js\n(.*?)^```/gms)].map((found) => found[1]);
    assert.equal(examples.length, 7);
    const cwd = fileURLToPath(new URL("..", import.meta.url));
    const outputs = examples.map((example) => {
        const ran = spawnSync(process.execPath, ["--input-type=module", "-"], { cwd, input: example, encoding: "utf8" });
        assert.equal(ran.status, 0, ran.stderr);
        return ran.stdout;
    });
    assert.match(outputs[0], /status: 'ok',\n {2}value: 'Hello, Ada'/);
    assert.match(outputs[1], /get-user/);
    assert.match(outputs[2], /error\[unknown-tool\][^]*value: true/);
    assert.match(outputs[3], /^line 2: get_user took \d+\.\d ms\n7@example\.org\n$/);
    assert.match(outputs[5], /value: 42/);
    assert.match(outputs[6], /^; fn email\(id: number\)[^]*Tools: 0=get_user[^]*\n(ok|err|fault)\n$/);
    assert.match(outputs[4], /^asking pay \{ amount: 90 \}\n[^]*value: 'paid 90'/);
});
