// The module's memory does not grow, and a module that fails is replaced.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import * as ilo from "ilo-vm";
import { call, core } from "../dist/core.js";
import * as glue from "../dist/glue.js";

const source = "; fn f() -> result any, any\n; Tools: 0=t\nRET_OK CALL 0 0\n";
const bytes = () => call(() => glue.initSync({}).memory.buffer.byteLength);
const text = "x".repeat(100_000);

test("runs that end, fail, suspend, are dropped or disposed leave nothing in the module", async () => {
    const program = ilo.build(source);
    const round = async () => {
        await program.run({}, { tools: { t: { execute: () => text } } });
        await program.run({}, { tools: { t: { execute: async () => { throw new Error(text); } } } });
        await program.run({}, { tools: { t: { execute: () => { throw new ilo.Suspend(); } } } });
        await program.run({}, { tools: { t: { execute: () => new Promise(() => {}), timeout: 1 } } });
        await program.run({}, { tools: { t: { execute: () => 1 } }, onCall: () => { throw new Error("x"); }, onError: () => {} });
        await assert.rejects(program.resume(new Uint8Array(9), { tools: { t: { execute: () => 1 } } }));
        program.runSync({}, { tools: { t: { execute: () => text } } });
        program.runSync({}, { tools: { t: { execute: async () => text } } });
        program.runSync({}, { tools: { t: { execute: () => 1 } }, onCall: () => { throw new Error("x"); }, onError: () => {} });
        const records = new Map();
        const store = {
            read: (name) => records.get(name),
            write: (name, version, record) => Boolean(records.set(name, { version, record })),
        };
        const at = { store, name: "x" };
        await program.run({}, { ...at, tools: { t: { execute: () => { throw new ilo.Suspend(); } } } });
        const tools = { t: { execute: () => 1 } };
        await assert.rejects(ilo.resume(at, { tools }, { call: 1, answer: Symbol() }), ilo.BadValue);
        await ilo.resume(at, { tools }, { call: 1, answer: text });
        const run = program.start();
        run.step();
        run.answer(text);
        run.step();
        const built = ilo.build(source);
        assert.ok(built.toBytes().length > 0);
        for (const one of [run, built]) one[Symbol.dispose]();
        assert.throws(() => ilo.build(`nonsense ${text}`), ilo.CompileError);
    };
    for (let n = 0; n < 20; n++) await round();
    const before = bytes();
    for (let n = 0; n < 200; n++) await round();
    assert.ok(bytes() - before <= 1 << 20, `${bytes() - before} bytes more after 200 rounds`);
});

test("programs, tools and runs that are dropped are freed, and never under a live run", async () => {
    setFlagsFromString("--expose-gc");
    const gc = runInNewContext("gc");
    const waits = [];
    const round = async (n) => {
        for (let each = 0; each < 200; each++) {
            const tools = new ilo.Tools({ t: { execute: () => new Promise((resolve) => waits.push(resolve)) } });
            const program = ilo.build(source, { tools });
            program.start().step();
            // Nobody holds the program of this run.
            if (each === 0) runs.push(program.run());
        }
        gc();
        // Finalizers run between tasks.
        await new Promise((resolve) => setTimeout(resolve));
    };
    const runs = [];
    for (let n = 0; n < 10; n++) await round(n);
    const before = bytes();
    for (let n = 0; n < 60; n++) await round(n);
    assert.ok(bytes() - before <= 4 << 20, `${bytes() - before} bytes more after 12,000 programs`);
    for (const [at, resolve] of waits.entries()) resolve(at);
    const values = (await Promise.all(runs)).map((outcome) => outcome.value);
    assert.deepEqual(values, values.map((_, at) => at));
});

test("a trap is a clear error, and the next call has a new instance", async () => {
    const program = ilo.build(source);
    const tools = new ilo.Tools({ t: { execute: () => 1 } });
    assert.equal((await program.run({}, { tools })).value, 1);
    const lost = program.start();
    lost.step();
    const instance = core.current();
    const wasm = glue.initSync({});
    // An invalid pointer: the module reads outside its memory.
    assert.throws(() => call(() => wasm.core_toBytes(0x7fff_fff0)), (error) => {
        assert.ok(error instanceof ilo.Crash, String(error));
        assert.match(error.message, /the ilo module failed in itself \(.+\); a new instance has taken its place, and runs under way are lost/);
        return true;
    });
    assert.equal(core.current(), instance + 1);
    assert.throws(() => lost.step(), /the run was lost when the ilo module failed in itself/);
    lost.dispose();
    assert.equal((await program.run({}, { tools })).value, 1);
    assert.deepEqual(tools.signatures().length, 1);
    // A trap while a run is under way, from the side of its tools.
    const running = program.run({}, { tools: { t: { execute: async () => {
        assert.throws(() => call(() => glue.initSync({}).core_toBytes(0x7fff_fff0)), ilo.Crash);
        return 1;
    } } } });
    await assert.rejects(running, ilo.IloError);
    assert.equal((await program.run({}, { tools })).value, 1);
});

test("sources that are garbage, deep or long end with findings", () => {
    const deep = `{"function": ${"[".repeat(100_000)}`;
    const long = "LET 0 LIT 1 1\n".repeat(800_000);
    for (const bad of ["", "\0\u{1f600}\ud800", deep, "[".repeat(1 << 20), long, "a: ".repeat(10_000), "x".repeat(10 << 20)]) {
        assert.ok(ilo.check(bad).some((found) => found.severity === "error"));
        assert.doesNotThrow(() => ilo.fix(bad));
        assert.throws(() => ilo.format(bad), ilo.IloError);
        ilo.detect(bad);
        for (const at of [0, bad.length >> 1, bad.length]) {
            ilo.hover(bad, at);
            ilo.complete(bad, at);
        }
    }
});
