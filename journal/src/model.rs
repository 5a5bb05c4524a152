//! The data of the interface of the store: runs, records of owners, decisions of people.

use crate::answer::Answer;
use crate::cipher::{Cipher, Column, RUN_KEY, idempotency_key};
use crate::error::{Error, ErrorCode, Result};
use crate::limits::{RunLimits, UsedUp};
use crate::policy::RecordedPolicy;
use crate::row::{Live, Run};
use crate::state::{Action, Leads, State, Status};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The number of a run in its journal. Numbers are in the order of starting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(pub i64);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A run to be started.
#[derive(Clone, Debug)]
pub struct NewRun<'a> {
    /// The caller's name for it. A second start with the same name, program, function and input finds the
    /// first run.
    pub name: Option<&'a str>,
    /// The input as bytes. Equal inputs must have equal bytes. Only the digest is stored.
    pub input: &'a [u8],
    /// The program's bytecode.
    pub program: &'a [u8],
    /// The function that runs.
    pub function: &'a str,
    /// Its limits.
    pub limits: &'a RunLimits,
    /// The subject to whom it belongs, such as a user of a server; it is stored as a readable text.
    pub subject: Option<&'a str>,
}

/// What is stored with a new run beside its data.
#[derive(Clone, Debug, Default)]
pub struct Attached {
    /// The signatures of its tools, as a text of the host.
    pub tools: Option<String>,
    /// Metadata by which people find it, such as a tenant, a user, or tags. It stays readable.
    pub metadata: BTreeMap<String, String>,
}

impl Attached {
    /// Refuses metadata that cannot be stored.
    pub(crate) fn check(&self) -> Result<()> {
        let refused = |what: String| Err(Error::new(ErrorCode::Value, what));
        if self.metadata.len() > METADATA {
            return refused(format!(
                "expected at most {METADATA} entries of metadata; found {}",
                self.metadata.len()
            ));
        }
        for (name, value) in &self.metadata {
            let fits = |text: &str, most: usize| text.len() <= most && !text.contains(char::is_control);
            if name.is_empty() || !fits(name, METADATA_NAME) || !fits(value, METADATA_VALUE) {
                return refused(format!(
                    "expected metadata with a name of 1 to {METADATA_NAME} bytes, a value of at most \
                     {METADATA_VALUE}, and no control characters"
                ));
            }
        }
        Ok(())
    }
}

/// The most entries of metadata of a run: they are for finding runs, and not for data.
pub const METADATA: usize = 16;
/// The most bytes of the name of an entry of metadata.
pub const METADATA_NAME: usize = 64;
/// The most bytes of its value, which is in an index.
pub const METADATA_VALUE: usize = 256;

/// How a run begins.
#[derive(Clone, Debug)]
pub enum FirstRecord<'a> {
    /// At its first call.
    Call(Record<'a>),
    /// It has made no call, and this is its outcome.
    Ended(&'a [u8]),
}

/// A run that was started or found.
#[derive(Debug)]
#[non_exhaustive]
pub struct Started {
    /// Its number.
    pub run: RunId,
    /// Whether it is new.
    pub is_new: bool,
    /// The lease, unless the run existed already or has ended.
    pub lease: Option<Lease>,
}

/// A record of an owner: the call at which the run is, and the owner's action on it.
#[derive(Clone, Debug)]
pub struct Record<'a> {
    /// The action of the owner.
    pub to: To,
    /// The number of the call.
    pub call: u64,
    /// The tool.
    pub tool: &'a str,
    /// The policy of the tool.
    pub policy: RecordedPolicy,
    /// The arguments as JSON; only their digest is stored.
    pub arguments: &'a [u8],
    /// Milliseconds for which the run has worked.
    pub active_ms: u64,
    /// The snapshot of the run at this call.
    pub snapshot: &'a [u8],
    /// The answer that the call has, for [`To::Answered`], [`To::Limited`] and [`To::Blocked`] only.
    pub answer: Option<&'a Answer>,
    /// What an answer from outside must be, as a JSON Schema, for [`To::Doubt`] and [`To::Deferred`].
    pub expects: Option<&'a str>,
}

