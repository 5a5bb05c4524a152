// Durable runs over a store of the host: what people decide, what is left after a crash, and that nothing is lost or
// made twice.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import * as ilo from "ilo-vm";
import { FileStore } from "../examples/file-store.js";
import { STEPS, go } from "./durable_worker.js";
import { Memory } from "./memory.js";

const root = mkdtempSync(join(tmpdir(), "ilo-durable-"));
after(() => rmSync(root, { recursive: true }));

const BUY = ilo.build(`{"function": "buy", "input": {"amount": "number"}, "output": "result text text", "steps": [
    {"let": "hold", "call": "hold", "args": {"amount": "$input.amount"},
     "rollback": {"call": "free", "args": {"hold": "$hold"}}},
    {"let": "paid", "call": "pay", "args": {"amount": "$input.amount"}},
    {"return": {"ok": "$paid"}}]}`);

function shop(policy = {}, pay = ({ amount }) => `paid ${amount}`) {
    const calls = [];
    const made = (name, answer) => async (given, context) => {
        calls.push(name);
        return answer(given, context);
    };
    const tools = {
        hold: { execute: made("hold", () => "h1") },
        free: { execute: made("free", () => null) },
        pay: { execute: made("pay", pay), ...policy },
    };
    return { calls, tools };
}

const buy = (store, { tools }, more = {}) => BUY.run({ amount: 9 }, { store, name: "order", tools, ...more });
const goOn = (store, { tools }, decision) => ilo.resume({ store, name: "order" }, { tools }, decision);
const code = (wanted) => (error) => error instanceof ilo.StoreError && error.code === wanted;

test("each call that changes something is recorded before it is made, and the name gives the outcome", async () => {
    const store = new Memory();
    const seen = [];
    const { calls, tools } = shop({}, (_, { key }) => {
        seen.push([store.written.at(-1).state, store.written.at(-1).call.tool, key]);
        return "paid";
    });
    const outcome = await buy(store, { tools });
    assert.equal(outcome.value, "paid");
    assert.deepEqual(store.written.map(({ state }) => state), ["calling", "calling", "ended"]);
    assert.equal(seen[0][1], "pay");
    assert.match(seen[0][2], /^[0-9a-f]{32}-2$/);
    assert.deepEqual(await buy(store, { tools }), outcome);
    assert.deepEqual(await ilo.resume({ store, name: "order" }, { tools }), outcome);
    assert.deepEqual(calls, ["hold", "pay"]);
    await assert.rejects(BUY.run({ amount: 8 }, { store, name: "order", tools }), code("name-taken"));
    await assert.rejects(ilo.resume({ store, name: "none" }), code("no-such-run"));
    await assert.rejects(BUY.run({ amount: 8 }, { store, tools }), TypeError);
    await assert.rejects(ilo.resume({ store, name: "order" }, { tools }, { call: 2, make: true }), code("not-in-this-state"));
});

test("a person approves or refuses a call later", async () => {
    for (const approved of [true, false]) {
        const store = new Memory();
        const made = shop({ confirm: true });
        const waits = await buy(store, made);
        assert.deepEqual([waits.status, waits.state, waits.call.number, waits.call.tool], ["suspended", "asking", 2, "pay"]);
        assert.deepEqual(made.calls, ["hold"]);
        assert.deepEqual(await goOn(store, made), waits);
        await assert.rejects(goOn(store, made, { call: 1, make: true }), code("other-call"));
        await assert.rejects(goOn(store, made, { call: 2 }), TypeError);
        await assert.rejects(goOn(store, { tools: { pay: made.tools.pay } }, { call: 2, make: true }), ilo.StartError);
        if (approved) {
            assert.equal((await goOn(store, made, { call: 2, make: true })).value, "paid 9");
            assert.deepEqual(made.calls, ["hold", "pay"]);
        } else {
            const outcome = await goOn(store, made, { call: 2, failure: "too much" });
            assert.equal(outcome.error, "too much");
            assert.deepEqual(outcome.rolledBack, [{ tool: "free", number: 3 }]);
            assert.deepEqual(made.calls, ["hold", "free"]);
        }
    }
    const store = new Memory();
    assert.equal((await buy(store, shop({ confirm: true }))).state, "asking");
    const outcome = await ilo.resume({ store, name: "order" }, { tools: shop({ confirm: true }).tools, ask: () => true });
    assert.equal(outcome.value, "paid 9");
});

