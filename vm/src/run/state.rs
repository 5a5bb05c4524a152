//! The state of a run, and how it ends.

use crate::budget::{Budget, Limits, Meter};
use crate::facts::Callee;
use crate::fault::{Fault, StartError, Trap};
use crate::frame::Frame;
use crate::gc;
use crate::heap::{Heap, Mark};
use crate::host_view::View;
use crate::machine::{CallKind, Machine, PendingCall, RewindScope, is_compensation};
use crate::program::Program;
use crate::render;
use crate::rollbacks::{Rollbacks, Then};
use crate::run::abort::{Abort, UNFINISHED, fault_here};
use crate::run::build_stack::BuildStack;
use crate::run::call::{Waiting, write_record};
use crate::run::outcome::Outcome;
use crate::run::rollback::{conclude, end_while_entries_run, give_up_section, leave_unanswered, reason};
use crate::run::suspend::{NotWaiting, read};
use crate::run::value_builder::{Builder, Purpose};
use crate::snapshot::{self, RestoreError, Tables};
use crate::value::{Value, at};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;
use ilo_spec::error::Code;
use ilo_spec::isa::Op;
use ilo_spec::limits::{self, CANCEL_FUEL};
use ilo_spec::operand::{CallId, First, FunctionId, Out};

/// The phase of a run.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    /// Nothing is started.
    Idle,
    Ready,
    Pending,
    /// The call of a ROLLBACK entry waits for its answer.
    Rollback,
    /// The value is in the machine.
    Ok,
    Err,
    /// The fault is stored separately, so that the state is `Copy`.
    Fault,
}

/// A run of a function; reusable.
#[derive(Debug)]
pub struct Run {
    pub(crate) machine: Machine,
    pub(crate) scratch: BuildStack,
    pub(super) state: State,
    pub(super) fault: Option<Box<Fault>>,
    /// How it was cancelled, if it was.
    pub(super) abort: Option<Box<Abort>>,
    pub(super) function: FunctionId,
    /// Where the stack keeps the arguments: after the last window, or in their registers if the function does
    /// not change those. `mark` is the heap after they were copied, `entry` the first instruction of the
    /// function.
    pub(super) arguments: Range<usize>,
    pub(super) mark: Mark,
    pub(super) entry: Callee,
    /// The instruction at which the heap was last collected, and the fuel left after that.
    pub(super) last_collection: (usize, u64),
    /// Tables of the snapshot reader, kept for the next restore.
    pub(crate) tables: Option<Box<Tables>>,
}

impl Run {
    /// A run of a program; nothing is started yet.
    #[inline]
    pub fn new(program: &Program, limits: Limits) -> Run {
        Run {
            machine: Machine {
                program: program.clone(),
                heap: Heap::new(program.inner(), limits),
                stack: Vec::new(),
                frames: Vec::new(),
                notes: Vec::new(),
                rollbacks: Rollbacks::default(),
                rewind_scope: RewindScope::Nothing,
                pc: 0,
                base: 0,
                pending_call: PendingCall {
                    call: CallId(0),
                    first: First(0),
                    dst: Out(0),
                    kind: CallKind::Plain,
                },
                result: Value::NIL,
            },
            scratch: BuildStack::default(),
            state: State::Idle,
            fault: None,
            abort: None,
            function: FunctionId(0),
            arguments: 0..0,
            mark: Mark::default(),
            entry: Callee::default(),
            last_collection: (0, 0),
            tables: None,
        }
    }

    /// The program.
    #[inline]
    pub fn program(&self) -> &Program {
        &self.machine.program
    }

    /// Discards the current run and sets the program, which may be another one.
    pub fn reset(&mut self, program: &Program) {
        self.machine.program = program.clone();
        self.machine.heap.adopt_program(self.machine.program.inner());
        self.clear();
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        self.machine.frames.clear();
        self.forget_notes();
        self.scratch.begin();
        self.state = State::Idle;
        self.machine.rewind_scope = RewindScope::Nothing;
        self.last_collection = (0, 0);
    }

    /// Clears failed compensations and entries, for another start.
    #[inline]
    pub(super) fn forget_notes(&mut self) {
        if self.machine.rollbacks.used {
            self.machine.notes.clear();
            self.machine.heap.budget.forget_lent();
            self.machine.rollbacks.reset();
            self.abort = None;
        }
    }

