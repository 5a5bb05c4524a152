// What callbacks of a host do wrong changes nothing of what a run has done.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import * as ilo from "ilo-vm";
import { Memory } from "./memory.js";

const ONE = ilo.build("; fn f() -> result any, any\n; Tools: 0=t\nRET_OK CALL 0 0\n");
const one = (execute, policy = {}) => ({ tools: { t: { execute, ...policy } } });

const thenThrows = { get then() { throw new Error("no then"); } };
const observers = {
    throws: () => { throw new TypeError("mine"); },
    throwsUndefined: () => { throw undefined; },
    rejects: async () => { throw new TypeError("mine"); },
    hangs: () => new Promise(() => {}),
    thenThrows: () => thenThrows,
};

for (const [name, onCall] of Object.entries(observers)) {
    test(`an onCall that ${name} changes nothing`, async () => {
        const errors = [];
        const options = { onCall, onError: (error) => errors.push(error) };
        for (const policy of [{}, { readOnly: true }]) {
            for (const execute of [() => 1, async () => 1]) {
                assert.equal((await ONE.run({}, { ...one(execute, policy), ...options })).value, 1);
            }
            assert.equal(ONE.runSync({}, { ...one(() => 1, policy), ...options }).value, 1);
        }
        const store = new Memory();
        assert.equal((await ONE.run({}, { ...one(() => 1), store, name: "a", ...options })).value, 1);
        assert.equal(JSON.parse(store.read("a").record).state.state, "ended");
        await sleep(1);
        assert.equal(errors.length, name === "hangs" ? 0 : 7);
    });
}

test("an onError that throws changes nothing, and without one the console is warned", async (t) => {
    const warned = t.mock.method(console, "warn", () => {});
    const onCall = () => { throw new Error("mine"); };
    const outcome = await ONE.run({}, { ...one(() => 1), onCall, onError: () => { throw new Error("again"); } });
    assert.equal(outcome.value, 1);
    assert.equal(warned.mock.callCount(), 1);
    assert.equal((await ONE.run({}, { ...one(() => 1), onCall })).value, 1);
    assert.match(warned.mock.calls[1].arguments.join(" "), /`onCall` threw.*mine/);
});

const nobody = "tool `t` was not called: it needs a confirmation (`confirm`), and nobody could be asked";
const asks = {
    throws: () => { throw new Error("no line"); },
    rejects: async () => { throw new Error("no line"); },
    gives1: () => 1,
    givesText: async () => "yes",
    givesNothing: () => undefined,
    givesTheClass: () => ilo.Deny,
    thenThrows: () => thenThrows,
};

for (const [name, ask] of Object.entries(asks)) {
    test(`an ask that ${name} makes no call`, async () => {
        const [errors, made] = [[], []];
        const options = { ...one(() => made.push("t"), { confirm: true }), ask, onError: (error) => errors.push(error) };
        assert.equal((await ONE.run({}, options)).error, nobody);
        assert.equal(ONE.runSync({}, options).error, nobody);
        const store = new Memory();
        const waits = await ONE.run({}, { ...options, store, name: "a" });
        assert.deepEqual([waits.status, waits.state, waits.reason], ["suspended", "asking", "tool `t` needs an approval"]);
        assert.equal(errors.length, 3);
        assert.deepEqual(made, []);
        const outcome = await ilo.resume({ store, name: "a" }, one(() => 7, { confirm: true }), { call: 1, make: true });
        assert.equal(outcome.value, 7);
    });
}

test("an ask that gives nothing before the time of the run is over makes no call", async () => {
    const errors = [];
    const options = { ...one(() => assert.fail(), { confirm: true }), ask: () => new Promise(() => {}), timeout: 20 };
    options.onError = (error) => errors.push(error.name);
    assert.equal((await ONE.run({}, options)).code, "timed-out");
    const waits = await ONE.run({}, { ...options, store: new Memory(), name: "a" });
    assert.deepEqual([waits.status, waits.state], ["suspended", "asking"]);
    assert.deepEqual(errors, ["TimeoutError", "TimeoutError"]);
});

