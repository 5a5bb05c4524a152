//! Rollback: when entries run, cancellation, and calls that may or may not have been made.

use crate::budget::{Limits, Meter};
use crate::copy_in::Copier;
use crate::fault::Trap;
use crate::frame::Frame;
use crate::heap::Heap;
use crate::host_value::Datum;
use crate::host_view::View;
use crate::interp;
use crate::machine::{CallKind, Machine, PendingCall, Stop, is_compensation};
use crate::render;
use crate::rollbacks::{Entry, MESSAGE, Note, Rollbacks, Then, shortened};
use crate::run::build_error::BuildError;
use crate::run::call::write_record;
use crate::run::state::{Run, State};
use crate::value::at;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;
use ilo_spec::error::Code;
use ilo_spec::isa::Op;
use ilo_spec::limits;
use ilo_spec::operand::{First, Out, StringId};

impl Run {
    /// Cancels the run: what it has done is rolled back, and its outcome is fault `cancelled`.
    ///
    /// The flag stays set until the run has ended. The pending call is still answered. From then on the host
    /// fails each call for which [`Call::is_cancelled`](crate::Call::is_cancelled) is true and whose tool may
    /// change something. A run that has ended is unchanged.
    ///
    /// It may compute on for [`limits::CANCEL_FUEL`] units of fuel, not counting those of compensations, and
    /// then ends. The fault has the place of the run at this moment.
    pub fn cancel(&mut self) {
        self.cancel_for("");
    }

