//! The rows of the tables, with their checksums, and reading them from a database.
//!
//! SQLite has no page checksums. So each row has a hash of its columns; a row with a wrong hash is reported
//! and never used. The column `cancel` is not included, because people set it while an owner writes; its two
//! values differ in more than one bit.

use crate::error::{Error, Result};
use crate::policy::RecordedPolicy;
use crate::state::{STATES, State, Status};
use std::collections::BTreeMap;
use xxhash_rust::xxh3::xxh3_64;

/// The number of `cancel` in a run that is cancelled.
pub(crate) const CANCELLED: i64 = 0x6361_6e63;

/// A row of `live`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Live {
    pub(crate) run: i64,
    pub(crate) epoch: i64,
    pub(crate) owner: Option<i64>,
    pub(crate) state: State,
    /// Whether the run was exported, so that it continues elsewhere.
    pub(crate) exported: bool,
    pub(crate) call: u64,
    pub(crate) tool: String,
    pub(crate) policy: RecordedPolicy,
    pub(crate) digest: i64,
    pub(crate) tries: u32,
    pub(crate) active_ms: u64,
    pub(crate) wake: Option<i64>,
    /// When it entered its state.
    pub(crate) since: i64,
    pub(crate) cancel: bool,
    /// Encrypted if the journal has a key, as is the answer.
    pub(crate) snapshot: Vec<u8>,
    pub(crate) answer: Option<Vec<u8>>,
    /// The owner that may still be making the call, of which this run was taken. In a file there is none:
    /// an owner there has ended before others take its runs.
    pub(crate) was: Option<i64>,
    /// What an answer from outside must be. It is no column: it is written as a row of `call`.
    pub(crate) expects: Option<Vec<u8>>,
}

/// Added to the number of the state of a run that was exported.
pub(crate) const EXPORTED: i64 = 32;

impl Live {
    /// How many bytes of data it has, about.
    #[cfg(feature = "postgres")]
    pub(crate) fn bytes(&self) -> usize {
        self.snapshot.len() + self.answer.as_ref().map_or(0, Vec::len)
    }

    pub(crate) fn state_number(&self) -> i64 {
        self.state.to_number() + if self.exported { EXPORTED } else { 0 }
    }

    /// The checksum of the row.
    pub(crate) fn sum(&self) -> i64 {
        let mut sum = Sum::new();
        sum.number(self.run)
            .number(self.epoch)
            .optional(self.owner)
            .number(self.state_number())
            .unsigned(self.call)
            .bytes(self.tool.as_bytes())
            .number(self.policy.to_bits())
            .number(self.digest)
            .unsigned(self.tries.into())
            .unsigned(self.active_ms)
            .optional(self.wake)
            .number(self.since)
            .bytes(&self.snapshot)
            .maybe(self.answer.as_deref());
        sum.end()
    }
}

/// A row of `run`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Run {
    pub(crate) id: i64,
    pub(crate) key: [u8; crate::cipher::RUN_KEY],
    pub(crate) name: Option<String>,
    /// The digest of the input.
    pub(crate) input: i64,
    /// The hash of the program.
    pub(crate) program: [u8; 32],
    pub(crate) function: String,
    pub(crate) limits: Vec<u8>,
    pub(crate) started: i64,
    pub(crate) ended: Option<i64>,
    /// Encrypted if the journal has a key.
    pub(crate) outcome: Option<Vec<u8>>,
    /// The subject to whom it belongs, if it was started for one.
    pub(crate) subject: Option<String>,
}

impl Run {
    /// The checksum of the row.
    pub(crate) fn sum(&self) -> i64 {
        let mut sum = Sum::new();
        sum.number(self.id)
            .bytes(&self.key)
            .maybe(self.name.as_deref().map(str::as_bytes))
            .number(self.input)
            .bytes(&self.program)
            .bytes(self.function.as_bytes())
            .bytes(&self.limits)
            .number(self.started)
            .optional(self.ended)
            .maybe(self.outcome.as_deref());
        // Rows of version 1 have none, and their sum is without it.
        if let Some(subject) = &self.subject {
            sum.bytes(subject.as_bytes());
        }
        sum.end()
    }

    /// The name if it has one, else the number.
    pub(crate) fn shown(&self) -> String {
        self.name.as_ref().map_or_else(|| self.id.to_string(), |name| format!("`{name}`"))
    }
}

/// What a row of `call` is about that has the schema of an answer, and is no decision.
pub(crate) const EXPECTS: &str = "expects";
/// What a row of `call` is about that has the signatures of a run's tools; its call is 0.
pub(crate) const TOOLS: &str = "tools";

/// What a row of `call` is about that has the metadata of a run; its call is 0.
pub(crate) const METADATA: &str = "metadata";
/// What a row of `call` is about that has a call as it was made, and is no decision: [`crate::calls`].
pub(crate) const CALLED: &str = "called";
/// What a row is about that says that the owner of a call has ended, as a person knows.
pub(crate) const OWNER_ENDED: &str = "owner-ended";

