//! Rollback: when entries run, cancellation, and calls that may or may not have been made.

use crate::budget::{Limits, Meter};
use crate::copy_in::Copier;
use crate::fault::Trap;
use crate::frame::Frame;
use crate::heap::Heap;
use crate::host_value::Datum;
use crate::interp;
use crate::machine::{CallKind, Machine, PendingCall, Stop, is_compensation};
use crate::render;
use crate::rollbacks::{Entry, MESSAGE, Note, Rollbacks, Then, shortened};
use crate::run::abort::aborted;
use crate::run::answer::answer;
use crate::run::build_error::BuildError;
use crate::run::state::{Run, State};
use alloc::boxed::Box;
use alloc::string::String;
use core::fmt::Write as _;
use ilo_spec::error::Code;
use ilo_spec::isa::Op;
use ilo_spec::limits;
use ilo_spec::operand::{First, Out, StringId};

/// The program would handle the failure after these entries; now the run ends after them instead.
pub(crate) fn end_while_entries_run(run: &mut Run, code: Code, message: &str) {
    let Some((entry, Then::GoOn)) = run.machine.rollbacks.more().running else { return };
    if let Some(frame) = run.machine.frames.last() {
        run.machine.pc = frame.pc();
    }
    run.set_fault(code, message.into());
    run.machine.frames.clear();
    run.machine.rollbacks.more_mut().running = Some((entry, Then::Fault));
}

/// The pending call was made, and its answer will not come.
pub(crate) fn leave_unanswered(run: &mut Run, why: &str) {
    let kind = run.machine.pending_call.kind;
    if matches!(kind, CallKind::PlainChange | CallKind::CoveredChange) {
        let mut text = String::from("its answer never came: ");
        text.push_str(why);
        // The run ends, whether or not there is memory for this.
        drop(leave_pending(run, &text));
    }
}

/// Records the pending call as one that no entry undoes, unless it is a compensation, which has its own
/// record.
fn leave_pending(run: &mut Run, why: &str) -> Result<(), Trap> {
    let Machine { program, pc, pending_call, .. } = &run.machine;
    if is_compensation(&program.inner().spec.code, *pc) {
        return Ok(());
    }
    let tool = program.inner().tool_string(pending_call.call);
    leave(run, tool, why)
}

fn leave(run: &mut Run, tool: StringId, why: &str) -> Result<(), Trap> {
    let Machine { heap, rollbacks, rewind_scope, .. } = &mut run.machine;
    rewind_scope.require_all();
    rollbacks.leave(&mut heap.budget, tool, why)
}

/// The answer to the pending call cannot be a value of the run.
pub(crate) fn leave_misfit(run: &mut Run, why: &str) -> Result<(), Trap> {
    if let CallKind::Plain | CallKind::Entry = run.machine.pending_call.kind {
        return Ok(());
    }
    let mut text = String::from("its answer does not fit: ");
    text.push_str(why);
    leave_pending(run, &text)
}

/// The answer to the pending call exceeds a limit of the host.
pub(crate) fn refuse_pending(run: &mut Run, code: Code, message: &str) {
    if let State::Pending = run.state {
        // The run ends, whether or not there is memory for this.
        drop(leave_misfit(run, message));
        run.end(code, message.into());
    }
}

/// Fails the pending call, which may have been made.
pub(crate) fn fail_in_doubt(run: &mut Run, message: &str) -> Result<(), BuildError> {
    if let State::Rollback = run.state {
        entry_answered(run, Some(shortened(message)));
        return Ok(());
    }
    let mut text = String::from("it may have been made: ");
    text.push_str(message);
    if let Err(trap) = leave_pending(run, &text) {
        let code = trap.code();
        run.trap(trap);
        return Err(BuildError::Limit { code });
    }
    answer(run, Datum::Text(message), true)
}

/// Fails the pending call, whose answer the host rejects.
pub(crate) fn fail_misfit(run: &mut Run, message: &str, why: &str) -> Result<(), BuildError> {
    if let Err(trap) = leave_misfit(run, why) {
        let code = trap.code();
        run.trap(trap);
        return Err(BuildError::Limit { code });
    }
    answer(run, Datum::Text(message), true)
}

