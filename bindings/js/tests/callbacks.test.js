// What callbacks of a host give and throw of every odd kind: no run is lost, and nothing ends the process.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import * as ilo from "ilo-vm";
import { Memory } from "./memory.js";

const ONE = ilo.build("; fn f() -> result any, any\n; Tools: 0=t\nRET_OK CALL 0 0\n");
const TRIP = ilo.build(
    "; fn f() -> any\n; Tools: 0=reserve 1=release 2=wait\n; Fields: 0=id\n" +
        "LET 0 CALL 0 0\nROLLBACK CALL 1 1 0 REF 0\nRET CALL 2 0\n",
);
const one = (execute, policy = {}) => ({ tools: { t: { execute, ...policy } } });
const HALF = "caf\udce9";

/** The tools of `TRIP`, with the calls that were made. */
function trip(wait, policy = {}) {
    const calls = [];
    const made = (name, answer) => (given, context) => {
        calls.push(given.id === undefined ? name : `${name} ${given.id}`);
        return answer(given, context);
    };
    const tools = {
        reserve: { execute: made("reserve", () => 7) },
        release: { execute: made("release", () => null) },
        wait: { execute: made("wait", wait), ...policy },
    };
    return { calls, tools };
}

const revoked = () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
};
const throwing = (extra = {}) => new Proxy({}, new Proxy({}, { get: () => () => { throw Object.assign(new Error("trap"), extra); } }));
/** A value whose getter `then` gives nothing the first times, and then throws. */
const moody = (quiet) => ({ get then() { if (quiet-- > 0) return undefined; throw new Error("mine"); } });
const failure = (value) => Object.defineProperty(new ilo.Failure("x"), "value", { get: value });

const answers = {
    revoked,
    throwing,
    moody0: () => moody(0),
    moody1: () => moody(1),
    moody2: () => moody(2),
    getter: () => ({ get a() { throw new Error("mine"); } }),
    getterOfProxy: () => [new Proxy({ a: 1 }, { get() { throw revoked(); } })],
    toJSON: () => ({ toJSON() { throw new Error("mine"); } }),
    toJSONItself: () => { const own = { toJSON: () => own }; return own; },
    itself: () => { const own = {}; own.own = own; return own; },
    symbol: () => Symbol("x"),
    generator: () => (function* () { yield 1; })(),
    asyncGenerator: () => (async function* () { yield 1; })(),
    noDate: () => Object.create(Date.prototype),
    noLength: () => new Proxy([1], { get: (list, name) => (name === "length" ? { valueOf() { throw new Error("mine"); } } : list[name]) }),
    half: () => HALF,
    halfName: () => ({ [HALF]: 1 }),
    constructorThrows: () => Object.defineProperty(Promise.resolve(1), "constructor", { get() { throw new Error("mine"); } }),
    thenNotCallable: () => ({ then: 1 }),
    thenRejects: () => ({ then(_, reject) { reject(revoked()); } }),
    thenThrows: () => ({ then() { throw revoked(); } }),
};

test("an answer of any odd kind is a value or a failure of its call, and the run goes on", async () => {
    for (const [name, make] of Object.entries(answers)) {
        for (const more of [{}, { onCall() {} }, { onEvent() {} }]) {
            for (const execute of [make, async () => make()]) {
                for (const policy of [{}, { readOnly: true }]) {
                    const outcome = await ONE.run({}, { ...one(execute, policy), ...more, callTimeout: 2000 });
                    assert.ok(["ok", "err"].includes(outcome.status), `${name}: ${JSON.stringify(outcome)}`);
                    assert.doesNotThrow(() => outcome.toText(), name);
                }
            }
            const outcome = ONE.runSync({}, { ...one(make), ...more });
            assert.ok(["ok", "err"].includes(outcome.status), `${name}: ${JSON.stringify(outcome)}`);
        }
    }
});

const thrown = {
    revoked,
    throwing,
    getterOfFailure: () => failure(() => { throw new Error("mine"); }),
    symbolOfFailure: () => failure(() => Symbol("x")),
    proxyOfFailure: () => new Proxy(new ilo.Failure("x"), { get() { throw new Error("mine"); } }),
    half: () => new Error(HALF),
    halfText: () => HALF,
    halfMessage: () => ({ message: HALF }),
    halfName: () => Object.assign(new Error("x"), { name: HALF }),
    halfOfFailure: () => new ilo.Failure(HALF),
    noMessage: () => ({ get message() { throw new Error("mine"); } }),
    nothing: () => undefined,
    symbol: () => Symbol("x"),
    noText: () => ({ toString() { throw new Error("mine"); }, code: () => {} }),
    abort: () => Object.defineProperty(new Error("x"), "name", { get() { throw new Error("mine"); } }),
};

