// Runs whose tools answer at once, and all that they are handed over for: the same outcome, calls and fuel as those
// of the loop that does everything, which runs with `onCall` are driven by.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as ilo from "ilo-vm";
import { core } from "../dist/core.js";
import * as glue from "../dist/glue.js";

const of = (input, steps) => JSON.stringify({ function: "f", input, output: "any", steps });
const TWICE = of({ n: "number" }, [
    { let: "a", call: "read", args: { n: "$input.n" } },
    { let: "b", call: "write", args: { found: "$a" } },
    { return: ["$a", "$b"] },
]);
const ECHO = of({ n: "any" }, [{ let: "a", call: "t", args: { n: "$input.n" } }, { return: "$a" }]);

// Runs both loops, with new tools for each. Returns the outcomes, which must be equal, and the calls.
async function both(source, inputs, tools, options = {}) {
    const program = ilo.build(source);
    const made = [];
    const all = [];
    for (const more of [{}, { onCall: () => {} }]) {
        const calls = [];
        const given = Object.fromEntries(Object.entries(tools()).map(([name, tool]) => [name, { ...tool, execute: (...args) => {
            calls.push([name, JSON.stringify(args[0])]);
            return tool.execute(...args);
        } }]));
        all.push(await program.run(inputs, { tools: given, ...options, ...more }));
        made.push(calls);
    }
    program.dispose();
    assert.deepEqual(all[0], all[1]);
    assert.deepEqual(made[0], made[1]);
    return { outcome: all[0], calls: made[0] };
}

const wait = (value) => new Promise((resolve) => setTimeout(() => resolve(value), 2));
const fail = () => { throw new TypeError("no"); };
const circular = {};
circular.self = circular;
let deep = 1;
for (let n = 0; n < 200; n++) deep = [deep];

const WAYS = {
    "a value": { execute: () => ({ a: [1, 2.5, "é\"", null, true, 2n ** 62n] }) },
    "nothing": { execute: () => undefined },
    "a promise": { execute: () => wait(1) },
    "a promise that fails": { execute: async () => fail() },
    "an error": { execute: fail },
    "a failure with a value": { execute: () => { throw new ilo.Failure({ why: [1] }); } },
    "a text of JSON": { execute: () => new ilo.Json('{"b": 2.0, "10": 1}') },
    "a name twice": { execute: () => new ilo.Json('{"a": 1, "a": 2}') },
    "no JSON": { execute: () => new ilo.Json("{") },
    "a circular value": { execute: () => circular },
    "a deep value": { execute: () => deep },
    "a large text": { execute: () => "x".repeat(3 << 20) },
    "many values": { execute: () => Array(100_001).fill(0) },
    "an integer past 64 bits": { execute: () => 2n ** 64n },
    "bytes": { execute: () => new Uint8Array(3) },
    "an instance": { execute: () => new Map() },
    "a getter that throws": { execute: () => ({ get a() { throw new Error("no"); } }) },
    "a then that throws": { execute: () => ({ get then() { throw new Error("no"); } }) },
    "an answer that does not fit": { execute: () => 1, outputSchema: { type: "object" } },
    "an answer that fits": { execute: () => ({ a: 1 }), outputSchema: { type: "object", properties: { a: { type: "integer" } } } },
    "arguments that do not fit": { execute: () => 1, schema: { type: "object", properties: { n: { type: "string" }, found: { type: "string" } } } },
    "with retries": { execute: fail, idempotent: true, retries: 1 },
    "with a confirmation": { execute: () => 1, confirm: true },
};

for (const [name, way] of Object.entries(WAYS)) {
    test(`a tool gives ${name}: as in the other loop, first and second, read-only and not`, async () => {
        const good = { execute: () => ({ id: 7 }) };
        for (const readOnly of [false, true]) {
            const tool = { ...way, readOnly };
            await both(TWICE, { n: 1 }, () => ({ read: tool, write: good }));
            await both(TWICE, { n: 1 }, () => ({ read: good, write: tool }));
            await both(TWICE, { n: 1 }, () => ({ read: { ...good, readOnly }, write: tool }), { limits: { toolCalls: 1 } });
        }
    });
}

test("limits, inputs and functions are held as in the other loop", async () => {
    const tools = () => ({ read: { execute: () => ({ id: 7 }) }, write: { execute: () => 1 } });
    for (const limits of [{ fuel: 3 }, { memory: 5000 }, { items: 0 }, { resultBytes: 5 }, { resultNodes: 1 }, { valueDepth: 0 }]) {
        await both(TWICE, { n: 1 }, tools, { limits });
    }
    const program = ilo.build(TWICE);
    for (const inputs of [{}, { n: "1" }, { n: 1, m: 2 }, new ilo.Json("["), new ilo.Json('{"n": 1, "n": 2}'), { n: deep }]) {
        const messages = [];
        for (const more of [{}, { onCall: () => {} }]) {
            await assert.rejects(program.run(inputs, { tools: tools(), ...more }), (error) => Boolean(messages.push(`${error}`)));
        }
        assert.equal(messages[0], messages[1]);
    }
    await assert.rejects(program.run({ n: 1 }, { tools: tools(), function: "g" }), /no function `g`/);
    await assert.rejects(program.run({ n: 1 }, { tools: {} }), ilo.StartError);
    await assert.rejects(program.run({ n: 1 }, { tools: tools(), timeout: -1 }), RangeError);
    await assert.rejects(program.run({ n: 1 }, { tools: tools(), limits: { fule: 1 } }), /did you mean `fuel`/);
});

