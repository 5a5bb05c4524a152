// ilo-vm/vm: programs that ilo has built, with the outcomes and fuel of ilo, and what goes from one to the other. The
// corpus runs in it too: corpus.test.js.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as ilo from "ilo-vm";
import * as vm from "ilo-vm/vm";

const source = `{"function": "buy", "input": {"amount": "number"}, "output": "any", "steps": [
    {"let": "ok", "call": "ask", "args": {"amount": "$input.amount"}},
    {"let": "paid", "call": "pay", "args": {"amount": "$input.amount"}, "rollback": {"call": "refund", "args": {}}},
    {"return": ["$ok", "$paid"]}]}`;
const good = { ask: { execute: () => true }, pay: { execute: async ({ amount }) => amount }, refund: { execute: () => null } };
const suspends = { ...good, ask: { execute: () => { throw new vm.Suspend("a person decides"); } } };

test("it runs what ilo has built, with the same outcome and fuel, in every way to run", async () => {
    const built = ilo.build(source);
    const loaded = vm.load(built.toBytes());
    assert.deepEqual(loaded.functions, built.functions);
    assert.deepEqual(loaded.tools, built.tools);
    assert.deepEqual(loaded.plan({ tools: good }), built.plan({ tools: good }));
    const wanted = await built.run({ amount: 3 }, { tools: good });
    assert.deepEqual(wanted.value, [true, 3]);
    assert.deepEqual(await loaded.run({ amount: 3 }, { tools: good }), wanted);
    assert.deepEqual(await loaded.run({ amount: 3 }, { tools: new vm.Tools(good), onCall: () => {} }), wanted);
    // Tools of either package work with programs of either.
    assert.deepEqual(await loaded.run({ amount: 3 }, { tools: new ilo.Tools(good) }), wanted);
    assert.deepEqual(await built.run({ amount: 3 }, { tools: new vm.Tools(good) }), wanted);
    const sync = { ...good, pay: { execute: ({ amount }) => amount } };
    assert.deepEqual(loaded.runSync({ amount: 3 }, { tools: sync }), wanted);
    const run = loaded.start({ amount: 3 });
    assert.equal(run.step().tool, "ask");
    run.answer(true);
    assert.equal(run.step().tool, "pay");
    run.answer(3);
    assert.deepEqual(run.step(), wanted);
    run.dispose();
    assert.deepEqual(new vm.Tools(good).and({ more: good.ask }).signatures(), new ilo.Tools({ ...good, more: good.ask }).signatures());
});

test("a snapshot and a stored run of one go on in the other", async () => {
    const built = ilo.build(source);
    const loaded = vm.load(built.toBytes());
    const wanted = await built.run({ amount: 3 }, { tools: good });
    for (const [from, to] of [[built, loaded], [loaded, built]]) {
        const waits = await from.run({ amount: 3 }, { tools: suspends });
        assert.equal(waits.status, "suspended");
        assert.deepEqual(await to.resume(waits.snapshot, { answer: true, tools: good }), wanted);
    }
    for (const [from, to] of [[built, vm], [loaded, ilo]]) {
        const records = new Map();
        const store = {
            read: (name) => records.get(name),
            write: (name, version, record) => Boolean(records.set(name, { version, record })),
        };
        const waits = await from.run({ amount: 3 }, { tools: suspends, store, name: "x" });
        const outcome = await to.resume({ store, name: "x" }, { tools: good }, { call: waits.call.number, answer: true });
        assert.deepEqual(outcome, wanted);
    }
});

test("what is wrong is said with the errors of ilo", async () => {
    assert.throws(() => vm.load(new Uint8Array(9)), RangeError);
    const loaded = vm.load(ilo.build(source).toBytes());
    await assert.rejects(loaded.run({ amount: "x" }, { tools: good }), ilo.StartError);
    await assert.rejects(loaded.run({ amount: 1 }, { tools: { ask: good.ask } }), ilo.StartError);
    assert.throws(() => loaded.restore(new Uint8Array(9)), ilo.SnapshotError);
    assert.equal(vm.Failure, ilo.Failure);
    assert.equal("build" in vm, false);
});
