// The page in a real browser: typing, fixing, running, stepping, sharing, from disk, by keys, narrow, dark.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { examples } from "../examples.mjs";
import { FILE, open, started, textOf, type } from "./browser.mjs";

const WRONG = `name: welcome
input:
  user-id: text
  message: text
output: result nil, text
steps:
  user:
    call: get-usr
    args:
      user-id: $.user-id
  done:
    return:
      ok: null
`;
const TOOLS = `{"get-user": {"mock": [{"when": {"user-id": "u1"}, "returns": {"email": "ada@example.com"}}, {"fails": "no such user"}]}}`;

const { browser, server } = await started();

/** A test with its own page, whose console must stay empty. */
function onPage(name, use, options = {}) {
    test(name, { timeout: options.timeout ?? 60_000 }, async () => {
        const { page, complaints, context } = await open(browser, options.url ?? server.url, options);
        await use(page, context);
        assert.deepEqual(complaints, []);
        await context.close();
    });
}

const verdict = (page, text) => page.waitForFunction((text) => document.querySelector("#verdict").textContent === text, text);
const outcome = (page) => page.locator("#outcome .card").waitFor().then(() => page.locator("#outcome .card").innerText());
const example = (page, label) => page.selectOption("#examples", { label });
/** Waits until the typed text has been checked. */
const checked = async (page) => {
    await page.waitForTimeout(50);
    await page.waitForFunction(() => document.querySelector("[aria-busy=true]") === null);
};

describe("problems", () => {
    onPage("appear as one types, with squiggles, fixes and explanations", async (page) => {
        await page.click("#tab-tools");
        await type(page, "#tools-editor", TOOLS);
        await page.click("#tab-problems");
        await type(page, "#source", WRONG);
        await verdict(page, "1 error");
        assert.equal(await page.locator("#source .cm-lintRange-error").innerText(), "get-usr");
        assert.match(await page.locator(".problem").innerText(), /8:11[^]*unknown-tool[^]*get-user/);
        assert.equal(await page.locator("#start").isDisabled(), true);
        await page.click(".problem .code");
        assert.match(await page.locator(".problem pre").innerText(), /has no tool with this name/);
        await page.click(".problem button:text-is('Fix')");
        await verdict(page, "no problems");
        assert.match(await textOf(page, "#source"), /call: get-user\n/);
        assert.equal(await page.locator("#source .cm-lintRange").count(), 0);
    });
    onPage("are all fixed at once", async (page) => {
        await example(page, "A first try, with mistakes");
        await page.locator(".problem").first().waitFor();
        const before = await page.locator(".problem").count();
        await page.click("#fix-all");
        await page.locator("#toast").waitFor();
        await checked(page);
        assert.ok((await page.locator(".problem").count()) < before);
    });
    onPage("of a tools file and of inputs are said", async (page) => {
        await page.click("#tab-tools");
        await type(page, "#tools-editor", '{"get-user": {"mock": {}}}');
        await page.locator("#tools-problem").waitFor();
        assert.match(await page.locator("#tools-problem").innerText(), /get-user.*`returns` or `fails`, found neither/);
        await page.click("#tab-inputs");
        await type(page, "#inputs-editor", "{");
        await page.locator("#inputs-problem").waitFor();
    });
});


