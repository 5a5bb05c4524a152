//! The rows of the tables as they are read and sent.

use super::link::{Param, blobs, flags, ints, maybe_blobs, maybe_ints, maybe_texts, texts};
use crate::error::{Error, Result};
use crate::policy::RecordedPolicy;
use crate::row::{DecisionRow, EXPORTED, Live, Run, signed, unsigned};
use crate::state::{Before, State};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

/// The columns of `run r` in the order in which [`run`] takes them.
pub(crate) const RUN: &str = "r.id, r.key, r.name, r.input, r.program, r.function, r.limits, r.started, \
                              r.ended, r.outcome, r.subject";
/// The number of columns of [`RUN`].
pub(crate) const RUN_COLUMNS: usize = 11;

/// The columns of `live l` in the order in which [`live`] takes them.
pub(crate) const LIVE: &str = "l.run, l.epoch, l.owner, l.was, l.state, l.call, l.tool, l.policy, l.digest, \
                               l.tries, l.active_ms, l.wake, l.since, l.cancel, l.snapshot, l.answer";

/// The columns of `decision d` in the order in which [`decided`] takes them.
pub(crate) const DECIDED: &str = "d.run, d.call, d.at, d.tool, d.what, d.who, d.detail";

/// A column, which has another type only if somebody has changed the tables.
pub(crate) fn get<'r, T: FromSql<'r>>(row: &'r Row, at: usize) -> Result<T> {
    row.try_get(at).map_err(|error| Error::damaged(format!("a column: {error}")))
}

/// Reads a row with the columns [`RUN`].
pub(crate) fn run(row: &Row) -> Result<Run> {
    let id: i64 = get(row, 0)?;
    let damaged = |what: &str| Error::damaged(format!("the {what} of run {id}"));
    let run = Run {
        id,
        key: get::<&[u8]>(row, 1)?.try_into().map_err(|_| damaged("key"))?,
        name: get(row, 2)?,
        input: get(row, 3)?,
        program: get::<&[u8]>(row, 4)?.try_into().map_err(|_| damaged("program"))?,
        function: get(row, 5)?,
        limits: get(row, 6)?,
        started: get(row, 7)?,
        ended: get(row, 8)?,
        outcome: get(row, 9)?,
        subject: get(row, 10)?,
    };
    if run.ended.is_some() != run.outcome.is_some() {
        return Err(damaged("entry"));
    }
    Ok(run)
}

/// Reads a row with the columns [`LIVE`], the first at `at`.
pub(crate) fn live(row: &Row, at: usize) -> Result<Live> {
    let run: i64 = get(row, at)?;
    let damaged = |what: &str| Error::damaged(format!("the {what} of run {run}"));
    let number: i64 = get(row, at + 4)?;
    Ok(Live {
        run,
        epoch: get(row, at + 1)?,
        owner: get(row, at + 2)?,
        was: get(row, at + 3)?,
        state: State::from_number(number & !EXPORTED).ok_or_else(|| damaged("state"))?,
        exported: number & EXPORTED != 0,
        call: unsigned(get(row, at + 5)?, "call number")?,
        tool: get(row, at + 6)?,
        policy: RecordedPolicy::from_bits(get(row, at + 7)?).ok_or_else(|| damaged("policy"))?,
        digest: get(row, at + 8)?,
        tries: u32::try_from(get::<i64>(row, at + 9)?).map_err(|_| damaged("number of claims"))?,
        active_ms: unsigned(get(row, at + 10)?, "time")?,
        wake: get(row, at + 11)?,
        since: get(row, at + 12)?,
        cancel: get(row, at + 13)?,
        snapshot: get(row, at + 14)?,
        answer: get(row, at + 15)?,
        expects: None,
    })
}

/// Reads a row with the columns [`RUN`] and [`LIVE`].
pub(crate) fn both(row: &Row) -> Result<(Run, Option<Live>)> {
    let run = run(row)?;
    let is_live = get::<Option<i64>>(row, RUN_COLUMNS)?.is_some();
    let live = if is_live { Some(live(row, RUN_COLUMNS)?) } else { None };
    agreed(run, live)
}

/// A run with its row, which must agree on whether the run has ended.
pub(crate) fn agreed(run: Run, live: Option<Live>) -> Result<(Run, Option<Live>)> {
    if run.ended.is_some() == live.is_some() {
        return Err(Error::damaged(format!("run {} is neither under way nor has it ended", run.id)));
    }
    Ok((run, live))
}

/// Reads a row with the columns [`DECIDED`].
pub(crate) fn decided(row: &Row) -> Result<DecisionRow> {
    Ok(DecisionRow {
        run: get(row, 0)?,
        call: unsigned(get(row, 1)?, "call number")?,
        at: get(row, 2)?,
        tool: get(row, 3)?,
        what: get(row, 4)?,
        who: get(row, 5)?,
        detail: get(row, 6)?,
    })
}

