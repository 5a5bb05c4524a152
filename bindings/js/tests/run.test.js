// Runs over tools that answer, throw, hang, are cancelled or suspend; and values that cannot be written.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import * as ilo from "ilo-vm";
import { runProgram } from "ilo-vm/ai";
import { toolsFromMcp } from "ilo-vm/mcp";
import { runProgram as runProgramOfAgents } from "ilo-vm/openai-agents";
import { Session } from "ilo-vm/guide";
import * as vm from "ilo-vm/vm";

const ONE = ilo.build("; fn f() -> result any, any\n; Tools: 0=t\nRET_OK CALL 0 0\n");
const ANSWER = ilo.build("; fn f() -> any\n; Tools: 0=t\nRET CALL 0 0\n");

// A program that makes this number of reads, one after another.
function reads(count) {
    const all = Array.from({ length: count }, (_, n) => n);
    const lines = all.map((n) => `LET ${n} CALL 0 1 0 LIT 1 ${n}`).join("\n");
    return ilo.build(
        `; fn f() -> any\n; Tools: 0=t\n; Fields: 0=n\n${lines}\nRET LIST ${count} ${all.map((n) => `REF ${n}`).join(" ")}\n`,
    );
}

const one = (execute, policy = {}) => ({ tools: { t: { execute, ...policy } } });
const gives = (value) => one(() => value);

function errs(outcome, error) {
    assert.deepEqual({ status: outcome.status, error: outcome.error ?? outcome.message }, { status: "err", error });
}

test("a question has the name that the host gave the tool, and no other text of the program", async () => {
    const call = (name) => ilo.build(`; fn f() -> result any, any\n; Tools: 0=${name}\nRET_OK CALL 0 0\n`);
    const asked = [];
    const ask = (due) => (asked.push(due.tool), true);
    const tools = (name) => ({ [name]: { execute: () => "made", confirm: true } });
    assert.equal((await call("pay").run({}, { tools: tools("mcp://bank/pay"), ask })).value, "made");
    assert.deepEqual(asked.splice(0), ["mcp://bank/pay"]);
    const refused = "tool `pay` was not called: it needs a confirmation (`confirm`), and the program calls it by a server "
        + "that is not there; write `pay`";
    errs(await call("mcp://trust-me/pay").run({}, { tools: tools("pay"), ask }), refused);
    errs(call("mcp://trust-me/pay").runSync({}, { tools: tools("pay"), ask }), refused);
    assert.deepEqual(asked, []);
});

test("a revoked proxy that a tool throws or answers is a failure of its call", async () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    for (const execute of [() => { throw proxy; }, async () => { throw proxy; }]) {
        errs(await ONE.run({}, one(execute)), "the tool failed");
    }
    const outcome = await ONE.run({}, one(async () => [proxy]));
    assert.match(outcome.error, /could not be read/);
});

test("reads run side by side, and their order is that of the program", async () => {
    const made = [];
    const ends = [];
    // No read ends before all have begun, and the last to begin is the first to end.
    const read = ({ n }) => new Promise((resolve) => {
        ends.push(() => resolve(n));
        if (ends.length === 12) for (const end of ends.toReversed()) end();
    });
    const options = { ...one(read, { readOnly: true }), onCall: (call) => made.push(call.value) };
    const found = await reads(12).run({}, options);
    assert.deepEqual(found.value, [...Array(12).keys()]);
    assert.deepEqual(made, found.value);
    const alone = await reads(12).run({}, { ...one(async ({ n }) => n, { readOnly: true }), atOnce: 1 });
    assert.deepEqual(alone, found);
});