test("a person may think for longer than a call may take", async () => {
    const options = { ...one(() => 1, { confirm: true }), callTimeout: 5, ask: () => sleep(30, true) };
    assert.equal((await ONE.run({}, options)).value, 1);
});

test("a denial has its reason", async () => {
    const options = { ...one(() => 1, { confirm: true }), ask: () => new ilo.Deny("too much") };
    const refused = "tool `t` was not called: it needs a confirmation (`confirm`), and it was refused: too much";
    assert.equal((await ONE.run({}, options)).error, refused);
    assert.equal(ONE.runSync({}, options).error, refused);
    assert.equal((await ONE.run({}, { ...options, store: new Memory(), name: "a" })).error, refused);
    assert.throws(() => new ilo.Deny(5), TypeError);
});

test("ask cannot edit the arguments, and a retry gets those of the program", async () => {
    const program = ilo.build("; fn f() -> any\n; Tools: 0=t\n; Fields: 0=n\nRET CALL 0 1 0 LIST 1 LIT 1 7\n");
    const ask = (call) => { call.arguments.n[0] = 1_000_000; return true; };
    assert.deepEqual((await program.run({}, { ...one(({ n }) => n, { confirm: true }), ask })).value, [7]);
    const seen = [];
    const takes = ({ n }) => {
        seen.push(n.pop());
        if (seen.length < 3) throw new Error("busy");
        return seen;
    };
    assert.deepEqual((await program.run({}, one(takes, { idempotent: true, retries: 2 }))).value, [7, 7, 7]);
});

test("a cancel ends a question", async () => {
    const controller = new AbortController();
    const ask = () => { setTimeout(() => controller.abort(), 5); return new Promise(() => {}); };
    const outcome = await ONE.run({}, { ...one(() => assert.fail(), { confirm: true }), ask, signal: controller.signal });
    assert.equal(outcome.code, "cancelled");
    assert.deepEqual(outcome.notRolledBack, []);
});

test("a listener of a tool's signal that throws ends neither the run nor the process", async () => {
    const errors = [];
    const execute = (_, { signal }) => {
        signal.addEventListener("abort", () => { throw new Error("mine"); });
        const twice = () => errors.push("removed");
        signal.addEventListener("abort", twice);
        signal.removeEventListener("abort", twice);
        return new Promise(() => {});
    };
    const outcome = await ONE.run({}, { ...one(execute, { timeout: 5 }), onError: (error) => errors.push(error.message) });
    assert.match(outcome.error, /took longer/);
    await sleep(5);
    assert.deepEqual(errors, ["mine"]);
    const signal = { aborted: false, addEventListener() {}, removeEventListener() { throw new Error("no"); } };
    assert.equal((await ONE.run({}, { ...one(() => 1), signal, onError: () => {} })).value, 1);
});

const SCHEMA = { type: "object", properties: { allowed: { type: "boolean" } }, required: ["allowed"] };
const suspends = { ...one(() => { throw new ilo.Suspend("a person decides"); }, { outputSchema: SCHEMA }) };
const MISFITS = ["no", { allowed: "no" }, {}, null, { allowed: null }, [true]];
const misfit = (error) => error instanceof ilo.BadValue && /^the answer does not fit tool `t`: /.test(error.message);

test("an answer from outside that does not fit is refused, and the run waits as before", async () => {
    for (const answer of MISFITS) {
        const store = new Memory();
        const waits = await ONE.run({}, { ...suspends, store, name: "a" });
        const before = store.read("a");
        // What the tool is now does not matter.
        const now = one(() => 1);
        await assert.rejects(ilo.resume({ store, name: "a" }, now, { call: 1, answer }), misfit);
        assert.deepEqual(store.read("a"), before);
        const outcome = await ilo.resume({ store, name: "a" }, now, { call: 1, answer: { allowed: false } });
        assert.deepEqual(outcome.value, { allowed: false });
        await assert.rejects(ONE.resume(waits.snapshot, { ...suspends, answer }), misfit);
        assert.deepEqual((await ONE.resume(waits.snapshot, { ...suspends, answer: { allowed: true } })).value, { allowed: true });
    }
});

