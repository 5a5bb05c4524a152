/** Events and streams of runs: what they say, when they come, and that nothing of a run depends on those who watch. */

import assert from "node:assert/strict";
import { test } from "node:test";
import * as ilo from "ilo-vm";

const ONE = ilo.build("; fn f() -> result any, any\n; Tools: 0=t\nRET_OK CALL 0 0\n");
const MANY = ilo.build(
    "; fn f() -> any\n; Tools: 0=t\n; Fields: 0=n\nLET 0 RANGE LIT 1 1000\nFOR 1 REF 0 2\n  LET 2 CALL 0 1 0 REF 1\n  REF 2\n",
);
const TWO = ilo.build(
    "; fn f() -> any\n; Tools: 0=t\n; Fields: 0=n\nLET 0 CALL 0 1 0 LIT 1 1\nLET 1 CALL 0 1 0 LIT 1 2\nLIST 2 REF 0 REF 1\n",
);
const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const shown = (event) => {
    if (event.type === "start") return ["start", event.id, event.number, event.tool, event.arguments];
    if (event.type === "end") return ["end", event.id, event.number, event.ok, event.value];
    return ["dropped", event.count];
};
const number = { t: { execute: async ({ n }) => n } };

test("a call has a start and an end, with what the tool has thrown", async () => {
    const error = new TypeError("no");
    const throwing = { execute: () => { throw error; } };
    const rejecting = { execute: async () => { throw error; }, idempotent: true, retries: 1 };
    for (const go of [
        (options) => ONE.run({}, { ...options, tools: { t: throwing } }),
        (options) => ONE.run({}, { ...options, tools: { t: rejecting } }),
        (options) => ONE.runSync({}, { ...options, tools: { t: throwing } }),
    ]) {
        const events = [];
        const outcome = await go({ onEvent: (event) => events.push(event), toolCallId: "call_7" });
        assert.equal(outcome.error, "TypeError: no");
        const [begin, end] = events;
        assert.equal(events.length, 2);
        assert.deepEqual(shown(begin), ["start", 1, 1, "t", {}]);
        assert.deepEqual(shown(end), ["end", 1, 1, false, "TypeError: no"]);
        assert.equal(end.error, error);
        for (const event of events) assert.deepEqual([event.line, event.toolCallId, event.rollback], [3, "call_7", false]);
        assert.ok(begin.start >= 0 && end.duration >= 0 && end.start + end.duration < 60_000);
    }
});

test("events come at the moment, and calls ahead have no number yet", async () => {
    const events = [];
    const seen = [];
    let told;
    const second = new Promise((resolve) => { told = resolve; });
    const onEvent = (event) => {
        events.push(event);
        if (event.type === "end") told();
    };
    // The first read goes on when the end of the second has been told.
    const execute = async ({ n }) => {
        if (n === 1) await second;
        seen.push(events.length);
        return n;
    };
    const outcome = await TWO.run({}, { tools: { t: { execute, readOnly: true } }, onEvent });
    assert.deepEqual(outcome.value, [1, 2]);
    const starts = events.slice(0, 2).map(shown);
    assert.deepEqual(starts, [["start", 1, null, "t", { n: 2 }], ["start", 2, 1, "t", { n: 1 }]]);
    assert.deepEqual(events.slice(2).map(shown), [["end", 1, null, true, 2], ["end", 2, 1, true, 1]]);
    assert.deepEqual(seen, [2, 3]);
});

test("handlers that throw, hang or are slow change nothing", async () => {
    const expected = Array.from({ length: 1000 }, (_, at) => at);
    for (const [handler, check] of [
        [() => { throw new Error("observer"); }, (got) => got.length === 2000 && got.every((error) => error.message === "observer")],
        [() => new Promise(() => {}), (got) => got.length === 1900 && got.every((error) => error.message.startsWith("100 handlers"))],
        [() => later(1), (got) => got.every((error) => error.message.startsWith("100 handlers"))],
        [async () => { throw new Error("observer"); }, (got) => got.every((error) => error instanceof Error)],
    ]) {
        const got = [];
        const outcome = await MANY.run({}, { tools: number, onEvent: handler, onError: (error) => void got.push(error) });
        assert.deepEqual(outcome.value, expected);
        await later(5);
        assert.ok(check(got), `${got.length} ${got[0]}`);
    }
});