test("whatever a tool throws is a failure of its call, with the rollback", async () => {
    for (const [name, make] of Object.entries(thrown)) {
        for (const more of [{}, { onCall() {} }, { onEvent() {} }]) {
            const execute = () => { throw make(); };
            for (const wait of [execute, async () => execute()]) {
                const outcome = await ONE.run({}, { ...one(wait), ...more, callTimeout: 2000 });
                assert.equal(outcome.status, "err", `${name}: ${JSON.stringify(outcome)}`);
                const { calls, tools } = trip(wait);
                assert.equal((await TRIP.run({}, { tools, ...more })).status, "fault", name);
                assert.deepEqual(calls, ["reserve", "wait", "release 7"], name);
            }
            assert.equal(ONE.runSync({}, { ...one(execute), ...more }).status, "err", name);
        }
    }
});

test("texts of a host with half of a surrogate pair are shown with U+FFFD, and end no run", async () => {
    const shown = "caf\ufffd";
    const suspends = one(() => { throw new ilo.Suspend(HALF); });
    for (const waits of [await ONE.run({}, suspends), ONE.runSync({}, suspends), await ONE.run({}, { ...suspends, store: new Memory(), name: "a" })]) {
        assert.equal(waits.reason, shown);
        assert.equal(JSON.parse(waits.toText()).reason, shown);
        assert.equal(JSON.parse(JSON.stringify(waits)).reason, shown);
    }
    const refuses = { ...one(() => 1, { confirm: true }), ask: () => new ilo.Deny(HALF) };
    for (const refused of [await ONE.run({}, refuses), ONE.runSync({}, refuses)]) assert.match(refused.error, /it was refused: caf\ufffd$/);
    assert.equal((await ONE.run({}, one(() => { throw new Error(HALF); }))).error, `Error: ${shown}`);
});

test("a reason of an abort that cannot be read cancels the run all the same", async () => {
    for (const reason of [revoked(), throwing(), HALF, Symbol("x"), { toString: 1 }]) {
        const controller = new AbortController();
        const { calls, tools } = trip(() => { controller.abort(reason); return 1; });
        const outcome = await TRIP.run({}, { tools, signal: controller.signal });
        assert.equal(outcome.code, "cancelled");
        assert.deepEqual(calls, ["reserve", "wait", "release 7"]);
    }
});

test("listeners of every kind of a tool's signal that throw end nothing", async () => {
    const errors = [];
    let seen = 0;
    const execute = (_, { signal }) => {
        const fails = () => { seen++; throw new Error("mine"); };
        signal.onabort = () => assert.fail("it was replaced");
        signal.onabort = fails;
        assert.equal(signal.onabort, fails);
        signal.addEventListener("abort", { handleEvent: fails });
        signal.addEventListener("abort", async () => fails());
        const removed = { handleEvent: () => assert.fail("it was removed") };
        signal.addEventListener("abort", removed);
        signal.removeEventListener("abort", removed);
        return new Promise(() => {});
    };
    const outcome = await ONE.run({}, { ...one(execute, { timeout: 5 }), onError: (error) => errors.push(error.message) });
    assert.match(outcome.error, /took longer/);
    await sleep(1);
    assert.deepEqual([seen, errors], [3, ["mine", "mine", "mine"]]);
});

test("a run that is cancelled or over before its call is made does not make it", async () => {
    // Its start is announced, and then somebody cancels it.
    for (const go of ["run", "runSync"]) {
        const controller = new AbortController();
        const { calls, tools } = trip(() => assert.fail("it was called"));
        const onEvent = (event) => { if (event.type === "start" && event.tool === "wait") controller.abort(); };
        const outcome = await TRIP[go]({}, { tools, onEvent, signal: controller.signal });
        assert.deepEqual([outcome.code, outcome.notRolledBack], ["cancelled", []]);
        assert.deepEqual(calls, ["reserve", "release 7"]);
    }
    // Its record is written when its time is over.
    const slow = new Memory();
    const quick = slow.write.bind(slow);
    slow.write = async (name, version, record) => {
        if (JSON.parse(record).state.call?.tool === "wait") await sleep(1100);
        return quick(name, version, record);
    };
    const late = trip(() => assert.fail("it was called"));
    const over = await TRIP.run({}, { tools: late.tools, store: slow, name: "a", timeout: 1000 });
    assert.deepEqual([over.code, over.notRolledBack], ["timed-out", []]);
    assert.deepEqual(late.calls, ["reserve", "release 7"]);
    // Its record is being written.
    const controller = new AbortController();
    const store = new Memory();
    const write = store.write.bind(store);
    store.write = async (name, version, record) => {
        if (JSON.parse(record).state.call?.tool === "wait") controller.abort();
        return write(name, version, record);
    };
    const { calls, tools } = trip(() => assert.fail("it was called"));
    const outcome = await TRIP.run({}, { tools, store, name: "a", signal: controller.signal });
    assert.deepEqual([outcome.code, outcome.notRolledBack], ["cancelled", []]);
    assert.deepEqual(calls, ["reserve", "release 7"]);
});