/// The action of an owner on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// Not begun.
    Ready,
    /// Make it.
    Calling,
    /// Wait for a person's approval.
    Asking,
    /// Wait for an answer from outside.
    Deferred,
    /// Wait until a time, in milliseconds since 1970.
    Sleeping {
        /// The time.
        until: i64,
    },
    /// Leave it to a person to find out whether it was made.
    Doubt,
    /// Nothing: it has its answer, and the run goes on.
    Answered,
    /// Stop because a limit is used up.
    Limited,
    /// Stop because the build or the tools do not fit.
    Blocked,
}

impl To {
    pub(crate) fn action(self) -> Action {
        match self {
            To::Ready => Action::NotMade,
            To::Calling => Action::Begin,
            To::Asking => Action::Ask,
            To::Deferred => Action::Defer,
            To::Sleeping { .. } => Action::Sleep,
            To::Doubt => Action::Doubt,
            To::Answered => Action::Take,
            To::Limited => Action::Limit,
            To::Blocked => Action::Block,
        }
    }

    pub(crate) fn state(self) -> State {
        match self {
            To::Ready => State::Ready,
            To::Calling => State::Calling,
            To::Asking => State::Asking,
            To::Deferred => State::Deferred,
            To::Sleeping { .. } => State::Sleeping,
            To::Doubt => State::Doubt,
            To::Answered => State::Answered,
            To::Limited => State::Limited,
            To::Blocked => State::Blocked(crate::state::Before::Ready),
        }
    }

    /// The state after this, from `state` at the same call or an earlier one.
    pub(crate) fn from(self, state: State, is_later: bool) -> Option<State> {
        let here = if is_later {
            let Some(Leads::State(next)) = state.after(Action::Next) else { return None };
            next
        } else {
            state
        };
        if self == To::Ready && here == State::Ready {
            return Some(State::Ready);
        }
        match here.after(self.action()) {
            Some(Leads::State(state)) => Some(state),
            _ => None,
        }
    }
}

impl Record<'_> {
    /// The row of this record, encrypted.
    pub(crate) fn row(
        &self,
        cipher: &Cipher,
        key: &[u8; RUN_KEY],
        (run, epoch): (i64, i64),
        owner: i64,
        now: i64,
    ) -> Result<Live> {
        let state = self.to.state();
        let answer = self.answer.map(Answer::to_bytes);
        let answer = answer.map(|answer| cipher.seal(key, self.call, Column::Answer, &answer)).transpose()?;
        Ok(Live {
            run,
            epoch,
            // A run that only waits is left to others.
            owner: matches!(state, State::Ready | State::Calling | State::Answered).then_some(owner),
            state,
            exported: false,
            call: self.call,
            tool: self.tool.to_owned(),
            policy: self.policy,
            digest: cipher.digest(&[self.tool.as_bytes(), self.arguments]),
            tries: 0,
            active_ms: self.active_ms,
            wake: if let To::Sleeping { until } = self.to { Some(until) } else { None },
            since: now,
            cancel: false,
            was: None,
            snapshot: cipher.seal(key, self.call, Column::Snapshot, self.snapshot)?,
            answer,
            expects: self
                .expects
                .map(|schema| cipher.seal(key, self.call, Column::Detail, schema.as_bytes()))
                .transpose()?,
        })
    }
}

/// A lease: the right to write to a run, until another process takes it over.
#[derive(Debug)]
pub struct Lease {
    pub(crate) run: Run,
    pub(crate) epoch: i64,
    /// The owner for whom it was given.
    pub(crate) owner: i64,
    pub(crate) state: State,
    pub(crate) call: u64,
}

/// What was held with a lease.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) run: i64,
    pub(crate) owner: i64,
    pub(crate) epoch: i64,
}

impl Lease {
    pub(crate) fn held(&self) -> Held {
        Held { run: self.run.id, owner: self.owner, epoch: self.epoch }
    }

