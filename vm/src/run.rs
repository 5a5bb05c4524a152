//! A run: one execution of a function, which stops at every tool call until the host answers.
//!
//! A run is reused by starting it again; what it has allocated stays with it, and a warm run allocates nothing.

mod answer;

use crate::budget::{Budget, Limits};
use crate::build::{Builder, Purpose, Refusal, Scratch, is_record};
use crate::call::{Call, Outcome, Status};
use crate::compact;
use crate::datum::{Datum, Meter};
use crate::fault::{Fault, StartError, Trap};
use crate::frame;
use crate::heap::{Heap, Mark};
use crate::interp::{self, Machine, Stop, Waiting};
use crate::program::Program;
use crate::render;
use crate::restore::Tables;
use crate::value::{Tag, Value, at};
use crate::verify::Entry;
use crate::view::View;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::hint::cold_path;
use core::ops::Range;
use ilo_spec::error::Code;
use ilo_spec::isa::Op;
use ilo_spec::limits;
use ilo_spec::operand::{CallId, First, FunctionId, Out};
use ilo_spec::types::{Base, Type};

/// What a step came to.
#[derive(Debug)]
pub enum Step<'r> {
    /// A tool call that the host is to answer.
    Call(Call<'r>),
    /// The end.
    Done(Outcome<'r>),
}

/// Where a run stands.
#[derive(Clone, Copy, Debug)]
enum State {
    /// Nothing was started.
    Idle,
    Ready,
    Pending,
    /// The value lies in the machine.
    Ok,
    Err,
    /// The fault lies beside, so that a state is copied freely.
    Fault,
}

/// What a rewind has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Again {
    /// Nothing was started.
    Nothing,
    /// Counts go back; everything else is as it was.
    Counts,
    /// The arguments were moved, an answer was built piece by piece or the heap was cleared.
    All,
    /// The start alone takes more fuel than there is.
    Fault,
}

/// A run, reusable.
#[derive(Debug)]
pub struct Run {
    pub(crate) machine: Machine,
    pub(crate) scratch: Scratch,
    state: State,
    fault: Option<Box<Fault>>,
    function: FunctionId,
    /// Where the stack keeps the arguments: behind the last window, or in their registers where the function leaves those
    /// as they are; the heap once they were there; where the function begins.
    arguments: Range<usize>,
    mark: Mark,
    entry: Entry,
    again: Again,
    /// The instruction that went on after clearing the heap last, and the fuel that was left.
    cleared: (usize, u64),
    /// What restoring keeps for the next time.
    pub(crate) tables: Option<Box<Tables>>,
}

/// Where the shapes of arguments are guessed from; calls use multiples of the same.
const GUESS_STEP: usize = 8;

impl Run {
    /// A run of a program; nothing is started yet.
    pub fn new(program: &Program, limits: Limits) -> Run {
        Run {
            machine: Machine {
                program: program.clone(),
                heap: Heap::new(program.inner(), limits),
                stack: Vec::new(),
                frames: Vec::new(),
                notes: Vec::new(),
                pc: 0,
                base: 0,
                waiting: Waiting { call: CallId(0), first: First(0), dst: Out(0) },
                result: Value::NIL,
            },
            scratch: Scratch::default(),
            state: State::Idle,
            fault: None,
            function: FunctionId(0),
            arguments: 0..0,
            mark: Mark::default(),
            entry: Entry::default(),
            again: Again::Nothing,
            cleared: (0, 0),
            tables: None,
        }
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.machine.program
    }

    /// Drops whatever was under way and takes a program, maybe another one.
    pub fn reset(&mut self, program: &Program) {
        self.machine.program = program.clone();
        self.machine.heap.adopt_program(self.machine.program.inner());
        self.clear();
    }

    pub(crate) fn clear(&mut self) {
        self.machine.frames.clear();
        self.machine.notes.clear();
        self.scratch.begin();
        self.state = State::Idle;
        self.again = Again::Nothing;
        self.cleared = (0, 0);
    }

