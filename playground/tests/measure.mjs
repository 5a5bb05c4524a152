// Measures the page in a real browser: node tests/measure.mjs

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { FILE, launch, serve } from "./browser.mjs";

const ROUNDS = 7;
const KEYS = 40;
const browser = await launch();
const server = await serve();
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const shown = (values) => `best ${values.sort((a, b) => a - b)[0].toFixed(1)} ms, median ${median(values).toFixed(1)} ms`;

/** Milliseconds from the start of loading the page until the first program is checked. */
async function load(url) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.addInitScript(() => {
        new MutationObserver((_, observer) => {
            if (!document.querySelector("#verdict")?.textContent) return;
            window.checkedAt = performance.now();
            observer.disconnect();
        }).observe(document, { childList: true, subtree: true, characterData: true });
    });
    await page.goto(url);
    const time = await (await page.waitForFunction(() => window.checkedAt)).jsonValue();
    await context.close();
    return time;
}

/** Milliseconds from each key to the matching list of problems. */
async function keys(url) {
    const page = await (await browser.newContext()).newPage();
    await page.goto(url);
    await page.waitForFunction(() => document.querySelector("#verdict")?.textContent);
    await page.selectOption("#examples", { label: "An order with a discount" });
    await page.waitForTimeout(500);
    return page.evaluate(async (count) => {
        const view = document.querySelector("#source .cm-content").cmTile.view;
        const at = view.state.doc.toString().indexOf("get-user") + 8;
        const times = [];
        for (let key = 0; key < count; key++) {
            await new Promise((resolve) => setTimeout(resolve, 60));
            times.push(await new Promise((resolve) => {
                const begun = performance.now();
                const observer = new MutationObserver(() => {
                    observer.disconnect();
                    resolve(performance.now() - begun);
                });
                observer.observe(document.querySelector("#problems"), { childList: true });
                view.dispatch({ changes: { from: at + key, insert: "x" }, userEvent: "input.type" });
            }));
        }
        return times;
    }, KEYS);
}

const html = readFileSync(fileURLToPath(FILE));
console.log(`page: ${html.length} bytes, gzip ${gzipSync(html, { level: 9 }).length}, brotli ${brotliCompressSync(html).length}`);
for (const [name, url] of [["from a server", server.url], ["from disk", FILE]]) {
    const times = [];
    for (let round = 0; round < ROUNDS; round++) times.push(await load(url));
    console.log(`load to checked, ${name}: ${shown(times)}`);
}
console.log(`key to diagnostics, 60 lines: ${shown(await keys(server.url))}`);
await browser.close();
server.close();
