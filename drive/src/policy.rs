//! How a tool may be called: what it changes, whether a person is asked, how long it may take, whether a
//! failed call is made again.

use crate::failure::Failure;
use std::fmt;
use std::time::Duration;

/// Most times that a failed call is made again: with the pauses that is half a minute, and what has not come
/// back by then is not about to.
pub const RETRIES: u32 = 10;
/// The pause before the first retry; each further one is twice as long.
const FIRST: Duration = Duration::from_millis(100);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(5);

/// What follows a call that may have been made, but whose answer never came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDoubt {
    /// Where a journal records the run, a person decides; else it is a failure.
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
    /// Whether it changes nothing; what is not said to be so is taken to change something.
    pub read_only: bool,
    /// Whether calling it twice with the same arguments is as calling it once.
    pub idempotent: bool,
    /// How often a call that failed is made again; only where it is idempotent.
    pub retries: u32,
    /// Whether a person is asked before each call.
    pub confirm: bool,
    /// How long a call may take, where it differs from the default; each retry anew.
    pub timeout: Option<Duration>,
    /// Whether the bytes of images and the like come with an answer, as base64, or only their type and size.
    pub bytes: bool,
    /// What follows a call that may have been made, but whose answer never came.
    pub on_doubt: OnDoubt,
    /// Whether every call of it must register its rollback in the same step.
    pub requires_rollback: bool,
    /// How often it may be called, in all runs of a process together.
    pub rate: Option<Rate>,
    /// Whether a text that it answers with and that is JSON is read as such.
    pub json: bool,
    /// Whether a call only begins the work, and its answer comes later, from outside. Only a journal can wait
    /// for that answer.
    pub deferred: bool,
    /// Whether a call does nothing but wait for so many `seconds`, so that a journal can let the run sleep.
    pub waits: bool,
}

/// So many calls in so much time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// The calls, at least 1.
    pub calls: usize,
    /// The time in which no more than these begin.
    pub per: Duration,
}

impl fmt::Display for Policy {
    /// In few words: `may change something, asks first, 5000 ms`.
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
        if let Some(Rate { calls, per }) = self.rate {
            write!(f, ", {calls} calls in {} ms", per.as_millis())?;
        }
        if self.bytes {
            f.write_str(", with bytes")?;
        }
        if self.json {
            f.write_str(", reads JSON")?;
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
    /// How the tool that answers for a name may be called; `None` where no tool does.
    fn policy(&self, tool: &str) -> Option<&Policy>;

    /// Whether the tool only reads and needs no confirmation. False for an unknown name.
    fn is_read_only(&self, tool: &str) -> bool {
        self.policy(tool).is_some_and(|policy| policy.read_only && !policy.confirm)
    }

    /// Whether a call of this tool may be started before its turn, beside others.
    fn may_run_ahead(&self, tool: &str) -> bool {
        self.is_read_only(tool)
    }
}

impl Policy {
    /// How long to wait before a failed call is made again, as the least and the longest pause; the host
    /// takes one of them by chance, so that those who failed together do not come again together. `retry`
    /// counts from 0.
    pub fn pause(retry: u32) -> (Duration, Duration) {
        let whole = FIRST.saturating_mul(1 << retry.min(16)).min(LONGEST);
        (whole / 2, whole)
    }

    /// Whether a call that may have been made can be made again: after a crash it is not in doubt.
    pub fn is_safe_again(&self) -> bool {
        self.read_only || self.idempotent
    }

    /// What follows a crash while a call of a durable run is under way: it is made `again`, or is in `doubt`.
    pub fn after_crash(&self) -> &'static str {
        if self.is_safe_again() { "again" } else { "doubt" }
    }

    /// Whether a call that has failed for the `retry`th time, counted from 0, is made again.
    pub fn retries(&self, failure: &Failure, retry: u32) -> bool {
        matches!(failure, Failure::Failed(_) | Failure::InDoubt(_)) && self.idempotent && retry < self.retries
    }
}