/// Ends the section that is being executed, if one is: its call has no entry now.
pub(crate) fn give_up_section(run: &mut Run, why: &str) -> Result<(), Trap> {
    if !run.machine.rollbacks.in_section() {
        return Ok(());
    }
    let pc = run.machine.rollbacks.abandon_section();
    let program = run.machine.program.clone();
    let Some(call) = program.spec().code.get(pc as usize).and_then(Op::tool_call) else { return Ok(()) };
    let mut text = String::from("its rollback could not be worked out: ");
    text.push_str(why);
    let left = leave(run, program.inner().tool_string(call.call), &text);
    run.machine.heap.budget.repay()?;
    left
}

/// The pure function at which the machine stopped has failed, in a section or elsewhere.
pub(crate) fn pure_failed(run: &mut Run) -> Result<Option<Stop>, Trap> {
    if run.machine.rollbacks.in_section() {
        let Machine { program, heap, stack, base, pc, .. } = &run.machine;
        let inner = program.inner();
        let op = inner.spec.code.get(pc.wrapping_sub(1));
        let value = match op {
            Some(Op::Apply { dst, .. }) => stack.get(*base as usize + usize::from(dst.0)).copied(),
            _ => None,
        };
        let why = value.map(|value| render::message(heap, inner, value, MESSAGE)).unwrap_or_default();
        give_up_section(run, &why)?;
        if let Some(trap) = run.machine.rollbacks.take_waiting() {
            return Err(trap);
        }
    }
    Ok(interp::pass_on(&mut run.machine))
}

/// A function failed, and its caller handles the failure: the entries run first.
pub(crate) fn unwind(run: &mut Run) {
    run_entries(run, Then::GoOn);
}

/// Ends the run: its entries run first, unless it has succeeded. Then they are kept, since the host may
/// still refuse the value.
pub(crate) fn conclude(run: &mut Run, then: Then) {
    let Rollbacks { used, cancelled, .. } = run.machine.rollbacks;
    if !used || (then == Then::Ok && !cancelled) {
        return finish(run, then);
    }
    run.machine.frames.clear();
    run_entries(run, then);
}

/// Runs the next entry, or continues as `then` says.
fn run_entries(run: &mut Run, then: Then) {
    let Machine { program, frames, rollbacks, pending_call, .. } = &mut run.machine;
    let Some(Entry { pc, .. }) = rollbacks.run_latest(frames, then) else { return finish(run, then) };
    if let Some(Op::Rollback { call, .. }) = program.spec().code.get(pc as usize) {
        *pending_call = PendingCall { call: *call, first: First(0), dst: Out(0), kind: CallKind::Entry };
    }
    run.state = State::Rollback;
}

/// No entry is left to run.
pub(crate) fn finish(run: &mut Run, then: Then) {
    if then == Then::GoOn {
        interp::handle_failure(&mut run.machine);
        run.state = State::Ready;
        return;
    }
    if run.machine.rollbacks.cancelled {
        let found = run.fault.take().filter(|_| then == Then::Fault);
        run.fault = Some(Box::new(aborted(run, found)));
    }
    run.state = match then {
        _ if run.machine.rollbacks.cancelled => State::Fault,
        Then::Ok | Then::GoOn => State::Ok,
        Then::Err => State::Err,
        Then::Fault => State::Fault,
    };
}

/// The current entry has its answer: nothing, or the message of its failure.
pub(crate) fn entry_answered(run: &mut Run, failure: Option<String>) {
    let number = call_number(run);
    let Machine { program, heap, notes, rollbacks, pending_call, .. } = &mut run.machine;
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
    run_entries(run, then);
}

/// The failure of an entry as a message, which is not in the memory of the run.
pub(crate) fn failure_message(run: &Run, datum: Datum<'_>) -> String {
    if let Datum::Text(text) = datum {
        return shortened(text);
    }
    let program = run.machine.program.inner();
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
pub(crate) fn call_number(run: &Run) -> u64 {
    run.machine.heap.budget.used().1.saturating_add(run.machine.rollbacks.more().made)
}

/// Whether the pending call is a compensation, or is made inside a function that was called as one.
pub(crate) fn compensates(run: &Run) -> bool {
    let Machine { program, frames, pc, .. } = &run.machine;
    let code = &program.spec().code;
    frames.iter().map(Frame::pc).chain([*pc]).any(|after| is_compensation(code, after))
}

/// The instruction of the pending call.
pub(crate) fn call_pc(run: &Run) -> u32 {
    run.machine.rollbacks.more().running.map_or_else(|| run.pc(), |(entry, _)| entry.pc)
}

/// A message of a fault for the record of a call.
pub(super) fn reason(code: Code, message: &str) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write!(text, "{code}: {message}");
    text
}
