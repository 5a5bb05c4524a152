//! Stepping: from one tool call to the next.

use crate::fault::Trap;
use crate::interp;
use crate::machine::{Machine, Stop};
use crate::rollbacks::Then;
use crate::run::abort::advance_cancelled;
use crate::run::call::Call;
use crate::run::outcome::Outcome;
use crate::run::rollback::{conclude, pure_failed, unwind};
use crate::run::state::{Run, State};
use crate::value::at;
use alloc::string::ToString;
use core::hint::cold_path;
use ilo_spec::error::Code;

/// The result of a step.
#[derive(Debug)]
pub enum Step<'r> {
    /// A tool call that the host must answer.
    Call(Call<'r>),
    /// The end of the run.
    Done(Outcome<'r>),
}

/// Only [`Stop::Failed`] has a trap, so there is none to drop here. The compiler does not know that:
/// forgetting the empty option saves a test in each step. If there were a trap, only its text would leak.
#[inline(always)]
fn no_trap(trap: Option<Trap>) {
    debug_assert!(trap.is_none(), "only a failure comes with a trap");
    core::mem::forget(trap);
}

impl Run {
    /// Runs to the next tool call or the end. If a call waits for its answer, or the run has ended, returns
    /// that again.
    #[inline]
    pub fn step(&mut self) -> Step<'_> {
        let waits = if self.machine.rollbacks.cancelled {
            advance_cancelled(self, u64::MAX).unwrap_or_default()
        } else {
            self.advance()
        };
        if waits { Step::Call(Call { run: self }) } else { Step::Done(Outcome { run: self }) }
    }

    /// Like [`Run::step`], but returns `None` after it has burnt about the given fuel, so that a host can do
    /// other work; the run continues with the next step. Slices change nothing: the outcome, the calls, the
    /// fuel and the memory are those of a run without them.
    ///
    /// A slice ends only where a function is called or an iteration of a loop begins, so it also burns the
    /// fuel of the instructions up to there; an instruction on a large value burns fuel by its size.
    pub fn step_within(&mut self, fuel: u64) -> Option<Step<'_>> {
        let waits = if self.machine.rollbacks.cancelled {
            advance_cancelled(self, fuel)?
        } else {
            self.machine.heap.budget.begin_slice(fuel);
            let waits = self.advance();
            if self.machine.heap.budget.end_slice() {
                return None;
            }
            waits
        };
        Some(if waits { Step::Call(Call { run: self }) } else { Step::Done(Outcome { run: self }) })
    }

    /// Runs to a call or to the end. Returns whether a call is pending.
    #[inline(always)]
    pub(super) fn advance(&mut self) -> bool {
        match self.state {
            State::Ready => {
                let (stop, trap) = interp::execute(&mut self.machine);
                match stop {
                    Stop::Returned
                        if !self.machine.result.is_container() && !self.machine.rollbacks.cancelled =>
                    {
                        no_trap(trap);
                        self.state = State::Ok;
                        false
                    }
                    Stop::Call => {
                        no_trap(trap);
                        self.state = State::Pending;
                        true
                    }
                    _ => self.handle_stop(stop, trap),
                }
            }
            _ => self.step_stopped(),
        }
    }

    /// A step when nothing runs. Returns whether a call is pending.
    #[cold]
    #[inline(never)]
    fn step_stopped(&mut self) -> bool {
        if let State::Idle = self.state {
            self.end(Code::BadUsage, "no function was started".to_string());
        }
        matches!(self.state, State::Pending | State::Rollback)
    }

    /// The call that waits for its answer, if there is one.
    #[inline]
    pub fn pending(&mut self) -> Option<Call<'_>> {
        matches!(self.state, State::Pending | State::Rollback).then_some(Call { run: self })
    }

    /// Handles a stop that is not a plain call or return; returns whether a call waits for its answer.
    #[inline(never)]
    fn handle_stop(&mut self, mut stop: Stop, mut trap: Option<Trap>) -> bool {
        loop {
            if let Some(found) = trap {
                cold_path();
                if self.machine.heap.budget.pauses() {
                    // The instruction has had no effect, and is executed in the next slice.
                    self.machine.pc -= 1;
                    return false;
                }
                if let Err(found) = self.make_room(found) {
                    self.trap(found);
                    return self.waits();
                }
                // The instruction that needed memory is executed again.
                self.machine.pc -= 1;
            } else if let Stop::HandOver = stop {
                interp::hand_over(&mut self.machine);
            } else if let Stop::Unhandled = stop {
                match pure_failed(self) {
                    Ok(None) => {}
                    Ok(Some(stop)) => return self.stopped_by_failure(stop),
                    Err(trap) => {
                        self.trap(trap);
                        return self.waits();
                    }
                }
            } else {
                break;
            }
            (stop, trap) = interp::execute(&mut self.machine);
        }
        let leaves = match stop {
            Stop::Call | Stop::LargeCall => self.pause(),
            Stop::Returned => {
                let Machine { program, heap, result, .. } = &mut self.machine;
                let leaves = heap.check_output_size(program.inner(), core::slice::from_ref(result));
                if leaves.is_ok() {
                    conclude(self, Then::Ok);
                }
                leaves
            }
            Stop::Waited => self.machine.rollbacks.take_waiting().map_or(Ok(()), Err),
            Stop::Failed | Stop::Unhandled | Stop::Unwind | Stop::HandOver => {
                return self.stopped_by_failure(stop);
            }
        };
        if let Err(trap) = leaves {
            self.trap(trap);
        }
        self.waits()
    }

    /// A failure ended the function that was started, or one whose entries must run now. Returns whether a
    /// call is pending.
    pub(super) fn stopped_by_failure(&mut self, stop: Stop) -> bool {
        match stop {
            Stop::Unwind => unwind(self),
            _ => self.failed(),
        }
        self.waits()
    }

    pub(super) fn waits(&self) -> bool {
        matches!(self.state, State::Pending | State::Rollback)
    }

    /// Stops at a tool call, whose arguments leave the run.
    #[inline]
    pub(crate) fn pause(&mut self) -> Result<(), Trap> {
        let Machine { program, heap, stack, base, pending_call, .. } = &mut self.machine;
        let inner = program.inner();
        let first = at(*base) + usize::from(pending_call.first.0);
        let count = at(inner.call(pending_call.call).arguments);
        self.state = State::Pending;
        heap.check_output_size(inner, &stack[first..first + count])
    }

    /// Continues a restored run at its tool call.
    pub(crate) fn wait(&mut self) -> Result<(), Trap> {
        // The fuel for checking the arguments was burnt before the snapshot, and may be more than is left
        // now.
        let budget = &mut self.machine.heap.budget;
        let fuel = core::mem::replace(&mut budget.fuel, budget.limits.fuel);
        self.pause()?;
        self.machine.heap.budget.fuel = fuel;
        self.machine.heap.budget.hold_back();
        Ok(())
    }
}