describe("help at the cursor", () => {
    const tooltip = (page) => page.locator("#source .cm-about");
    onPage("offers the tools that may be called, and writes the chosen one", async (page) => {
        await page.click("#tab-tools");
        await type(page, "#tools-editor", TOOLS);
        await type(page, "#source", WRONG.replace("call: get-usr", "call: "));
        await page.keyboard.press("Control+Home");
        for (let line = 0; line < 7; line++) await page.keyboard.press("ArrowDown");
        await page.keyboard.press("End");
        await page.keyboard.type("get");
        const list = page.locator("#source .cm-tooltip-autocomplete");
        await list.waitFor();
        assert.match(await list.innerText(), /^get-user/);
        // The list accepts keys only some time after it opens.
        await page.waitForTimeout(150);
        await page.keyboard.press("Enter");
        await verdict(page, "no problems");
        assert.match(await textOf(page, "#source"), /call: get-user\n/);
        assert.equal(await list.count(), 0);
    });
    onPage("is given on request, and Escape puts it away", async (page) => {
        await page.locator("#source .cm-content").focus();
        await page.keyboard.press("Control+End");
        await page.keyboard.press("Control+Space");
        await page.locator("#source .cm-tooltip-autocomplete").waitFor();
        await page.keyboard.press("Escape");
        await page.locator("#source .cm-tooltip-autocomplete").waitFor({ state: "detached" });
    });
    onPage("says what a word means, to the pointer and to the keyboard", async (page) => {
        await page.click("#tab-tools");
        await type(page, "#tools-editor", `{"get-user": {"description": "Looks up <b>one</b> user.", "mock": [{"returns": {}}]}}`);
        await type(page, "#source", WRONG.replace("get-usr", "get-user"));
        await checked(page);
        await page.locator("#source .cm-line", { hasText: "call: get-user" }).hover({ position: { x: 100, y: 8 } });
        await tooltip(page).waitFor();
        // Text of a tools file is shown as text.
        assert.match(await tooltip(page).innerText(), /get-user.*\n+Looks up <b>one<\/b> user\./);
        await page.mouse.move(900, 600);
        await tooltip(page).waitFor({ state: "detached" });
        await page.locator("#source .cm-line", { hasText: "call: get-user" }).click({ position: { x: 100, y: 8 } });
        // A pointer that stays would bring the help back.
        await page.mouse.move(900, 600);
        await page.keyboard.press("Control+i");
        await tooltip(page).waitFor();
        await page.keyboard.press("Escape");
        await tooltip(page).waitFor({ state: "detached" });
        await type(page, "#source", "# a comment");
        await page.keyboard.press("Control+i");
        await page.locator("#toast").waitFor();
        // A tool that the program names with its server is the one that the check knows.
        await example(page, "Tools of MCP servers");
        await verdict(page, "no problems");
        await page.locator("#source .cm-line", { hasText: '"let": "user"' }).getByText("mcp://users/get-user").hover();
        await tooltip(page).waitFor();
        assert.match(await tooltip(page).innerText(), /^get-user\(user-id: text\).*\n+Looks up a user\./);
    });
});

describe("examples", () => {
    const looks = [[1400, "light"], [390, "dark"], [1400, "dark"], [390, "light"]];
    const all = examples();
    /** Runs an example to its end, as it is said to be. */
    async function runs(page, number, narrow) {
        const { title, ends, wrong } = all[number];
        await page.selectOption("#examples", String(number));
        await checked(page);
        const says = { ok: "a value", err: "an error of the program", fault: "a fault" }[ends.status];
        assert.ok((await page.locator("#ends").innerText()).includes(`ends with ${says}`), title);
        if (wrong) await page.click("#fix-all");
        await verdict(page, "no problems");
        await page.click("#start");
        await outcome(page);
        assert.equal(await page.locator("#outcome .card").getAttribute("class"), `card ${ends.status}`, title);
        assert.equal(await page.locator("#outcome li", { hasText: "rolled back by" }).count(), ends.rolledBack, title);
        if (narrow) await page.waitForFunction(() => document.querySelector("#outcome").getBoundingClientRect().top < innerHeight - 100);
    }
    // Each in one of the four looks; with ALL=1 each in all of them.
    onPage("end as they announce, wide and narrow, light and dark", async (page) => {
        for (const [turn, [width, colorScheme]] of looks.entries()) {
            await page.setViewportSize({ width, height: 844 });
            await page.emulateMedia({ colorScheme });
            for (const number of all.keys()) if (process.env.ALL || number % looks.length === turn) await runs(page, number, width < 800);
        }
    }, process.env.ALL ? { timeout: 600_000 } : {});
    test("have schemas of all their tools", () => {
        for (const { title, tools } of all) {
            for (const tool of Object.values(tools === "" ? {} : JSON.parse(tools).tools)) {
                const answers = [tool.mock].flat().some((answer) => "returns" in answer);
                assert.ok(tool.input_schema && (tool.output_schema || !answers), title);
            }
        }
    });
});

