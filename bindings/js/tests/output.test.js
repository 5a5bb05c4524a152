// `outputSchema`: the check compares what it knows of the value, a value that still differs is rolled back, others are typed.
import { test } from "node:test";
import assert from "node:assert/strict";
import * as ilo from "ilo-vm";
import * as z from "zod";

// It makes a reservation with its rollback, and returns what another tool gives.
const SOURCE = "; fn f() -> any\n; Tools: 0=reserve 1=release 2=get\n; Fields: 0=id\nLET 0 CALL 0 0\nROLLBACK CALL 1 1 0 REF 0\nRET CALL 2 0\n";
const Report = z.object({ title: z.string(), at: z.iso.date().transform((text) => new Date(text)), n: z.number().max(9).default(1) });

const shop = (value) => {
    const calls = [];
    const call = (name, answer) => ({ execute: () => { calls.push(name); return answer; } });
    return { calls, tools: { reserve: call("reserve", 7), release: call("release", null), get: call("get", value) } };
};

const ways = (schema) => {
    const program = ilo.build(SOURCE, { outputSchema: schema });
    const plain = ilo.build(SOURCE);
    const records = new Map();
    const store = { read: (name) => records.get(name), write: (name, version, record) => { records.set(name, { version, record }); return true; } };
    return {
        run: (tools) => program.run({}, { tools }),
        "with an option of the run": (tools) => plain.run({}, { tools, outputSchema: schema }),
        "at once": async (tools) => program.runSync({}, { tools }),
        "in a store": (tools) => program.run({}, { tools, store, name: "a" }),
        "again in the store": (tools) => program.run({}, { tools, store, name: "a" }),
        "as a stream": (tools) => program.stream({}, { tools }).outcome(),
    };
};

test("the value is what the schema makes of it", async () => {
    for (const [way, go] of Object.entries(ways(Report))) {
        const { tools } = shop({ title: "a", at: "2026-01-02" });
        const outcome = await go(tools);
        assert.deepEqual(outcome.value, { title: "a", at: new Date("2026-01-02"), n: 1 }, way);
        assert.match(outcome.toText(), /"at":"2026-01-02"\}/);
    }
    for (const go of Object.values(ways({ type: "object" }))) assert.deepEqual((await go(shop({ a: 1 }).tools)).value, { a: 1 });
});

test("another value is a fault after the rollback", async () => {
    const own = { "~standard": { vendor: "own", version: 1, validate: () => { throw new Error("no idea"); }, jsonSchema: { input: () => ({}), output: () => ({}) } } };
    for (const [schema, value, why] of [
        [Report, { title: 1, at: "2026-01-02" }, /`title`: expected text, found a number/],
        [Report, { title: "a" }, /the field `at` is missing/],
        [Report, { title: "a", at: "soon" }, /at: Invalid ISO date/],
        [{ type: "string" }, 7, /expected text, found a number/],
        [own, 7, /no idea/],
    ]) {
        const all = ways(schema);
        delete all["again in the store"];
        for (const [way, go] of Object.entries(all)) {
            const { calls, tools } = shop(value);
            const outcome = await go(tools);
            assert.equal(outcome.code, "output-mismatch", `${way}: ${outcome.toText?.()}`);
            assert.match(outcome.message, why);
            assert.deepEqual(calls, ["reserve", "get", "release"], way);
            assert.deepEqual(outcome.rolledBack, [{ tool: "release", number: 3 }]);
        }
    }
    const later = z.string().refine(async () => true);
    const outcome = ilo.build(SOURCE, { outputSchema: later }).runSync({}, { tools: shop("a").tools });
    assert.equal(outcome.code, "output-mismatch");
    assert.equal((await ilo.build(SOURCE, { outputSchema: later }).run({}, { tools: shop("a").tools })).value, "a");
    const never = z.string().refine(() => new Promise(() => {}));
    const { calls, tools } = shop("a");
    const ended = await ilo.build(SOURCE, { outputSchema: never }).run({}, { tools, timeout: 50 });
    assert.equal(ended.code, "output-mismatch");
    assert.match(ended.message, /its schema has not answered within the time of the run/);
    assert.deepEqual(calls, ["reserve", "get", "release"]);
});

test("the check compares what it knows", () => {
    const wrong = '{"function": "f", "input": {}, "output": "any", "steps": [{"return": {"title": 1}}]}';
    assert.throws(() => ilo.build(wrong, { outputSchema: Report }), (error) => {
        assert.deepEqual(new Set(error.diagnostics.map((found) => found.code)), new Set(["other-signature"]));
        return /lacks the field `at`/.test(error.message) && /`title`/.test(error.message);
    });
    assert.equal(ilo.check(wrong, { outputSchema: Report }).length, 2);
    assert.match(ilo.card("mcp", { outputSchema: z.object({ a: z.string() }) }), /returns a value of this type: \{a: text\}\n$/);
    const set = { outputSchema: z.object({ a: z.object({ b: z.map(z.string(), z.number()) }) }) };
    assert.throws(() => ilo.build(SOURCE, set), /`outputSchema` has no JSON schema at `a\.b`/);
    assert.throws(() => ilo.build(SOURCE, { outputSchema: 7 }), TypeError);
});
