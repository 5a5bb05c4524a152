//! The statements of a group: one for each kind of write, with its rows as arrays. Each may be sent twice.

use super::link::{Param, Statement, blob, blobs, flags, int, ints, maybe_blobs, maybe_ints, text, texts};
use super::rows::{
    CHANGED_NAMES, DECIDED_NAMES, LIVE_NAMES, RUN_NAMES, changed_params, decided_params, keeps_was,
    live_params, one_row, run_params, unnest,
};
use crate::backend::{Change, Prepared};
use crate::row::{DecisionRow, EXPECTS, Live, RUN, Run, TOOLS, signed};
use std::collections::BTreeMap;

/// A change with the version of the row that was read, and the token of its decision.
pub(crate) struct Versioned<'c> {
    pub(crate) change: &'c Change,
    pub(crate) seen: &'c str,
    pub(crate) token: [u8; 16],
}

/// Lets a transaction find each row by its key: only a bitmap of an index is never of the whole table. The
/// planner takes a table that was empty when it was last looked at for empty, and would read it for each row.
const BY_KEYS: &str = "set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', 'off', true), \
                       set_config('enable_indexonlyscan', 'off', true), set_config('enable_hashjoin', 'off', true), \
                       set_config('enable_mergejoin', 'off', true), \
                       set_config('max_parallel_workers_per_gather', '0', true)";

/// Makes a transaction last once it has ended, also where a role or a database has turned that off.
const LASTING: &str = "set_config('synchronous_commit', CASE current_setting('synchronous_commit') \
                       WHEN 'off' THEN 'on' WHEN 'local' THEN 'on' ELSE current_setting('synchronous_commit') END, true)";

/// Begins the transaction of a group; on a connection with [`settings`] it says nothing more.
pub(crate) fn begin(is_set: bool) -> Statement {
    const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";
    Statement::plain(if is_set { BEGIN.to_owned() } else { format!("{BEGIN}; SELECT {BY_KEYS}, {LASTING}") })
}

/// Begins a transaction that reads the tables as they are at one moment.
pub(crate) fn begin_reading(is_set: bool) -> Statement {
    const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
    Statement::plain(if is_set { BEGIN.to_owned() } else { format!("{BEGIN}; SELECT {BY_KEYS}") })
}

/// Begins a transaction that reads rows in the order of an index.
pub(crate) fn begin_in_order() -> Statement {
    Statement::plain(
        "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY; SELECT set_config('enable_seqscan', 'off', true), \
         set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true), \
         set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)",
    )
}

/// What [`begin`] sets for a transaction, for a whole connection.
pub(crate) fn settings() -> Statement {
    Statement::plain(format!("SELECT {BY_KEYS}, {LASTING}").replace(", true)", ", false)"))
}

pub(crate) fn commit() -> Statement {
    Statement::plain("COMMIT")
}

/// Tells those who listen that there is something to do. Not for steps: it serializes commits.
pub(crate) fn notify(schema: &str) -> Statement {
    Statement::new("SELECT pg_notify($1, '')", vec![text(schema.trim_matches('"'))])
}