    pub(crate) fn of(live: &Live, owner: i64, run: Run) -> Lease {
        Lease { state: live.state, call: live.call, epoch: live.epoch, owner, run }
    }

    /// The number of the run.
    pub fn run(&self) -> RunId {
        RunId(self.run.id)
    }

    /// The name of the run.
    pub fn name(&self) -> Option<&str> {
        self.run.name.as_deref()
    }

    /// The state that was recorded last.
    pub fn state(&self) -> State {
        self.state
    }

    /// The call that was recorded last.
    pub fn call(&self) -> u64 {
        self.call
    }

    /// The idempotency key of a call.
    pub fn key(&self, call: u64) -> String {
        idempotency_key(&self.run.key, call)
    }

    /// The row that a record makes of this run, if its state allows that.
    pub(crate) fn next(&self, cipher: &Cipher, record: &Record<'_>, now: i64) -> Result<Live> {
        let behind = record.call < self.call;
        let to = record.to.from(self.state, record.call > self.call).filter(|_| !behind);
        let Some(state) = to else {
            return Err(self.state.refuse(record.to.action(), &self.run.shown(), self.call));
        };
        let mut row = record.row(cipher, &self.run.key, (self.run.id, self.epoch), self.owner, now)?;
        row.state = state;
        Ok(row)
    }
}

/// The result of taking a run over.
#[derive(Debug)]
pub enum Claim {
    /// This process continues it.
    Mine(Box<Claimed>),
    /// Others must act first.
    Waits {
        /// Its state.
        state: State,
        /// Its call.
        call: u64,
        /// When it wakes, in milliseconds since 1970, if it sleeps.
        wake: Option<i64>,
    },
    /// It has ended.
    Ended {
        /// Its outcome.
        outcome: Vec<u8>,
    },
}

/// A run that was taken over.
#[derive(Debug)]
#[non_exhaustive]
pub struct Claimed {
    /// The right to write.
    pub lease: Lease,
    /// The program's bytecode.
    pub program: Arc<[u8]>,
    /// The function that runs.
    pub function: String,
    /// Its limits.
    pub limits: RunLimits,
    /// Its state.
    pub state: State,
    /// The number of the pending call.
    pub call: u64,
    /// The tool of that call.
    pub tool: String,
    /// The policy with which it was recorded.
    pub policy: RecordedPolicy,
    /// The digest of tool and arguments.
    pub digest: i64,
    /// How often this call was taken over without progress.
    pub tries: u32,
    /// Milliseconds for which the run has worked.
    pub active_ms: u64,
    /// Whether somebody has cancelled it.
    pub cancel: bool,
    /// The snapshot at that call.
    pub snapshot: Vec<u8>,
    /// The answer to that call, if it has one.
    pub answer: Option<Answer>,
    /// Whether a person has approved this call under this policy.
    pub approved: bool,
    /// Whether the answer came from outside, and was not compared with anything.
    pub unchecked: bool,
}

/// The decision of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// The call may be made.
    Approve,
    /// The call may not be made; why.
    Deny(String),
    /// The call's value, as JSON.
    Answer(String),
    /// The call has failed, with this message.
    Fail(String),
    /// The call was not made, or may be made again.
    Retry,
    /// The run gets other limits.
    More(RunLimits),
    /// The run is cancelled.
    Cancel,
}

impl Decision {
    pub(crate) fn action(&self) -> Action {
        match self {
            Decision::Approve => Action::Approve,
            Decision::Deny(_) => Action::Deny,
            Decision::Answer(_) => Action::Answer,
            Decision::Fail(_) => Action::Fail,
            Decision::Retry => Action::Retry,
            Decision::More(_) => Action::More,
            Decision::Cancel => Action::Cancel,
        }
    }

    /// The answer that it gives to the call.
    pub(crate) fn answer(&self, who: &str) -> Result<Option<Answer>> {
        Ok(match self {
            Decision::Answer(json) => Some(Answer::from_json(json)?),
            Decision::Fail(message) => Some(Answer::failed(message)),
            Decision::Deny(why) if why.is_empty() => Some(Answer::failed(&format!("not approved by {who}"))),
            Decision::Deny(why) => Some(Answer::failed(&format!("not approved by {who}: {why}"))),
            Decision::Approve | Decision::Retry | Decision::More(_) | Decision::Cancel => None,
        })
    }
}

