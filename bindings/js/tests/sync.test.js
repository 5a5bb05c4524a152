// Runs without promises: `runSync` returns the same as `run`, and reports what it cannot do.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as ilo from "ilo-vm";

const ONE = ilo.build("; fn f() -> result any, any\n; Tools: 0=t\nRET_OK CALL 0 0\n");
const READS = ilo.build(
    "; fn f() -> any\n; Tools: 0=t\n; Fields: 0=n\nLET 0 CALL 0 1 0 LIT 1 0\nLET 1 CALL 0 1 0 LIT 1 1\n" +
        "LET 2 CALL 0 1 0 LIT 1 2\nRET LIST 3 REF 0 REF 1 REF 2\n",
);
const one = (execute, policy = {}) => ({ tools: { t: { execute, ...policy } } });

// The results of both for the same tools.
async function both(program, options) {
    const found = program.runSync({}, options());
    assert.deepEqual(await program.run({}, { ...options(), atOnce: 1 }), found);
    return found;
}

test("the outcome is that of run, with the same calls in the same order", async () => {
    for (const readOnly of [false, true]) {
        const made = [];
        const read = one(({ n }) => n * 10, { readOnly });
        const found = await both(READS, () => ({ ...read, onCall: ({ arguments: { n } }) => made.push(n) }));
        assert.deepEqual(found.value, [0, 10, 20]);
        assert.deepEqual(made, [0, 1, 2, 0, 1, 2]);
    }
    const fails = await both(ONE, () => one(() => { throw new RangeError("no user 7"); }));
    assert.deepEqual([fails.status, fails.error], ["err", "RangeError: no user 7"]);
    const bad = await both(ONE, () => one(() => 2n ** 64n));
    assert.equal(bad.error, "the tool's answer is an integer past 64 bits");
    assert.equal((await both(READS, () => ({ ...one(() => 1), limits: { toolCalls: 2 } }))).code, "too-many-calls");
});

test("a tool or a person that gives a promise fails the call", async () => {
    const rejects = () => Promise.reject(new Error("nobody hears it"));
    for (const execute of [async () => 1, rejects, () => ({ then() {} })]) {
        const found = ONE.runSync({}, one(execute));
        assert.deepEqual([found.status, found.error], ["err", "tool `t` gave a promise, and `runSync` cannot await it; use `run`"]);
    }
    const confirmed = one(() => 1, { confirm: true });
    const refused = "tool `t` was not called: it needs a confirmation (`confirm`), and ";
    const error = (ask) => ONE.runSync({}, { ...confirmed, ask, onError: () => {} }).error;
    assert.equal(error(undefined), `${refused}there is nobody to ask`);
    assert.equal(error(() => false), `${refused}it was refused`);
    assert.equal(error(rejects), `${refused}nobody could be asked`);
    assert.equal(ONE.runSync({}, { ...confirmed, ask: (call) => call.tool === "t" }).value, 1);
    // A rejection that nobody handles would end the process.
    await new Promise((resolve) => setTimeout(resolve));
});

test("a failed call is made again", () => {
    let tries = 0;
    const flaky = (works) => one(() => { if (++tries < works) throw new Error("busy"); return tries; }, { idempotent: true, retries: 10 });
    assert.equal(ONE.runSync({}, flaky(11)).value, 11);
    tries = 0;
    assert.equal(ONE.runSync({}, flaky(12)).error, "Error: busy");
    assert.equal(tries, 11);
});

test("a run ends by its time, by its signal, and where a tool suspends", async () => {
    const busy = () => { for (const until = performance.now() + 30; performance.now() < until;); };
    assert.equal(READS.runSync({}, { ...one(busy), timeout: 20 }).code, "timed-out");
    const control = new AbortController();
    assert.equal(READS.runSync({}, { ...one(() => control.abort()), signal: control.signal }).code, "cancelled");
    const waits = READS.runSync({}, one(({ n }) => { if (n === 1) throw new ilo.Suspend("a person decides"); return n; }, { readOnly: true }));
    assert.deepEqual([waits.status, waits.reason, waits.call.arguments], ["suspended", "a person decides", { n: 1 }]);
    assert.deepEqual((await READS.resume(waits.snapshot, { ...one(({ n }) => n), answer: "one" })).value, [0, "one", 2]);
});

test("schemas of Standard Schema validate at once where they can", () => {
    const schema = {
        "~standard": {
            vendor: "own",
            validate: (value) => (value.n === 2 ? { issues: [{ message: "is two", path: ["n"] }] } : { value: { n: value.n + 1 } }),
            jsonSchema: { input: () => ({ type: "object" }), output: () => ({ type: "object" }) },
        },
    };
    const source = "; fn f(n: number) -> result any, any\n; Tools: 0=t\n; Fields: 0=n\nRET_OK CALL 0 1 0 REF 0\n";
    const program = ilo.build(source);
    assert.equal(program.runSync({ n: 1 }, one(({ n }) => n, { schema })).value, 2);
    assert.equal(program.runSync({ n: 2 }, one(({ n }) => n, { schema })).error, "the arguments do not fit: n: is two");
});

test("what is thrown leaves nothing behind", () => {
    assert.throws(() => ONE.runSync({}, { ...one(() => 1), timeout: -1 }), RangeError);
    assert.throws(() => ONE.runSync({}, {}), ilo.StartError);
});
