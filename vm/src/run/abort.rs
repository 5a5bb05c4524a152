//! Cancelled runs: the fuel that is left to them, and the reason and place of the cancellation.

use crate::fault::Fault;
use crate::rollbacks::shortened;
use crate::run::state::{Run, State};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::ToString;
use ilo_spec::error::Code;
use ilo_spec::limits::CANCEL_FUEL;

/// Fuel after which a cancelled run is looked at again: whether it compensates may have changed.
const SLICE: u64 = 5_000;
/// The end of the message of a fault that came while a compensation was made.
pub(super) const UNFINISHED: &str = "; a rollback was not finished";

/// What is known of the cancellation of a run. It is not part of a snapshot.
#[derive(Debug)]
pub(super) struct Abort {
    /// The fuel that is left, apart from that of compensations.
    left: u64,
    /// The fault of the outcome; nothing if the run was cancelled before it was restored.
    fault: Option<Fault>,
}

impl Run {
    /// As [`Run::cancel`], for a reason that the message of the outcome contains.
    pub fn cancel_for(&mut self, reason: &str) {
        if self.machine.rollbacks.cancelled {
            return;
        }
        if matches!(self.state, State::Ready | State::Pending | State::Rollback) {
            self.machine.rollbacks.cancelled = true;
            self.machine.rollbacks.used = true;
            self.require_full_rewind();
            let fault = matches!(self.state, State::Ready | State::Pending).then(|| self.fault_here(reason));
            self.abort = Some(Box::new(Abort { left: CANCEL_FUEL, fault }));
        }
    }

    fn fault_here(&mut self, reason: &str) -> Fault {
        // Between instructions, `pc` is that of the next one.
        let pc = match self.state {
            State::Ready => u32::try_from(self.machine.pc).unwrap_or(u32::MAX),
            _ => self.pc(),
        };
        let inner = self.machine.program.inner();
        let function = inner.function_at(pc).map_or("", |function| inner.string(function.name.0)).to_string();
        let reason = shortened(reason.trim());
        let meaning = Code::FaultCancelled.meaning();
        let message = if reason.is_empty() { meaning.into() } else { format!("{meaning}: {reason}") };
        Fault { code: Code::FaultCancelled, message, function, position: self.position(pc), pc }
    }

    /// The fault of a cancelled run that has ended. `found` is the one in which it ended, if it ended in one.
    pub(super) fn aborted(&mut self, found: Option<Box<Fault>>) -> Fault {
        let unfinished = found.as_ref().is_some_and(|found| found.message.ends_with(UNFINISHED));
        let kept = self.abort.take().and_then(|abort| abort.fault);
        let mut fault = match (kept, found) {
            (Some(kept), _) => kept,
            (None, Some(found)) => Fault { message: Code::FaultCancelled.meaning().into(), ..*found },
            (None, None) => self.fault_here(""),
        };
        fault.code = Code::FaultCancelled;
        if unfinished && !fault.message.ends_with(UNFINISHED) {
            fault.message.push_str(UNFINISHED);
        }
        fault
    }

    /// Advances a cancelled run within some fuel, and ends it when it has used up what was left to it.
    /// Returns whether a call waits; nothing if there is more to compute.
    #[cold]
    #[inline(never)]
    pub(super) fn advance_cancelled(&mut self, fuel: u64) -> Option<bool> {
        let mut fuel = fuel.max(1);
        while matches!(self.state, State::Ready) {
            if fuel == 0 {
                return None;
            }
            let (before, compensates) = (self.fuel_used(), self.compensates());
            let left =
                self.abort.get_or_insert_with(|| Box::new(Abort { left: CANCEL_FUEL, fault: None })).left;
            if left == 0 && !compensates {
                self.end_with(Code::FaultCancelled, Code::FaultCancelled.meaning());
                if !matches!(self.state, State::Ready) {
                    break;
                }
                // Between a call and its ROLLBACK it ends once the entry is pushed.
            }
            self.machine.heap.budget.begin_slice(SLICE.min(fuel));
            let waits = self.advance();
            let paused = self.machine.heap.budget.end_slice();
            let spent = self.fuel_used().saturating_sub(before);
            fuel = fuel.saturating_sub(spent.max(1));
            if let Some(abort) = self.abort.as_mut().filter(|_| !compensates) {
                abort.left = abort.left.saturating_sub(spent.max(1));
            }
            if !paused {
                return Some(waits);
            }
        }
        Some(self.waits())
    }
}