test("a call that passes the time of the run is answered, and the run ends", async () => {
    const slow = { execute: () => { const end = performance.now() + 30; while (performance.now() < end); return 1; } };
    const { outcome, calls } = await both(TWICE, { n: 1 }, () => ({ read: slow, write: slow }), { timeout: 20 });
    assert.equal(outcome.code, "timed-out");
    assert.equal(calls.length, 1);
    const none = await both(TWICE, { n: 1 }, () => ({ read: slow, write: slow }), { timeout: 0 });
    assert.equal(none.outcome.code, "timed-out");
    assert.equal(none.calls.length, 0);
    const undone = of({}, [{ let: "a", call: "pay", args: {}, rollback: { call: "refund", args: {} } }, { return: "$a" }]);
    const found = await both(undone, {}, () => ({ pay: slow, refund: { execute: () => null } }), { timeout: 20 });
    assert.deepEqual(found.calls.map(([name]) => name), ["pay", "refund"]);
    assert.deepEqual(found.outcome.rolledBack, [{ tool: "refund", number: 2 }]);
});

test("a run suspends at its first call and at a later one, and goes on", async () => {
    const program = ilo.build(TWICE);
    const suspend = { execute: () => { throw new ilo.Suspend("a person"); } };
    const good = { execute: () => ({ id: 7 }) };
    const whole = await program.run({ n: 1 }, { tools: { read: good, write: good } });
    for (const tools of [{ read: suspend, write: good }, { read: good, write: suspend }]) {
        for (const found of [await program.run({ n: 1 }, { tools }), program.runSync({ n: 1 }, { tools })]) {
            assert.equal(found.status, "suspended");
            assert.equal(found.reason, "a person");
            const outcome = await program.resume(found.snapshot, { answer: { id: 7 }, tools: { read: good, write: good } });
            assert.deepEqual(outcome, whole);
        }
    }
});

test("calls of tools that only read start side by side once one waits", async () => {
    const source = of({}, [
        ...["a", "b", "c"].map((name) => ({ let: name, call: name, args: {} })),
        { return: ["$a", "$b", "$c"] },
    ]);
    let [now, most] = [0, 0];
    const slow = { readOnly: true, execute: async () => {
        most = Math.max(most, ++now);
        await wait();
        now--;
        return 1;
    } };
    const program = ilo.build(source);
    assert.deepEqual((await program.run({}, { tools: { a: { readOnly: true, execute: () => 0 }, b: slow, c: slow } })).value, [0, 1, 1]);
    assert.equal(most, 2);
});

test("a run within a tool of the same program, and one that disposes of its program, stay whole", async () => {
    const program = ilo.build(ECHO);
    const tools = new ilo.Tools({ t: { execute: ({ n }) => (n === 0 ? "end" : [program.runSync({ n: n - 1 }, { tools }).value]) } });
    assert.deepEqual(program.runSync({ n: 3 }, { tools }).value, [[["end"]]]);
    const runs = await Promise.all([1, 2, 3].map((n) => program.run({ n }, { tools })));
    assert.deepEqual(runs.map(({ value }) => JSON.stringify(value)), ['["end"]', '[["end"]]', '[[["end"]]]']);
    const last = ilo.build(ECHO);
    assert.equal(last.runSync({ n: 1 }, { tools: { t: { execute: () => { last.dispose(); return 1; } } } }).value, 1);
    assert.equal(last.runSync({ n: 1 }, { tools: { t: { execute: () => 2 } } }).value, 2);
});

test("a run takes nothing over from the one before it", () => {
    const program = ilo.build(ECHO);
    const tools = new ilo.Tools({ t: { execute: ({ n }) => n } });
    const fresh = (n) => ilo.load(program.toBytes()).runSync({ n }, { tools });
    for (const n of [1, { a: { b: [1, { c: 2 }] } }, "x".repeat(9_000), Array(2_000).fill({ a: 1 }), { z: 1 }, null, { a: 1 }]) {
        assert.deepEqual(program.runSync({ n }, { tools }), fresh(n));
    }
});

test("a trap while a tool answers loses the run with a clear error, and the next one works", async () => {
    const source = "; fn f() -> any\n; Tools: 0=t\nRET CALL 0 0\n";
    const program = ilo.build(source);
    const trap = () => {
        assert.throws(() => core.call(() => glue.initSync({}).core_toBytes(0x7fff_fff0)), ilo.Crash);
        return 1;
    };
    const tools = new ilo.Tools({ t: { execute: trap } });
    assert.throws(() => program.runSync({}, { tools }), ilo.Crash);
    await assert.rejects(program.run({}, { tools }), ilo.Crash);
    assert.equal(program.runSync({}, { tools: { t: { execute: () => 1 } } }).value, 1);
});
