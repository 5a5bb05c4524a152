//! Passes the result of a call to its run.

use super::{Drive, Made, Phase, Turn};
use crate::ahead::Work;
use crate::data::Data;
use crate::failure::{ANSWER, ARGUMENTS, Failure};
use crate::lifecycle::{CANCELLED, NO_ANSWER};
use crate::policy::OnDoubt;
use crate::recorder::{Due, Recorder};
use crate::validate::expected::Expects;
use crate::world::World;
use ilo_spec::error::Code;
use ilo_vm::Call;

/// Gives its result to the call for which a run waits, for hosts that step the run themselves. A result that
/// exceeds a limit ends the run with that fault, which its next step returns.
pub fn give(call: Call<'_>, result: &Result<Data, Failure>) {
    // What ends the run is no error here.
    drop(match result {
        Ok(value) => value.with_datum(|value| call.answer(value)),
        Err(Failure::Failed(value)) => value.with_datum(|value| call.fail_with(value)),
        Err(Failure::Misfit(why)) => call.fail_misfit(&format!("{ANSWER}{why}"), why),
        Err(Failure::Unsent(why)) => call.fail(&format!("{ARGUMENTS}{why}")),
        Err(Failure::InDoubt(message)) => call.fail_in_doubt(message),
        Err(Failure::TimedOut | Failure::Interrupted) => call.fail(NO_ANSWER),
        Err(Failure::Limit(code, message)) => {
            call.refuse_answer(*code, message);
            Ok(())
        }
    });
}

impl<V: Default> Drive<V> {
    /// A call of the run, for its recorder.
    pub(super) fn described<'d>(&'d self, turn: &'d Turn, world: &'d dyn World) -> Due<'d> {
        let Turn { tool, arguments, number, rollback, .. } = turn;
        let (policy, expects) = (world.policy(tool), world.signature(tool).and_then(Expects::of));
        Due { run: &self.run, tool, policy, arguments, number: *number, rollback: *rollback, expects }
    }

    /// Records the result of a call that has ended, if the run does not have it yet. This is for a host that
    /// stops driving; [`Drive::next`] records it too.
    pub fn record(&mut self, world: &dyn World, recorder: &mut dyn Recorder) {
        let (turn, result) = match &self.phase {
            Phase::Calling(turn, Work { done: Some(settled), .. }) => (turn, &settled.result),
            Phase::Ended(made) => (&made.turn, &made.result),
            _ => return,
        };
        if turn.sent {
            // The run is not driven on, whatever the recorder says.
            let _ = recorder.after(&self.described(turn, world), result);
        }
    }

    /// Answers the call of an entry, and returns whether the run continues.
    pub(super) fn entry_ended(&mut self, result: &Result<Data, Failure>, world: &dyn World) -> bool {
        if world.is_interrupted() || matches!(result, Err(Failure::Interrupted)) {
            return false;
        }
        let Some(call) = self.run.pending() else { return false };
        match result {
            // An answer that is too large for a value still counts as an answer: it is not read.
            Ok(_) | Err(Failure::Limit(..) | Failure::Misfit(_)) => drop(call.answer(())),
            Err(Failure::InDoubt(message)) => drop(call.fail(message)),
            Err(_) => give(call, result),
        }
        true
    }

    /// Answers a call, and returns whether the run continues.
    pub(super) fn ended(&mut self, made: &Made<V>, world: &dyn World) -> bool {
        if world.is_interrupted() {
            return false;
        }
        self.take_cancel(world);
        let (over, late) = (world.is_late(), self.late_message());
        let cancelled = self.run.is_cancelled();
        let Some(call) = self.run.pending() else { return false };
        // An answer that exceeds a limit has ended the run with that fault, which the next step returns.
        match &made.result {
            Ok(value) if !over || call.has_rollback() => {
                drop(value.with_datum(|value| call.answer(value)));
                if over {
                    self.time_out();
                }
            }
            Ok(_) | Err(Failure::Failed(_) | Failure::Unsent(_)) if over => {
                call.end_run(Code::FaultTimedOut, &late);
            }
            Ok(_) | Err(Failure::TimedOut) => self.time_out(),
            Err(Failure::InDoubt(_) | Failure::Misfit(_)) if over => self.time_out(),
            Err(Failure::InDoubt(message)) if !made.turn.changes => drop(call.fail(message)),
            Err(Failure::InDoubt(message)) if made.doubt == Some(OnDoubt::Stop) => {
                self.run.end_with(Code::FaultInDoubt, message);
            }
            // The cancel ended a call that only reads, or a question before the call.
            Err(Failure::Interrupted) if cancelled => drop(call.fail(CANCELLED)),
            Err(Failure::Interrupted) => return false,
            Err(_) => give(call, &made.result),
        }
        true
    }
}