const schema = (validate) => ({ "~standard": { vendor: "own", version: 1, validate, jsonSchema: { input: () => ({}), output: () => ({}) } } });
const results = {
    nothing: () => undefined,
    null: () => null,
    text: () => "fits",
    noList: () => ({ issues: true }),
    emptyList: () => ({ issues: [] }),
    notIssues: () => ({ issues: [null] }),
    noMessages: () => ({ issues: [{ message: Symbol("x"), path: [null] }] }),
    revoked,
    throwing,
    throws: () => { throw revoked(); },
    rejects: () => Promise.reject(revoked()),
    issuesThrow: () => ({ get issues() { throw new Error("mine"); } }),
    later: async () => undefined,
    laterNoList: async () => ({ issues: {} }),
};

test("a validator that gives no result of a validator lets nothing pass", async () => {
    for (const [name, validate] of Object.entries(results)) {
        for (const policy of [{ schema: schema(validate) }, { outputSchema: schema(validate) }]) {
            let made = 0;
            const outcome = await ONE.run({}, { ...one(() => ++made, policy), callTimeout: 2000 });
            assert.equal(outcome.status, "err", `${name}: ${JSON.stringify(outcome)}`);
            assert.equal(made, policy.schema ? 0 : 1, name);
        }
        const { calls, tools } = trip(() => 1);
        const outcome = await TRIP.run({}, { tools, outputSchema: schema(validate) });
        assert.deepEqual([outcome.code, calls.at(-1)], ["output-mismatch", "release 7"], `${name}: ${JSON.stringify(outcome)}`);
    }
});

test("a validator that hangs has the time of its call, or of the run", async () => {
    const hangs = schema(() => new Promise(() => {}));
    for (const policy of [{ schema: hangs }, { outputSchema: hangs }]) {
        for (const readOnly of [false, true]) {
            const outcome = await ONE.run({}, one(() => 1, { ...policy, readOnly, timeout: 5 }));
            assert.match(outcome.error, /took longer than its limit of 5 ms/);
        }
    }
    const { calls, tools } = trip(() => 1);
    const outcome = await TRIP.run({}, { tools, outputSchema: hangs, timeout: 1000 });
    assert.deepEqual([outcome.code, calls.at(-1)], ["output-mismatch", "release 7"]);
});

test("a tool whose arguments are compared for too long is not called, then or later", async () => {
    for (const how of ["late", "over", "cancelled", "stored", "runSync"]) {
        let pass;
        const slow = schema((value) => new Promise((resolve) => (pass = () => resolve({ value }))));
        const controller = new AbortController();
        const { calls, tools } = trip(() => 1, { schema: slow, ...(how === "late" || how === "stored" ? { timeout: 20 } : {}) });
        const options = { tools, signal: controller.signal };
        if (how === "over") options.timeout = 300;
        if (how === "stored") Object.assign(options, { store: new Memory(), name: "a" });
        if (how === "cancelled") setTimeout(() => controller.abort(), 20);
        const outcome = await TRIP[how === "runSync" ? "runSync" : "run"]({}, options);
        assert.equal(outcome.status, "fault", how);
        assert.deepEqual(outcome.notRolledBack, [], how);
        pass?.();
        await sleep(1);
        assert.deepEqual(calls, ["reserve", "release 7"], how);
    }
});

