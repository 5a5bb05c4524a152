//! Answers the pending call: the answer is copied, charged, and put into its register.

use crate::budget::Meter;
use crate::copy_in::{self, Refusal};
use crate::fault::Trap;
use crate::host_value::{Datum, Shaped};
use crate::interp;
use crate::machine::CallKind;
use crate::run::build_error::BuildError;
use crate::run::rollback::{entry_answered, failure_message, leave_misfit};
use crate::run::state::{Run, State};
use crate::value::{Value, at};
use core::hint::cold_path;

/// Shape guesses of arguments use the first places; each call has its own places after them.
const GUESS_STEP: usize = 8;

pub(crate) fn meter(run: &Run) -> Meter {
    let limits = &run.machine.heap.budget.limits;
    Meter::new("a tool result", limits.result_bytes, limits.result_nodes)
}

/// The first place for shape guesses of the pending call's answer.
pub(crate) fn place(run: &Run) -> usize {
    match run.state {
        State::Pending => answer_place(run),
        _ => 0,
    }
}

/// That place, if a call waits for its answer.
fn answer_place(run: &Run) -> usize {
    GUESS_STEP * (1 + usize::from(run.machine.pending_call.call.0))
}

#[inline]
pub(crate) fn answer(run: &mut Run, datum: Datum<'_>, failed: bool) -> Result<(), BuildError> {
    if run.machine.pending_call.kind >= CallKind::Covered {
        cold_path();
        return answer_special(run, datum, failed);
    }
    let taken = match datum {
        Datum::Shaped(record) if !failed => take_shaped(run, record),
        Datum::Record(fields) if !failed => take_flat(run, fields),
        _ => false,
    };
    if taken { Ok(()) } else { answer_any(run, datum, failed) }
}

/// Answers a call that a ROLLBACK follows, or the call of an entry.
#[cold]
#[inline(never)]
fn answer_special(run: &mut Run, datum: Datum<'_>, failed: bool) -> Result<(), BuildError> {
    if let State::Rollback = run.state {
        let failure = failed.then(|| failure_message(run, datum));
        entry_answered(run, failure);
        return Ok(());
    }
    if !failed {
        // Until the entry is pushed, the limit on fuel waits.
        run.machine.heap.budget.lend();
    }
    answer_any(run, datum, failed)
}

/// Takes an answer with the shape of the last one at this call.
#[inline(never)]
fn take_shaped(run: &mut Run, record: &Shaped<'_>) -> bool {
    let place = answer_place(run) + 1;
    let value = copy_in::shaped_record(&mut run.machine.heap, place, record);
    take(run, value)
}

#[inline(never)]
fn take_flat(run: &mut Run, fields: &[(&str, Datum<'_>)]) -> bool {
    let place = answer_place(run) + 1;
    let value = copy_in::flat_record(&mut run.machine.heap, place, fields);
    take(run, value)
}

#[inline(always)]
fn take(run: &mut Run, value: Option<Value>) -> bool {
    let Some(value) = value else { return false };
    let place = at(run.machine.base) + usize::from(run.machine.pending_call.dst.0);
    let Some(place) = run.machine.stack.get_mut(place) else { return false };
    *place = value;
    run.state = State::Ready;
    true
}

#[inline(never)]
fn answer_any(run: &mut Run, datum: Datum<'_>, failed: bool) -> Result<(), BuildError> {
    let mut spent = meter(run);
    let place = place(run);
    let mut result = run.copier(&mut spent, place).copy(datum);
    while let Err(Refusal::Trap(trap)) = result {
        if let Err(trap) = run.make_room(trap) {
            result = Err(Refusal::Trap(trap));
            break;
        }
        spent = meter(run);
        result = run.copier(&mut spent, place).copy(datum);
    }
    if failed && let Ok(value) = result {
        return charge_answer(run, spent, |run| resume(run, value, true));
    }
    answered(run, result, spent)
}

/// The answer was copied, or refused.
pub(crate) fn answered(
    run: &mut Run,
    result: Result<Value, Refusal>,
    meter: Meter,
) -> Result<(), BuildError> {
    match result {
        Ok(value) => charge_answer(run, meter, |run| resume(run, value, false)),
        Err(Refusal::Trap(trap)) => Err(refuse_answer(run, trap)),
        Err(refusal) => {
            let message = refusal.message(&run.machine.heap, run.machine.program.inner());
            if let Err(trap) = leave_misfit(run, &message).and_then(|()| run.machine.heap.budget.repay()) {
                let code = trap.code();
                run.trap(trap);
                return Err(BuildError::Limit { code });
            }
            answer_any(run, Datum::Text(&message), true)
        }
    }
}

/// The answer exceeds a limit: the run ends.
pub(crate) fn refuse_answer(run: &mut Run, trap: Trap) -> BuildError {
    let code = trap.code();
    // Without memory for the record, the run ends all the same.
    drop(leave_misfit(run, trap.message()));
    drop(run.machine.heap.budget.repay());
    run.trap(trap);
    BuildError::Limit { code }
}

/// Charges the fuel of an answer, then continues.
#[inline]
fn charge_answer(run: &mut Run, meter: Meter, then: impl FnOnce(&mut Run)) -> Result<(), BuildError> {
    let (nodes, bytes) = meter.used();
    match run.machine.heap.budget.burn_bulk(nodes, bytes) {
        Ok(()) => {
            then(run);
            Ok(())
        }
        Err(trap) => Err(refuse_answer(run, trap)),
    }
}

#[inline]
fn resume(run: &mut Run, value: Value, failed: bool) {
    run.state = State::Ready;
    if let Some(stop) = interp::resume(&mut run.machine, value, failed) {
        run.stopped_by_failure(stop);
    }
}