/// Writes new runs, with all that belongs to them, where neither their key nor their name is there. Returns
/// the numbers and keys of those that are new.
///
/// The programs follow in a statement of their own, [`programs`]: who removes programs locks `run` first.
pub(crate) fn start(schema: &str, new: &[&Prepared]) -> Statement {
    let runs: Vec<&Run> = new.iter().map(|new| &new.run).collect();
    let mut params = run_params(&runs);
    let base = params.len();
    let with_live: Vec<(&[u8], &Live)> =
        new.iter().filter_map(|new| Some((&new.run.key[..], new.live.as_ref()?))).collect();
    params.extend(live_params(&with_live.iter().map(|(_, live)| *live).collect::<Vec<_>>()));
    params.push(blobs(with_live.iter().map(|(key, _)| key.to_vec())));
    let after_live = params.len();
    let rows = first_rows(new);
    let decided: Vec<(&DecisionRow, &[u8])> = rows.iter().map(|(_, row, token)| (row, &token[..])).collect();
    params.extend(decided_params(&decided));
    params.push(blobs(rows.iter().map(|(key, ..)| key.clone())));
    let after_decided = params.len();
    let metadata: Vec<(&[u8], &str, &str)> = new
        .iter()
        .flat_map(|new| {
            new.metadata.iter().map(|(name, value)| (&new.run.key[..], name.as_str(), value.as_str()))
        })
        .collect();
    params.push(blobs(metadata.iter().map(|(key, ..)| key.to_vec())));
    params.push(texts(metadata.iter().map(|(_, name, _)| (*name).to_owned())));
    params.push(texts(metadata.iter().map(|(.., value)| (*value).to_owned())));
    let live = LIVE_NAMES.replacen("run", "r.id", 1).replace(", ", ", v.");
    let decided = DECIDED_NAMES.replacen("run", "r.id", 1).replace(", ", ", w.");
    let sql = format!(
        "WITH r AS (INSERT INTO {schema}.run({RUN_NAMES}) SELECT {RUN_NAMES} FROM {} \
         ON CONFLICT DO NOTHING RETURNING id, key), \
         l AS (INSERT INTO {schema}.live({LIVE_NAMES}) SELECT {live} FROM r JOIN {} ON v.of_key = r.key), \
         d AS (INSERT INTO {schema}.decision({DECIDED_NAMES}) SELECT {decided} FROM r JOIN {} ON w.of_key = r.key), \
         m AS (INSERT INTO {schema}.metadata(run, name, value) SELECT r.id, x.name, x.value FROM r JOIN {} \
         ON x.of_key = r.key) \
         SELECT id, key FROM r",
        unnest("u", RUN_NAMES, 0),
        unnest("v", &format!("{LIVE_NAMES}, of_key"), base),
        unnest("w", &format!("{DECIDED_NAMES}, of_key"), after_live),
        unnest("x", "of_key, name, value", after_decided),
    );
    Statement::new(sql, params)
}

/// The rows about their calls with which runs begin. Their tokens follow from the keys, which are random.
fn first_rows(new: &[&Prepared]) -> Vec<(Vec<u8>, DecisionRow, Vec<u8>)> {
    let mut rows = Vec::new();
    for new in new {
        let key = new.run.key.to_vec();
        let row = |call, what: &str, detail: &[u8]| {
            DecisionRow::noted(0, call, new.run.started, what, detail.to_vec())
        };
        if let Some(tools) = &new.tools {
            rows.push((key.clone(), row((0, ""), TOOLS, tools), [&key[..], b"t"].concat()));
        }
        if let Some(live) = &new.live
            && let Some(expects) = &live.expects
        {
            let expects = row((live.call, &live.tool), EXPECTS, expects);
            rows.push((key.clone(), expects, [&key[..], b"e"].concat()));
        }
        for (called, at) in new.calls.iter().zip(0_u64..) {
            rows.push((key.clone(), called.clone(), [&key[..], b"c", &at.to_le_bytes()[..]].concat()));
        }
    }
    rows
}

/// Writes programs by their hashes.
pub(crate) fn programs(schema: &str, programs: &BTreeMap<[u8; 32], Vec<u8>>) -> Statement {
    let params = vec![blobs(programs.keys().map(|hash| hash.to_vec())), blobs(programs.values().cloned())];
    let rows = unnest("u", "hash, bytes", 0);
    Statement::new(
        format!("INSERT INTO {schema}.program SELECT hash, bytes FROM {rows} ON CONFLICT DO NOTHING"),
        params,
    )
}

/// The runs with these keys or names: their key, and all columns of their entry.
pub(crate) fn started(schema: &str, new: &[&Prepared]) -> Statement {
    let mut sql = format!("SELECT {RUN} FROM {schema}.run r WHERE r.key = ANY($1)");
    let mut params = vec![blobs(new.iter().map(|new| new.run.key.to_vec()))];
    let names: Vec<String> = new.iter().filter_map(|new| new.run.name.clone()).collect();
    // For an empty list the planner may read the index of all ended runs.
    if !names.is_empty() {
        sql += " OR r.name = ANY($2)";
        params.push(texts(names.into_iter()));
    }
    Statement::new(sql, params)
}