describe("a long program", () => {
    onPage("scrolls within its panel, by the wheel and with the cursor", async (page) => {
        await type(page, "#source", `; fn f() -> number\n${"LET 1 LIT 1 1\n".repeat(300)}RET REF 1`);
        const scroller = page.locator("#source .cm-scroller");
        const [all, shown] = await scroller.evaluate((one) => [one.scrollHeight, one.clientHeight]);
        assert.ok(shown < 500 && all > 3000, `${all} ${shown}`);
        const heading = await page.locator("#verdict").boundingBox();
        assert.ok(heading !== null && heading.y > 0 && heading.y < 100, JSON.stringify(heading));
        await page.keyboard.press("Control+Home");
        await page.waitForFunction(() => document.querySelector("#source .cm-scroller").scrollTop < 20);
        await scroller.hover();
        await page.mouse.wheel(0, 600);
        await page.waitForFunction(() => document.querySelector("#source .cm-scroller").scrollTop > 300);
    });
});

describe("lines and panels", () => {
    onPage("wrapped lines keep their indent; bars move by pointer and by keys", async (page) => {
        await type(page, "#source", `name: f\nsteps:\n      - ${"word ".repeat(60)}`);
        const [first, last] = await page.locator("#source .cm-line").nth(2).evaluate((line) => {
            const left = (at) => {
                const text = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
                let node = text.nextNode();
                for (; at >= node.length; node = text.nextNode()) at -= node.length;
                const range = document.createRange();
                range.setStart(node, at);
                range.setEnd(node, at + 1);
                return range.getBoundingClientRect();
            };
            const all = line.textContent;
            const start = all.indexOf("word");
            const rows = [...all].map((one, at) => [one, at]).filter(([one, at]) => one === "w" && at > start).map(([, at]) => left(at));
            return [left(start).left, Math.min(...rows.map((box) => box.left))];
        });
        assert.ok(Math.abs(first - last) < 2, `${first} ${last}`);
        const width = () => page.locator(".side").first().evaluate((side) => side.offsetWidth);
        const before = await width();
        const bar = await page.locator("#split-sides").boundingBox();
        await page.mouse.move(bar.x + 6, bar.y + 100);
        await page.mouse.down();
        await page.mouse.move(bar.x + 206, bar.y + 100);
        await page.mouse.up();
        assert.ok(Math.abs((await width()) - before - 200) < 12);
        for (let count = 0; count < 10; count++) await page.keyboard.press("ArrowLeft");
        assert.ok((await width()) < before + 20);
        await page.locator("#split-program").focus();
        await page.keyboard.press("Home");
        assert.equal(await page.locator("#split-program").getAttribute("aria-valuenow"), "15");
    });
});