test("what a tool throws is a failure of the call", async () => {
    const odd = new Error("x");
    Object.defineProperty(odd, "message", { get: () => { throw new Error("no"); } });
    const cases = [
        [new RangeError("no user 7"), "RangeError: no user 7"],
        [new Error(""), "Error"],
        ["plain", "plain"],
        [undefined, "undefined"],
        [new ilo.Failure("gone"), "gone"],
        [new ilo.Failure({ code: 3 }), { code: 3 }],
        [new ilo.Failure(new Uint8Array(1)), "the tool's failure is a value of the class `Uint8Array`, which has no form in JSON"],
        [odd, "Error"],
        [Object.create(null), "{}"],
        [{ code: 1 }, "{\"code\":1}"],
        [{ code: 1, message: "too many" }, "too many"],
    ];
    for (const [thrown, seen] of cases) {
        errs(await ONE.run({}, one(() => { throw thrown; })), seen);
        errs(await ONE.run({}, one(async () => { throw thrown; })), seen);
    }
});

test("an answer that the language has no value for is a failure with its path", async () => {
    const circular = { inner: [] };
    circular.inner.push(circular);
    const hidden = { get secret() { throw new Error("no"); } };
    const many = new Proxy({}, { ownKeys: () => { throw new TypeError("trap"); } });
    class User {}
    const cases = [
        [circular, /^the tool's answer has a value that contains itself at `inner\[0\]\.inner\[0\]/],
        [{ users: [{ id: 2n ** 63n }] }, "the tool's answer has an integer past 64 bits at `users[0].id`"],
        [-(2n ** 63n) - 1n, "the tool's answer is an integer past 64 bits"],
        [{ f: () => 1 }, "the tool's answer has a function at `f`"],
        [Symbol("s"), "the tool's answer is a symbol"],
        [[new URL("a:b")], "the tool's answer has a value of the class `URL`, which has no form in JSON at `[0]`"],
        [new Uint8Array(2), "the tool's answer is a value of the class `Uint8Array`, which has no form in JSON"],
        [Buffer.from("x"), "the tool's answer is a value of the class `Buffer`, which has no form in JSON"],
        [new Map(), "the tool's answer is a value of the class `Map`, which has no form in JSON"],
        [(function* () {})(), /^the tool's answer is a value of the class `/],
        [new User(), "the tool's answer is a value of the class `User`, which has no form in JSON"],
        [[Promise.resolve(1)], "the tool's answer has a value of the class `Promise`, which has no form in JSON at `[0]`"],
        [{ a: NaN }, "the tool's answer has a number that is not finite at `a`"],
        [-Infinity, "the tool's answer is a number that is not finite"],
        ["\ud800", "the tool's answer is a text with half of a surrogate pair; write the whole character, or U+FFFD in its place"],
        [{ "\udfff": 1 }, /^the tool's answer has a text with half of a surrogate pair/],
        [hidden, "the tool's answer could not be read: no"],
        [many, "the tool's answer could not be read: trap"],
    ];
    for (const [value, message] of cases) {
        const outcome = await ONE.run({}, gives(value));
        assert.equal(outcome.status, "err");
        if (typeof message === "string") assert.equal(outcome.error, message);
        else assert.match(outcome.error, message);
    }
});

test("an answer past a limit is a fault", async () => {
    let deep = [];
    for (let n = 0; n < 200; n++) deep = [deep];
    const endless = () => new Proxy({}, {
        ownKeys: () => ["a", "b"],
        getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 1 }),
        get: (_, key) => (key === "constructor" ? Object : endless()),
    });
    for (const [value, code] of [
        [deep, "depth"],
        ["x".repeat(3 << 20), "too-large"],
        ["é".repeat(3 << 19), "too-large"],
        [Array(100_001).fill(0), "too-large"],
        [endless(), "depth"],
    ]) {
        const outcome = await ONE.run({}, gives(value));
        assert.equal(outcome.status, "fault");
        assert.match(outcome.code, new RegExp(code));
    }
    const outcome = await ONE.run({}, { ...gives([1, 2, 3]), limits: { resultNodes: 3 } });
    assert.match(outcome.message, /the tool's answer has more than 3 values/);
});

test("values come back as they were", async () => {
    const values = [
        null, true, false, 0, -1, 1.5, 1e300, 5e-324, 2 ** 53, 1e20, "", "é\u2028😀\0", [], {}, [[]], { a: [{ b: null }] },
        2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n, [9007199254740993n, 1, "9007199254740993", 0.1234567890123456],
        Number.MAX_SAFE_INTEGER, JSON.parse('{"__proto__": 1, "constructor": 9007199254740993}'),
    ];
    for (const value of values) {
        const outcome = await ANSWER.run({}, gives(value));
        assert.equal(outcome.status, "ok", outcome.message);
        assert.deepEqual(outcome.value, value);
    }
    assert.ok(Object.is((await ANSWER.run({}, gives(-0))).value, -0));
    assert.deepEqual((await ANSWER.run({}, gives({ a: undefined, b: [undefined, , 1] }))).value, { b: [null, null, 1] });
    assert.equal((await ANSWER.run({}, gives(undefined))).value, null);
    assert.equal((await ANSWER.run({}, gives(7n))).value, 7);
    const proto = JSON.parse('{"__proto__": {"x": 9007199254740993}}');
    const back = (await ANSWER.run({}, gives({ n: 9007199254740993n, ...{ proto } }))).value;
    assert.equal({}.x, undefined);
    assert.deepEqual(Object.keys(back.proto), ["__proto__"]);
});

test("a tool that hangs ends by its time, and its late answer changes nothing", async () => {
    const aborted = [];
    const hang = (_, { signal }) => new Promise((resolve) => {
        signal.addEventListener("abort", () => aborted.push(signal.reason.name));
        signal.addEventListener("abort", () => setTimeout(() => resolve("late")));
    });
    errs(await ONE.run({}, one(hang, { timeout: 20 })), "tool `t` took longer than its limit of 20 ms");
    assert.deepEqual(aborted, ["AbortError"]);
    errs(await ONE.run({}, { ...one(() => new Promise(() => {})), callTimeout: 5 }), "tool `t` took longer than its limit of 5 ms");
    for (let n = 0; n < 30; n++) {
        const late = await ONE.run({}, { ...one(() => new Promise(() => {})), timeout: 5 });
        assert.equal(late.status, "fault");
        assert.match(late.message, /the run took longer than its limit of 5 ms/);
    }
    await sleep(10);
});

test("a thenable that answers twice, or throws after its answer, answers once", async () => {
    const twice = { then: (resolve, reject) => { resolve("one"); resolve("two"); reject(new Error("three")); throw new Error("four"); } };
    assert.equal((await ANSWER.run({}, gives(twice))).value, "one");
    errs(await ONE.run({}, gives({ get then() { throw new Error("no then"); } })), "Error: no then");
});

test("a cancelled run rolls back and ends with a fault", async () => {
    const controller = new AbortController();
    const made = [];
    const tools = {
        add: { execute: () => void made.push("add") },
        remove: { execute: () => void made.push("remove") },
        wait: { readOnly: true, execute: (_, { signal }) => new Promise((_, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason));
            setTimeout(() => controller.abort(), 10);
        }) },
    };
    const source = `{"function": "f", "input": {}, "output": "any", "steps": [
        {"call": "add", "args": {}, "rollback": {"call": "remove", "args": {}}},
        {"let": "x", "call": "wait", "args": {}}, {"return": "$x"}]}`;
    const outcome = await ilo.build(source).run({}, { tools, signal: controller.signal });
    assert.equal(outcome.status, "fault");
    assert.equal(outcome.code, "cancelled");
    assert.deepEqual(made, ["add", "remove"]);
    assert.deepEqual(outcome.rolledBack, [{ tool: "remove", number: 3 }]);
    const early = await ilo.build(source).run({}, { tools, signal: AbortSignal.abort() });
    assert.equal(early.code, "cancelled");
    assert.deepEqual(made, ["add", "remove"]);
});

