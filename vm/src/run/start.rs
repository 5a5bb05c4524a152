//! Starting a run with arguments that fit the parameters, and starting it again.

use crate::budget::Meter;
use crate::copy_in::{Copier, Refusal};
use crate::fault::{StartError, Trap};
use crate::frame;
use crate::heap::Heap;
use crate::host_value::Datum;
use crate::machine::{Machine, RewindScope};
use crate::run::state::{Run, State};
use crate::type_check::{fits, mistyped};
use crate::value::{Tag, Value, at};
use alloc::string::{String, ToString};
use core::ops::Range;
use ilo_spec::operand::FunctionId;
use ilo_spec::program::Need;
use ilo_spec::types::Type;

impl Run {
    /// Starts a function with its arguments in order.
    ///
    /// # Errors
    /// Arguments that do not fit the parameters or exceed a limit; nothing is started then.
    #[inline]
    pub fn start(&mut self, function: FunctionId, arguments: &[Datum<'_>]) -> Result<(), StartError> {
        let parameters = self.prepare(function)?;
        if let Some(extra) = arguments.len().checked_sub(parameters + 1) {
            let argument = (arguments.len() - extra).to_string();
            return Err(self.unknown(argument));
        }
        for place in self.take_scalars(arguments)..parameters {
            let Some(datum) = arguments.get(place).copied().or_else(|| self.absent(place)) else {
                return Err(self.missing(place));
            };
            self.take_argument(place, datum)?;
        }
        self.launch();
        Ok(())
    }

    /// Starts a function with its arguments by name.
    ///
    /// # Errors
    /// Those of [`Run::start`], and names that are unknown or given twice.
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
            // The ones before it are distinct parameters, so there are few.
            if arguments[..place].iter().any(|&(known, _)| known == name) {
                return Err(StartError::DuplicateInput { argument: name.to_string() });
            }
        }
        for place in 0..parameters {
            let name = self.parameter(place).0;
            let given = arguments.iter().find(|&&(known, _)| known == name).map(|&(_, datum)| datum);
            let Some(datum) = given.or_else(|| self.absent(place)) else { return Err(self.missing(place)) };
            self.take_argument(place, datum)?;
        }
        self.launch();
        Ok(())
    }

    /// Starts with the arguments as one record.
    pub(crate) fn start_record(&mut self, result: Result<Value, Refusal>) -> Result<(), StartError> {
        let record = result.map_err(|refusal| self.refused(refusal))?;
        if record.tag != Tag::Record {
            return Err(StartError::NotARecord { found: record.tag.name() });
        }
        let program = self.machine.program.clone();
        let inner = program.inner();
        let Heap { shapes, values, .. } = &self.machine.heap;
        for (place, (name, _)) in program.parameters(self.function).enumerate() {
            let found = shapes.find_name(inner, name).and_then(|id| shapes.position(inner, record.aux, id));
            let argument = match found {
                Some(found) => values[at(record.low()) + found],
                None if self.need(place).may_be_absent() => Value::NIL,
                None => return Err(self.missing(place)),
            };
            push_argument(&mut self.machine.stack, &mut self.arguments, argument);
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

    /// Empties the run for a start; returns the number of parameters.
    #[inline]
    pub(crate) fn prepare(&mut self, function: FunctionId) -> Result<usize, StartError> {
        self.clear();
        let Machine { program, heap, stack, frames, .. } = &mut self.machine;
        let inner = program.inner();
        let Some(found) = inner.function(function) else { return Err(StartError::UnknownFunction) };
        self.function = function;
        heap.reset(inner);
        self.entry = inner.facts.entries[usize::from(function.0)];
        let (extent, depth) = (at(self.entry.extent), at(self.entry.depth));
        let copies = frame::prepare(stack, frames, &mut heap.budget, (extent, depth, found.parameters.len()))
            .map_err(|trap| StartError::Registers { message: trap.into_parts().1 })?;
        let first = if inner.facts.keeps[usize::from(function.0)] { 0 } else { copies };
        self.arguments = first..first;
        Ok(found.parameters.len())
    }

    /// Starts the function; the arguments are in place and fit.
    #[inline]
    fn launch(&mut self) {
        // Burnt before the mark, so that a rewind includes it.
        let entered = self.machine.heap.budget.burn(self.entry.cost.into());
        self.mark = self.machine.heap.mark_start();
        self.machine.rewind_scope = RewindScope::All;
        self.enter();
        match entered {
            Ok(()) => self.allow_quick_rewind(),
            Err(trap) => self.fault_at_start(trap),
        }
    }

    #[inline]
    fn allow_quick_rewind(&mut self) {
        if self.arguments.start == 0 {
            self.machine.rewind_scope = RewindScope::Counts;
        }
    }

    #[cold]
    fn fault_at_start(&mut self, trap: Trap) {
        self.machine.rewind_scope = RewindScope::Fault;
        self.machine.pc += 1;
        self.trap(trap);
    }

    /// Sets the program counter to the first instruction, with the arguments in their registers.
    #[inline]
    fn enter(&mut self) {
        if self.arguments.start > 0 {
            self.machine.stack.copy_within(self.arguments.clone(), 0);
        }
        self.machine.base = 0;
        self.machine.pc = at(self.entry.start);
        self.state = State::Ready;
    }

    /// Starts again with the same arguments, without allocating. Does nothing if nothing was started.
    #[inline]
    pub fn rewind(&mut self) {
        let RewindScope::Counts = self.machine.rewind_scope else { return self.rewind_all() };
        self.machine.frames.clear();
        self.machine.heap.rewind(&self.mark);
        self.machine.base = 0;
        self.machine.pc = at(self.entry.start);
        self.state = State::Ready;
    }

    #[cold]
    #[inline(never)]
    fn rewind_all(&mut self) {
        if let RewindScope::Nothing = self.machine.rewind_scope {
            return;
        }
        self.machine.frames.clear();
        self.forget_notes();
        self.scratch.begin();
        self.last_collection = (0, 0);
        self.machine.heap.rewind(&self.mark);
        self.enter();
        if let RewindScope::Fault = self.machine.rewind_scope {
            // The start burnt all fuel, and every function costs some.
            if let Err(trap) = self.machine.heap.budget.burn(self.entry.cost.into()) {
                self.fault_at_start(trap);
            }
        } else {
            self.allow_quick_rewind();
        }
    }

    /// Takes the leading arguments that are scalars of the right type; returns how many there are.
    #[inline]
    fn take_scalars(&mut self, arguments: &[Datum<'_>]) -> usize {
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
    fn take_argument(&mut self, place: usize, datum: Datum<'_>) -> Result<(), StartError> {
        let mut meter = Meter::UNLIMITED;
        let copied = self.copier(&mut meter, 0).copy(datum);
        let value = copied.map_err(|refusal| self.refused(refusal))?;
        push_argument(&mut self.machine.stack, &mut self.arguments, value);
        self.check_type(place)
    }

    fn parameter(&self, place: usize) -> (&str, Type) {
        self.machine.program.parameters(self.function).nth(place).unwrap_or(("", Type::ANY))
    }

    fn need(&self, place: usize) -> Need {
        let function = self.machine.program.inner().function(self.function);
        function.and_then(|found| found.parameters.get(place)).map_or(Need::Required, |found| found.need)
    }

    /// The value of an argument that is left out, if it may be. The code of the function replaces it by the
    /// default.
    #[cold]
    fn absent(&self, place: usize) -> Option<Datum<'static>> {
        self.need(place).may_be_absent().then_some(Datum::Nil)
    }

    /// Checks that an argument has the type of its parameter.
    #[inline(never)]
    fn check_type(&mut self, place: usize) -> Result<(), StartError> {
        let (_, expected) = self.parameter(place);
        if expected == Type::ANY {
            return Ok(());
        }
        let argument = self.machine.stack[self.arguments.start + place];
        if argument.tag == Tag::Nil && self.need(place).takes_nil() {
            return Ok(());
        }
        match mistyped(&mut self.machine.heap, argument, expected, |_, _| Ok(()))? {
            None => Ok(()),
            Some(found) => {
                let parameter = self.parameter(place).0.to_string();
                Err(StartError::InputType { parameter, expected, found: found.name() })
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
    #[inline]
    pub(super) fn copier<'r>(&'r mut self, meter: &'r mut Meter, place: usize) -> Copier<'r> {
        let Machine { program, heap, .. } = &mut self.machine;
        let names = &mut self.scratch.names;
        Copier { heap, program: program.inner(), meter, names, place }
    }
}

/// Adds an argument to the kept ones.
#[inline(always)]
fn push_argument(stack: &mut [Value], arguments: &mut Range<usize>, argument: Value) {
    if let Some(place) = stack.get_mut(arguments.end) {
        *place = argument;
        arguments.end += 1;
    }
}
