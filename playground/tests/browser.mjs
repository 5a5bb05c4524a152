// Opens the page in a real browser, and records the messages of its console.

import { chromium } from "playwright-core";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after } from "node:test";
import { pathToFileURL } from "node:url";

const dist = process.env.PAGE ?? join(import.meta.dirname, "../dist/index.html");
/** The page on disk. */
export const FILE = pathToFileURL(dist).href;

const FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
];

/** Starts the browser: Debian's, or the one that CHROMIUM names. */
export function launch() {
    const executablePath = process.env.CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);
    if (executablePath === undefined) throw new Error("no chromium: install it, or name it in CHROMIUM");
    return chromium.launch({ executablePath, headless: true, args: FLAGS });
}

/** Serves the page and nothing else. */
export async function serve() {
    const server = createServer((request, response) => {
        const there = new URL(request.url, "http://x").pathname === "/";
        response.writeHead(there ? 200 : 404, { "content-type": "text/html; charset=utf-8" });
        response.end(there ? readFileSync(dist) : "");
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

/** Starts both for the tests of a file, and ends them after the tests. */
export async function started() {
    const [browser, server] = [await launch(), await serve()];
    after(async () => {
        await browser.close();
        server.close();
    });
    return { browser, server };
}

/** A page, with the errors and warnings of its console. */
export async function open(browser, url, options = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    const page = await context.newPage();
    const complaints = [];
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.setDefaultTimeout(30_000);
    await page.goto(url);
    await page.waitForFunction(() => document.querySelector("#verdict")?.textContent !== "");
    return { page, complaints, context };
}

/** Replaces the text of an editor by typing. */
export async function type(page, editor, text) {
    await page.locator(`${editor} .cm-content`).focus();
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Delete");
    await page.keyboard.insertText(text);
}

/** The text of an editor. */
export function textOf(page, editor) {
    return page.locator(`${editor} .cm-content`).evaluate((content) => content.cmTile?.view.state.doc.toString() ?? content.cmView.view.state.doc.toString());
}