test("a decision, a store or a name that is not one is refused, and nothing is called", async () => {
    const store = new Memory();
    const made = shop({ confirm: true });
    const { tools } = made;
    await buy(store, made);
    for (const [work, message] of [
        [() => goOn(store, made, { call: 2, make: false }), /the decision: `make` expects true, found false/],
        [() => goOn(store, made, { call: 2, make: undefined }), /expected one of `answer`, `failure` and `make`/],
        [() => goOn(store, made, { call: 2, make: true, answer: 1 }), /expected one of `answer`, `failure` and `make`/],
        [() => goOn(store, made, { call: "2", make: true }), /the decision: `call` expects a number, found "2"/],
        [() => goOn(store, made, { call: 2, approve: true }), /the decision: there is no `approve`, only call, answer, failure, make/],
        [() => goOn(store, made, true), /the decision: expected an object, found true/],
        [() => goOn({}, made), /`store` expects an object with the functions `read` and `write`/],
        [() => BUY.run({ amount: 9 }, { store: {}, name: "order", tools }), /`store` expects an object with the functions/],
        [() => BUY.run({ amount: 9 }, { store, name: 5, tools }), /`name` expects a string, found 5/],
        [() => ilo.resume({ store, name: "order", tools }), /the run: there is no `tools`, only store, name/],
        [() => ilo.resume({ store }, { tools }), /`name` expects a string, found undefined/],
    ]) {
        await assert.rejects(async () => work(), (error) => {
            assert.match(error.message, message, String(work));
            return error instanceof TypeError;
        });
    }
    assert.deepEqual(made.calls, ["hold"]);
    assert.equal(store.written.at(-1).state, "asking");
});

test("a tool that suspends gets its answer from outside", async () => {
    const store = new Memory();
    const made = shop({}, () => { throw new ilo.Suspend("the bank calls back"); });
    const waits = await buy(store, made);
    assert.deepEqual([waits.state, waits.reason], ["deferred", "the bank calls back"]);
    await assert.rejects(goOn(store, made, { call: 2, answer: Symbol() }), ilo.BadValue);
    assert.equal((await goOn(store, made, { call: 2, answer: "paid later" })).value, "paid later");
    assert.deepEqual(made.calls, ["hold", "pay"]);
});

test("a call without an answer is in doubt, and is made again only when that is safe", async () => {
    const hang = () => new Promise(() => {});
    for (const idempotent of [false, true]) {
        const store = new Memory();
        const cut = shop({ idempotent }, hang);
        // The lost run: a process that ends would leave it in this state.
        const lost = buy(store, cut, { callTimeout: 3000 });
        const ended = assert.rejects(lost, code("run-owned"));
        while (!cut.calls.includes("pay")) await sleep(1);
        const again = shop({ idempotent });
        const found = await goOn(store, again);
        if (idempotent) {
            assert.equal(found.value, "paid 9");
            assert.deepEqual(again.calls, ["pay"]);
        } else {
            assert.equal(found.state, "doubt");
            assert.deepEqual(again.calls, []);
            assert.equal((await goOn(store, again, { call: 2, make: true })).value, "paid 9");
        }
        await ended;
    }
    const store = new Memory();
    const late = await buy(store, shop({ timeout: 5 }, hang));
    assert.deepEqual([late.state, late.reason], ["doubt", "tool `pay` took longer than its limit of 5 ms"]);
    assert.equal((await goOn(store, shop(), { call: 2, answer: "it was" })).value, "it was");
    // A tool that is idempotent now was not when the call was made, so the effect of that call is not known.
    const changed = new Memory();
    const first = shop({}, hang);
    const ended = assert.rejects(buy(changed, first, { callTimeout: 3000 }), code("run-owned"));
    while (!first.calls.includes("pay")) await sleep(1);
    assert.equal((await goOn(changed, shop({ idempotent: true }))).state, "doubt");
    await ended;
});