/// A row of `call`: what a person has decided.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DecisionRow {
    pub(crate) run: i64,
    pub(crate) call: u64,
    pub(crate) at: i64,
    pub(crate) tool: String,
    pub(crate) what: String,
    pub(crate) who: String,
    /// Encrypted if the journal has a key.
    pub(crate) detail: Vec<u8>,
}

impl DecisionRow {
    /// A row that no person has caused.
    pub(crate) fn noted(run: i64, call: (u64, &str), at: i64, what: &str, detail: Vec<u8>) -> DecisionRow {
        let ((call, tool), what, who) = (call, what.to_owned(), String::new());
        DecisionRow { run, call, at, tool: tool.to_owned(), what, who, detail }
    }

    /// The checksum of the row.
    pub(crate) fn sum(&self) -> i64 {
        let mut sum = Sum::new();
        sum.number(self.run)
            .unsigned(self.call)
            .number(self.at)
            .bytes(self.tool.as_bytes())
            .bytes(self.what.as_bytes())
            .bytes(self.who.as_bytes())
            .bytes(&self.detail);
        sum.end()
    }
}

/// A row that was read, by the places of its columns.
pub(crate) trait Columns {
    /// The number of columns with checksums behind those of a table.
    const SUMS: usize;

    fn maybe_int(&self, at: usize) -> Result<Option<i64>>;
    fn maybe_text(&self, at: usize) -> Result<Option<String>>;
    fn maybe_bytes(&self, at: usize) -> Result<Option<&[u8]>>;
    /// The column `cancel`.
    fn cancel(&self, at: usize) -> Result<bool>;

    fn int(&self, at: usize) -> Result<i64> {
        self.maybe_int(at)?.ok_or_else(|| Error::damaged("a number is missing"))
    }

    fn text(&self, at: usize) -> Result<String> {
        self.maybe_text(at)?.ok_or_else(|| Error::damaged("a text is missing"))
    }

    fn bytes(&self, at: usize) -> Result<Vec<u8>> {
        Ok(self.maybe_bytes(at)?.unwrap_or_default().to_vec())
    }

    /// Whether a row has its checksum in this column, where rows have one.
    fn has_sum(&self, at: usize, sum: impl FnOnce() -> i64) -> Result<bool> {
        Ok(Self::SUMS == 0 || self.int(at)? == sum())
    }
}

/// The columns of `run r` in the order in which [`run_of`] takes them.
pub(crate) const RUN: &str = "r.id, r.key, r.name, r.input, r.program, r.function, r.limits, r.started, \
                              r.ended, r.outcome, r.subject";
/// The columns of `live l` in the order in which [`live_of`] takes them; `was` follows.
pub(crate) const LIVE: &str = "l.run, l.epoch, l.owner, l.state, l.call, l.tool, l.policy, l.digest, l.tries, \
                               l.active_ms, l.wake, l.since, l.cancel, l.snapshot, l.answer";

/// Reads the columns [`RUN`], the first at `at`.
pub(crate) fn run_of<R: Columns>(row: &R, at: usize) -> Result<Run> {
    let id = row.int(at)?;
    let damaged = |what: &str| Error::damaged(format!("the {what} of run {id}"));
    let run = Run {
        id,
        key: row.bytes(at + 1)?.try_into().map_err(|_| damaged("key"))?,
        name: row.maybe_text(at + 2)?,
        input: row.int(at + 3)?,
        program: row.bytes(at + 4)?.try_into().map_err(|_| damaged("program"))?,
        function: row.text(at + 5)?,
        limits: row.bytes(at + 6)?,
        started: row.int(at + 7)?,
        ended: row.maybe_int(at + 8)?,
        outcome: row.maybe_bytes(at + 9)?.map(<[u8]>::to_vec),
        subject: row.maybe_text(at + 10)?,
    };
    if !row.has_sum(at + 11, || run.sum())? || run.ended.is_some() != run.outcome.is_some() {
        return Err(damaged("entry"));
    }
    Ok(run)
}

/// Reads the columns [`LIVE`] and `was`, the first at `at`.
pub(crate) fn live_of<R: Columns>(row: &R, at: usize) -> Result<Live> {
    let run = row.int(at)?;
    let damaged = |what: &str| Error::damaged(format!("the {what} of run {run}"));
    let number = row.int(at + 3)?;
    let live = Live {
        run,
        epoch: row.int(at + 1)?,
        owner: row.maybe_int(at + 2)?,
        state: State::from_number(number & !EXPORTED).ok_or_else(|| damaged("state"))?,
        exported: number & EXPORTED != 0,
        call: unsigned(row.int(at + 4)?, "call number")?,
        tool: row.text(at + 5)?,
        policy: RecordedPolicy::from_bits(row.int(at + 6)?).ok_or_else(|| damaged("policy"))?,
        digest: row.int(at + 7)?,
        tries: u32::try_from(row.int(at + 8)?).map_err(|_| damaged("number of claims"))?,
        active_ms: unsigned(row.int(at + 9)?, "time")?,
        wake: row.maybe_int(at + 10)?,
        since: row.int(at + 11)?,
        cancel: row.cancel(at + 12)?,
        snapshot: row.bytes(at + 13)?,
        answer: row.maybe_bytes(at + 14)?.map(<[u8]>::to_vec),
        was: row.maybe_int(at + 15)?,
        expects: None,
    };
    if row.has_sum(at + 16, || live.sum())? { Ok(live) } else { Err(damaged("record")) }
}