    /// Starts a function with its arguments in order.
    ///
    /// # Errors
    /// Arguments that do not fit the parameters or pass a limit; then nothing is started.
    pub fn start(&mut self, function: FunctionId, arguments: &[Datum<'_>]) -> Result<(), StartError> {
        let parameters = self.prepare(function)?;
        if let Some(extra) = arguments.len().checked_sub(parameters + 1) {
            let argument = (arguments.len() - extra).to_string();
            return Err(self.unknown(argument));
        }
        for place in self.plain(arguments)..parameters {
            let Some(&datum) = arguments.get(place) else { return Err(self.missing(place)) };
            self.argument(place, datum)?;
        }
        self.launch();
        Ok(())
    }

    /// Starts a function with its arguments by name.
    ///
    /// # Errors
    /// As [`Run::start`], and names that are unknown or given twice.
    pub fn start_named(
        &mut self,
        function: FunctionId,
        arguments: &[(&str, Datum<'_>)],
    ) -> Result<(), StartError> {
        let parameters = self.prepare(function)?;
        for (place, &(name, _)) in arguments.iter().enumerate() {
            if !self.machine.program.parameters(function).any(|(known, _)| known == name) {
                return Err(self.unknown(name.to_string()));
            }
            // All before it are different parameters, so there are few.
            if arguments[..place].iter().any(|&(known, _)| known == name) {
                return Err(StartError::DuplicateInput { argument: name.to_string() });
            }
        }
        for place in 0..parameters {
            let name = self.parameter(place).0;
            let Some(&(_, datum)) = arguments.iter().find(|&&(known, _)| known == name) else {
                return Err(self.missing(place));
            };
            self.argument(place, datum)?;
        }
        self.launch();
        Ok(())
    }

    /// Starts a function with its arguments as one record that is built piece by piece.
    ///
    /// # Errors
    /// A function that the program does not have, or too little memory for its frames.
    pub fn start_with(&mut self, function: FunctionId) -> Result<Builder<'_>, StartError> {
        self.prepare(function)?;
        Ok(Builder::new(self, Purpose::Start, Meter::UNLIMITED, 0))
    }

    /// The arguments came as one record.
    pub(crate) fn start_record(&mut self, result: Result<Value, Refusal>) -> Result<(), StartError> {
        let record = result.map_err(|refusal| self.refused(refusal))?;
        if !is_record(record) {
            return Err(StartError::NotARecord { found: record.tag.name() });
        }
        let program = self.machine.program.clone();
        let inner = program.inner();
        let Heap { shapes, values, .. } = &self.machine.heap;
        for (place, (name, _)) in program.parameters(self.function).enumerate() {
            let found = shapes.find_name(inner, name).and_then(|id| shapes.position(inner, record.aux, id));
            let Some(found) = found else { return Err(self.missing(place)) };
            let argument = values[at(record.low()) + found];
            keep_argument(&mut self.machine.stack, &mut self.arguments, argument);
        }
        let known = |name: &str| program.parameters(self.function).any(|(known, _)| known == name);
        let names = shapes.fields(inner, record.aux).iter().map(|&name| shapes.name(inner, name));
        if let Some(extra) = names.into_iter().find(|name| !known(name)) {
            return Err(self.unknown(extra.to_string()));
        }
        for place in 0..program.parameters(self.function).count() {
            self.check_type(place)?;
        }
        self.launch();
        Ok(())
    }

    /// Empties the run for a start; gives how many parameters there are.
    pub(crate) fn prepare(&mut self, function: FunctionId) -> Result<usize, StartError> {
        self.clear();
        let Machine { program, heap, stack, frames, .. } = &mut self.machine;
        let inner = program.inner();
        let Some(found) = inner.function(function) else { return Err(StartError::UnknownFunction) };
        self.function = function;
        heap.begin(inner);
        self.entry = inner.facts.entries[usize::from(function.0)];
        let (extent, depth) = (at(self.entry.extent), at(self.entry.depth));
        let behind = frame::prepare(stack, frames, &mut heap.budget, (extent, depth, found.parameters.len()))
            .map_err(|trap| StartError::Registers { message: trap.into_parts().1 })?;
        let first = if inner.facts.keeps[usize::from(function.0)] { 0 } else { behind };
        self.arguments = first..first;
        Ok(found.parameters.len())
    }

    /// The arguments are there and fit.
    fn launch(&mut self) {
        // Part of what a rewind goes back to.
        let entered = self.machine.heap.budget.burn(self.entry.cost.into());
        self.mark = self.machine.heap.begun();
        self.again = Again::All;
        self.enter();
        match entered {
            Ok(()) => self.tidied(),
            Err(trap) => self.faulted(trap),
        }
    }

    fn tidied(&mut self) {
        if self.arguments.start == 0 {
            self.again = Again::Counts;
        }
    }

    /// More than counts is changed.
    pub(crate) fn touched(&mut self) {
        if let Again::Counts = self.again {
            self.again = Again::All;
        }
    }

    #[cold]
    fn faulted(&mut self, trap: Trap) {
        self.again = Again::Fault;
        self.machine.pc += 1;
        self.trap(trap);
    }

    /// Goes to the first instruction, the arguments in their registers.
    #[inline]
    fn enter(&mut self) {
        if self.arguments.start > 0 {
            self.machine.stack.copy_within(self.arguments.clone(), 0);
        }
        self.machine.base = 0;
        self.machine.pc = at(self.entry.start);
        self.state = State::Ready;
    }

    /// Starts again with the same arguments; allocates nothing. Does nothing where nothing was started.
    pub fn rewind(&mut self) {
        let Again::Counts = self.again else { return self.rewind_all() };
        self.machine.frames.clear();
        self.machine.notes.clear();
        self.machine.heap.rewind(&self.mark);
        self.machine.base = 0;
        self.machine.pc = at(self.entry.start);
        self.state = State::Ready;
    }

    #[cold]
    #[inline(never)]
    fn rewind_all(&mut self) {
        if let Again::Nothing = self.again {
            return;
        }
        self.machine.frames.clear();
        self.machine.notes.clear();
        self.scratch.begin();
        self.cleared = (0, 0);
        self.machine.heap.rewind(&self.mark);
        self.enter();
        if let Again::Fault = self.again {
            // Nothing was left then, and every function costs something.
            if let Err(trap) = self.machine.heap.budget.burn(self.entry.cost.into()) {
                self.faulted(trap);
            }
        } else {
            self.tidied();
        }
    }

    /// Runs up to the next tool call or the end. A call that waits for its answer is returned again, and so is the end.
    #[inline]
    pub fn step(&mut self) -> Step<'_> {
        let waits = match self.state {
            State::Ready => {
                let (stop, trap) = interp::execute(&mut self.machine);
                match (stop, &trap) {
                    (Stop::Returned, None) if !self.machine.result.is_container() => {
                        self.state = State::Ok;
                        false
                    }
                    (Stop::Call, None) => {
                        self.state = State::Pending;
                        true
                    }
                    _ => self.stopped(stop, trap),
                }
            }
            _ => self.stood(),
        };
        if waits { Step::Call(Call { run: self }) } else { Step::Done(Outcome { run: self }) }
    }

    /// A step of what does not run; says whether a call waits.
    #[cold]
    #[inline(never)]
    fn stood(&mut self) -> bool {
        if let State::Idle = self.state {
            self.end(Code::BadUsage, "no function was started".to_string());
        }
        matches!(self.state, State::Pending)
    }

    /// The call that waits for its answer.
    pub fn pending(&mut self) -> Option<Call<'_>> {
        matches!(self.state, State::Pending).then_some(Call { run: self })
    }