    /// Whether it can continue.
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        matches!(self.state, State::Ready)
    }

    /// Whether the call of a ROLLBACK entry waits for its answer.
    #[inline]
    pub(crate) fn is_rolling_back(&self) -> bool {
        matches!(self.state, State::Rollback)
    }

    /// The function that was started, if a call waits for its answer.
    #[inline]
    pub(crate) fn suspended(&self) -> Option<FunctionId> {
        matches!(self.state, State::Pending | State::Rollback).then_some(self.function)
    }

    /// A rewind must restore more than counters.
    #[inline]
    pub(crate) fn require_full_rewind(&mut self) {
        self.machine.rewind_scope.require_all();
    }

    /// Collects the heap of a run that is under way after a trap for lack of memory. Returns the trap if that
    /// does not help.
    #[cold]
    #[inline(never)]
    pub(crate) fn make_room(&mut self, trap: Trap) -> Result<(), Trap> {
        let under_way = matches!(self.state, State::Ready | State::Pending);
        if trap.code() != Code::FaultMemory || !under_way {
            return Err(trap);
        }
        let budget = &self.machine.heap.budget;
        // Progress burns fuel, so the same fuel at the same instruction means there was none.
        let stuck = self.last_collection == (self.machine.pc, budget.fuel_left());
        let all = !budget.is_holding_back();
        if stuck && all {
            return Err(trap);
        }
        let program = self.machine.program.clone();
        self.require_full_rewind();
        gc::collect(program.inner(), &mut self.machine, self.scratch.values())?;
        let budget = &mut self.machine.heap.budget;
        if stuck {
            budget.release();
        } else if all && budget.left() < budget.limits.memory / limits::CLEARED_LEAST {
            return Err(trap);
        } else {
            budget.hold_back();
        }
        self.last_collection = (self.machine.pc, budget.fuel_left());
        Ok(())
    }

    /// The started function failed.
    #[cold]
    pub(super) fn failed(&mut self) {
        let Machine { program, heap, result, .. } = &mut self.machine;
        let inner = program.inner();
        if let Err(trap) = heap.check_output_size(inner, core::slice::from_ref(result)) {
            return self.trap(trap);
        }
        if self.machine.program.output(self.function).err.is_some() {
            return conclude(self, Then::Err);
        }
        let Machine { program, heap, result, .. } = &self.machine;
        let message = render::message(heap, program.inner(), *result, heap.budget.limits.text);
        self.end(Code::FaultToolFailed, message);
    }

    /// Ends the run with a fault.
    #[cold]
    pub(crate) fn trap(&mut self, trap: Trap) {
        let (code, message) = trap.into_parts();
        // It is recorded even without memory for the record; the run ends in any case.
        drop(give_up_section(self, &reason(code, &message)));
        self.end(code, message);
    }

    /// Ends the run with a fault, after its entries.
    pub(super) fn end(&mut self, code: Code, message: String) {
        self.set_fault(code, message);
        conclude(self, Then::Fault);
    }

    /// Records a fault at the instruction where the machine stopped.
    pub(super) fn set_fault(&mut self, code: Code, mut message: String) {
        let inner = self.machine.program.inner();
        let mut calls = self.machine.frames.iter().map(Frame::pc).chain([self.machine.pc]);
        if calls.any(|after| is_compensation(&inner.spec.code, after)) {
            message.push_str(UNFINISHED);
        }
        self.restore_fault(code, message);
    }

    /// Records a fault with its whole message.
    pub(super) fn restore_fault(&mut self, code: Code, message: String) {
        let inner = self.machine.program.inner();
        let pc = self.pc();
        let function = inner.function_at(pc).map_or("", |function| inner.string(function.name.0)).to_string();
        let position = self.position(pc);
        self.fault = Some(Box::new(Fault { code, message, function, position, pc }));
    }

    /// Ends a run that is under way at once with a fault chosen by the host. Nothing is rolled back:
    /// [`Run::end_with`] does that.
    pub fn stop(&mut self, code: Code) {
        self.stop_with(code, code.meaning());
    }

    /// Like [`Run::stop`], with a message that says what was found and what the limit is.
    pub fn stop_with(&mut self, code: Code, message: &str) {
        if matches!(self.state, State::Ready | State::Pending | State::Rollback) {
            if matches!(self.state, State::Ready) {
                // `pc` expects the instruction after the current one.
                self.machine.pc += 1;
            }
            self.set_fault(code, message.to_string());
            self.machine.rollbacks.more_mut().running = None;
            self.machine.rollbacks.drop_above(0);
            self.state = State::Fault;
        }
    }

    /// The fuel that the run has used.
    #[inline]
    pub fn fuel_used(&self) -> u64 {
        self.machine.heap.budget.used().0
    }

    /// The bytes that the run has been charged.
    #[inline]
    pub fn memory_used(&self) -> u64 {
        let budget = &self.machine.heap.budget;
        budget.limits.memory - budget.left()
    }

    #[inline]
    pub(crate) fn limits(&self) -> &Limits {
        &self.machine.heap.budget.limits
    }

    /// Sets other limits, from the next start on.
    pub(crate) fn set_limits(&mut self, limits: Limits) {
        self.machine.heap.budget = Budget::new(limits);
    }

    /// The instruction at which the machine stopped.
    #[inline]
    pub(crate) fn pc(&self) -> u32 {
        u32::try_from(self.machine.pc.saturating_sub(1)).unwrap_or(u32::MAX)
    }

    #[inline]
    pub(crate) fn position(&self, pc: u32) -> Option<(u32, u32)> {
        self.machine.program.spec().position(pc).map(|position| (position.line, position.column))
    }

    /// Registers of the frame in which the machine stopped.
    #[inline]
    pub(crate) fn window(&self, first: First, count: usize) -> &[Value] {
        let start = at(self.machine.base) + usize::from(first.0);
        self.machine.stack.get(start..start + count).unwrap_or_default()
    }

    /// The pending call, read-only; [`Run::pending`] returns it to be answered.
    #[inline]
    pub fn waiting(&self) -> Option<Waiting<'_>> {
        self.suspended().map(|_| Waiting { run: self })
    }

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
                leave_unanswered(self, message);
                self.end(code, message.into());
            }
            State::Rollback => end_while_entries_run(self, code, message),
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

    /// The instruction after each call that is under way: those of own functions, and the pending one.
    pub fn places(&self) -> Vec<u32> {
        let Machine { frames, pc, .. } = &self.machine;
        let own = u32::try_from(*pc).unwrap_or(u32::MAX);
        frames.iter().filter_map(|frame| u32::try_from(frame.pc()).ok()).chain([own]).collect()
    }

    /// How the run ended, if it has.
    ///
    /// ```
    /// # use ilo_vm::{Outcome, Run, Step};
    /// fn drive(run: &mut Run) -> Option<Outcome<'_>> {
    ///     while let Step::Call(call) = run.step() {
    ///         // An answer that exceeds a limit ends the run; the next step returns that outcome.
    ///         let _ = call.fail("no such tool");
    ///     }
    ///     run.outcome()
    /// }
    /// ```
    #[inline]
    pub fn outcome(&self) -> Option<Outcome<'_>> {
        matches!(self.state, State::Ok | State::Err | State::Fault).then_some(Outcome { run: self })
    }

    /// As [`Run::cancel`], for a reason that the message of the outcome contains.
    pub fn cancel_for(&mut self, reason: &str) {
        if self.machine.rollbacks.cancelled {
            return;
        }
        if matches!(self.state, State::Ready | State::Pending | State::Rollback) {
            self.machine.rollbacks.cancelled = true;
            self.machine.rollbacks.used = true;
            self.require_full_rewind();
            let fault = matches!(self.state, State::Ready | State::Pending).then(|| fault_here(self, reason));
            self.abort = Some(Box::new(Abort { left: CANCEL_FUEL, fault }));
        }
    }

    /// Starts a function with its arguments as one record that is built event by event.
    ///
    /// # Errors
    /// An unknown function, or too little memory for its frames.
    pub fn start_with(&mut self, function: FunctionId) -> Result<Builder<'_>, StartError> {
        self.prepare(function)?;
        Ok(Builder::new(self, Purpose::Start, Meter::UNLIMITED, 0))
    }

    /// Writes a snapshot of the run, which waits for the answer to a call, to `out`, replacing its content.
    ///
    /// [`Run::restore`] resumes from it in any process, with the same program and the limits given there.
    /// This run is unchanged. Takes time and space in proportion to what the run can still read.
    ///
    /// # Errors
    /// [`NotWaiting`] if no call waits; `out` is empty then.
    pub fn snapshot(&self, out: &mut Vec<u8>) -> Result<(), NotWaiting> {
        out.clear();
        let Some(function) = self.suspended() else { return Err(NotWaiting) };
        let fault = self.fault.as_deref();
        snapshot::write(&self.machine, function, fault, out);
        Ok(())
    }

    /// A run that resumes from a snapshot of this program.
    ///
    /// # Errors
    /// Those of [`Run::restore`].
    pub fn from_snapshot(program: &Program, snapshot: &[u8], limits: Limits) -> Result<Run, RestoreError> {
        let mut run = Run::new(program, limits);
        run.restore(snapshot)?;
        Ok(run)
    }

    /// Discards the current run and resumes from a snapshot: the call at which it was taken is pending.
    ///
    /// Fuel and calls already used stay used; memory is counted afresh. There are no arguments to rewind to.
    ///
    /// # Errors
    /// Bytes that are not a snapshot of this program, or that exceed a limit of this run. No run is then
    /// under way.
    pub fn restore(&mut self, snapshot: &[u8]) -> Result<(), RestoreError> {
        self.clear();
        let mut tables = self.tables.take().unwrap_or_default();
        let restored = read(self, snapshot, &mut tables);
        tables.clear();
        self.tables = Some(tables);
        if restored.is_err() {
            self.clear();
        }
        restored
    }
}