/// Reads the columns of both.
pub(crate) fn both_of<R: Columns>(row: &R, at: usize) -> Result<(Run, Option<Live>)> {
    let run = run_of(row, at)?;
    let at = at + 11 + R::SUMS;
    let is_live = row.maybe_int(at)?.is_some();
    agreed(run, if is_live { Some(live_of(row, at)?) } else { None })
}

/// A run with its row, which must agree on whether the run has ended.
pub(crate) fn agreed(run: Run, live: Option<Live>) -> Result<(Run, Option<Live>)> {
    if run.ended.is_some() == live.is_some() {
        return Err(Error::damaged(format!("run {} is neither under way nor has it ended", run.id)));
    }
    Ok((run, live))
}

/// Reads a row with the columns of [`DecisionRow`].
pub(crate) fn decided_of<R: Columns>(row: &R) -> Result<DecisionRow> {
    let decided = DecisionRow {
        run: row.int(0)?,
        call: unsigned(row.int(1)?, "call number")?,
        at: row.int(2)?,
        tool: row.text(3)?,
        what: row.text(4)?,
        who: row.text(5)?,
        detail: row.bytes(6)?,
    };
    if !row.has_sum(7, || decided.sum())? {
        return Err(Error::damaged(format!("a decision on run {}", decided.run)));
    }
    Ok(decided)
}

/// The numbers of some states, as a list in a statement.
pub(crate) fn numbers(chosen: impl Fn(State) -> bool) -> String {
    let chosen = STATES.into_iter().filter(|&state| chosen(state));
    chosen.map(|state| state.to_number().to_string()).collect::<Vec<_>>().join(", ")
}

/// The condition on the rows of runs with this status, and whether all of them are in `live`.
pub(crate) fn condition(status: Option<Status>) -> (String, bool) {
    match status {
        None => ("true".to_owned(), false),
        Some(Status::Ended) => ("r.ended IS NOT NULL".to_owned(), false),
        Some(Status::Exported) => (format!("l.state >= {EXPORTED}"), true),
        Some(Status::In(state)) => {
            (format!("l.state IN ({})", numbers(|other| other.name() == state.name())), true)
        }
    }
}

/// How many runs there are of each status: of all, and by the numbers of the states in `live`.
pub(crate) fn counted(all: i64, live: &BTreeMap<i64, i64>) -> Result<BTreeMap<&'static str, i64>> {
    let mut found = BTreeMap::from([(Status::Ended.name(), all - live.values().sum::<i64>())]);
    for (number, count) in live {
        let state = State::from_number(number & !EXPORTED).ok_or_else(|| Error::damaged("a state"))?;
        let status = if number & EXPORTED == 0 { Status::In(state) } else { Status::Exported };
        *found.entry(status.name()).or_insert(0) += count;
    }
    found.retain(|_, count| *count > 0);
    Ok(found)
}

fn unsigned(number: i64, what: &str) -> Result<u64> {
    u64::try_from(number).map_err(|_| Error::damaged(format!("a {what} below zero")))
}

/// A number for a column. Columns are signed, and nothing counts that far.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Gathers columns for a checksum.
struct Sum(Vec<u8>);

impl Sum {
    /// Begins with room for a row of usual size.
    fn new() -> Sum {
        Sum(Vec::with_capacity(512))
    }

    fn number(&mut self, number: i64) -> &mut Sum {
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    pub(crate) fn unsigned(&mut self, number: u64) -> &mut Sum {
        self.number(signed(number))
    }

    fn optional(&mut self, number: Option<i64>) -> &mut Sum {
        self.0.push(u8::from(number.is_some()));
        self.number(number.unwrap_or_default())
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Sum {
        self.0.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.0.extend_from_slice(bytes);
        self
    }

    fn maybe(&mut self, bytes: Option<&[u8]>) -> &mut Sum {
        self.0.push(u8::from(bytes.is_some()));
        self.bytes(bytes.unwrap_or_default())
    }

    fn end(&self) -> i64 {
        i64::from_le_bytes(xxh3_64(&self.0).to_le_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::{Live, RecordedPolicy, State};

    impl Live {
        /// A row of run 1 at its first call, for the tests of what reads rows.
        pub(crate) fn blank(effect: crate::policy::Effect) -> Live {
            Live {
                run: 1,
                epoch: 1,
                owner: None,
                state: State::Ready,
                exported: false,
                call: 1,
                tool: "pay".to_owned(),
                policy: RecordedPolicy::of(effect),
                digest: 0,
                tries: 0,
                active_ms: 0,
                wake: None,
                since: 0,
                cancel: false,
                snapshot: Vec::new(),
                answer: None,
                was: None,
                expects: None,
            }
        }
    }
}