/// Whether the process that had a run before may still be making its call in a state.
pub(crate) fn keeps_was(state: State) -> bool {
    matches!(state, State::Doubt | State::Blocked(Before::Calling))
}

/// The names of the columns of [`live_params`]: first those of [`CHANGED_NAMES`].
pub(crate) const LIVE_NAMES: &str = "run, epoch, owner, was, state, tries, wake, since, cancel, answer, call, \
                                     tool, policy, digest, active_ms, snapshot";

/// The columns of `live` that a decision may change, after that of the run.
pub(crate) const CHANGED_NAMES: &str = "run, epoch, owner, was, state, tries, wake, since, cancel, answer";

/// Rows of `live` as arrays, in the order of [`CHANGED_NAMES`].
pub(crate) fn changed_params(rows: &[&Live]) -> Vec<Param> {
    let each = || rows.iter();
    vec![
        ints(each().map(|live| live.run)),
        ints(each().map(|live| live.epoch)),
        maybe_ints(each().map(|live| live.owner)),
        maybe_ints(each().map(|live| live.was)),
        ints(each().map(|live| live.state_number())),
        ints(each().map(|live| live.tries.into())),
        maybe_ints(each().map(|live| live.wake)),
        ints(each().map(|live| live.since)),
        flags(each().map(|live| live.cancel)),
        maybe_blobs(each().map(|live| live.answer.clone())),
    ]
}

/// Rows of `live` as arrays, in the order of [`LIVE_NAMES`].
pub(crate) fn live_params(rows: &[&Live]) -> Vec<Param> {
    let each = || rows.iter();
    let mut params = changed_params(rows);
    params.extend([
        ints(each().map(|live| signed(live.call))),
        texts(each().map(|live| live.tool.clone())),
        ints(each().map(|live| live.policy.to_bits())),
        ints(each().map(|live| live.digest)),
        ints(each().map(|live| signed(live.active_ms))),
        blobs(each().map(|live| live.snapshot.clone())),
    ]);
    params
}

/// The names of the columns of [`run_params`].
pub(crate) const RUN_NAMES: &str =
    "key, name, input, program, function, limits, started, ended, outcome, subject, epoch";

/// Rows of `run` as arrays, in the order of [`RUN_NAMES`].
pub(crate) fn run_params(rows: &[&Run]) -> Vec<Param> {
    let each = || rows.iter();
    vec![
        blobs(each().map(|run| run.key.to_vec())),
        maybe_texts(each().map(|run| run.name.clone())),
        ints(each().map(|run| run.input)),
        blobs(each().map(|run| run.program.to_vec())),
        texts(each().map(|run| run.function.clone())),
        blobs(each().map(|run| run.limits.clone())),
        ints(each().map(|run| run.started)),
        maybe_ints(each().map(|run| run.ended)),
        maybe_blobs(each().map(|run| run.outcome.clone())),
        maybe_texts(each().map(|run| run.subject.clone())),
        ints(each().map(|run| i64::from(run.ended.is_some()))),
    ]
}

/// The names of the columns of [`decided_params`].
pub(crate) const DECIDED_NAMES: &str = "run, call, at, tool, what, who, detail, token";

/// Rows of `decision` with their tokens as arrays, in the order of [`DECIDED_NAMES`].
pub(crate) fn decided_params(rows: &[(&DecisionRow, &[u8])]) -> Vec<Param> {
    let each = || rows.iter();
    vec![
        ints(each().map(|(row, _)| row.run)),
        ints(each().map(|(row, _)| signed(row.call))),
        ints(each().map(|(row, _)| row.at)),
        texts(each().map(|(row, _)| row.tool.clone())),
        texts(each().map(|(row, _)| row.what.clone())),
        texts(each().map(|(row, _)| row.who.clone())),
        blobs(each().map(|(row, _)| row.detail.clone())),
        blobs(each().map(|(_, token)| token.to_vec())),
    ]
}

/// `unnest($1, $2, …) AS name(columns)`, for the parameters after `before`.
pub(crate) fn unnest(name: &str, columns: &str, before: usize) -> String {
    let count = columns.split(", ").count();
    let values: Vec<String> = (1..=count).map(|at| format!("${}", before + at)).collect();
    format!("unnest({}) AS {name}({columns})", values.join(", "))
}

/// The same for arrays of one value each, so that the planner knows that it is one row.
pub(crate) fn one_row(name: &str, columns: &str) -> String {
    let values: Vec<String> = (1..=columns.split(", ").count()).map(|at| format!("(${at})[1]")).collect();
    format!("(VALUES ({})) AS {name}({columns})", values.join(", "))
}