/// Writes records of owners. Returns the runs that still have their epoch, and whether they are cancelled.
/// One record alone is a transaction by itself: the planner finds one row by its key without being told.
pub(crate) fn record(schema: &str, rows: &[&Live], is_alone: bool) -> Statement {
    let columns = format!("{LIVE_NAMES}, keeps");
    let (rows_of, lasting) =
        if is_alone { (one_row("u", &columns), LASTING) } else { (unnest("u", &columns, 0), "1") };
    let mut params = live_params(rows);
    params.push(flags(rows.iter().map(|live| keeps_was(live.state))));
    let sql = format!(
        "UPDATE {schema}.live AS l SET owner = u.owner, was = CASE WHEN u.keeps THEN l.was END, state = u.state, \
         call = u.call, tool = u.tool, policy = u.policy, digest = u.digest, tries = u.tries, \
         active_ms = u.active_ms, wake = u.wake, since = u.since, snapshot = u.snapshot, answer = u.answer \
         FROM {rows_of} WHERE l.run = u.run AND l.epoch = u.epoch RETURNING l.run, l.cancel, {lasting}"
    );
    Statement::new(sql, params)
}

/// Stores what answers from outside must be, for records that were written just before.
pub(crate) fn expects(schema: &str, rows: &[(&Live, [u8; 16])]) -> Statement {
    let each = || rows.iter();
    let params = vec![
        ints(each().map(|(live, _)| live.run)),
        ints(each().map(|(live, _)| live.epoch)),
        ints(each().map(|(live, _)| signed(live.call))),
        ints(each().map(|(live, _)| live.since)),
        texts(each().map(|(live, _)| live.tool.clone())),
        maybe_blobs(each().map(|(live, _)| live.expects.clone())),
        blobs(each().map(|(_, token)| token.to_vec())),
        text(EXPECTS),
    ];
    let rows_of = unnest("u", "run, epoch, call, since, tool, detail, token", 0);
    let sql = format!(
        "INSERT INTO {schema}.decision({DECIDED_NAMES}) SELECT u.run, u.call, \
         greatest(u.since, (SELECT max(d.at) + 1 FROM {schema}.decision d WHERE d.run = u.run AND d.call = u.call)), \
         u.tool, $8, '', u.detail, u.token FROM {rows_of} \
         JOIN {schema}.live l ON l.run = u.run AND l.epoch = u.epoch AND l.call = u.call \
         ON CONFLICT (token) DO NOTHING"
    );
    Statement::new(sql, params)
}

/// Adds calls as they were made to runs that still have their epoch. Returns these runs.
pub(crate) fn calls(schema: &str, rows: &[(&DecisionRow, i64, [u8; 16])]) -> Statement {
    let decided: Vec<(&DecisionRow, &[u8])> = rows.iter().map(|(row, _, token)| (*row, &token[..])).collect();
    let mut params = decided_params(&decided);
    params.push(ints(rows.iter().map(|(_, epoch, _)| *epoch)));
    let columns = format!("u.{}", DECIDED_NAMES.replace(", ", ", u."));
    let sql = format!(
        "INSERT INTO {schema}.decision({DECIDED_NAMES}) SELECT {columns} FROM {} \
         JOIN {schema}.live l ON l.run = u.run AND l.epoch = u.epoch ON CONFLICT (token) DO NOTHING RETURNING run",
        unnest("u", &format!("{DECIDED_NAMES}, epoch"), 0)
    );
    Statement::new(sql, params)
}