/// A run, for display.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Summary {
    /// Its number.
    pub run: RunId,
    /// Its name.
    pub name: Option<String>,
    /// When it was started, in milliseconds since 1970.
    pub started: i64,
    /// The hash of its program.
    pub program: [u8; 32],
    /// The function that runs.
    pub function: String,
    /// Its limits.
    pub limits: RunLimits,
    /// The subject to whom it belongs, if it was started for one.
    pub subject: Option<String>,
    /// Its status.
    pub at: At,
}

impl Summary {
    /// The limit that it has used up, if it waits for a higher one.
    pub fn used_up(&self) -> Option<UsedUp> {
        match &self.at {
            At::Live(live) if live.state == State::Limited => {
                Some(if live.active_ms >= self.limits.time_ms {
                    UsedUp::Time
                } else if live.call >= self.limits.machine.tool_calls {
                    UsedUp::Calls
                } else {
                    UsedUp::Fuel
                })
            }
            _ => None,
        }
    }

    /// Its status, in a word.
    pub fn status(&self) -> Status {
        match &self.at {
            At::Ended { .. } => Status::Ended,
            At::Live(live) => live.status(),
        }
    }
}

impl WaitingRun {
    /// Its status, in a word.
    pub fn status(&self) -> Status {
        if self.exported { Status::Exported } else { Status::In(self.state) }
    }
}

/// Which runs are listed.
#[derive(Clone, Debug, Default)]
pub struct Listed {
    /// Only those with this status.
    pub status: Option<Status>,
    /// At most this number, those that were started last.
    pub newest: Option<usize>,
    /// Only those whose name begins with this.
    pub name: Option<String>,
    /// Only those that have all of this metadata.
    pub metadata: BTreeMap<String, String>,
}

/// The status of a run.
#[derive(Clone, Debug)]
pub enum At {
    /// It has ended.
    Ended {
        /// When.
        ended: i64,
        /// Its outcome as JSON.
        outcome: Vec<u8>,
    },
    /// It has not ended.
    Live(Box<WaitingRun>),
}

/// A run that has not ended, for display.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WaitingRun {
    /// Its state.
    pub state: State,
    /// Whether it was exported, so that it continues elsewhere.
    pub exported: bool,
    /// Since when, in milliseconds since 1970.
    pub since: i64,
    /// The number of its call.
    pub call: u64,
    /// The tool of that call.
    pub tool: String,
    /// The policy with which the call was recorded.
    pub policy: RecordedPolicy,
    /// When it wakes, if it sleeps.
    pub wake: Option<i64>,
    /// Why it is blocked, if it is and the reason was recorded.
    pub blocked: Option<String>,
    /// The owner that may still be making the call, if it was taken over from one that may live.
    pub was: Option<String>,
    /// Whether somebody has cancelled it.
    pub cancel: bool,
    /// How often this call was taken over without progress.
    pub tries: u32,
    /// Milliseconds for which the run has worked.
    pub active_ms: u64,
    /// The snapshot at its call.
    pub snapshot: Vec<u8>,
    /// The idempotency key of its call.
    pub key: String,
}

/// A decision that was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decided {
    /// The call.
    pub call: u64,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// The tool.
    pub tool: String,
    /// What was decided.
    pub what: String,
    /// Who decided.
    pub who: String,
}

/// The number in the name or number of a run that a person gives, if it is a number.
///
/// # Errors
/// If the number is below 1.
pub(crate) fn number_of(text: &str) -> Result<Option<i64>> {
    match text.parse::<i64>() {
        Ok(number) if number >= 1 => Ok(Some(number)),
        Ok(number) => Err(Error::new(ErrorCode::NoRun, format!("runs are numbered from 1; found {number}"))),
        Err(_) => Ok(None),
    }
}