    /// Whether it can go on.
    pub(crate) fn is_ready(&self) -> bool {
        matches!(self.state, State::Ready)
    }

    /// The function that was started, where a call waits for its answer.
    pub(crate) fn suspended(&self) -> Option<FunctionId> {
        matches!(self.state, State::Pending).then_some(self.function)
    }

    /// The machine was put at a tool call, whose arguments are there.
    pub(crate) fn wait(&mut self) -> Result<(), Trap> {
        // The fuel of looking at what leaves was burnt when it left, and may be more than what is left now.
        let budget = &mut self.machine.heap.budget;
        let fuel = core::mem::replace(&mut budget.fuel, budget.limits.fuel);
        self.pause()?;
        self.machine.heap.budget.fuel = fuel;
        self.machine.heap.budget.hold();
        Ok(())
    }

    /// The machine stopped with what is to be looked at; says whether a call waits for its answer.
    #[inline(never)]
    fn stopped(&mut self, mut stop: Stop, mut trap: Option<Trap>) -> bool {
        while let Some(found) = trap {
            cold_path();
            if let Err(found) = self.make_room(found) {
                self.trap(found);
                return false;
            }
            // The instruction that found no room is carried out again.
            self.machine.pc -= 1;
            (stop, trap) = interp::execute(&mut self.machine);
        }
        let leaves = match stop {
            Stop::Call | Stop::LargeCall => self.pause(),
            Stop::Returned => {
                self.state = State::Ok;
                let Machine { program, heap, result, .. } = &mut self.machine;
                heap.check_leaving(program.inner(), core::slice::from_ref(result))
            }
            Stop::Failed => {
                self.failed();
                return false;
            }
        };
        if let Err(trap) = leaves {
            self.trap(trap);
        }
        matches!(self.state, State::Pending)
    }