describe("views", () => {
    onPage("all five notations, one of which becomes the program", async (page) => {
        await example(page, "An order with a discount");
        await page.click("#tab-notations");
        const begins = { id: /^; fn process/, "tool-calling": /^\{\s*"function"/, constrained: /^\{/, workflow: /^name: process/, mcp: /^\{\s*"meta"/ };
        for (const [notation, begin] of Object.entries(begins)) {
            await page.click(`#notation-${notation}`);
            await checked(page);
            assert.match(await textOf(page, "#converted"), begin, notation);
        }
        await page.click("#notation-id");
        await checked(page);
        await page.click("#use-converted");
        await page.waitForFunction(() => document.querySelector("#notation").textContent === "ID text");
        await verdict(page, "no problems");
    });
    onPage("the graph is a picture that was loaded, and the bytecode a listing", async (page) => {
        await page.click("#tab-graph");
        await page.waitForFunction(() => document.querySelector("#picture img")?.naturalHeight > 100);
        const [frame, picture] = await page.evaluate(() => ["#picture", "#picture img"].map((one) => document.querySelector(one).getBoundingClientRect().toJSON()));
        assert.ok(picture.right <= frame.right && picture.bottom <= frame.bottom, "the picture is in its frame");
        await page.click("#tab-bytecode");
        await checked(page);
        assert.match(await textOf(page, "#listing"), /tool/);
        assert.match(await page.locator("#bytes").innerText(), /^\d+ bytes/);
    });
    onPage("say why they are empty", async (page) => {
        await page.click("#tab-graph");
        await type(page, "#source", "nonsense");
        await page.waitForFunction(() => /errors/.test(document.querySelector("#picture").textContent));
    });
});

describe("runs", () => {
    onPage("with mocks: outcome, fuel, calls over time", async (page) => {
        await page.click("#start");
        assert.match(await outcome(page), /ok\n[^]*null/);
        assert.equal(await page.locator(".timeline details").count(), 2);
        assert.match(await page.locator("#figures").innerText(), /Fuel\s+\d+\s+Calls\s+2/);
        await page.locator(".timeline summary").first().click();
        assert.match(await page.locator(".timeline .detail").first().innerText(), /u1[^]*ada@example\.com/);
    });
    onPage("with rollbacks, which the outcome and the timeline show", async (page) => {
        await example(page, "A purchase that is rolled back");
        await checked(page);
        await page.click("#start");
        assert.match(await outcome(page), /err\n[^]*card declined[^]*release/);
        assert.equal(await page.locator(".timeline .rollback").count(), 1);
    });
    onPage("calls that only read go side by side", async (page) => {
        await example(page, "Prices, looked up side by side");
        await checked(page);
        await page.click("#start");
        assert.match(await outcome(page), /ok/);
        const bars = await page.locator(".timeline .lane i").evaluateAll((bars) => bars.map((bar) => [bar.offsetLeft, bar.offsetLeft + bar.offsetWidth]));
        assert.equal(bars.length, 8);
        assert.ok(bars[1][0] < bars[0][1], "the second call begins before the first ends");
        assert.equal(Math.min(...bars.map(([left]) => left)), 0, "the axis begins at the first call");
        const items = await page.locator(".timeline .call small").allInnerTexts();
        assert.deepEqual(items, ["lamp", "chair", "desk", "rug"].flatMap((item) => Array(2).fill(`{"item": "${item}"}`)), "rows are in the order of the program");
    });
    onPage("step by step: a person answers, fails and sees the snapshot", async (page) => {
        await page.click("#step");
        await page.locator("#waiting textarea").waitFor();
        assert.match(await page.locator("#figures").innerText(), /Snapshot\s+\d+ B/);
        assert.equal(await page.locator("#source .cm-waiting").count(), 1);
        assert.match(await page.locator("#waiting textarea").inputValue(), /ada@example\.com/);
        await page.fill("#waiting textarea", "{broken");
        await page.click("#waiting button:text-is('Answer')");
        await page.locator("#waiting .complaint").waitFor();
        await page.fill("#waiting textarea", '{"email": "x@example.com", "verified": true}');
        await page.click("#waiting button:text-is('Answer')");
        await page.waitForFunction(() => /send-email/.test(document.querySelector("#waiting").textContent));
        assert.match(await page.locator("#waiting pre").innerText(), /x@example\.com/);
        await page.fill("#waiting textarea", '"mailbox full"');
        await page.click("#waiting button:text-is('Fail')");
        assert.match(await outcome(page), /err\n[^]*Send failed: mailbox full/);
    });
    onPage("without a mock ask a person, and stop", async (page) => {
        await page.click("#tab-tools");
        await type(page, "#tools-editor", "");
        await checked(page);
        await page.click("#start");
        await page.locator("#waiting textarea").waitFor();
        await page.click("#stop");
        assert.match(await outcome(page), /cancelled/);
        assert.equal(await page.locator("#stop").isDisabled(), true);
    });
    onPage("say what is wrong with the inputs and the fuel", async (page) => {
        await page.click("#tab-inputs");
        await type(page, "#inputs-editor", '{"user-id": 1}');
        await checked(page);
        await page.click("#start");
        assert.match(await outcome(page), /refused\n[^]*user-id/);
        await page.click("#fill-inputs");
        assert.match(await textOf(page, "#inputs-editor"), /"message": ""/);
        await page.fill("#fuel", "1");
        await page.click("#start");
        assert.match(await outcome(page), /fuel/);
        await page.fill("#fuel", "none");
        await page.click("#start");
        assert.match(await outcome(page), /fuel limit is a whole number/);
    });
    onPage("with integers past 2^53, exactly", async (page) => {
        await page.click("#tab-tools");
        await type(page, "#tools-editor", "");
        await type(page, "#source", "name: same\ninput:\n  n: number\noutput: number\nsteps:\n  done:\n    return: $.n\n");
        await page.click("#tab-inputs");
        await type(page, "#inputs-editor", '{"n": 9007199254740993}');
        await verdict(page, "no problems");
        await page.click("#start");
        assert.match(await outcome(page), /9007199254740993/);
    });
});

describe("addresses", () => {
    onPage("hold everything, and open in another page", async (page) => {
        await type(page, "#source", WRONG);
        await page.click("#tab-tools");
        await type(page, "#tools-editor", TOOLS);
        await page.fill("#fuel", "12345");
        await page.click("#share");
        await page.locator("#toast").waitFor();
        const { page: other, complaints, context } = await open(browser, page.url());
        await verdict(other, "1 error");
        assert.equal(await textOf(other, "#source"), WRONG);
        assert.equal(await textOf(other, "#tools-editor"), TOOLS);
        assert.equal(await other.inputValue("#fuel"), "12345");
        assert.deepEqual(complaints, []);
        await context.close();
    });
});

describe("bad input", () => {
    onPage("10 MB of garbage do not hang the page", async (page) => {
        for (const [what, line] of [["one line", ""], ["lines", "\n"]]) {
            const begun = Date.now();
            await page.evaluate((line) => {
                const data = new DataTransfer();
                data.setData("text/plain", `\u0000{"steps": [${line}`.repeat(10_000_000 / (13 + line.length)));
                document.querySelector("#source .cm-content").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
            }, line);
            await page.locator("#toast").waitFor();
            assert.match(await page.locator("#toast").innerText(), /at most 2 MB/);
            assert.ok(Date.now() - begun < 20_000, what);
        }
    });
    onPage("2 MB of garbage are checked while the page answers keys", async (page) => {
        for (const unit of ['{"steps": [', "- a: [\n", "; fn f() ->\n", "]{}[\u0001\n"]) {
            await page.evaluate((unit) => {
                const view = document.querySelector("#source .cm-content").cmTile?.view ?? document.querySelector("#source .cm-content").cmView.view;
                view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: unit.repeat(2_000_000 / unit.length) } });
            }, unit);
            const begun = Date.now();
            await page.locator("#source .cm-content").focus();
            await page.keyboard.press("Control+Home");
            await page.keyboard.type("x");
            await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
            assert.ok(Date.now() - begun < 20_000, `${unit}: ${Date.now() - begun} ms`);
            await page.waitForFunction(() => /error/.test(document.querySelector("#verdict").textContent));
        }
        assert.equal(await page.locator("#notice").isHidden(), true);
    });
});