test("an answer from outside that would end the run is refused, and the run waits as before", async () => {
    const deep = Array.from({ length: 200 }).reduce((inside) => [inside], 1);
    const waits = one(suspends.tools.t.execute);
    for (const [value, why] of [
        [deep, /^the answer is nested deeper than 128$/],
        [new ilo.Json("[".repeat(200) + "]".repeat(200)), /^the answer is nested deeper than 128$/],
        [Array(200_000).fill(0), /^the answer has more than 100000 values$/],
        ["x".repeat(3 << 20), /^the answer has more than 2097152 bytes$/],
        [new ilo.Json(`"${"x".repeat(3 << 20)}"`), /^the answer has more than 2097152 bytes$/],
        [Symbol("x"), /^the answer is a symbol$/],
        [() => 1, /^the answer is a function$/],
        [Promise.resolve(1), /^the answer is a value of the class `Promise`/],
        [{ get a() { throw new Error("mine"); } }, /^the answer could not be read: mine$/],
    ]) {
        const store = new Memory();
        const { snapshot } = await ONE.run({}, { ...waits, store, name: "a" });
        const before = store.read("a");
        const refused = (error) => error instanceof ilo.BadValue && why.test(error.message);
        for (const given of [{ answer: value }, { failure: value }]) {
            await assert.rejects(ilo.resume({ store, name: "a" }, waits, { call: 1, ...given }), refused);
            assert.deepEqual(store.read("a"), before);
            await assert.rejects(ONE.resume(snapshot, { ...waits, ...given }), refused);
        }
        assert.equal((await ilo.resume({ store, name: "a" }, waits, { call: 1, answer: 7 })).value, 7);
    }
});

test("a record without a schema is read, and its answer is compared with the tool of today", async () => {
    const store = new Memory();
    await ONE.run({}, { ...one(suspends.tools.t.execute), store, name: "a" });
    // As an earlier release has written it.
    const { head, state: { expects: _, ...state } } = JSON.parse(store.read("a").record);
    delete head.summed;
    store.runs.set("a", { version: 1, record: JSON.stringify({ head, state }) });
    await assert.rejects(ilo.resume({ store, name: "a" }, suspends, { call: 1, answer: "no" }), misfit);
    assert.equal((await ilo.resume({ store, name: "a" }, suspends, { call: 1, answer: { allowed: true } })).status, "ok");
});

const ANSWER = ilo.build("; fn f() -> any\n; Tools: 0=t\nRET CALL 0 0\n");