    /// The machine stands at a tool call, whose arguments leave the run.
    pub(crate) fn pause(&mut self) -> Result<(), Trap> {
        let Machine { program, heap, stack, base, waiting, .. } = &mut self.machine;
        let inner = program.inner();
        let first = at(*base) + usize::from(waiting.first.0);
        let count = at(inner.call(waiting.call).arguments);
        self.state = State::Pending;
        heap.check_leaving(inner, &stack[first..first + count])
    }

    /// Clears the heap of a run that is under way, where a trap says that there is no room; gives back the trap where
    /// that does not help.
    #[cold]
    #[inline(never)]
    pub(crate) fn make_room(&mut self, trap: Trap) -> Result<(), Trap> {
        let under_way = matches!(self.state, State::Ready | State::Pending);
        if trap.code() != Code::FaultMemory || !under_way {
            return Err(trap);
        }
        let budget = &self.machine.heap.budget;
        // Whoever goes on burns fuel before it comes here again.
        let stuck = self.cleared == (self.machine.pc, budget.fuel);
        let all = !budget.holds();
        if stuck && all {
            return Err(trap);
        }
        let program = self.machine.program.clone();
        self.touched();
        compact::clear(program.inner(), &mut self.machine, self.scratch.values())?;
        let budget = &mut self.machine.heap.budget;
        if stuck {
            budget.release();
        } else if all && budget.left() < budget.limits.memory / limits::CLEARED_LEAST {
            return Err(trap);
        } else {
            budget.hold();
        }
        self.cleared = (self.machine.pc, budget.fuel);
        Ok(())
    }

    /// The function that was started failed.
    #[cold]
    fn failed(&mut self) {
        let Machine { program, heap, result, .. } = &mut self.machine;
        let inner = program.inner();
        if let Err(trap) = heap.check_leaving(inner, core::slice::from_ref(result)) {
            return self.trap(trap);
        }
        if self.machine.program.output(self.function).err.is_some() {
            self.state = State::Err;
            return;
        }
        let Machine { program, heap, result, .. } = &self.machine;
        let message = render::message(heap, program.inner(), *result, heap.budget.limits.text);
        self.end(Code::FaultToolFailed, message);
    }

    /// Ends the run with a fault.
    #[cold]
    pub(crate) fn trap(&mut self, trap: Trap) {
        let (code, message) = trap.into_parts();
        self.end(code, message);
    }

    fn end(&mut self, code: Code, mut message: String) {
        let inner = self.machine.program.inner();
        let pc = self.pc();
        let mut calls = self.machine.frames.iter().map(|frame| frame.pc).chain([self.machine.pc]);
        if calls.any(|behind| is_compensation(&inner.spec.code, behind)) {
            message.push_str("; a rollback was not finished");
        }
        let function = inner.function_at(pc).map_or("", |function| inner.string(function.name.0)).to_string();
        let position = self.position(pc);
        self.fault = Some(Box::new(Fault { code, message, function, position, pc }));
        self.state = State::Fault;
    }

