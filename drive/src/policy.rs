//! Policies: what a tool changes, whether a person is asked, how long a call may take, whether a failed call
//! is made again.

use crate::failure::Failure;
use std::fmt;
use std::time::Duration;

/// The most retries of a failed call. With the pauses they take half a minute; a tool that has not recovered
/// by then rarely does soon.
pub const RETRIES: u32 = 10;
/// The pause before the first retry; each further one is twice as long.
const FIRST: Duration = Duration::from_millis(100);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(5);

/// What follows a call that may have been made, but whose answer never came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnDoubt {
    /// If a journal records the run, a person decides; else it is a failure.
    #[default]
    Ask,
    /// It is a failure, which the program can handle.
    Fail,
    /// The run ends with fault `in-doubt`, after its rollback.
    Stop,
}

/// How a tool may be called.
#[allow(clippy::struct_excessive_bools, reason = "each is a key of the tools file")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Whether it changes nothing. Without this, a tool is assumed to change something.
    pub read_only: bool,
    /// Whether two calls with the same arguments have the effect of one.
    pub idempotent: bool,
    /// The number of retries of a failed call, if the tool is idempotent.
    pub retries: u32,
    /// Whether a person is asked before each call.
    pub confirm: bool,
    /// The time limit of a call if it differs from the default. Each retry has it anew.
    pub timeout: Option<Duration>,
    /// The time that a call that changes something has after the run was cancelled. Without it the call has
    /// its own time limit.
    pub cancel_grace: Option<Duration>,
    /// Whether an answer contains the bytes of images and other binary content, as base64, or only their type
    /// and size.
    pub bytes: bool,
    /// What follows a call that may have been made, but whose answer never came.
    pub on_doubt: OnDoubt,
    /// Whether every call of it must register its rollback in the same step.
    pub requires_rollback: bool,
    /// The limit on how often it may be called, by all runs of a process together.
    pub rate: Option<Rate>,
    /// Whether a text answer that is JSON is read as JSON.
    pub json: bool,
    /// Whether every integer of an answer becomes a text, so that none is too big.
    pub integers_as_text: bool,
    /// Whether a call only begins the work, and its answer comes later from outside. Only a journal can wait
    /// for that answer.
    pub deferred: bool,
    /// Whether a call only waits for a number of `seconds`, so that a journal can let the run sleep.
    pub waits: bool,
}

/// A number of calls in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// The calls, at least 1.
    pub calls: usize,
    /// The period in which at most this number of calls begin.
    pub per: Duration,
}

impl fmt::Display for Policy {
    /// The policy in a few words: `may change something, asks first, 5000 ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.read_only { "reads only" } else { "may change something" })?;
        if self.confirm {
            f.write_str(", asks first")?;
        }
        if self.idempotent {
            f.write_str(", idempotent")?;
        }
        match self.retries {
            0 => {}
            1 => f.write_str(", 1 retry")?,
            count => write!(f, ", {count} retries")?,
        }
        if let Some(time) = self.timeout {
            write!(f, ", {} ms", time.as_millis())?;
        }
        if let Some(time) = self.cancel_grace {
            write!(f, ", {} ms after a cancel", time.as_millis())?;
        }
        if let Some(Rate { calls, per }) = self.rate {
            write!(f, ", {calls} calls in {} ms", per.as_millis())?;
        }
        if self.bytes {
            f.write_str(", with bytes")?;
        }
        if self.json {
            f.write_str(", reads JSON")?;
        }
        if self.integers_as_text {
            f.write_str(", integers as text")?;
        }
        if self.on_doubt == OnDoubt::Stop {
            f.write_str(", ends the run when in doubt")?;
        }
        if self.requires_rollback {
            f.write_str(", requires a rollback")?;
        }
        if self.deferred {
            f.write_str(", answers later")?;
        }
        Ok(())
    }
}

/// The policies of the tools that a program can name.
pub trait Policies {
    /// The policy of the tool with this name; `None` if there is none.
    fn policy(&self, tool: &str) -> Option<&Policy>;

    /// Whether the tool only reads and needs no confirmation; false for an unknown name.
    fn is_read_only(&self, tool: &str) -> bool {
        self.policy(tool).is_some_and(|policy| policy.read_only && !policy.confirm)
    }

    /// Whether a call of this tool may be started before its turn, beside others.
    fn may_run_ahead(&self, tool: &str) -> bool {
        self.is_read_only(tool)
    }
}

impl Policy {
    /// A tool that only reads.
    pub fn reads() -> Policy {
        Policy { read_only: true, ..Policy::default() }
    }

    /// The least and the longest pause before a failed call is made again. The host chooses one of them at
    /// random, so that callers that failed together do not retry together. `retry` counts from 0.
    pub fn pause(retry: u32) -> (Duration, Duration) {
        let whole = FIRST.saturating_mul(1 << retry.min(16)).min(LONGEST);
        (whole / 2, whole)
    }

    /// Whether a call that may have been made can be made again. After a crash, such a call is not in doubt.
    pub fn is_safe_again(&self) -> bool {
        self.read_only || self.idempotent
    }

    /// What follows a crash while a call of a durable run is under way: the call is made `again`, or is in
    /// `doubt`.
    pub fn after_crash(&self) -> &'static str {
        if self.is_safe_again() { "again" } else { "doubt" }
    }

    /// Whether a call that has failed for the `retry`th time, counted from 0, is made again.
    pub fn retries(&self, failure: &Failure, retry: u32) -> bool {
        matches!(failure, Failure::Failed(_) | Failure::InDoubt(_)) && self.idempotent && retry < self.retries
    }
}