/// Writes an exported run anew under its number.
pub(crate) fn replace(schema: &str, run: i64, epoch: i64, new: &Prepared) -> Vec<Statement> {
    let mut statements = vec![
        Statement::new(
            format!("DELETE FROM {schema}.live WHERE run = $1 AND epoch = $2"),
            vec![int(run), int(epoch)],
        ),
        Statement::new(format!("DELETE FROM {schema}.decision WHERE run = $1"), vec![int(run)]),
    ];
    let ended = vec![
        int(run),
        blob(&new.run.limits),
        maybe_ints([new.run.ended].into_iter()),
        maybe_blobs([new.run.outcome.clone()].into_iter()),
    ];
    statements.push(Statement::new(
        format!("UPDATE {schema}.run SET limits = $2, ended = $3[1], outcome = $4[1] WHERE id = $1"),
        ended,
    ));
    if let Some(live) = &new.live {
        let live = Live { run, ..live.clone() };
        let rows = unnest("u", LIVE_NAMES, 0);
        statements.push(Statement::new(
            format!("INSERT INTO {schema}.live({LIVE_NAMES}) SELECT {LIVE_NAMES} FROM {rows}"),
            live_params(&[&live]),
        ));
    }
    statements
}

/// Writes the decisions of a run that was imported, by its key.
pub(crate) fn decisions_of(schema: &str, key: &[u8], rows: &[(&DecisionRow, &[u8])]) -> Statement {
    let mut params = decided_params(rows);
    params.push(blob(key));
    let columns = DECIDED_NAMES.replacen("run", "r.id", 1).replace(", ", ", w.");
    let sql = format!(
        "INSERT INTO {schema}.decision({DECIDED_NAMES}) SELECT {columns} FROM {} JOIN {schema}.run r ON r.key = $9 \
         ON CONFLICT (token) DO NOTHING",
        unnest("w", DECIDED_NAMES, 0)
    );
    Statement::new(sql, params)
}

/// Leaves runs to others. Returns those that still had their epoch.
pub(crate) fn release(schema: &str, runs: &[(i64, i64)]) -> Statement {
    let rows = unnest("u", "run, epoch", 0);
    let sql = format!(
        "UPDATE {schema}.live AS l SET owner = NULL FROM {rows} WHERE l.run = u.run AND l.epoch = u.epoch \
         RETURNING l.run"
    );
    Statement::new(sql, vec![ints(runs.iter().map(|run| run.0)), ints(runs.iter().map(|run| run.1))])
}

/// Ends runs.
pub(crate) fn end(schema: &str, runs: &[(&Run, i64)]) -> Statement {
    let [ids, epochs] = keys(runs);
    let ended = ints(runs.iter().map(|(run, _)| run.ended.unwrap_or_default()));
    let outcomes = maybe_blobs(runs.iter().map(|(run, _)| run.outcome.clone()));
    let sql = format!(
        "WITH u AS (SELECT * FROM {}), \
         d AS (DELETE FROM {schema}.live l USING u WHERE l.run = u.run AND l.epoch = u.epoch RETURNING l.run) \
         UPDATE {schema}.run r SET ended = u.ended, outcome = u.outcome, epoch = u.epoch \
         FROM u JOIN d ON d.run = u.run WHERE r.id = u.run",
        unnest("u", "run, epoch, ended, outcome", 0)
    );
    Statement::new(sql, vec![ids, epochs, ended, outcomes])
}

/// Finds the runs that have ended in this epoch, now or when it was sent before. With `IS NOT NULL` the
/// planner may read the index of all ended runs.
pub(crate) fn ended(schema: &str, runs: &[(&Run, i64)]) -> Statement {
    let rows = unnest("u", "run, epoch", 0);
    let sql = format!(
        "SELECT r.id FROM {schema}.run r JOIN {rows} ON r.id = u.run \
         WHERE r.epoch = u.epoch AND (r.ended IS NULL)::int = 0"
    );
    Statement::new(sql, keys(runs).into())
}

fn keys(runs: &[(&Run, i64)]) -> [Param; 2] {
    [ints(runs.iter().map(|(run, _)| run.id)), ints(runs.iter().map(|(_, epoch)| *epoch))]
}