    /// Ends a run that is under way with a fault that the host chose, such as a time limit.
    pub fn stop(&mut self, code: Code) {
        self.stop_with(code, code.meaning());
    }

    /// As [`Run::stop`], with a message that says what was found and what the limit is.
    pub fn stop_with(&mut self, code: Code, message: &str) {
        if matches!(self.state, State::Ready | State::Pending) {
            if matches!(self.state, State::Ready) {
                // The instruction that is next, which `pc` takes for the one after.
                self.machine.pc += 1;
            }
            self.end(code, message.to_string());
        }
    }

    pub(crate) fn status(&self) -> Status<'_> {
        let value = View {
            heap: &self.machine.heap,
            program: self.machine.program.inner(),
            value: &self.machine.result,
        };
        if let State::Ok = self.state {
            return Status::Ok(value);
        }
        match (self.state, &self.fault) {
            (State::Err, _) => Status::Err(value),
            (State::Fault, Some(fault)) => Status::Fault(fault),
            // Asked only of a run that has ended.
            _ => Status::Ok(value),
        }
    }

    /// How the run ended, where it has.
    ///
    /// ```
    /// # use ilo_vm::{Outcome, Run, Step};
    /// fn drive(run: &mut Run) -> Option<Outcome<'_>> {
    ///     while let Step::Call(call) = run.step() {
    ///         // A limit that an answer passes ends the run, which the next step tells.
    ///         let _ = call.fail("no such tool");
    ///     }
    ///     run.outcome()
    /// }
    /// ```
    pub fn outcome(&self) -> Option<Outcome<'_>> {
        matches!(self.state, State::Ok | State::Err | State::Fault).then_some(Outcome { run: self })
    }

    /// Fuel that the run has used.
    pub fn fuel_used(&self) -> u64 {
        let budget = &self.machine.heap.budget;
        budget.limits.fuel - budget.fuel
    }

    /// Bytes that the run was charged.
    pub fn memory_used(&self) -> u64 {
        let budget = &self.machine.heap.budget;
        budget.limits.memory - budget.left()
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.machine.heap.budget.limits
    }

    /// Takes other limits, from the next start on.
    pub(crate) fn set_limits(&mut self, limits: Limits) {
        self.machine.heap.budget = Budget::new(limits);
    }

    /// The instruction at which the machine stopped.
    pub(crate) fn pc(&self) -> u32 {
        u32::try_from(self.machine.pc.saturating_sub(1)).unwrap_or(u32::MAX)
    }

    pub(crate) fn position(&self, pc: u32) -> Option<(u32, u32)> {
        self.machine.program.spec().position(pc).map(|position| (position.line, position.column))
    }

    /// Registers of the frame in which the machine stopped.
    pub(crate) fn window(&self, first: First, count: usize) -> &[Value] {
        let start = at(self.machine.base) + usize::from(first.0);
        self.machine.stack.get(start..start + count).unwrap_or_default()
    }

    /// Takes the arguments up to the first that is more than bits, or that does not fit; says how many they are.
    #[inline]
    fn plain(&mut self, arguments: &[Datum<'_>]) -> usize {
        let Machine { program, stack, .. } = &mut self.machine;
        let parameters = program.inner().function(self.function).map_or(&[][..], |found| &found.parameters);
        let places = stack.get_mut(self.arguments.start..).unwrap_or_default();
        let mut count = 0;
        for ((place, parameter), datum) in places.iter_mut().zip(parameters).zip(arguments) {
            let value = match *datum {
                Datum::Bool(value) => Value::bool(value),
                Datum::Int(value) => Value::int(value),
                Datum::Double(value) if value.is_finite() => Value::double(value),
                _ => break,
            };
            if parameter.ty.lists != 0 || !fits(parameter.ty.base, value.tag) {
                break;
            }
            *place = value;
            count += 1;
        }
        self.arguments.end = self.arguments.start + count;
        count
    }

    /// Takes the next argument, of any kind.
    fn argument(&mut self, place: usize, datum: Datum<'_>) -> Result<(), StartError> {
        let mut meter = Meter::UNLIMITED;
        let copied = self.copying(&mut meter, 0).copy(datum);
        let value = copied.map_err(|refusal| self.refused(refusal))?;
        keep_argument(&mut self.machine.stack, &mut self.arguments, value);
        self.check_type(place)
    }

    fn parameter(&self, place: usize) -> (&str, Type) {
        self.machine.program.parameters(self.function).nth(place).unwrap_or(("", Type::ANY))
    }

    /// Checks that an argument has the type of its parameter.
    #[inline(never)]
    fn check_type(&mut self, place: usize) -> Result<(), StartError> {
        let (name, expected) = self.parameter(place);
        if expected == Type::ANY {
            return Ok(());
        }
        let argument = self.machine.stack[self.arguments.start + place];
        match mistyped(&self.machine.heap, argument, expected) {
            None => Ok(()),
            Some(found) => {
                Err(StartError::InputType { parameter: name.to_string(), expected, found: found.name() })
            }
        }
    }

    fn refused(&self, refusal: Refusal) -> StartError {
        match refusal {
            Refusal::Trap(trap) => trap.into(),
            Refusal::NotFinite => StartError::NotFinite,
            Refusal::Duplicate(duplicate) => {
                let name = self.machine.heap.shapes.name(self.machine.program.inner(), duplicate.0);
                StartError::DuplicateInput { argument: name.to_string() }
            }
        }
    }

    fn missing(&self, place: usize) -> StartError {
        StartError::MissingInput { parameter: self.parameter(place).0.to_string() }
    }

    fn unknown(&self, argument: String) -> StartError {
        StartError::UnknownInput { argument, parameters: self.machine.program.parameter_names(self.function) }
    }
}

