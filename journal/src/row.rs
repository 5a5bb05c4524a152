//! The rows of the tables, with their checksums.
//!
//! SQLite has no page checksums. So each row has a hash of its columns; a row with a wrong hash is reported
//! and never used. The column `cancel` is not included, because people set it while an owner writes; its two
//! values differ in more than one bit.

use crate::error::{Error, Result};
use crate::policy::RecordedPolicy;
use crate::state::State;
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

pub(crate) fn unsigned(number: i64, what: &str) -> Result<u64> {
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
