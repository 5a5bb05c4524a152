// Builds dist/index.html: the whole page in one file, which also opens from disk.
//
// node build.mjs [--core FILE] [--out FILE]    FILE: the WebAssembly module of ../bindings/js

import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { examplesModule } from "./examples.mjs";

const here = import.meta.dirname;
const { values } = parseArgs({
    options: {
        core: { type: "string", default: join(here, "../bindings/js/dist/ilo.wasm") },
        out: { type: "string", default: join(here, "dist/index.html") },
    },
});

/** Supplies the text of a module in place of a file. */
const instead = (filter, contents) => ({
    name: String(filter),
    setup: (built) => built.onLoad({ filter }, () => ({ contents: contents(), loader: "js" })),
});

async function bundle(entry, format, plugins = []) {
    const result = await build({
        entryPoints: [join(here, "src", entry)],
        bundle: true,
        minify: true,
        write: false,
        format,
        target: "es2022",
        charset: "utf8",
        legalComments: "none",
        logLevel: "warning",
        // The worker gets the module; its address is never requested.
        define: { "import.meta.url": '"file:///"' },
        plugins,
    });
    // An inline script ends at the first end tag, and a comment of HTML in it changes where that is.
    return result.outputFiles[0].text.trim().replaceAll("</script", "<\\/script").replaceAll("<!--", "\\x3C!--");
}

const worker = await bundle("worker.ts", "iife");
const script = await bundle("main.ts", "esm", [
    instead(/worker-text\.ts$/, () => `export default ${JSON.stringify(worker)};`),
    instead(/src\/examples\.ts$/, examplesModule),
]);
const style = (await build({ entryPoints: [join(here, "src/style.css")], minify: true, write: false, logLevel: "warning" })).outputFiles[0].text.trim();
const core = gzipSync(readFileSync(values.core), { level: 9 }).toString("base64");

/** Only the script of the page runs; nothing is loaded, nothing is sent. */
const policy = [
    "default-src 'none'",
    `script-src 'sha256-${createHash("sha256").update(script).digest("base64")}' 'wasm-unsafe-eval'`,
    "worker-src blob:",
    // The editor creates style elements.
    "style-src 'unsafe-inline'",
    "img-src data: blob:",
    "base-uri 'none'",
    "form-action 'none'",
].join("; ");

const parts = { policy, style, core, script };
const html = readFileSync(join(here, "src/index.html"), "utf8")
    .replace("<script>{{script}}", '<script type="module">{{script}}')
    .replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);
mkdirSync(dirname(values.out), { recursive: true });
writeFileSync(values.out, html);
const kB = (bytes) => `${(bytes / 1000).toFixed(0)} kB`;
const sizes = `${kB(html.length)}, gzipped ${kB(gzipSync(html, { level: 9 }).length)}; without the core ${kB(gzipSync(html.replace(core, ""), { level: 9 }).length)}`;
console.log(`${values.out}: ${sizes}`);