test("a tool suspends, and the run goes on from the snapshot", async () => {
    const asks = one(() => { throw new ilo.Suspend("a person decides"); });
    const found = await ONE.run({}, asks);
    assert.equal(found.status, "suspended");
    assert.equal(found.reason, "a person decides");
    assert.equal(found.call.tool, "t");
    const again = ilo.load(ONE.toBytes());
    assert.equal((await again.resume(found.snapshot, { ...asks, answer: true })).value, true);
    errs(await again.resume(found.snapshot, { ...asks, failure: "no" }), "no");
    assert.equal((await again.resume(found.snapshot, gives(5))).value, 5);
    await assert.rejects(again.resume(found.snapshot.slice(1), { ...asks, answer: 1 }), ilo.SnapshotError);
    await assert.rejects(again.resume(found.snapshot, { answer: 1 }), ilo.StartError);
    await assert.rejects(again.resume(found.snapshot, { ...asks, answer: Symbol() }), ilo.BadValue);
    // A call that failed ahead of its turn is made again in its turn.
    const reading = one(({ n }) => { if (n === 2) throw new ilo.Suspend(); return sleep(5, n); }, { readOnly: true });
    const early = await reads(4).run({}, reading);
    assert.equal(early.status, "suspended");
    assert.deepEqual(early.call.arguments, { n: 2 });
    assert.deepEqual((await reads(4).resume(early.snapshot, { ...one(({ n }) => n), answer: "two" })).value, [0, 1, "two", 3]);
});

