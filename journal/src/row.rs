//! The rows of the tables, with their checksums.
//!
//! SQLite has no page checksums. So each row has a hash of its columns; a row with a wrong hash is reported
//! and never used. The column `cancel` is not included, because people set it while an owner writes; its two
//! values differ in more than one bit.

use crate::error::{Error, Result};
use crate::policy::Policy;
use crate::state::State;
use rusqlite::Row;
use rusqlite::types::ValueRef;
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
    pub(crate) policy: Policy,
    pub(crate) digest: i64,
    pub(crate) tries: u32,
    pub(crate) active_ms: u64,
    pub(crate) wake: Option<i64>,
    /// When it entered its state.
    pub(crate) since: i64,
    pub(crate) cancel: bool,
    /// Encrypted if the journal has a key.
    pub(crate) snapshot: Vec<u8>,
    /// Encrypted if the journal has a key.
    pub(crate) answer: Option<Vec<u8>>,
    /// What an answer from outside must be. It is no column: it is written as a row of `call`.
    pub(crate) expects: Option<Vec<u8>>,
}

/// Added to the number of the state of a run that was exported.
pub(crate) const EXPORTED: i64 = 32;

/// The columns of `live` in the order in which [`Live::read`] takes them.
pub(crate) const LIVE: &str = "run, epoch, owner, state, call, tool, policy, digest, tries, active_ms, wake, \
                               since, cancel, snapshot, answer, sum";

impl Live {
    pub(crate) fn state_number(&self) -> i64 {
        self.state.to_number() + if self.exported { EXPORTED } else { 0 }
    }

    /// Reads a row with the columns [`LIVE`], the first at `at`.
    pub(crate) fn read(row: &Row<'_>, at: usize) -> Result<Live> {
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
            policy: Policy::from_bits(row.get(at + 6)?).ok_or_else(|| damaged("policy"))?,
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
            expects: None,
        };
        if row.get::<_, i64>(at + 15)? != live.sum() {
            return Err(damaged("record"));
        }
        Ok(live)
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

/// The columns of `run` in the order in which [`Run::read`] takes them.
pub(crate) const RUN: &str =
    "id, key, name, input, program, function, limits, started, ended, outcome, run.sum, subject";

/// The number of columns of [`RUN`].
pub(crate) const RUN_COLUMNS: usize = 12;

impl Run {
    /// Reads a row with the columns [`RUN`], the first at `at`.
    pub(crate) fn read(row: &Row<'_>, at: usize) -> Result<Run> {
        let id: i64 = row.get(at)?;
        let damaged = |what: &str| Error::damaged(format!("the {what} of run {id}"));
        let run = Run {
            id,
            key: row.get_ref(at + 1)?.as_blob().ok().and_then(exactly).ok_or_else(|| damaged("key"))?,
            name: row.get(at + 2)?,
            input: row.get(at + 3)?,
            program: row
                .get_ref(at + 4)?
                .as_blob()
                .ok()
                .and_then(exactly)
                .ok_or_else(|| damaged("program"))?,
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

/// A row of `call`: what a person has decided.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Decided {
    pub(crate) run: i64,
    pub(crate) call: u64,
    pub(crate) at: i64,
    pub(crate) tool: String,
    pub(crate) what: String,
    pub(crate) who: String,
    /// Encrypted if the journal has a key.
    pub(crate) detail: Vec<u8>,
}

/// The columns of `call` in the order in which [`Decided::read`] takes them.
pub(crate) const DECIDED: &str = "run, call, at, tool, what, who, detail, sum";

impl Decided {
    /// Reads a row with the columns [`DECIDED`].
    pub(crate) fn read(row: &Row<'_>) -> Result<Decided> {
        let decided = Decided {
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

    fn unsigned(&mut self, number: u64) -> &mut Sum {
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