test("an outcome is a text to the digit, and JSON.stringify of it never throws", async () => {
    const text = '{"big":9223372036854775807,"whole":2.0,"n":1}';
    for (const execute of [() => new ilo.Json(text), async () => new ilo.Json(text)]) {
        const outcome = await ANSWER.run({}, one(execute));
        assert.equal(outcome.value.big, 9223372036854775807n);
        assert.match(outcome.toText(), /^\{"status":"ok","value":\{"big":9223372036854775807,"whole":2\.0,"n":1\}/);
        assert.equal(JSON.parse(JSON.stringify(outcome)).value.big, "9223372036854775807");
        assert.deepEqual(Object.keys(outcome).sort(), ["compensationFailures", "fuel", "notRolledBack", "rolledBack", "status", "value"]);
    }
    const failed = await ONE.run({}, one(() => { throw new ilo.Failure({ code: 2n ** 60n }); }));
    assert.match(failed.toText(), /"error":\{"code":1152921504606846976\}/);
    const store = new Memory();
    const waits = await ONE.run({}, { ...one(() => { throw new ilo.Suspend(); }), store, name: "a" });
    assert.equal(JSON.parse(JSON.stringify(waits)).status, "suspended");
    assert.equal(JSON.parse(waits.toText()).call.tool, "t");
    const run = ANSWER.start();
    run.step();
    run.answer(2n ** 60n);
    assert.match(run.step().toText(), /1152921504606846976/);
});

test('with bigint: "text" there is no bigint anywhere', async () => {
    const program = ilo.build("; fn f(n: number) -> any\n; Tools: 0=t\n; Fields: 0=n\nRET CALL 0 1 0 REF 0\n");
    const seen = [];
    const echo = ({ n }) => {
        seen.push(typeof n);
        return [2n ** 60n, n];
    };
    for (const more of [{}, { onCall: ({ arguments: { n }, value }) => seen.push(typeof n, typeof value[0]) }]) {
        for (const execute of [echo, async (given) => echo(given)]) {
            const outcome = await program.run({ n: 2n ** 61n }, { ...one(execute), ...more, bigint: "text" });
            assert.deepEqual(outcome.value, ["1152921504606846976", "2305843009213693952"]);
        }
    }
    assert.deepEqual(new Set(seen), new Set(["string"]));
    const run = program.start({ n: 2n ** 61n }, { bigint: "text" });
    assert.equal(run.step().arguments.n, "2305843009213693952");
    await assert.rejects(program.run({ n: 1 }, { ...one(echo), bigint: "number" }), /`bigint` expects "text"/);
});

test("dates are values, and what raises while it is read is a failure", async () => {
    assert.equal((await ANSWER.run({}, one(() => [new Date(0)]))).value[0], "1970-01-01T00:00:00.000Z");
    const program = ilo.build("; fn f(n: any) -> any\nRET REF 0\n");
    assert.equal((await program.run({ n: new Date(0) })).value, "1970-01-01T00:00:00.000Z");
    const bad = await ONE.run({}, one(() => new Date(NaN)));
    assert.equal(bad.error, "the tool's answer is a date that is not valid");
    const hostile = Object.assign(new Date(0), { toISOString() { throw new Error("mine"); }, toJSON() { throw new Error("mine"); } });
    assert.equal((await ANSWER.run({}, one(() => hostile))).value, "1970-01-01T00:00:00.000Z");
});

test("a misfit lists every issue, and a schema without a JSON schema names its tool and path", async () => {
    const issues = [{ message: "is wrong", path: ["a"] }, { message: "is missing", path: ["b", { key: 0 }] }, { message: "no" }];
    const schema = { "~standard": { vendor: "own", validate: () => ({ issues }), jsonSchema: { input: () => ({}), output: () => ({}) } } };
    const found = await ONE.run({}, one(() => 1, { schema }));
    assert.equal(found.error, "the arguments do not fit: a: is wrong; b.0: is missing; no");
    const leaf = (convert) => ({ "~standard": { vendor: "own", validate: (value) => ({ value }), jsonSchema: { input: convert, output: convert } } });
    const fails = () => { throw new Error("Transforms cannot be represented"); };
    const item = { ...leaf(fails), def: { shape: { good: leaf(() => ({})), when: leaf(fails) } } };
    const list = { ...leaf(fails), def: { element: item } };
    const whole = { ...leaf(fails), def: { shape: { id: leaf(() => ({})), items: list } } };
    assert.throws(
        () => new ilo.Tools({ book: { execute() {}, schema: whole } }),
        /^TypeError: tool `book`: its `schema` has no JSON schema at `items\[\]\.when`: Transforms cannot be represented$/,
    );
    const throws = { "~standard": { vendor: "own", validate: () => { throw new Error("mine"); }, jsonSchema: leaf(() => ({}))["~standard"].jsonSchema } };
    errsWith(await ONE.run({}, one(() => 1, { schema: throws })), "Error: mine");
    errsWith(await ONE.run({}, one(() => 1, { outputSchema: throws })), "Error: mine");
});

function errsWith(outcome, error) {
    assert.deepEqual([outcome.status, outcome.error], ["err", error]);
}

test("a cancelled run keeps its reason, and the signal of a call that changes something is aborted", async () => {
    const controller = new AbortController();
    const seen = [];
    const execute = async (_, { signal }) => {
        signal.addEventListener("abort", () => seen.push("aborted"));
        controller.abort(new Error("the person left"));
        await sleep(10);
        seen.push("done");
        return 1;
    };
    const outcome = await ONE.run({}, { ...one(execute), signal: controller.signal });
    assert.equal(outcome.code, "cancelled");
    assert.match(outcome.message, /: the person left$/);
    assert.deepEqual(seen, ["aborted", "done"]);
});

test("a computation ends soon after it is cancelled", async () => {
    const source = `{"function": "f", "input": {"all": "list number"}, "output": "number", "steps": [{"let": "n", "expr": 0},
        {"for": "a", "in": "$input.all", "do": [{"for": "b", "in": "$input.all", "do": [{"for": "c", "in": "$input.all", "do": [
            {"let": "n", "expr": {"+": ["$n", 1]}}]}]}]}, {"return": "$n"}]}`;
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 50);
    // To its end it would take minutes.
    const outcome = await ilo.build(source).run(
        { all: Array(3000).fill(0) }, { limits: { fuel: 10n ** 15n }, signal: controller.signal },
    );
    assert.equal(outcome.code, "cancelled");
});

