// Takes pictures of the page at several sizes in both schemes, to look at: node tests/pictures.mjs FOLDER

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { FILE, launch, open } from "./browser.mjs";

const folder = process.argv[2] ?? join(import.meta.dirname, "../dist/pictures");
mkdirSync(folder, { recursive: true });
const browser = await launch();
const example = (page, title) => page.selectOption("#examples", { label: title });
const idle = (page) => page.waitForTimeout(400);

const SCENES = {
    start: async () => {},
    mistakes: async (page) => {
        await example(page, "A first try, with mistakes");
        await page.locator(".problem").first().waitFor();
    },
    help: async (page) => {
        await page.locator("#source .cm-line", { hasText: "call: send-email" }).click({ position: { x: 200, y: 8 } });
        for (let times = 0; times < 6; times++) await page.keyboard.press("Backspace");
        await page.keyboard.press("Control+Space");
        await page.locator("#source .cm-tooltip-autocomplete").waitFor();
    },
    run: async (page) => {
        await page.click("#start");
        await page.locator("#outcome .card").waitFor();
    },
    side: async (page) => {
        await example(page, "Prices, looked up side by side");
        await idle(page);
        await page.click("#start");
        await page.locator("#outcome .card").waitFor();
    },
    rollback: async (page) => {
        await example(page, "A purchase that is rolled back");
        await idle(page);
        await page.click("#start");
        await page.locator("#outcome .card").waitFor();
        await page.locator(".timeline summary").nth(1).click();
    },
    step: async (page) => {
        await page.click("#step");
        await page.locator("#waiting .card").waitFor();
    },
    graph: (page) => page.click("#tab-graph"),
    notations: async (page) => {
        await page.click("#tab-notations");
        await page.click("#notation-mcp");
    },
    bytecode: (page) => page.click("#tab-bytecode"),
    tools: (page) => page.click("#tab-tools"),
    inputs: (page) => page.click("#tab-inputs"),
    keys: (page) => page.click("#keys"),
    empty: async (page) => {
        await page.locator("#source .cm-content").focus();
        await page.keyboard.press("Control+a");
        await page.keyboard.press("Delete");
    },
};
const SIZES = { wide: [1400, 900], narrow: [390, 844], middle: [820, 1100] };
const wanted = process.argv[3]?.split(",") ?? Object.keys(SCENES);

for (const [size, [width, height]] of Object.entries(SIZES)) {
    for (const colorScheme of ["light", "dark"]) {
        for (const scene of wanted) {
            const { page, context, complaints } = await open(browser, FILE, { viewport: { width, height }, colorScheme });
            await SCENES[scene](page);
            await idle(page);
            const overflow = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
            if (overflow || complaints.length > 0) console.log(size, colorScheme, scene, overflow ? "wider than the window" : "", ...complaints);
            await page.screenshot({ path: join(folder, `${size}-${colorScheme}-${scene}.png`), fullPage: size === "narrow" && scene !== "keys" });
            await context.close();
        }
    }
}
await browser.close();