describe("a worker that", { concurrency: 2 }, () => {
    /** Puts a fault into the worker for sources with a word. */
    const faulty = (word, fault) => `(() => {
        const Real = Blob;
        window.Blob = class extends Real {
            constructor(parts, options) {
                const script = options?.type === "text/javascript";
                const prefix = 'self.addEventListener("message", (event) => { if (event.data?.takes?.source?.includes("${word}")) { ${fault} } });';
                super(script ? [prefix, ...parts] : parts, options);
            }
        };
    })()`;
    for (const [name, fault, reason] of [
        ["fails", 'throw new WebAssembly.RuntimeError("unreachable");', /replaced: it failed/],
        ["hangs", "for (;;);", /replaced: it gave no answer/],
    ]) {
        test(`${name} is replaced`, { timeout: 60_000 }, async () => {
            const context = await browser.newContext();
            await context.addInitScript({ content: faulty("BOOM", fault) });
            const page = await context.newPage();
            await page.goto(server.url);
            await verdict(page, "no problems");
            await type(page, "#source", "BOOM");
            await page.locator("#notice").waitFor({ timeout: 20_000 });
            assert.match(await page.locator("#notice").innerText(), reason);
            await type(page, "#source", WRONG);
            await page.waitForFunction(() => /error/.test(document.querySelector("#verdict").textContent));
            await context.close();
        });
    }
});

