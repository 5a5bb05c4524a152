//! The rows of the tables as they are read and sent.

use super::link::{Param, blobs, flags, ints, maybe_blobs, maybe_ints, maybe_texts, texts};
use crate::error::{Error, Result};
use crate::row::{Columns, DecisionRow, LIVE, Live, RUN, Run, signed};
use crate::state::{Before, State};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

/// The columns of `run r` and `live l`.
pub(crate) fn both() -> String {
    format!("{RUN}, {LIVE}, l.was")
}

/// The columns of `decision d`.
pub(crate) const DECIDED: &str = "d.run, d.call, d.at, d.tool, d.what, d.who, d.detail";

/// A column, which has another type only if somebody has changed the tables.
pub(crate) fn get<'r, T: FromSql<'r>>(row: &'r Row, at: usize) -> Result<T> {
    row.try_get(at).map_err(|error| Error::damaged(format!("a column: {error}")))
}

impl Columns for Row {
    const SUMS: usize = 0;

    fn maybe_int(&self, at: usize) -> Result<Option<i64>> {
        get(self, at)
    }

    fn maybe_text(&self, at: usize) -> Result<Option<String>> {
        get(self, at)
    }

    fn maybe_bytes(&self, at: usize) -> Result<Option<&[u8]>> {
        get(self, at)
    }

    fn cancel(&self, at: usize) -> Result<bool> {
        get(self, at)
    }
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
