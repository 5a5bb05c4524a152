// Addresses and texts of somebody who wants more than to show a program. Nothing of them runs, nothing of them hangs
// the page, and the console stays empty.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { open, started, textOf } from "./browser.mjs";

const { browser, server } = await started();

const MARKUP = `</script><img src=x onerror="document.title=1"><script>document.title=2</script><a href="javascript:document.title=3">x</a>&lt;]]>`;
const ONE = "name: f\noutput: number\nsteps:\n  a:\n    return: 1\n";
const ECHO = "name: f\ninput:\n  x: any\noutput: any\nsteps:\n  a:\n    call: echo\n    args:\n      x: $.x\n  b:\n    return: ${a}\n";

const packed = (bytes) => `#1=${deflateRawSync(bytes).toString("base64url")}`;
/** The fragment of a state, or of any other text. */
const fragment = (state) => packed(Buffer.from(typeof state === "string" ? state : JSON.stringify(state)));
const nested = (depth) => "[".repeat(depth) + "]".repeat(depth);

/** A test with the page at an address. */
function at(name, address, use) {
    test(name, { timeout: 60_000 }, async () => {
        const { page, complaints, context } = await open(browser, server.url + address);
        await use(page);
        assert.deepEqual(complaints, []);
        await context.close();
    });
}

const busy = async (page) => {
    await page.waitForTimeout(50);
    await page.waitForFunction(() => document.querySelector("[aria-busy=true]") === null);
};
const outcome = (page) => page.locator("#outcome .card").waitFor().then(() => page.locator("#outcome .card").innerText());

describe("an address is not opened", () => {
    for (const [name, address, reason] of [
        ["of another form", "#<img src=x onerror=alert(1)>", "has another form"],
        ["that is a script", "#javascript:document.title=1", "has another form"],
        ["without content", "#1=", "is damaged"],
        ["damaged", "#1=AAAA", "is damaged"],
        ["that is no base64", "#1=%%%", "is damaged"],
        ["whose base64 has a length that none has", "#1=AAAAA", "is damaged"],
        ["with bytes after its content", `${fragment({ s: ONE, t: "", i: "" })}AAAA`, "is damaged"],
        ["cut off", fragment({ s: ONE, t: "", i: "" }).slice(0, -12), "is damaged"],
        ["that is no UTF-8", packed(Buffer.from([0x22, 0xff, 0x22])), "is damaged"],
        ["that is a list", fragment([]), "is damaged"],
        ["whose texts are none", fragment({ s: 1, t: [], i: {} }), "is damaged"],
        ["of three million brackets", fragment("[".repeat(3_000_000)), "is damaged"],
        ["that is too long", `#1=${"A".repeat(200_000)}`, "is longer than the page reads"],
        ["that unpacks to 50 MB", packed(Buffer.alloc(50_000_000, "[")), "holds more than the page reads"],
        ["with a program that no editor takes", fragment({ s: ONE + "#".repeat(2_200_000), t: "", i: "" }), "holds more than the page reads"],
        ["with tools that no editor takes", fragment({ s: ONE, t: " ".repeat(2_200_000), i: "" }), "holds more than the page reads"],
        ["with inputs that no editor takes", fragment({ s: ONE, t: "", i: " ".repeat(2_200_000) }), "holds more than the page reads"],
    ]) {
        at(name, address, async (page) => {
            assert.equal(await page.locator("#toast").innerText(), `Not opened: this address ${reason}${reason.startsWith("has") ? " than the page writes" : ""}.`);
            // All of the first example, and nothing of the address.
            assert.match(await textOf(page, "#source"), /^name: notify/);
            assert.match(await textOf(page, "#tools-editor"), /get-user/);
            assert.equal(await page.title(), "ilo playground");
        });
    }
});