describe("the page", () => {
    onPage("works from disk", async (page) => {
        await page.click("#start");
        assert.match(await outcome(page), /ok/);
        await page.click("#share");
        await page.locator("#toast").waitFor();
        assert.match(page.url(), /^file:.*#1=/);
        await page.reload();
        await verdict(page, "no problems");
        // The example is named, also when it comes from the address, and once it was changed.
        const shown = () => page.locator("#examples").evaluate((select) => select.selectedOptions[0].text);
        assert.equal(await shown(), "Mail to a user, if verified");
        assert.ok((await page.locator("#examples optgroup").count()) > 5);
        await page.locator("#source .cm-content").focus();
        await page.keyboard.insertText("# mine\n");
        assert.equal(await shown(), "Mail to a user, if verified (changed)");
        assert.equal(await page.locator("#ends").innerText(), "");
    }, { url: FILE });

    onPage("is used by keys alone", async (page) => {
        const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.getAttribute("aria-label") || document.activeElement.className);
        const order = [];
        for (let count = 0; count < 12; count++) {
            await page.keyboard.press("Tab");
            order.push(await focused());
        }
        assert.deepEqual(order, ["examples", "share", "keys", "about-link", "Program", "split-program", "tab-problems", "problems", "split-sides", "tab-run", "run", "start"]);
        await page.locator("#source .cm-content").focus();
        await page.keyboard.press("Control+a");
        await page.keyboard.insertText(WRONG);
        await verdict(page, "1 error");
        await page.keyboard.press("F8");
        await page.keyboard.press("Control+.");
        await verdict(page, "no problems");
        await page.keyboard.press("Control+Shift+Enter");
        await page.locator("#waiting textarea").waitFor();
        assert.match(await focused(), /^Answer of get-user/);
        await page.keyboard.press("Control+Enter");
        assert.match(await outcome(page), /ok/);
        assert.equal(await focused(), "step");
        await page.locator("#tab-run").focus();
        await page.keyboard.press("ArrowRight");
        assert.equal(await focused(), "tab-graph");
        assert.equal(await page.locator("#graph").isVisible(), true);
        await page.locator("#keys").focus();
        await page.keyboard.press("Enter");
        assert.equal(await page.locator("#key-list").isVisible(), true);
        await page.keyboard.press("Escape");
        assert.equal(await focused(), "keys");
    });

    for (const colorScheme of ["light", "dark"]) {
        onPage(`fits 360 pixels, ${colorScheme}, with enough contrast`, async (page) => {
            for (const step of ["#tab-tools", "#tab-inputs", "#tab-problems", "#start", "#tab-graph", "#tab-notations", "#tab-bytecode", "#tab-run", "#step"]) {
                await page.click(step);
                await checked(page);
                const [width, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
                assert.ok(width <= window, `${step}: ${width}`);
                const faint = await page.evaluate(faintTexts);
                assert.deepEqual(faint, [], step);
            }
        }, { viewport: { width: 360, height: 740 }, colorScheme });
    }
});

/** The visible texts whose contrast is below 4.5 to 1. Runs in the page. */
function faintTexts() {
    const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const rgba = (colour) => {
        context.clearRect(0, 0, 1, 1);
        context.fillStyle = colour;
        context.fillRect(0, 0, 1, 1);
        return [...context.getImageData(0, 0, 1, 1).data];
    };
    const light = ([r, g, b]) => {
        const [x, y, z] = [r, g, b].map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
        return 0.2126 * x + 0.7152 * y + 0.0722 * z;
    };
    const ground = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const colour = rgba(getComputedStyle(at).backgroundColor);
            if (colour[3] > 250) return colour;
        }
        return [255, 255, 255];
    };
    const found = [];
    for (const element of document.querySelectorAll("body *")) {
        const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== "");
        if (!own || !element.checkVisibility() || element.closest(":disabled, .cm-tooltip, .visually-hidden, option, optgroup")) continue;
        const [a, b] = [light(rgba(getComputedStyle(element).color)), light(ground(element))];
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (contrast < 4.5) found.push(`${element.className || element.id || element.tagName}: ${element.textContent.slice(0, 30)} ${contrast.toFixed(2)}`);
    }
    return found;
}
