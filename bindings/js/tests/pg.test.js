// The store in PostgreSQL: `ILO_POSTGRES=postgres://… npm test` has a server; without one that test is skipped.
import assert from "node:assert/strict";
import { test } from "node:test";
import { pgStore } from "ilo-vm/pg";

const address = process.env.ILO_POSTGRES;
const skip = address ? false : "no server: set ILO_POSTGRES=postgres://…";

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