test("a run of a store whose tools have changed is blocked before anything runs, if a call no longer fits", async () => {
    const source = `{"function": "buy", "input": {}, "output": "any", "steps": [
        {"let": "hold", "call": "hold", "args": {"n": 1}}, {"let": "asked", "call": "ask", "args": {"n": "$hold"}},
        {"let": "paid", "call": "pay", "args": {"amount": 90}}, {"return": "$paid"}]}`;
    const program = ilo.build(source);
    const calls = [];
    const schema = (properties, more = {}) => ({ type: "object", properties, ...more });
    const tools = (amount, more) => ({
        hold: { schema: schema({ n: { type: "integer" } }), execute: () => calls.push("hold") },
        ask: { schema: schema({ n: {} }), confirm: true, execute: () => calls.push("ask") },
        pay: { schema: schema({ amount }, more), execute: () => calls.push("pay") },
    });
    const cases = [
        [{ type: "number", maximum: 50 }, {}, /`amount`: expected a number of at most 50, found 90/],
        [{ type: "number" }, { required: ["amount", "currency"] }, /the field `currency` is missing/],
        [{ type: "number", maximum: 500 }, {}, undefined],
    ];
    for (const [amount, more, why] of cases) {
        const store = new Memory();
        calls.length = 0;
        const first = tools({ type: "number" });
        const waits = await program.run({}, { tools: first, store, name: "a" });
        assert.equal(waits.state, "asking");
        const before = store.read("a");
        const now = tools(amount, more);
        // A call that was made is not compared: its tool may take anything else now.
        now.hold.schema = schema({ n: { type: "string" } });
        const decision = { call: waits.call.number, make: true };
        const outcome = await ilo.resume({ store, name: "a" }, { tools: now }, decision);
        if (why === undefined) {
            assert.deepEqual([outcome.status, calls], ["ok", ["hold", "ask", "pay"]]);
            continue;
        }
        assert.deepEqual([outcome.status, outcome.state], ["suspended", "blocked"]);
        assert.match(outcome.reason, why);
        assert.deepEqual([store.read("a"), calls], [before, ["hold"]]);
        const accepted = await ilo.resume({ store, name: "a" }, { tools: now, acceptChanges: true }, decision);
        assert.deepEqual([accepted.status, calls], [accepted.status, ["hold", "ask"]]);
        assert.notEqual(accepted.status, "suspended");
    }
});