test("who has lost a run records and calls nothing more", async () => {
    const store = new Memory();
    let answer;
    const slow = shop();
    slow.tools.hold.execute = () => new Promise((resolve) => (answer = resolve));
    const lost = buy(store, slow);
    while (!answer) await sleep(1);
    const other = shop();
    assert.equal((await goOn(store, other)).state, "doubt");
    answer("h1");
    await assert.rejects(lost, code("run-owned"));
    assert.deepEqual(slow.calls, []);
    const both = await Promise.allSettled(
        [1, 2].map(() => goOn(store, other, { call: 1, make: true })),
    );
    assert.deepEqual(both.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
    assert.deepEqual(other.calls, ["hold", "pay"]);
});

test("a store that fails, lies or holds garbage is a clear error, and no call is made", async () => {
    for (const write of [() => { throw new Error("disk full"); }, async () => { throw new Error("disk full"); }]) {
        const made = shop();
        await assert.rejects(buy({ read: () => undefined, write }, made), (error) => {
            assert.match(error.message, /its store failed to write: disk full/);
            assert.equal(error.cause.message, "disk full");
            return code("store-failed")(error);
        });
        await assert.rejects(buy({ read: write, write: () => true }, made), code("store-failed"));
        assert.deepEqual(made.calls, []);
    }
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    await assert.rejects(buy({ read: () => { throw revoked.proxy; }, write: () => true }, shop()), code("store-failed"));
    const made = shop();
    await assert.rejects(buy({ read: () => undefined, write: () => undefined }, made), code("run-owned"));
    assert.deepEqual(made.calls, []);
    const head = { format: 1, key: "k", program: "AAAA", function: null, input: "{}", limits: "{}" };
    const state = { state: "calling", left: 1, snapshot: "AAAA", again: true, call: { tool: "pay", number: 1 } };
    const without = JSON.stringify({ head, state: { state: "asking" } });
    for (const record of ["", without, "null", "{}", "[]", '{"head":{"format":2}}', JSON.stringify({ head, state }), "[".repeat(1 << 20)]) {
        const store = { read: () => ({ version: 1, record }), write: () => true };
        await assert.rejects(ilo.resume({ store, name: "x" }, { tools: made.tools }), code("unreadable"), record.slice(0, 30));
    }
    const packed = Buffer.from(BUY.toBytes()).toString("base64");
    const record = JSON.stringify({ head: { ...head, program: packed }, state });
    await assert.rejects(ilo.resume({ store: { read: () => ({ version: 1, record }), write: () => true }, name: "x" }, {
        tools: { ...made.tools, pay: { ...made.tools.pay, idempotent: true } },
    }), code("unreadable"));
    assert.deepEqual(made.calls, []);
});

test("a store that hangs is left after ten seconds, and no call is made", async (context) => {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    for (const part of ["read", "write"]) {
        const made = shop();
        const store = { read: () => undefined, write: () => true, [part]: () => new Promise(() => {}) };
        const ended = assert.rejects(buy(store, made), (error) => {
            assert.match(error.message, new RegExp(`its store did not ${part} within 10 s`));
            return code("store-late")(error);
        });
        for (let turn = 0; turn < 50; turn++) await Promise.resolve();
        context.mock.timers.tick(10_000);
        await ended;
        assert.deepEqual(made.calls, []);
    }
});

test("a record that was changed is damaged, and one of an earlier release is read", async () => {
    const store = new Memory();
    const made = shop({ confirm: true });
    await buy(store, made);
    const { version, record } = store.read("order");
    const ended = made.calls.length;
    const at = record.indexOf('"amount":9');
    for (const changed of [
        record.replace('"amount":9', '"amount":8'),
        record.replace('"asking"', '"calling"'),
        record.replace(/"snapshot":"(.)/, (_, first) => `"snapshot":"${first === "A" ? "B" : "A"}`),
        record.replace(/,"sum":"[0-9a-f]{16}"/, ""),
        record.replace(/"sum":"./, (found) => (found.endsWith("0") ? '"sum":"1' : '"sum":"0')),
    ]) {
        assert.notEqual(changed, record);
        store.runs.set("order", { version, record: changed });
        await assert.rejects(goOn(store, made, { call: 2, make: true }), code("unreadable"));
    }
    assert.ok(at > 0);
    assert.equal(made.calls.length, ended);
    const { head: { summed, ...head }, state } = JSON.parse(record);
    assert.equal(summed, true);
    store.runs.set("order", { version, record: JSON.stringify({ head, state }) });
    assert.equal((await goOn(store, made, { call: 2, make: true })).value, "paid 9");
    assert.match(store.read("order").record, /"sum":"[0-9a-f]{16}"\}$/);
});

// Runs the worker, and kills it some time after its first effect. Returns false if it ended before. With `hold` the worker stays
// in the call of that tool once it has had its effect.
async function killed(folder, effects, pause, hold) {
    const before = readFileSync(effects, "utf8");
    const worker = spawn(process.execPath, [fileURLToPath(new URL("durable_worker.js", import.meta.url)), folder, effects, hold]);
    const over = new Promise((resolve) => worker.on("exit", resolve));
    while (worker.exitCode === null && readFileSync(effects, "utf8") === before) await sleep(1);
    await sleep(pause);
    const ended = worker.exitCode !== null;
    worker.kill("SIGKILL");
    await over;
    return !ended;
}

test("nothing is lost or made twice when the process is killed", async () => {
    const [folder, effects] = [join(root, "runs"), join(root, "effects")];
    writeFileSync(effects, "");
    writeFileSync(`${effects}.doubts`, "");
    let kills = 0;
    for (let round = 0; round < 40; round++) {
        // The first kills are within calls, however fast this machine is.
        const hold = ["pay", "post", "pay"][kills] ?? "";
        if (await killed(folder, effects, hold ? 0 : (round * 7) % 23, hold)) kills++;
        else break;
    }
    const outcome = await go(folder, effects);
    const doubts = readFileSync(`${effects}.doubts`, "utf8").length;
    assert.ok(kills >= 2 && doubts >= 1, `${kills} kills, ${doubts} doubts`);
    assert.deepEqual(outcome.value, Array.from({ length: STEPS }, (_, n) => n + 110));
    const lines = readFileSync(effects, "utf8").trim().split("\n").map((line) => line.split(" "));
    const paid = lines.filter(([name]) => name === "pay").map(([, n]) => n);
    assert.deepEqual(paid.sort(), Array.from({ length: STEPS }, (_, n) => String(n)));
    // A call that may be made twice had the same key each time.
    const posted = new Set(lines.filter(([name]) => name === "post").map(([, n, key]) => `${n} ${key}`));
    assert.equal(posted.size, STEPS);
    assert.equal(new Set(lines.map(([, , key]) => key)).size, 2 * STEPS);
});

test("of writers of one version only one is told that it wrote", async () => {
    const stores = Array.from({ length: 8 }, () => new FileStore(join(root, "race")));
    for (let version = 1; version <= 20; version++) {
        const wrote = await Promise.all(stores.map((store, n) => store.write("a/b", version, String(n))));
        assert.equal(wrote.filter(Boolean).length, 1);
        const { record } = await stores[0].read("a/b");
        assert.equal(Number(record), wrote.indexOf(true));
    }
    assert.equal(await stores[0].write("a/b", 3, "stale"), false);
    assert.equal(await stores[0].write("a/b", 30, "ahead"), false);
    assert.equal((await stores[0].read("a/b")).version, 20);
});
