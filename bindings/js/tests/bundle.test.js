/** Bundles of hosts for Node, as ES modules and as CommonJS: they run, or say what to import. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const dist = fileURLToPath(new URL("../dist", import.meta.url));
const host = (from) => `
    import * as ilo from "${from}";
    const program = ilo.build('; fn f(a: number) -> number\\n; Tools: 0=t\\n; Fields: 0=n\\nCALL 0 1 0 REF 0\\n');
    program.run({ a: 20 }, { tools: { t: { execute: ({ n }) => n * 2 + 2 } } }).then((outcome) => console.log(outcome.value));`;

async function bundled(t, from, format, copies = []) {
    const around = fileURLToPath(new URL("../node_modules/.cache", import.meta.url));
    mkdirSync(around, { recursive: true });
    const folder = mkdtempSync(join(around, "bundle-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const file = join(folder, format === "esm" ? "host.mjs" : "host.cjs");
    const stdin = { contents: host(from), resolveDir: fileURLToPath(new URL("..", import.meta.url)) };
    await build({ stdin, bundle: true, platform: "node", format, outfile: file, logLevel: "silent" });
    for (const copy of copies) copyFileSync(join(dist, copy), join(folder, copy));
    const ran = spawnSync(process.execPath, [file], { encoding: "utf8", cwd: folder });
    return { out: ran.stdout, error: ran.stderr };
}

for (const format of ["esm", "cjs"]) {
    test(`a bundle of ilo-vm/inline runs: ${format}`, async (t) => {
        assert.equal((await bundled(t, "ilo-vm/inline", format)).out, "42\n");
    });
    test(`a bundle of ilo-vm without its module says what to do: ${format}`, async (t) => {
        const { error } = await bundled(t, "ilo-vm", format);
        assert.match(error, /`ilo\.wasm` is not where this package expects it.*`ilo-vm\/inline`.*copy `node_modules\/ilo-vm\/dist\/ilo\.wasm`/);
    });
    test(`a bundle of ilo-vm with its module beside it runs: ${format}`, async (t) => {
        const { out, error } = await bundled(t, "ilo-vm", format, ["ilo.wasm"]);
        assert.equal(out, "42\n", error);
    });
}
