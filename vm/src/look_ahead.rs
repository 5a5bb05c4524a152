//! Look-ahead: a copy of a run that continues while a call is under way, to find the calls that will follow.
//!
//! A call is answered with what the host already knows, otherwise with an unknown value. Unknown values can
//! be moved, stored in lists and records, and computed with (the result is unknown); where control flow
//! depends on one (a condition, a switch, a loop), the scout stops. So the run will make every call that the
//! scout finds, unless a call fails or the run ends before. The scout has no outcome: it is dropped, and the
//! run executes everything itself.
//!
//! It is restored from a snapshot, so the interpreter and the heap do not know about it, and its cost depends
//! on what the run can still read.

use crate::budget::Limits;
use crate::fault::Trap;
use crate::frame::window;
use crate::heap::Heap;
use crate::host_value::Datum;
use crate::host_view::View;
use crate::inline_stack::InlineStack;
use crate::interp;
use crate::machine::{PendingCall, Stop};
use crate::ops::set;
use crate::program::{Program, ProgramData};
use crate::run::{Call, Run};
use crate::value::{Tag, Value, at};
use alloc::vec::Vec;
use core::fmt;
use ilo_spec::error::Code;
use ilo_spec::isa::Op;
use ilo_spec::limits;
use ilo_spec::operand::Out;

/// A look-ahead run, reusable for runs of one program.
#[derive(Debug)]
pub struct Scout {
    run: Run,
    snapshot: Vec<u8>,
    /// Whether it can continue.
    going: bool,
}

/// A call that the run will make, as far as the scout knows.
#[derive(Debug)]
pub struct Ahead<'s> {
    call: Call<'s>,
    known: bool,
}

impl Scout {
    /// A scout that follows no run yet.
    pub fn new(program: &Program) -> Scout {
        Scout { run: Run::new(program, Limits::default()), snapshot: Vec::new(), going: false }
    }

    /// Copies a run of the same program that waits for an answer; returns whether it could. It refuses runs
    /// that use more memory than [`limits::SCOUTED_MEMORY`], because live memory is copied.
    pub fn follow(&mut self, run: &Run) -> bool {
        self.going = !run.is_rolling_back()
            && run.memory_used() <= limits::SCOUTED_MEMORY
            && run.snapshot(&mut self.snapshot).is_ok()
            && self.begin(run.limits());
        self.going
    }

    fn begin(&mut self, limits: &Limits) -> bool {
        let memory = limits.memory.min(2 * limits::SCOUTED_MEMORY);
        self.run.set_limits(Limits { memory, ..limits.clone() });
        if self.run.restore(&self.snapshot).is_err() {
            return false;
        }
        let budget = &mut self.run.machine.heap.budget;
        budget.fuel = budget.fuel.min(limits::SCOUT_FUEL);
        true
    }

    /// Answers the current call, if the host knows its answer already: a value or a failure.
    pub fn answer(&mut self, answer: Result<Datum<'_>, Datum<'_>>) {
        let Some(call) = self.run.pending() else { return };
        // An answer that exceeds a limit ends this run, as it will end the other.
        drop(match answer {
            Ok(value) => call.answer(value),
            Err(failure) => call.fail_with(failure),
        });
    }

    /// Continues to the next call; the current one gets an unknown value unless it was answered. Returns
    /// `None` if control flow depends on an unknown value, at the end of the program, and at a limit. The
    /// scout is finished then.
    pub fn ahead(&mut self) -> Option<Ahead<'_>> {
        self.going = self.going && resume_with_unknown(&mut self.run);
        if !self.going {
            return None;
        }
        let known = call_is_known(&self.run);
        self.run.pending().map(|call| Ahead { call, known })
    }
}

impl Ahead<'_> {
    /// The name of the tool.
    pub fn tool(&self) -> &str {
        self.call.tool()
    }

    /// Line and column of the call in the source, if the program was not stripped.
    pub fn position(&self) -> Option<(u32, u32)> {
        self.call.position()
    }

    /// Whether all arguments are known; if not, only the tool is.
    pub fn is_known(&self) -> bool {
        self.known
    }

    /// Names and values of the arguments, in the order of the program; none if they are not known.
    pub fn arguments(&self) -> impl Iterator<Item = (&str, View<'_>)> {
        self.call.arguments().filter(|_| self.known)
    }

    /// Writes the arguments like [`Call::write_json`].
    ///
    /// # Errors
    /// The errors of `out`, and an error if the arguments are not known.
    pub fn write_json(&self, out: &mut impl fmt::Write) -> fmt::Result {
        if self.known { self.call.write_json(out) } else { Err(fmt::Error) }
    }
}

