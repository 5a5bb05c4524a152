//! How tools may be called, as the tools file says: which of a server's there are, and for each what it
//! changes, whether a person is asked, how long it may take and whether a failed call is made again. Nothing
//! of it is believed from a server.

use crate::interrupt::Interrupt;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

/// Most times that a failed call is made again: with the pauses that is half a minute, and what has not come
/// back by then is not about to.
pub(crate) const RETRIES: u32 = 10;
/// The pause before the first retry; each further one is twice as long.
const FIRST: Duration = Duration::from_millis(100);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(5);
/// The longest wait between two looks at whether the run was interrupted.
const LOOK: Duration = Duration::from_millis(20);

/// What follows a call that may have been made, but whose answer never came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDoubt {
    /// It is a failure, which the program can handle.
    #[default]
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
        if self.bytes {
            f.write_str(", with bytes")?;
        }
        if self.on_doubt == OnDoubt::Stop {
            f.write_str(", ends the run when in doubt")?;
        }
        if self.requires_rollback {
            f.write_str(", requires a rollback")?;
        }
        Ok(())
    }
}

/// What a block of the tools file says of how tools may be called; where it says nothing, another decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) read_only: Option<bool>,
    pub(crate) idempotent: Option<bool>,
    pub(crate) retries: Option<u32>,
    pub(crate) confirm: Option<bool>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) bytes: Option<bool>,
    pub(crate) on_doubt: Option<OnDoubt>,
    pub(crate) requires_rollback: Option<bool>,
}

impl Rules {
    /// These rules, and what they leave open as those around them say. Retries around them are for the tools
    /// that are idempotent, and asking is for those that change something.
    pub(crate) fn within(&self, around: &Rules) -> Rules {
        let read_only = self.read_only.or(around.read_only);
        let idempotent = self.idempotent.or(around.idempotent);
        Rules {
            read_only,
            idempotent,
            retries: self.retries.or(around.retries.filter(|_| idempotent == Some(true))),
            confirm: self.confirm.or(around.confirm.filter(|_| read_only != Some(true))),
            timeout: self.timeout.or(around.timeout),
            bytes: self.bytes.or(around.bytes),
            on_doubt: self.on_doubt.or(around.on_doubt),
            requires_rollback: self
                .requires_rollback
                .or(around.requires_rollback.filter(|_| read_only != Some(true))),
        }
    }

    /// What they come to.
    pub(crate) fn policy(&self) -> Policy {
        Policy {
            read_only: self.read_only.unwrap_or(false),
            idempotent: self.idempotent.unwrap_or(false),
            retries: self.retries.unwrap_or(0),
            confirm: self.confirm.unwrap_or(false),
            timeout: self.timeout,
            bytes: self.bytes.unwrap_or(false),
            on_doubt: self.on_doubt.unwrap_or_default(),
            requires_rollback: self.requires_rollback.unwrap_or(false),
        }
    }
}

/// What the tools file says of a server's tools.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerPolicy {
    /// The tools that there are; without it, all.
    pub(crate) allow: Option<BTreeSet<String>>,
    /// The tools that there are not, whatever else is said.
    pub(crate) deny: BTreeSet<String>,
    /// What holds for each.
    pub(crate) all: Rules,
    /// What holds for single ones.
    pub(crate) tools: BTreeMap<String, Rules>,
}

impl ServerPolicy {
    /// Whether programs may know of a tool.
    pub(crate) fn allows(&self, tool: &str) -> bool {
        !self.deny.contains(tool) && self.allow.as_ref().is_none_or(|allowed| allowed.contains(tool))
    }

    /// What holds for a tool.
    pub(crate) fn rules(&self, tool: &str) -> Rules {
        self.tools.get(tool).unwrap_or(&Rules::default()).within(&self.all)
    }

    /// Every tool that is named.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let allowed = self.allow.iter().flatten();
        allowed.chain(&self.deny).chain(self.tools.keys()).map(String::as_str)
    }
}

/// Waits before a retry, counted from 0; whether there is still time for it.
pub(super) fn pause(retry: u32, until: Instant, interrupt: &Interrupt) -> bool {
    let whole = FIRST.saturating_mul(1 << retry.min(16)).min(LONGEST);
    // Half of it by chance, so that those who failed together do not come again together.
    let half = whole / 2;
    let chance = RandomState::new().hash_one(retry) % u64::try_from(half.as_nanos()).unwrap_or(1).max(1);
    let wait = half + Duration::from_nanos(chance);
    let Some(end) = Instant::now().checked_add(wait).filter(|&end| end < until) else { return false };
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if interrupt.is_set() {
            return false;
        } else if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(LOOK));
    }
}