    /// Whether [`Run::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.machine.rollbacks.cancelled
    }

    /// The ROLLBACK entries that have neither run nor begun to run, in the order in which they would: the
    /// tool, and the arguments as JSON. A host that drops the run leaves this undone.
    pub fn open_rollbacks(&self) -> impl Iterator<Item = (&str, String)> {
        let Machine { program, heap, rollbacks, .. } = &self.machine;
        let program = program.inner();
        // Those of a run that has ended with a value are only kept until the host has taken that.
        let open = rollbacks.more().entries.iter().rev().filter(|_| !matches!(self.state, State::Ok));
        open.filter_map(move |entry| {
            let Some(Op::Rollback { call, .. }) = program.spec.code.get(entry.pc as usize) else {
                return None;
            };
            let shape = program.spec.calls[usize::from(call.0)].shape;
            let values = rollbacks.more().arguments.get(at(entry.start)..).unwrap_or_default();
            let names = program.spec.shapes[usize::from(shape.0)].iter();
            let arguments = names
                .zip(values)
                .map(|(name, value)| (program.string(name.0.into()), View { heap, program, value }));
            let mut json = String::new();
            // Writing to a string does not fail.
            let _ = write_record(arguments, &mut json);
            Some((program.tool_name(*call), json))
        })
    }

    /// The fault with which the run ends, or has ended: known while its entries run.
    pub fn ending(&self) -> Option<Code> {
        match (self.state, self.machine.rollbacks.more().running) {
            (State::Fault, _) | (State::Rollback, Some((_, Then::Fault))) => {
                self.fault.as_ref().map(|fault| fault.code)
            }
            _ => None,
        }
    }

    /// Ends a run that is under way with a fault chosen by the host, such as its time limit, after its
    /// rollback: the next steps return the calls of its entries.
    ///
    /// Between a call and its ROLLBACK it waits until the entry is pushed. While the entries of a run that
    /// ends are running, it changes nothing.
    pub fn end_with(&mut self, code: Code, message: &str) {
        match self.state {
            State::Ready if self.machine.rollbacks.in_section() => {
                self.machine.rollbacks.wait_for_section(Trap::new(code, format_args!("{message}")));
            }
            State::Ready => {
                // `pc` expects the instruction after the current one.
                self.machine.pc += 1;
                self.end(code, message.into());
            }
            State::Pending => {
                self.leave_unanswered(message);
                self.end(code, message.into());
            }
            State::Rollback => self.end_while_entries_run(code, message),
            State::Idle | State::Ok | State::Err | State::Fault => {}
        }
    }

    /// Refuses the value with which the run has ended: what the run has done is rolled back by the next
    /// steps, and its outcome is fault `output-mismatch`. In any other state it changes nothing.
    pub fn refuse_output(&mut self, why: &str) {
        if let State::Ok = self.state {
            self.end(Code::FaultOutputMismatch, why.into());
        }
    }

    /// The program would handle the failure after these entries; now the run ends after them instead.
    fn end_while_entries_run(&mut self, code: Code, message: &str) {
        let Some((entry, Then::GoOn)) = self.machine.rollbacks.more().running else { return };
        if let Some(frame) = self.machine.frames.last() {
            self.machine.pc = frame.pc();
        }
        self.set_fault(code, message.into());
        self.machine.frames.clear();
        self.machine.rollbacks.more_mut().running = Some((entry, Then::Fault));
    }

    /// The pending call was made, and its answer will not come.
    fn leave_unanswered(&mut self, why: &str) {
        let kind = self.machine.pending_call.kind;
        if matches!(kind, CallKind::PlainChange | CallKind::CoveredChange) {
            let mut text = String::from("its answer never came: ");
            text.push_str(why);
            // The run ends, whether or not there is memory for this.
            drop(self.leave_pending(&text));
        }
    }

    /// Records the pending call as one that no entry undoes, unless it is a compensation, which has its own
    /// record.
    fn leave_pending(&mut self, why: &str) -> Result<(), Trap> {
        let Machine { program, pc, pending_call, .. } = &self.machine;
        if is_compensation(&program.inner().spec.code, *pc) {
            return Ok(());
        }
        let tool = program.inner().tool_string(pending_call.call);
        self.leave(tool, why)
    }

    fn leave(&mut self, tool: StringId, why: &str) -> Result<(), Trap> {
        let Machine { heap, rollbacks, rewind_scope, .. } = &mut self.machine;
        rewind_scope.require_all();
        rollbacks.leave(&mut heap.budget, tool, why)
    }

    /// The answer to the pending call cannot be a value of the run.
    pub(super) fn leave_misfit(&mut self, why: &str) -> Result<(), Trap> {
        if let CallKind::Plain | CallKind::Entry = self.machine.pending_call.kind {
            return Ok(());
        }
        let mut text = String::from("its answer does not fit: ");
        text.push_str(why);
        self.leave_pending(&text)
    }

    /// The answer to the pending call exceeds a limit of the host.
    pub(crate) fn refuse_pending(&mut self, code: Code, message: &str) {
        if let State::Pending = self.state {
            // The run ends, whether or not there is memory for this.
            drop(self.leave_misfit(message));
            self.end(code, message.into());
        }
    }

    /// Fails the pending call, which may have been made.
    pub(crate) fn fail_in_doubt(&mut self, message: &str) -> Result<(), BuildError> {
        if let State::Rollback = self.state {
            self.entry_answered(Some(shortened(message)));
            return Ok(());
        }
        let mut text = String::from("it may have been made: ");
        text.push_str(message);
        if let Err(trap) = self.leave_pending(&text) {
            let code = trap.code();
            self.trap(trap);
            return Err(BuildError::Limit { code });
        }
        self.answer(Datum::Text(message), true)
    }

    /// Fails the pending call, whose answer the host rejects.
    pub(crate) fn fail_misfit(&mut self, message: &str, why: &str) -> Result<(), BuildError> {
        if let Err(trap) = self.leave_misfit(why) {
            let code = trap.code();
            self.trap(trap);
            return Err(BuildError::Limit { code });
        }
        self.answer(Datum::Text(message), true)
    }

    /// Ends the section that is being executed, if one is: its call has no entry now.
    pub(super) fn give_up_section(&mut self, why: &str) -> Result<(), Trap> {
        if !self.machine.rollbacks.in_section() {
            return Ok(());
        }
        let pc = self.machine.rollbacks.abandon_section();
        let program = self.machine.program.clone();
        let Some(call) = program.spec().code.get(pc as usize).and_then(Op::tool_call) else { return Ok(()) };
        let mut text = String::from("its rollback could not be worked out: ");
        text.push_str(why);
        let left = self.leave(program.inner().tool_string(call.call), &text);
        self.machine.heap.budget.repay()?;
        left
    }

    /// The pure function at which the machine stopped has failed, in a section or elsewhere.
    pub(super) fn pure_failed(&mut self) -> Result<Option<Stop>, Trap> {
        if self.machine.rollbacks.in_section() {
            let Machine { program, heap, stack, base, pc, .. } = &self.machine;
            let inner = program.inner();
            let op = inner.spec.code.get(pc.wrapping_sub(1));
            let value = match op {
                Some(Op::Apply { dst, .. }) => stack.get(*base as usize + usize::from(dst.0)).copied(),
                _ => None,
            };
            let why = value.map(|value| render::message(heap, inner, value, MESSAGE)).unwrap_or_default();
            self.give_up_section(&why)?;
            if let Some(trap) = self.machine.rollbacks.take_waiting() {
                return Err(trap);
            }
        }
        Ok(interp::pass_on(&mut self.machine))
    }

    /// A function failed, and its caller handles the failure: the entries run first.
    pub(super) fn unwind(&mut self) {
        self.run_entries(Then::GoOn);
    }

    /// Ends the run: its entries run first, unless it has succeeded. Then they are kept, since the host may
    /// still refuse the value.
    pub(super) fn conclude(&mut self, then: Then) {
        let Rollbacks { used, cancelled, .. } = self.machine.rollbacks;
        if !used || (then == Then::Ok && !cancelled) {
            return self.finish(then);
        }
        self.machine.frames.clear();
        self.run_entries(then);
    }

    /// Runs the next entry, or continues as `then` says.
    fn run_entries(&mut self, then: Then) {
        let Machine { program, frames, rollbacks, pending_call, .. } = &mut self.machine;
        let Some(Entry { pc, .. }) = rollbacks.run_latest(frames, then) else { return self.finish(then) };
        if let Some(Op::Rollback { call, .. }) = program.spec().code.get(pc as usize) {
            *pending_call = PendingCall { call: *call, first: First(0), dst: Out(0), kind: CallKind::Entry };
        }
        self.state = State::Rollback;
    }

    /// No entry is left to run.
    fn finish(&mut self, then: Then) {
        if then == Then::GoOn {
            interp::handle_failure(&mut self.machine);
            self.state = State::Ready;
            return;
        }
        if self.machine.rollbacks.cancelled {
            let found = self.fault.take().filter(|_| then == Then::Fault);
            self.fault = Some(Box::new(self.aborted(found)));
        }
        self.state = match then {
            _ if self.machine.rollbacks.cancelled => State::Fault,
            Then::Ok | Then::GoOn => State::Ok,
            Then::Err => State::Err,
            Then::Fault => State::Fault,
        };
    }

    /// The current entry has its answer: nothing, or the message of its failure.
    pub(super) fn entry_answered(&mut self, failure: Option<String>) {
        let number = self.call_number();
        let Machine { program, heap, notes, rollbacks, pending_call, .. } = &mut self.machine;
        let Some((entry, then)) = rollbacks.more_mut().running.take() else { return };
        rollbacks.more_mut().arguments.truncate(entry.start as usize);
        let tool = program.inner().tool_string(pending_call.call);
        match failure {
            None => rollbacks.more_mut().done.push(crate::rollbacks::Done { tool, number }),
            Some(message) => {
                // Offsets are 32 bits wide: after a million failures there is no room for a message.
                if let Ok(value) = rollbacks.add_message(program.inner(), &heap.budget.limits, &message) {
                    notes.push(Note { tool, value, aside: true });
                }
            }
        }
        self.run_entries(then);
    }

    /// The failure of an entry as a message, which is not in the memory of the run.
    pub(super) fn failure_message(&self, datum: Datum<'_>) -> String {
        if let Datum::Text(text) = datum {
            return shortened(text);
        }
        let program = self.machine.program.inner();
        let mut heap = Heap::new(program, Limits::default());
        let mut meter = Meter::new("a failure", limits::DEFAULT_RESULT, limits::DEFAULT_RESULT_NODES);
        let mut names = alloc::vec::Vec::new();
        let mut copier = Copier { heap: &mut heap, program, meter: &mut meter, names: &mut names, place: 0 };
        match copier.copy(datum) {
            Ok(value) => render::message(&heap, program, value, MESSAGE),
            Err(_) => "a failure that is not a value".into(),
        }
    }

    /// The number of the pending call.
    #[inline]
    pub(crate) fn call_number(&self) -> u64 {
        self.machine.heap.budget.used().1.saturating_add(self.machine.rollbacks.more().made)
    }

    /// Whether the pending call is a compensation, or is made inside a function that was called as one.
    pub(crate) fn compensates(&self) -> bool {
        let Machine { program, frames, pc, .. } = &self.machine;
        let code = &program.spec().code;
        frames.iter().map(Frame::pc).chain([*pc]).any(|after| is_compensation(code, after))
    }

    /// The instruction after each call that is under way: those of own functions, and the pending one.
    pub fn places(&self) -> Vec<u32> {
        let Machine { frames, pc, .. } = &self.machine;
        let own = u32::try_from(*pc).unwrap_or(u32::MAX);
        frames.iter().filter_map(|frame| u32::try_from(frame.pc()).ok()).chain([own]).collect()
    }

    /// The instruction of the pending call.
    pub(crate) fn call_pc(&self) -> u32 {
        self.machine.rollbacks.more().running.map_or_else(|| self.pc(), |(entry, _)| entry.pc)
    }
}

/// A message of a fault for the record of a call.
pub(super) fn reason(code: Code, message: &str) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write!(text, "{code}: {message}");
    text
}
