//! Who watches the calls of a run.

use crate::data::Data;
use crate::failure::Failure;
use crate::policy::OnDoubt;
use std::time::Duration;

/// A call that has ended.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "facts of a call that do not depend on each other")]
pub struct Ended<'c> {
    /// Its number: calls are counted from 0, in the order in which the run makes them.
    pub seq: u64,
    /// Its number within the run, from 1. It stays the same when the run is suspended and goes on, and calls
    /// that were not made have one too.
    pub number: u64,
    /// Whether a ROLLBACK entry makes it.
    pub rollback: bool,
    /// The tool.
    pub tool: &'c str,
    /// The arguments: a record.
    pub arguments: &'c Data,
    /// What came of it.
    pub result: &'c Result<Data, Failure>,
    /// When it was started, from the start of the run on. A call that was started ahead of its turn may have
    /// been so before others with a smaller number.
    pub start: Duration,
    /// How long it took.
    pub duration: Duration,
    /// Whether it was started before the run made it.
    pub ahead: bool,
    /// Whether it was made at all: its arguments may not fit.
    pub sent: bool,
    /// Whether it may have changed something although the run has no answer of it, and if so, what that did:
    /// the call failed, or the run ended for that reason.
    pub doubt: Option<OnDoubt>,
    /// Whether the run was cancelled by then.
    pub cancelled: bool,
}

/// Watches the calls of a run.
pub trait Observer {
    /// The run makes a call.
    fn started(&mut self, _seq: u64, _tool: &str) {}
    /// A call has ended, and the run goes on with its answer.
    fn ended(&mut self, _call: &Ended<'_>) {}
    /// A call of a read-only tool is started before the run makes it.
    fn ahead(&mut self, _tool: &str) {}
    /// The run will not make a call that was started ahead, or not now: its answer is dropped.
    fn untaken(&mut self, _tool: &str) {}
}

/// Watches nothing.
impl Observer for () {}