/// Keeps one more argument.
#[inline(always)]
fn keep_argument(stack: &mut [Value], arguments: &mut Range<usize>, argument: Value) {
    if let Some(place) = stack.get_mut(arguments.end) {
        *place = argument;
        arguments.end += 1;
    }
}

/// Whether a type that is no list allows values of this kind.
fn fits(base: Base, tag: Tag) -> bool {
    const fn of(tags: &[Tag]) -> u32 {
        let (mut set, mut at) = (0, 0);
        while at < tags.len() {
            set |= 1 << tags[at] as u32;
            at += 1;
        }
        set
    }
    let allowed = match base {
        Base::Any => u32::MAX,
        Base::Number => const { of(&[Tag::Int, Tag::Double]) },
        Base::Text => const { of(&[Tag::Text]) },
        Base::Bool => const { of(&[Tag::True, Tag::False]) },
        Base::Nil => const { of(&[Tag::Nil]) },
    };
    allowed >> tag as u32 & 1 != 0
}

/// What a value has that its type does not allow; lists are looked into, level by level.
fn mistyped(heap: &Heap, value: Value, ty: Type) -> Option<Tag> {
    // How much of each open list was looked at; as many as the type has, which is bounded.
    let mut open: Vec<(Value, usize)> = Vec::new();
    let mut value = value;
    loop {
        if open.len() == usize::from(ty.lists) {
            if !fits(ty.base, value.tag) {
                return Some(value.tag);
            }
        } else if value.tag == Tag::List {
            open.push((value, 0));
        } else {
            return Some(value.tag);
        }
        loop {
            let (list, next) = open.last_mut()?;
            if *next < at(list.aux) {
                value = heap.value(at(list.low()) + *next);
                *next += 1;
                break;
            }
            open.pop();
        }
    }
}

/// Whether the call before an instruction is a compensation: its failure is noted.
fn is_compensation(code: &[Op], behind: usize) -> bool {
    let Some(&(Op::Tool { fail, .. } | Op::Invoke { fail, .. })) = code.get(behind.wrapping_sub(1)) else {
        return false;
    };
    fail.0 != 0 && matches!(code.get(behind + usize::from(fail.0)), Some(Op::Note { .. }))
}
