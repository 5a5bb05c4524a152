//! Cancelled runs: the fuel that is left to them, and the reason and place of the cancellation.

use crate::fault::Fault;
use crate::rollbacks::shortened;
use crate::run::rollback::compensates;
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
    pub(super) left: u64,
    /// The fault of the outcome; nothing if the run was cancelled before it was restored.
    pub(super) fault: Option<Fault>,
}

pub(crate) fn fault_here(run: &mut Run, reason: &str) -> Fault {
    // Between instructions, `pc` is that of the next one.
    let pc = match run.state {
        State::Ready => u32::try_from(run.machine.pc).unwrap_or(u32::MAX),
        _ => run.pc(),
    };
    let inner = run.machine.program.inner();
    let function = inner.function_at(pc).map_or("", |function| inner.string(function.name.0)).to_string();
    let reason = shortened(reason.trim());
    let meaning = Code::FaultCancelled.meaning();
    let message = if reason.is_empty() { meaning.into() } else { format!("{meaning}: {reason}") };
    Fault { code: Code::FaultCancelled, message, function, position: run.position(pc), pc }
}

/// The fault of a cancelled run that has ended. `found` is the one in which it ended, if it ended in one.
pub(crate) fn aborted(run: &mut Run, found: Option<Box<Fault>>) -> Fault {
    let unfinished = found.as_ref().is_some_and(|found| found.message.ends_with(UNFINISHED));
    let kept = run.abort.take().and_then(|abort| abort.fault);
    let mut fault = match (kept, found) {
        (Some(kept), _) => kept,
        (None, Some(found)) => Fault { message: Code::FaultCancelled.meaning().into(), ..*found },
        (None, None) => fault_here(run, ""),
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
pub(crate) fn advance_cancelled(run: &mut Run, fuel: u64) -> Option<bool> {
    let mut fuel = fuel.max(1);
    while matches!(run.state, State::Ready) {
        if fuel == 0 {
            return None;
        }
        let (before, compensates) = (run.fuel_used(), compensates(run));
        let left = run.abort.get_or_insert_with(|| Box::new(Abort { left: CANCEL_FUEL, fault: None })).left;
        if left == 0 && !compensates {
            run.end_with(Code::FaultCancelled, Code::FaultCancelled.meaning());
            if !matches!(run.state, State::Ready) {
                break;
            }
            // Between a call and its ROLLBACK it ends once the entry is pushed.
        }
        run.machine.heap.budget.begin_slice(SLICE.min(fuel));
        let waits = run.advance();
        let paused = run.machine.heap.budget.end_slice();
        let spent = run.fuel_used().saturating_sub(before);
        fuel = fuel.saturating_sub(spent.max(1));
        if let Some(abort) = run.abort.as_mut().filter(|_| !compensates) {
            abort.left = abort.left.saturating_sub(spent.max(1));
        }
        if !paused {
            return Some(waits);
        }
    }
    Some(run.waits())
}