/// Answers the pending call with an unknown value and continues to the next call; returns whether there
/// is one.
fn resume_with_unknown(run: &mut Run) -> bool {
    let continues = if run.is_rolling_back() {
        false
    } else if run.pending().is_some() {
        interp::resume(&mut run.machine, Value::UNKNOWN, false).is_none()
    } else {
        run.is_ready()
    };
    if !continues {
        return false;
    }
    loop {
        match interp::execute(&mut run.machine) {
            (Stop::Call | Stop::LargeCall, None) => return run.pause().is_ok(),
            (_, Some(trap)) if propagate_unknown(run, &trap) => {}
            (Stop::HandOver, None) => interp::hand_over(&mut run.machine),
            (Stop::Unhandled, None) if interp::pass_on(&mut run.machine).is_none() => {}
            _ => return false,
        }
    }
}

/// Whether an instruction that trapped on an operand is pure; its result becomes unknown then.
///
/// If the operand was not unknown but of a wrong type, the run itself will fault there, and nothing found
/// after it is used.
fn propagate_unknown(run: &mut Run, trap: &Trap) -> bool {
    let machine = &mut run.machine;
    let mistyped = matches!(trap.code(), Code::FaultTypeMismatch | Code::FaultConditionType);
    let op = machine.pc.checked_sub(1).and_then(|pc| machine.program.inner().spec.code.get(pc));
    let dst = op.filter(|_| mistyped).and_then(pure_destination);
    let (Some(dst), Some(w)) = (dst, window(&mut machine.stack, machine.base)) else { return false };
    set(w, dst, Value::UNKNOWN);
    true
}

/// Whether the arguments of the pending call contain no unknown value.
fn call_is_known(run: &Run) -> bool {
    let machine = &run.machine;
    let PendingCall { call, first, .. } = machine.pending_call;
    let program = machine.program.inner();
    let count = program.shape_len(program.spec.calls[usize::from(call.0)].shape);
    run.window(first, count).iter().all(|&value| is_known(&machine.heap, program, value))
}

/// The destination of an instruction that has no other effect.
fn pure_destination(op: &Op) -> Option<Out> {
    match *op {
        Op::Add { dst, .. }
        | Op::Sub { dst, .. }
        | Op::Mul { dst, .. }
        | Op::Div { dst, .. }
        | Op::Mod { dst, .. }
        | Op::AddC { dst, .. }
        | Op::SubC { dst, .. }
        | Op::MulC { dst, .. }
        | Op::DivC { dst, .. }
        | Op::ModC { dst, .. }
        | Op::Eq { dst, .. }
        | Op::Ne { dst, .. }
        | Op::Lt { dst, .. }
        | Op::Le { dst, .. }
        | Op::Gt { dst, .. }
        | Op::Ge { dst, .. }
        | Op::Not { dst, .. }
        | Op::Truth { dst, .. }
        | Op::Concat { dst, .. }
        | Op::ConcatTwo { dst, .. }
        | Op::Apply { dst, .. }
        | Op::Merge { dst, .. }
        | Op::Field { dst, .. }
        | Op::Has { dst, .. }
        | Op::HasName { dst, .. }
        | Op::Append { dst, .. }
        | Op::At { dst, .. }
        | Op::Select { dst, .. }
        | Op::Len { dst, .. } => Some(dst),
        _ => None,
    }
}

/// Whether a value contains nothing unknown. What leaves a run has a bounded size, so this is bounded too.
fn is_known(heap: &Heap, program: &ProgramData, value: Value) -> bool {
    let mut open = InlineStack::new((Value::NIL, 0));
    open.push((value, 0));
    let mut known = value.tag != Tag::Unknown;
    while known && let Some((parent, next)) = open.last() {
        let (parent, place) = (*parent, *next);
        if place == heap.len(program, parent) {
            open.pop();
            continue;
        }
        *next += 1;
        let item = heap.value(at(parent.low()) + place);
        known = item.tag != Tag::Unknown;
        if item.is_container() {
            open.push((item, 0));
        }
    }
    known
}
