//! Answers the pending call: the answer is copied, charged, and put into its register.

use crate::budget::Meter;
use crate::copy_in::{self, Refusal};
use crate::fault::Trap;
use crate::host_value::{Datum, Shaped};
use crate::interp;
use crate::machine::CallKind;
use crate::run::build_error::BuildError;
use crate::run::state::{Run, State};
use crate::value::{Value, at};
use core::hint::cold_path;

/// Shape guesses of arguments use the first places; each call has its own places after them.
const GUESS_STEP: usize = 8;

impl Run {
    pub(super) fn meter(&self) -> Meter {
        let limits = &self.machine.heap.budget.limits;
        Meter::new("a tool result", limits.result_bytes, limits.result_nodes)
    }

    /// The first place for shape guesses of the pending call's answer.
    pub(super) fn place(&self) -> usize {
        match self.state {
            State::Pending => self.answer_place(),
            _ => 0,
        }
    }

    /// That place, if a call waits for its answer.
    fn answer_place(&self) -> usize {
        GUESS_STEP * (1 + usize::from(self.machine.pending_call.call.0))
    }

    #[inline]
    pub(crate) fn answer(&mut self, datum: Datum<'_>, failed: bool) -> Result<(), BuildError> {
        if self.machine.pending_call.kind >= CallKind::Covered {
            cold_path();
            return self.answer_special(datum, failed);
        }
        let taken = match datum {
            Datum::Shaped(record) if !failed => self.take_shaped(record),
            Datum::Record(fields) if !failed => self.take_flat(fields),
            _ => false,
        };
        if taken { Ok(()) } else { self.answer_any(datum, failed) }
    }

    /// Answers a call that a ROLLBACK follows, or the call of an entry.
    #[cold]
    #[inline(never)]
    fn answer_special(&mut self, datum: Datum<'_>, failed: bool) -> Result<(), BuildError> {
        if let State::Rollback = self.state {
            let failure = failed.then(|| self.failure_message(datum));
            self.entry_answered(failure);
            return Ok(());
        }
        if !failed {
            // Until the entry is pushed, the limit on fuel waits.
            self.machine.heap.budget.lend();
        }
        self.answer_any(datum, failed)
    }

    /// Takes an answer with the shape of the last one at this call.
    #[inline(never)]
    fn take_shaped(&mut self, record: &Shaped<'_>) -> bool {
        let place = self.answer_place() + 1;
        let value = copy_in::shaped_record(&mut self.machine.heap, place, record);
        self.take(value)
    }

    #[inline(never)]
    fn take_flat(&mut self, fields: &[(&str, Datum<'_>)]) -> bool {
        let place = self.answer_place() + 1;
        let value = copy_in::flat_record(&mut self.machine.heap, place, fields);
        self.take(value)
    }

    #[inline(always)]
    fn take(&mut self, value: Option<Value>) -> bool {
        let Some(value) = value else { return false };
        let place = at(self.machine.base) + usize::from(self.machine.pending_call.dst.0);
        let Some(place) = self.machine.stack.get_mut(place) else { return false };
        *place = value;
        self.state = State::Ready;
        true
    }

    #[inline(never)]
    fn answer_any(&mut self, datum: Datum<'_>, failed: bool) -> Result<(), BuildError> {
        let mut meter = self.meter();
        let place = self.place();
        let mut result = self.copier(&mut meter, place).copy(datum);
        while let Err(Refusal::Trap(trap)) = result {
            if let Err(trap) = self.make_room(trap) {
                result = Err(Refusal::Trap(trap));
                break;
            }
            meter = self.meter();
            result = self.copier(&mut meter, place).copy(datum);
        }
        if failed && let Ok(value) = result {
            return self.charge_answer(meter, |run| run.resume(value, true));
        }
        self.answered(result, meter)
    }

    /// The answer was copied, or refused.
    pub(crate) fn answered(
        &mut self,
        result: Result<Value, Refusal>,
        meter: Meter,
    ) -> Result<(), BuildError> {
        match result {
            Ok(value) => self.charge_answer(meter, |run| run.resume(value, false)),
            Err(Refusal::Trap(trap)) => Err(self.refuse_answer(trap)),
            Err(refusal) => {
                let message = refusal.message(&self.machine.heap, self.machine.program.inner());
                if let Err(trap) = self.leave_misfit(&message).and_then(|()| self.machine.heap.budget.repay())
                {
                    let code = trap.code();
                    self.trap(trap);
                    return Err(BuildError::Limit { code });
                }
                self.answer_any(Datum::Text(&message), true)
            }
        }
    }

    /// The answer exceeds a limit: the run ends.
    pub(crate) fn refuse_answer(&mut self, trap: Trap) -> BuildError {
        let code = trap.code();
        // Without memory for the record, the run ends all the same.
        drop(self.leave_misfit(trap.message()));
        drop(self.machine.heap.budget.repay());
        self.trap(trap);
        BuildError::Limit { code }
    }

    /// Charges the fuel of an answer, then continues.
    #[inline]
    fn charge_answer(&mut self, meter: Meter, then: impl FnOnce(&mut Run)) -> Result<(), BuildError> {
        let (nodes, bytes) = meter.used();
        match self.machine.heap.budget.burn_bulk(nodes, bytes) {
            Ok(()) => {
                then(self);
                Ok(())
            }
            Err(trap) => Err(self.refuse_answer(trap)),
        }
    }

    #[inline]
    fn resume(&mut self, value: Value, failed: bool) {
        self.state = State::Ready;
        if let Some(stop) = interp::resume(&mut self.machine, value, failed) {
            self.stopped_by_failure(stop);
        }
    }
}