test("calls are confirmed, made again and limited", async () => {
    const refused = "tool `t` was not called: it needs a confirmation (`confirm`), and ";
    const confirmed = one(() => 1, { confirm: true });
    errs(await ONE.run({}, confirmed), `${refused}there is nobody to ask`);
    errs(await ONE.run({}, { ...confirmed, ask: () => false }), `${refused}it was refused`);
    assert.equal((await ONE.run({}, { ...confirmed, ask: async (call) => call.tool === "t" })).value, 1);
    let tries = 0;
    const flaky = one(() => { if (++tries < 3) throw new Error("busy"); return tries; }, { idempotent: true, retries: 2 });
    assert.equal((await ONE.run({}, flaky)).value, 3);
    assert.equal((await reads(3).run({}, { ...one(() => 1), limits: { toolCalls: 2 } })).code, "too-many-calls");
});

test("what is wrong with a call of this package is said at once", async () => {
    assert.throws(() => new ilo.Tools({ t: {} }), /tool `t`: expected an object with the function `execute`/);
    assert.throws(() => new ilo.Tools({ t: { execute() {}, readonly: true } }), /tool `t`: there is no `readonly`, only schema/);
    const around = {};
    around.items = around;
    for (const [schema, message] of [
        [around, /^BadValue: tool `wrong`: its schema has a value that contains itself at `items\.items/],
        [() => 1, /^BadValue: tool `wrong`: its schema is a function$/],
        [{ minimum: 2n ** 63n }, /^BadValue: tool `wrong`: its schema has an integer past 64 bits at `minimum`$/],
        [{ get type() { throw new Error("no"); } }, /^BadValue: tool `wrong`: its schema could not be read: no$/],
        [{ title: "\ud800" }, /^BadValue: tool `wrong`: its schema has a text with half .* at `title`; write .* U\+FFFD/],
        [{ properties: { "\udfff": {} } }, /^BadValue: tool `wrong`: its schema has a text with half .* at `properties\.\ufffd`; /],
        [new ilo.Json('{"enum": ["\\ud800"]}'), /^BadValue: tool `wrong`: its schema has a text with half .* at `enum\[0\]`; /],
    ]) {
        const tools = { right: { execute() {} }, wrong: { execute() {}, schema } };
        assert.throws(() => new ilo.Tools(tools), message);
        assert.throws(() => new Session("f() -> nil", { tools }), message);
    }
    const half = /^BadValue: tool `a\ufffd`: its name is a text with half of a surrogate pair; write /;
    assert.throws(() => new ilo.Tools({ "a\ud83d": { execute() {} } }), half);
    assert.doesNotThrow(() => new ilo.Tools({ t: { execute() {}, description: "\u{1f600} \\ud800" } }));
    assert.throws(() => new ilo.Tools({ t: { execute() {}, retries: 1 } }), /`retries` is only for tools that are/);
    await assert.rejects(ONE.run({}, { ...gives(1), limits: { feul: 1 } }), /limits: `feul` is not a limit; did you mean `fuel`\?/);
    await assert.rejects(ONE.run({}, { ...gives(1), limits: { fuel: 1.5 } }), /limits: `fuel` expects a whole number from 0/);
    await assert.rejects(ONE.run({}, { ...gives(1), timeout: -1 }), RangeError);
    await assert.rejects(ONE.run({}, {}), /error\[unknown-tool\]: tool `t`: no tools are given; pass `tools`/);
    await assert.rejects(ONE.run({ x: 1 }, gives(1)), (error) => error instanceof ilo.StartError && error.problems.length === 1);
    await assert.rejects(ONE.run({ x: () => 1 }, gives(1)), /the input has a function at `x`/);
    assert.throws(() => ilo.check("x", { notation: "nonsense" }), RangeError);
    assert.throws(() => ilo.load(new Uint8Array([1, 2, 3])), RangeError);
    const run = ONE.start();
    assert.throws(() => run.snapshot(), ilo.NotWaiting);
    assert.throws(() => run.answer(1), ilo.NotWaiting);
    run.step();
    assert.throws(() => run.answer(new Set()), ilo.BadValue);
    run.answer(1);
    assert.throws(() => run.answer(2), ilo.NotWaiting);
    assert.throws(() => run.fail("no"), ilo.NotWaiting);
    assert.equal(run.step().value, 1);
});

test("what is not a text, bytes or a function is refused before the module sees it, and other runs go on", async () => {
    const under = ONE.start();
    under.step();
    const options = (given) => () => ONE.run({}, { ...gives(1), ...given });
    const all = [
        [() => ilo.build(5), /`source` expects a string, found 5/],
        [() => ilo.build(undefined), /`source` expects a string, found undefined/],
        [() => ilo.build("x", { notation: 5 }), /`notation` expects a string/],
        ...["check", "fix", "format", "detect", "graph"].map((name) => [() => ilo[name](null), /`source` expects a string, found null/]),
        [() => ilo.convert("x"), /`to` expects a string/],
        [() => ilo.graph("x", 5), /`form` expects a string/],
        [() => ilo.hover([], 0), /`source` expects a string, found an array/],
        [() => ilo.complete(5, 0), /`source` expects a string/],
        [() => ilo.card(5), /`notation` expects a string/],
        [() => ilo.explain(5), /`code` expects a string/],
        [() => ilo.load(null), /`packed` expects a Uint8Array, found null/],
        [() => ilo.load("x"), /`packed` expects a Uint8Array/],
        [() => ONE.restore(null), /`snapshot` expects a Uint8Array/],
        [() => ONE.resume([1], gives(1)), /`snapshot` expects a Uint8Array, found an array/],
        [() => ONE.plan({ function: 5 }), /`function` expects a string/],
        [() => ONE.start({}, { function: 5 }), /`function` expects a string/],
        [() => new ilo.Json(5), /`Json` expects a string/],
        [options({ function: 5 }), /`function` expects a string/],
        [options({ timeout: "1" }), /options: `timeout` expects a number, found "1"/],
        [options({ callTimeout: NaN }), /`callTimeout` expects a number, found NaN/],
        [options({ atOnce: "1" }), /`atOnce` expects a number/],
        [options({ signal: {} }), /`signal` expects an AbortSignal/],
        [options({ onCall: 5 }), /`onCall` expects a function/],
        [options({ ask: 5, signal: new AbortController().signal }), /`ask` expects a function/],
        ...[
            [{ schema: 5 }, /tool `t`: `schema` expects an object, `Json` or a schema of Standard Schema, found 5/],
            [{ outputSchema: [] }, /tool `t`: `outputSchema` expects an object, `Json` or a schema of Standard Schema, found an array/],
            [{ description: 5 }, /tool `t`: `description` expects a string/],
            [{ readOnly: "yes" }, /tool `t`: `readOnly` expects true or false, found "yes"/],
            [{ validate: 0 }, /tool `t`: `validate` expects true or false/],
            [{ timeout: "1" }, /tool `t`: `timeout` expects a number/],
            [{ timeout: -1 }, /tool `t`: `timeout` is a time from 0 to a year/],
            [{ idempotent: true, retries: 0.5 }, /tool `t`: `retries` expects a whole number from 0/],
            [{ idempotent: true, retries: 99 }, /tool `t`: `retries` is at most 10/],
        ].map(([more, message]) => [options({ tools: { t: { execute: () => 1, ...more } } }), message]),
    ];
    for (const [work, message] of all) {
        await assert.rejects(async () => work(), (error) => {
            assert.match(error.message, message, String(work));
            assert.ok(error instanceof TypeError || error instanceof RangeError, `${work}: ${error.name}`);
            return true;
        });
    }
    under.answer(1);
    assert.equal(under.step().value, 1, "nothing has ended the module");
});

test("integers past 2^53 in a schema are exact", async () => {
    const number = 9007199254740993n;
    const text = `{"type": "object", "properties": {"n": {"enum": [${number}]}}, "required": ["n"]}`;
    const source = (n) => `; fn f() -> any\n; Tools: 0=t\n; Fields: 0=n\nRET CALL 0 1 0 LIT 1 ${n}\n`;
    for (const schema of [{ type: "object", properties: { n: { enum: [number] } }, required: ["n"] }, new ilo.Json(text)]) {
        const tools = new ilo.Tools({ t: { schema, execute: ({ n }) => n } });
        assert.deepEqual(tools.signatures(), [`t(n: ${number}) -> any`]);
        assert.equal((await ilo.build(source(number), { tools }).run()).value, number);
        assert.throws(() => ilo.build(source(number - 1n), { tools }), /bad-value/);
        const session = new Session("f() -> any", { tools });
        for (const one of [session, Session.fromJson(session.toJson())]) assert.ok(one.toJson().includes(String(number)));
    }
    const inside = { type: "object", properties: { n: new ilo.Json('{"enum": [7]}') } };
    assert.deepEqual(new ilo.Tools({ t: { schema: inside, execute() {} } }).signatures(), ["t(n?: 7) -> any"]);
    // A number of JavaScript past 2^53 is a double, with the same value.
    const tools = new ilo.Tools({ t: { schema: { type: "object", properties: { n: { enum: [2 ** 60] } } }, execute() {} } });
    assert.deepEqual(tools.signatures(), ["t(n?: 1.152921504606847e18) -> any"]);
});

test("an option that there is not, or of another type, is refused", async () => {
    const snapshot = (await ONE.run({}, one(() => { throw new ilo.Suspend(); }))).snapshot;
    const source = "; fn f() -> nil\nRET LIT 2 nil\n";
    const at = { store: { read() {}, write() {} }, name: "a" };
    const client = { listTools: async () => ({ tools: [] }) };
    const taking = {
        check: (given) => ilo.check(source, given),
        fix: (given) => ilo.fix(source, given),
        build: (given) => ilo.build(source, given),
        hover: (given) => ilo.hover(source, 0, given),
        complete: (given) => ilo.complete(source, 0, given),
        convert: (given) => ilo.convert(source, "workflow", given),
        format: (given) => ilo.format(source, given),
        graph: (given) => ilo.graph(source, "svg", given),
        card: (given) => ilo.card("id", given),
        plan: (given) => ONE.plan(given),
        start: (given) => ONE.start({}, given),
        restore: (given) => ONE.restore(snapshot, given),
        run: (given) => ONE.run({}, given),
        runSync: (given) => ONE.runSync({}, given),
        resume: (given) => ONE.resume(snapshot, given),
        "ilo.resume": (given) => ilo.resume(at, given),
        "vm.resume": (given) => vm.resume(at, given),
        ai: (given) => runProgram({}, given),
        agents: (given) => runProgramOfAgents([], given),
        mcp: (given) => toolsFromMcp(client, given),
    };
    const wrong = [
        [null, /^options: expected an object, found null$/],
        ["id", /^options: expected an object, found "id"$/],
        [[], /^options: expected an object, found an array$/],
        [new Map(), /^options: expected an object, found a value of type `object`$/],
        [{ notatoin: "id" }, /^options: there is no `notatoin`, only /],
        [{ constructor: 5 }, /^options: there is no `constructor`, only /],
    ];
    for (const [name, call] of Object.entries(taking)) {
        for (const [given, message] of wrong) {
            await assert.rejects(async () => call(given), (error) => {
                assert.ok(error instanceof TypeError, `${name}: ${error}`);
                assert.match(error.message, message, name);
                return true;
            });
        }
        // An option without a value is one that is not given.
        const all = /, only ([^]*)$/.exec(await Promise.resolve().then(() => call({ x: 1 })).catch((error) => error.message));
        for (const option of all?.[1].split(", ") ?? []) {
            if (option === "answer" || option === "failure" || name.includes(".")) continue;
            await Promise.resolve().then(() => call({ [option]: undefined })).catch((error) => {
                assert.ok(error instanceof ilo.StartError, `${name}: ${option}: ${error}`);
            });
        }
    }
    const tools = /`tools` expects an object of tools by name, found (an array|null|5|"t"|a value of type `object`)$/;
    for (const given of [[], [{ name: "t", execute: () => 1 }], null, 5, "t", new Map([["t", { execute: () => 1 }]])]) {
        for (const name of ["check", "fix", "build", "hover", "complete", "card", "plan", "run", "runSync", "resume"]) {
            await assert.rejects(async () => taking[name]({ tools: given }), tools, name);
        }
        assert.throws(() => new ilo.Tools(given), tools);
        assert.throws(() => new vm.Tools(given), tools);
        assert.throws(() => new ilo.Tools({}).and(given), tools);
    }
    for (const [call, message] of [
        [() => ilo.build(source, { strip: 1 }), /`strip` expects true or false/],
        [() => ilo.hover(source, "0"), /`index` expects a number, found "0"/],
        [() => ilo.complete(source, NaN), /`index` expects a number, found NaN/],
        [() => ONE.start({}, { limits: 5 }), /`limits` expects an object/],
        [() => ONE.restore(snapshot, { limits: [] }), /`limits` expects an object, found an array/],
        [() => ONE.start([]), /input: expected a record with a field for each parameter, found a list/],
        [() => ONE.start(5), /input: expected a record/],
        [() => ONE.start().stepWithin("5"), /`fuel` expects a number/],
        [() => runProgram([]), /`tools` expects an object, found an array/],
        [() => runProgram({}, { readOnly: "add" }), /`readOnly` expects an array of strings, found "add"/],
        [() => runProgramOfAgents([], { readOnly: "add" }), /`readOnly` expects an array of strings/],
        [() => toolsFromMcp(client, { confirm: [5] }), /`confirm` expects an array of strings/],
        [() => toolsFromMcp(client, { server: 5 }), /`server` expects a string/],
    ]) {
        await assert.rejects(async () => call(), (error) => {
            assert.match(error.message, message, String(call));
            return error instanceof TypeError || error instanceof ilo.StartError || error instanceof RangeError;
        });
    }
});

test("a long computation lets the event loop work, and its time ends it", async () => {
    const source = `{"function": "f", "input": {"all": "list number"}, "output": "number", "steps": [
        {"for": "a", "in": "$input.all", "do": [{"for": "b", "in": "$input.all", "do": [{"for": "c", "in": "$input.all", "do": [
            {"let": "n", "value": "$c"}]}]}]}, {"return": 1}]}`;
    const all = Array(1000).fill(0);
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1).unref();
    const outcome = await ilo.build(source).run({ all }, { limits: { fuel: 10n ** 18n }, timeout: 500 });
    clearInterval(timer);
    assert.equal(outcome.code, "timed-out");
    assert.ok(ticks > 0, `${ticks} ticks`);
});

test("Tools can be joined, and a schema of Standard Schema validates", async () => {
    const joined = new ilo.Tools({ a: { execute: () => 1 } }).and({ b: { execute: () => 2 } });
    assert.deepEqual([...joined], ["a", "b"]);
    assert.throws(() => joined.and(joined), /two tools have the name `a`/);
    assert.equal(joined.signatures().length, 2);
});