/// Replaces rows that are still the ones that were read, with the decisions on them. Returns their runs.
pub(crate) fn change(schema: &str, changes: &[Versioned<'_>]) -> Statement {
    let rows: Vec<&Live> = changes.iter().map(|one| &one.change.live).collect();
    let mut params = changed_params(&rows);
    params.push(ints(changes.iter().map(|one| one.change.if_epoch)));
    params.push(texts(changes.iter().map(|one| one.seen.to_owned())));
    let rows_of = unnest("u", &format!("{CHANGED_NAMES}, if_epoch, seen"), 0);
    let set: Vec<String> =
        CHANGED_NAMES.split(", ").skip(1).map(|column| format!("{column} = u.{column}")).collect();
    let sql = format!(
        "UPDATE {schema}.live AS l SET {} FROM {rows_of} \
         WHERE l.run = u.run AND l.epoch = u.if_epoch AND l.xmin::text = u.seen RETURNING l.run",
        set.join(", ")
    );
    with_decisions(schema, &sql, params, changes)
}

/// Cancels runs that go on in the state in which they are: an owner may be writing to them.
pub(crate) fn cancel(schema: &str, changes: &[Versioned<'_>]) -> Statement {
    let params = vec![
        ints(changes.iter().map(|one| one.change.live.run)),
        ints(changes.iter().map(|one| one.change.if_epoch)),
    ];
    let rows = unnest("u", "run, epoch", 0);
    let sql = format!(
        "UPDATE {schema}.live AS l SET cancel = true FROM {rows} WHERE l.run = u.run AND l.epoch = u.epoch \
         RETURNING l.run"
    );
    with_decisions(schema, &sql, params, changes)
}

/// Adds to an update of `live` the decisions and entries of the runs that it has changed.
fn with_decisions(
    schema: &str,
    update: &str,
    mut params: Vec<Param>,
    changes: &[Versioned<'_>],
) -> Statement {
    let before = params.len();
    let entries: Vec<&Run> = changes.iter().filter_map(|one| one.change.entry.as_ref()).collect();
    params.push(ints(entries.iter().map(|run| run.id)));
    params.push(blobs(entries.iter().map(|run| run.limits.clone())));
    let decided: Vec<(&DecisionRow, &[u8])> =
        changes.iter().filter_map(|one| Some((one.change.decided.as_ref()?, &one.token[..]))).collect();
    params.extend(decided_params(&decided));
    let columns = format!("w.{}", DECIDED_NAMES.replace(", ", ", w."));
    let sql = format!(
        "WITH c AS ({update}), \
         e AS (UPDATE {schema}.run r SET limits = x.limits FROM {} JOIN c ON c.run = x.run WHERE r.id = x.run), \
         d AS (INSERT INTO {schema}.decision({DECIDED_NAMES}) SELECT {columns} FROM {} JOIN c ON c.run = w.run) \
         SELECT run FROM c",
        unnest("x", "run, limits", before),
        unnest("w", DECIDED_NAMES, before + 2),
    );
    Statement::new(sql, params)
}

/// Removes some runs that ended before a time, with all that belongs to them; the last run stays.
pub(crate) fn prune(schema: &str, before: i64, most: i64) -> Statement {
    let sql = format!(
        "WITH c AS (SELECT id FROM {schema}.run WHERE ended < $1 AND id < (SELECT max(id) FROM {schema}.run) \
         ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED), \
         d AS (DELETE FROM {schema}.decision WHERE run IN (SELECT id FROM c)), \
         m AS (DELETE FROM {schema}.metadata WHERE run IN (SELECT id FROM c)), \
         r AS (DELETE FROM {schema}.run WHERE id IN (SELECT id FROM c) RETURNING id) \
         SELECT count(*) FROM r"
    );
    Statement::new(sql, vec![int(before), int(most)])
}

/// Removes the programs of no run. The lock keeps runs from beginning meanwhile; see [`start`].
pub(crate) fn prune_programs(schema: &str) -> Statement {
    Statement::plain(format!(
        "BEGIN ISOLATION LEVEL READ COMMITTED; LOCK TABLE {schema}.run IN SHARE ROW EXCLUSIVE MODE; \
         DELETE FROM {schema}.program p WHERE NOT EXISTS (SELECT 1 FROM {schema}.run r WHERE r.program = p.hash); \
         COMMIT"
    ))
}