test("a promise of a schema is no schema", async () => {
    const later = { "~standard": { vendor: "own", version: 1, validate: (value) => ({ value }), jsonSchema: { input: async () => ({}), output: async () => ({}) } } };
    for (const odd of [later, Promise.resolve({ type: "string" })]) {
        const isTold = { name: "TypeError", message: /chema` has no JSON schema: it is a promise; await it before$/ };
        for (const policy of [{ schema: odd }, { outputSchema: odd }]) assert.throws(() => new ilo.Tools(one(() => 1, policy).tools), isTold);
        await assert.rejects(ONE.run({}, { ...one(() => 1), outputSchema: odd }), isTold);
    }
});

test("a store that answers with anything else is a StoreError, and no call is made", async () => {
    const odd = [1, "yes", {}, [], revoked(), throwing(), Symbol("x"), () => true, { get then() { throw new Error("mine"); } }];
    const isStoreError = (error) => error instanceof ilo.StoreError && typeof error.code === "string";
    for (const answer of odd) {
        const { calls, tools } = trip(() => assert.fail());
        const made = () => calls.length;
        for (const store of [
            { read: () => answer, write: () => true },
            { read: async () => answer, write: () => true },
            { read: () => undefined, write: () => answer },
            { read: () => undefined, write: async () => answer },
            { read: () => { throw answer; }, write: () => true },
            { read: () => undefined, write: () => { throw answer; } },
            { read: () => ({ get record() { throw answer; }, version: 1 }), write: () => true },
            { read: () => ({ record: answer, version: 1 }), write: () => true },
        ]) {
            await assert.rejects(TRIP.run({}, { tools, store, name: "a" }), isStoreError, String(store.read));
            assert.equal(made(), 0);
        }
    }
});

test("tracing that fails changes nothing", async () => {
    const key = Symbol.for("opentelemetry.js.api.1");
    const fails = () => { throw new Error("mine"); };
    const span = { setAttribute: fails, setStatus: fails, end: fails };
    try {
        for (const api of [
            { trace: { getTracer: fails } },
            { trace: { getTracer: () => ({ startSpan: fails }) } },
            { trace: { getTracer: () => ({ startSpan: () => span }) }, context: { active: fails, with: fails } },
        ]) {
            globalThis[key] = api;
            assert.equal((await ONE.run({}, one(async () => 1))).value, 1);
            assert.equal(ONE.runSync({}, one(() => 1)).value, 1);
        }
    } finally {
        delete globalThis[key];
    }
});

test("nothing of this was left to end the process later", () => {
    // A rejection that nobody handles, or an error of a listener, would end it.
    const source = `
        import * as ilo from "ilo-vm";
        const ONE = ilo.build("; fn f() -> result any, any\\n; Tools: 0=t\\nRET_OK CALL 0 0\\n");
        const gone = () => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy; };
        const rejects = Object.defineProperty(new ilo.Failure("x"), "value", { get() { throw new Error("mine"); } });
        for (const execute of [async () => { throw rejects; }, async () => { throw gone(); }]) {
            console.log((await ONE.run({}, { tools: { t: { execute } } })).status);
        }
        const controller = new AbortController();
        const execute = () => { controller.abort(gone()); return new Promise(() => {}); };
        const tools = { t: { execute, readOnly: true } };
        console.log((await ONE.run({}, { tools, signal: controller.signal })).status);
    `;
    const { stdout, stderr, status } = spawnSync(process.execPath, ["--input-type=module", "-e", source], { cwd: import.meta.dirname, encoding: "utf8" });
    assert.deepEqual([stdout, stderr, status], ["err\nerr\nfault\n", "", 0]);
});

test("a secret of a host is in no message of its store, its run or its spans", async () => {
    const secret = "c4n4ry-7F3a9C";
    const said = [];
    const add = (found) => said.push(JSON.stringify(found), String(found?.message ?? found));
    // What a program never sees: the context of a run, and the client behind a store.
    const context = { token: secret };
    const store = Object.assign(new Memory(), { client: { password: secret } });
    const options = { context, store, name: "a", onCall: add, onEvent: add, onError: add };
    const tools = { t: { execute: (_, { context: { token } }) => { assert.equal(token, secret); throw new ilo.Suspend("later"); } } };
    add(await ONE.run({}, { ...options, tools }));
    await ilo.resume({ store, name: "a" }, { tools, context }, { call: 2, answer: 1 }).catch(add);
    await ilo.resume({ store, name: "b" }, { tools, context }).catch(add);
    await ONE.run({}, { ...options, name: "c", tools: { t: { execute: () => 1, confirm: true } }, ask: () => ({ secret }) }).then(add);
    add(await ilo.resume({ store, name: "a" }, { tools, context }, { call: 1, answer: 1 }));
    for (const { record } of store.runs.values()) said.push(record);
    assert.ok(said.length > 10);
    assert.ok(!said.join("\n").includes(secret), said.join("\n"));
});
