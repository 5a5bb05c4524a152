//! An interface to watch the calls of a run.

use crate::data::Data;
use crate::failure::Failure;
use crate::locked::locked;
use crate::policy::OnDoubt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A call that has ended.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "facts of a call that do not depend on each other")]
pub struct Ended<'c> {
    /// Its number: calls are counted from 0, in the order in which the run makes them.
    pub seq: u64,
    /// Its number within the run, from 1. It stays the same when the run is suspended and restored, and it
    /// counts calls that were not made too.
    pub number: u64,
    /// Whether a ROLLBACK entry makes it.
    pub rollback: bool,
    /// The tool.
    pub tool: &'c str,
    /// The arguments: a record.
    pub arguments: &'c Data,
    /// Its result.
    pub result: &'c Result<Data, Failure>,
    /// When it was started, counted from the start of the run. A call that was started ahead may have an
    /// earlier time than calls with a smaller number.
    pub start: Duration,
    /// Its duration.
    pub duration: Duration,
    /// Whether it was started before its turn.
    pub ahead: bool,
    /// Whether it was sent. A call whose arguments do not fit is not.
    pub sent: bool,
    /// Whether it may have changed something although the run has no answer to it, and what followed: the
    /// call failed, or the run ended for that reason.
    pub doubt: Option<OnDoubt>,
    /// Whether the run was cancelled before it ended.
    pub cancelled: bool,
}

/// Watches the calls of a run.
pub trait Observer {
    /// The run makes a call.
    fn started(&mut self, _seq: u64, _tool: &str) {}
    /// A call has ended, and the run continues with its answer.
    fn ended(&mut self, _call: &Ended<'_>) {}
    /// A call of a read-only tool is started before the run makes it.
    fn ahead(&mut self, _tool: &str) {}
    /// The answer of a call that was started ahead is dropped: the run will not make this call, or not now.
    fn untaken(&mut self, _tool: &str) {}
}

/// Watches nothing.
impl Observer for () {}

/// An observer that the host keeps, to look at it after the run.
impl<O: Observer> Observer for Arc<Mutex<O>> {
    fn started(&mut self, seq: u64, tool: &str) {
        locked(self).started(seq, tool);
    }

    fn ended(&mut self, call: &Ended<'_>) {
        locked(self).ended(call);
    }

    fn ahead(&mut self, tool: &str) {
        locked(self).ahead(tool);
    }

    fn untaken(&mut self, tool: &str) {
        locked(self).untaken(tool);
    }
}
