//! Reads the rows of the tables. A row with a wrong checksum is an error.

use crate::error::{Error, Result};
use crate::policy::RecordedPolicy;
use crate::row::{CANCELLED, DecisionRow, EXPORTED, Live, Run, unsigned};
use crate::state::State;
use rusqlite::Row;
use rusqlite::types::ValueRef;

/// The columns of `live` in the order in which [`live`] takes them.
pub(crate) const LIVE: &str = "run, epoch, owner, state, call, tool, policy, digest, tries, active_ms, wake, \
                               since, cancel, snapshot, answer, sum";

/// Reads a row with the columns [`LIVE`], the first at `at`.
pub(crate) fn live(row: &Row<'_>, at: usize) -> Result<Live> {
    let run: i64 = row.get(at)?;
    let damaged = |what: &str| Error::damaged(format!("the {what} of run {run}"));
    let number: i64 = row.get(at + 3)?;
    let cancel: i64 = row.get(at + 12)?;
    let live = Live {
        run,
        epoch: row.get(at + 1)?,
        owner: row.get(at + 2)?,
        state: State::from_number(number & !EXPORTED).ok_or_else(|| damaged("state"))?,
        exported: number & EXPORTED != 0,
        call: unsigned(row.get(at + 4)?, "call number")?,
        tool: row.get(at + 5)?,
        policy: RecordedPolicy::from_bits(row.get(at + 6)?).ok_or_else(|| damaged("policy"))?,
        digest: row.get(at + 7)?,
        tries: u32::try_from(row.get::<_, i64>(at + 8)?).map_err(|_| damaged("number of claims"))?,
        active_ms: unsigned(row.get(at + 9)?, "time")?,
        wake: row.get(at + 10)?,
        since: row.get(at + 11)?,
        cancel: match cancel {
            0 => false,
            CANCELLED => true,
            _ => return Err(damaged("request to cancel")),
        },
        snapshot: blob(row, at + 13)?.unwrap_or_default(),
        answer: blob(row, at + 14)?,
        was: None,
        expects: None,
    };
    if row.get::<_, i64>(at + 15)? != live.sum() {
        return Err(damaged("record"));
    }
    Ok(live)
}

/// The columns of `run` in the order in which [`run`] takes them.
pub(crate) const RUN: &str =
    "id, key, name, input, program, function, limits, started, ended, outcome, run.sum, subject";

/// The number of columns of [`RUN`].
pub(crate) const RUN_COLUMNS: usize = 12;

/// Reads a row with the columns [`RUN`], the first at `at`.
pub(crate) fn run(row: &Row<'_>, at: usize) -> Result<Run> {
    let id: i64 = row.get(at)?;
    let damaged = |what: &str| Error::damaged(format!("the {what} of run {id}"));
    let run = Run {
        id,
        key: row.get_ref(at + 1)?.as_blob().ok().and_then(exactly).ok_or_else(|| damaged("key"))?,
        name: row.get(at + 2)?,
        input: row.get(at + 3)?,
        program: row.get_ref(at + 4)?.as_blob().ok().and_then(exactly).ok_or_else(|| damaged("program"))?,
        function: row.get(at + 5)?,
        limits: blob(row, at + 6)?.unwrap_or_default(),
        started: row.get(at + 7)?,
        ended: row.get(at + 8)?,
        outcome: blob(row, at + 9)?,
        subject: row.get(at + 11)?,
    };
    if row.get::<_, i64>(at + 10)? != run.sum() || run.ended.is_some() != run.outcome.is_some() {
        return Err(damaged("entry"));
    }
    Ok(run)
}

/// The columns of `call` in the order in which [`decided`] takes them.
pub(crate) const DECIDED: &str = "run, call, at, tool, what, who, detail, sum";

/// Reads a row with the columns [`DECIDED`].
pub(crate) fn decided(row: &Row<'_>) -> Result<DecisionRow> {
    let decided = DecisionRow {
        run: row.get(0)?,
        call: unsigned(row.get(1)?, "call number")?,
        at: row.get(2)?,
        tool: row.get(3)?,
        what: row.get(4)?,
        who: row.get(5)?,
        detail: blob(row, 6)?.unwrap_or_default(),
    };
    if row.get::<_, i64>(7)? != decided.sum() {
        return Err(Error::damaged(format!("a decision on run {}", decided.run)));
    }
    Ok(decided)
}

fn exactly<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}

/// A blob, or nothing.
pub(crate) fn blob(row: &Row<'_>, at: usize) -> Result<Option<Vec<u8>>> {
    match row.get_ref(at)? {
        ValueRef::Null => Ok(None),
        ValueRef::Blob(bytes) => Ok(Some(bytes.to_vec())),
        _ => Err(Error::damaged("bytes were expected, found something else")),
    }
}
