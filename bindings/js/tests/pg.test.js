// The store in PostgreSQL, with a server of its own or the one that `ILO_POSTGRES=postgres://…` names; where there is none,
// the tests that need one say so and are skipped.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import * as ilo from "ilo-vm";
import { pgStore } from "ilo-vm/pg";
import { postgres } from "./postgres.js";

const own = process.env.ILO_POSTGRES ? undefined : await postgres();
after(() => own?.stop());
const address = process.env.ILO_POSTGRES ?? own?.address;
const skip = address ? false : "no server: apt-get install postgresql, or set ILO_POSTGRES=postgres://…";

test("a run of one process is continued by others, each of its calls is made once, and all read its outcome", { skip }, async () => {
    const { default: pg } = await import("pg");
    const table = `ilo_runs_${process.pid}`;
    const pools = [0, 1, 2].map(() => new pg.Pool({ connectionString: address, max: 2 }));
    try {
        const [one, ...others] = pools.map((pool) => pgStore(pool, { table }));
        const program = ilo.build(`{"function": "buy", "input": {"amount": "number"}, "output": "result text text", "steps": [
            {"let": "hold", "call": "hold", "args": {"amount": "$input.amount"}},
            {"let": "paid", "call": "pay", "args": {"amount": "$input.amount"}},
            {"return": {"ok": "$paid"}}]}`);
        const calls = [];
        const tools = {
            hold: { execute: () => calls.push("hold") && "h1" },
            pay: { confirm: true, execute: () => calls.push("pay") && "paid" },
        };
        const waits = await program.run({ amount: 9 }, { store: one, name: "order", tools });
        assert.equal(waits.state, "asking");
        const decide = (store) => ilo.resume({ store, name: "order" }, { tools }, { call: 2, make: true });
        // Two people decide at once, each at a process of its own.
        const decided = await Promise.allSettled(others.map(decide));
        const outcomes = decided.filter(({ status }) => status === "fulfilled").map(({ value }) => value.value);
        assert.ok(outcomes.length > 0 && outcomes.every((value) => value === "paid"), JSON.stringify(decided));
        for (const store of [one, ...others]) {
            assert.equal((await ilo.resume({ store, name: "order" }, { tools })).value, "paid");
        }
        assert.deepEqual(calls, ["hold", "pay"]);
    } finally {
        await pools[0].query(`DROP TABLE IF EXISTS ${table}`);
        await Promise.all(pools.map((pool) => pool.end()));
    }
});

test("of several writers of a version one succeeds, and its record is read", { skip }, async () => {
    const { default: pg } = await import("pg");
    const table = `ilo_test_${process.pid}`;
    const pools = [0, 1, 2].map(() => new pg.Pool({ connectionString: address, max: 2 }));
    try {
        const stores = pools.map((pool) => pgStore(pool, { table }));
        assert.deepEqual(await Promise.all(stores.map((store) => store.read("a"))), [undefined, undefined, undefined]);
        for (let version = 1; version < 30; version++) {
            const wrote = await Promise.all(stores.map((store, at) => store.write("a", version, `${version} ${at}`)));
            assert.equal(wrote.filter(Boolean).length, 1);
            const found = await stores[version % 3].read("a");
            assert.deepEqual(found, { version, record: `${version} ${wrote.indexOf(true)}` });
        }
        assert.equal(await stores[0].write("a", 5, "x"), false);
        assert.equal(await stores[0].write("b", 2, "x"), false);
    } finally {
        await pools[0].query(`DROP TABLE IF EXISTS ${table}`);
        await Promise.all(pools.map((pool) => pool.end()));
    }
});

test("a table with another name than that of a table is refused, and a failed start is tried again", async () => {
    assert.throws(() => pgStore({ query: () => Promise.reject(new Error("no")) }, { table: "a; DROP" }), TypeError);
    const asked = [];
    const answers = [new Error("away"), { rows: [{ there: true }] }, { rows: [{ version: "3", record: "r" }] }];
    const query = async (text) => {
        asked.push(text);
        const answer = answers.shift();
        if (answer instanceof Error) throw answer;
        return { rowCount: answer.rows.length, ...answer };
    };
    const store = pgStore({ query });
    await assert.rejects(store.read("a"), /away/);
    assert.deepEqual(await store.read("a"), { version: 3, record: "r" });
    assert.equal(asked.length, 3);
});