test("a stream gives the events and the outcome", async () => {
    const stream = TWO.stream({}, { tools: number, toolCallId: "x" });
    const events = [];
    for await (const event of stream) events.push(event);
    assert.deepEqual(events.map((event) => shown(event).slice(0, 3)), [["start", 1, 1], ["end", 1, 1], ["start", 2, 2], ["end", 2, 2]]);
    assert.deepEqual((await stream.outcome()).value, [1, 2]);
    const early = TWO.stream({}, { tools: number });
    for await (const _ of early) break;
    assert.deepEqual((await early.outcome()).value, [1, 2]);
    await assert.rejects(async () => {
        for await (const _ of TWO.stream()) assert.fail("nothing runs");
    }, ilo.StartError);
    assert.throws(() => TWO.stream({}, { onEvent: () => {} }), /onEvent/);
    assert.throws(() => TWO.stream({}, { onEvents: () => {} }), TypeError);
});

test("a slow reader loses the oldest events and is told how many", async () => {
    const stream = MANY.stream({}, { tools: number });
    await stream.outcome();
    const events = [];
    for await (const event of stream) events.push(event);
    assert.deepEqual(shown(events[0]), ["dropped", 2000 - 1024]);
    assert.equal(events.length, 1025);
    assert.deepEqual(shown(events.at(-1)), ["end", 1000, 1000, true, 999]);
});

test("a call that suspends has ended with the reason, and one that was cut off too", async () => {
    const events = [];
    const onEvent = (event) => events.push(event);
    const suspends = { t: { execute: () => { throw new ilo.Suspend("a person decides"); } } };
    assert.equal((await ONE.run({}, { tools: suspends, onEvent })).status, "suspended");
    assert.deepEqual(events.map((event) => event.type), ["start", "end"]);
    assert.ok(events[1].error instanceof ilo.Suspend);
    events.length = 0;
    const hangs = { t: { readOnly: true, execute: () => new Promise(() => {}) } };
    assert.equal((await ONE.run({}, { tools: hangs, onEvent, signal: AbortSignal.timeout(20) })).code, "cancelled");
    assert.deepEqual(events.map((event) => event.type), ["start", "end"]);
    assert.equal(events[1].value, "interrupted");
});

test("every tool gets the context of the run", async () => {
    const seen = [];
    const context = { user: "ada" };
    const tools = { t: { execute: (_, { context }) => void seen.push(context) } };
    await ONE.run({}, { tools, context });
    await ONE.run({}, { tools, context, onEvent: () => {} });
    ONE.runSync({}, { tools, context });
    ONE.runSync({}, { tools });
    assert.deepEqual(seen, [context, context, context, undefined]);
});

test("spans are recorded without arguments, answers or messages", async (t) => {
    // A stand-in for what `@opentelemetry/api` registers: what is called of it, in which order.
    const key = Symbol.for("opentelemetry.js.api.1");
    const log = [];
    const span = (name) => ({
        name,
        setAttribute: (attribute, value) => log.push([name, attribute, value]),
        setStatus: ({ code }) => log.push([name, code]),
        end: () => log.push([name, "end"]),
    });
    const around = (inner) => ({ inner, setValue: (_, value) => around(value) });
    let active = around(undefined);
    const startSpan = (name, { attributes }, context) => {
        log.push(["start", name, context.inner?.name, attributes]);
        return span(name);
    };
    const within = (context, work) => {
        const before = active;
        active = context;
        try {
            return work();
        } finally {
            active = before;
        }
    };
    globalThis[key] = { trace: { getTracer: () => ({ startSpan }) }, context: { active: () => active, with: within } };
    t.after(() => delete globalThis[key]);
    const execute = () => {
        log.push(["within", active.inner.name]);
        throw new TypeError("secret");
    };
    const expected = [
        ["start", "invoke_workflow f", undefined, { "gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "f" }],
        ["start", "execute_tool t", "invoke_workflow f", { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t" }],
        ["within", "execute_tool t"],
        ["execute_tool t", "error.type", "TypeError"],
        ["execute_tool t", 2],
        ["execute_tool t", "end"],
        ["invoke_workflow f", "error.type", "err"],
        ["invoke_workflow f", 2],
        ["invoke_workflow f", "end"],
    ];
    for (const go of [ONE.run.bind(ONE), ONE.runSync.bind(ONE)]) {
        log.length = 0;
        await go({}, { tools: { t: { execute } } });
        assert.deepEqual(log, expected);
    }
});