describe("text stays text", () => {
    const step = (name) => `name: f\ninput:\n  x: any\noutput: any\nsteps:\n  a:\n    call: ${name}\n    args:\n      ${name}: $.x\n  b:\n    return: \${a}\n`;
    const name = JSON.stringify(MARKUP);
    const states = {
        "in a program, tools and an answer": { s: step(name), t: JSON.stringify({ [MARKUP]: { description: MARKUP, mock: { returns: { [MARKUP]: MARKUP } } } }), i: JSON.stringify({ x: MARKUP }) },
        "in a failure": { s: step(name), t: JSON.stringify({ [MARKUP]: { mock: { fails: MARKUP } } }), i: JSON.stringify({ x: MARKUP }) },
        "in mistakes": { s: `name: ${MARKUP}\n${MARKUP}: 1\nsteps:\n  a:\n    call: \${${MARKUP}}\n`, t: `{${name}: {"mock": {${name}: 1}}}`, i: MARKUP },
        "in an input that there is not": { s: ONE, t: "", i: JSON.stringify({ [MARKUP]: 1 }) },
    };
    for (const [where, state] of Object.entries(states)) {
        at(where, fragment(state), async (page) => {
            for (const tab of ["#tab-problems", "#tab-tools", "#tab-inputs", "#tab-graph", "#tab-notations", "#tab-bytecode", "#tab-run"]) {
                await page.click(tab);
                await busy(page);
            }
            for (const button of ["#start", "#step"]) {
                if (await page.locator(button).isDisabled()) continue;
                await page.click(button);
                await page.locator("#outcome .card, #waiting textarea").first().waitFor();
            }
            assert.equal(await page.title(), "ilo playground");
            // CodeMirror's own images hold the cursor beside a widget.
            assert.equal(await page.locator("main img:not(#picture img, .cm-widgetBuffer), main script, main a").count(), 0);
        });
    }
    at("in the names of tools that objects have too", fragment({
        s: "name: f\noutput: any\nsteps:\n  a:\n    call: __proto__\n  b:\n    call: constructor\n  c:\n    call: toString\n  d:\n    return: ${a}\n",
        t: '{"__proto__": {"mock": {"returns": {"__proto__": {"x": 1}}}}, "constructor": {"mock": {"returns": 1}}, "toString": {"mock": {"returns": 1}}}',
        i: "",
    }), async (page) => {
        await page.click("#start");
        assert.match(await outcome(page), /\{"__proto__": \{"x": 1\}\}/);
        assert.equal(await page.evaluate(() => ({}).x), undefined);
    });
    at("in a name that would turn the text around it", fragment({ s: 'name: f\noutput: any\nsteps:\n  a:\n    call: "\u202eevil"\n  b:\n    return: ${a}\n', t: '{"\u202eevil": {}}', i: "" }), async (page) => {
        await page.click("#step");
        await page.locator("#waiting textarea").waitFor();
        const shown = await page.locator("#run").innerText();
        assert.match(shown, /\ufffdevil waits/);
        assert.doesNotMatch(shown, /\p{Bidi_Control}/u);
    });
});

describe("texts that are no texts of a program", () => {
    at("have half of a surrogate pair", fragment({ s: ONE.replace("1", '"\ud800"').replace("number", "text"), t: "", i: '{"x": "\udfff"}' }), async (page) => {
        await page.click("#start");
        assert.match(await outcome(page), /half of a surrogate pair at `x`/);
    });
    at("have characters that control a terminal", fragment({ s: "\u0000\u0001\u001b[31m\r\n\r\r", t: "\u0000", i: "\u0000" }), async (page) => {
        assert.match(await page.locator("#verdict").innerText(), /error/);
    });
    const deep = nested(200_000);
    at("nest an input too deeply", fragment({ s: ECHO, t: '{"echo": {"mock": {"returns": 1}}}', i: `{"x": ${deep}}` }), async (page) => {
        await page.click("#start");
        assert.match(await outcome(page), /nested too deeply/);
    });
    for (const key of ["when", "returns"]) {
        at(`nest \`${key}\` of a mock too deeply`, fragment({ s: ECHO, t: `{"echo": {"mock": {"fails": 1, "${key}": ${deep}}}}`, i: '{"x": 1}' }), async (page) => {
            await page.waitForFunction(() => document.querySelector("#tools-problem").textContent === "the JSON is nested too deeply");
        });
    }
    for (const [fuel, shown] of [[1e300, "10000000"], [-1, "10000000"], [0.5, "10000000"], ["<b>", "10000000"], [2e9, "2000000000"]]) {
        at(`have ${fuel} as fuel`, fragment({ s: ONE, t: "", i: "", f: fuel }), async (page) => {
            assert.equal(await page.inputValue("#fuel"), shown);
            await page.click("#start");
            assert.match(await outcome(page), shown === "10000000" ? /^ok/ : /the fuel limit is a whole number/);
        });
    }
});
