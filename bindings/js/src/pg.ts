/** A store of durable runs in PostgreSQL, for a pool or a client of the package `pg`. */

import type { Store, Stored } from "./durable.js";

/** What is used of a pool or a client of `pg`. */
export interface Queries {
    query(text: string, values?: unknown[]): Promise<{ rows: unknown[]; rowCount: number | null }>;
}

/** A table, which may be in a schema: `runs`, `ilo.runs`. */
const TABLE = /^[a-z_][a-z0-9_]{0,47}(\.[a-z_][a-z0-9_]{0,47})?$/;
/** A role or a database may have turned it off; a record must survive a crash of the server. */
const DURABLE = `set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') IN ('off', 'local') \
THEN 'on' ELSE current_setting('synchronous_commit') END, true) IS NOT NULL`;

/**
 * A store in a table of PostgreSQL, which is created where it is missing.
 *
 * Of two processes that write one version of a run only one succeeds, whatever the machines. Statements have no names,
 * so that they pass through a pooler. The pool remains the caller's.
 */
export function pgStore(pool: Queries, { table = "ilo_runs" }: { table?: string } = {}): Store {
    if (!TABLE.test(table)) throw new TypeError("expected a table of small letters, digits and `_`, perhaps after a schema");
    let made: Promise<unknown> | undefined;
    const ready = async (): Promise<void> => {
        made ??= create(pool, table);
        try {
            await made;
        } catch (error) {
            made = undefined;
            throw error;
        }
    };
    return {
        async read(name) {
            await ready();
            const { rows } = await pool.query(`SELECT version, record FROM ${table} WHERE name = $1`, [name]);
            const row = rows[0] as { version: number | string; record: string } | undefined;
            const found: Stored | undefined = row && { version: Number(row.version), record: row.record };
            return found;
        },
        async write(name, version, record) {
            await ready();
            const first = `INSERT INTO ${table}(name, version, record) SELECT $1::text, $2::int8, $3::text WHERE ${DURABLE} \
ON CONFLICT (name) DO NOTHING`;
            const next = `UPDATE ${table} SET version = $2::int8, record = $3, written = now() \
WHERE name = $1 AND version = $2::int8 - 1 AND ${DURABLE}`;
            const { rowCount } = await pool.query(version === 1 ? first : next, [name, version, record]);
            return rowCount === 1;
        },
    };
}

/** Creates the table; another process may do so at the same time. */
async function create(pool: Queries, table: string): Promise<void> {
    const { rows } = await pool.query("SELECT to_regclass($1) IS NOT NULL AS there", [table]);
    if ((rows[0] as { there: boolean }).there) return;
    try {
        await pool.query(`CREATE TABLE IF NOT EXISTS ${table}(name text PRIMARY KEY, version int8 NOT NULL, \
record text NOT NULL, written timestamptz NOT NULL DEFAULT now()) WITH (fillfactor = 50)`);
    } catch (error) {
        const again = await pool.query("SELECT to_regclass($1) IS NOT NULL AS there", [table]);
        if (!(again.rows[0] as { there: boolean }).there) throw error;
    }
}
