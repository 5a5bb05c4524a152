//! Builds a value event by event, as a JSON reader produces it.
//!
//! Finished values wait on a stack that the run keeps; when a container ends, its items move into the heap.
//! Events in a wrong order are errors, never a panic.

use crate::budget::Meter;
use crate::copy_in::Refusal;
use crate::fault::{StartError, Trap};
use crate::heap::{Heap, narrow};
use crate::machine::{CallKind, Machine};
use crate::run::answer::{answered, meter, place, refuse_answer};
use crate::run::build_error::{BuildError, Misuse};
use crate::run::build_stack::{Building, STACKED};
use crate::run::rollback::entry_answered;
use crate::run::state::Run;
use crate::shape_table::NONE;
use crate::value::Value;

/// The purpose of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    Start,
    Answer,
    /// The answer to an entry, which is discarded.
    Nothing,
}

/// Builds one value from events. If it is dropped before [`Builder::finish`], the run is unchanged.
#[derive(Debug)]
pub struct Builder<'r> {
    run: &'r mut Run,
    purpose: Purpose,
    meter: Meter,
    place: usize,
}

#[inline]
pub(crate) fn answer_with(run: &mut Run) -> Builder<'_> {
    let (meter, place) = (meter(run), place(run));
    let entry = run.machine.pending_call.kind == CallKind::Entry;
    Builder::new(run, if entry { Purpose::Nothing } else { Purpose::Answer }, meter, place)
}

type Built = Result<(), BuildError>;

impl<'r> Builder<'r> {
    #[inline]
    pub(crate) fn new(run: &'r mut Run, purpose: Purpose, meter: Meter, place: usize) -> Builder<'r> {
        run.require_full_rewind();
        run.scratch.clear();
        Builder { run, purpose, meter, place }
    }

    /// Nil.
    #[inline]
    pub fn nil(&mut self) -> Built {
        self.leaf(Value::NIL)
    }

    /// A bool.
    #[inline]
    pub fn bool(&mut self, value: bool) -> Built {
        self.leaf(Value::bool(value))
    }

    /// An integer.
    #[inline]
    pub fn int(&mut self, value: i64) -> Built {
        self.leaf(Value::int(value))
    }

    /// A double. If it is not finite, [`Builder::finish`] refuses the value, as it does for a duplicate
    /// field.
    #[inline]
    pub fn double(&mut self, value: f64) -> Built {
        if !value.is_finite() {
            self.run.scratch.refusal.get_or_insert(Refusal::NotFinite);
            return self.nil();
        }
        self.leaf(Value::double(value))
    }

    /// A text.
    #[inline]
    pub fn text(&mut self, text: &str) -> Built {
        if let Purpose::Nothing = self.purpose {
            return Ok(());
        }
        self.ready()?;
        let metered = self.meter.take(1, text.len());
        // Room on the stack first, because nothing else refers to the text yet.
        let granted = metered.and_then(|()| self.grant());
        let taken = granted.and_then(|()| self.with_room(|run| run.machine.heap.add_text(text)));
        match taken {
            Ok(value) => self.push(value),
            Err(trap) => self.stop(trap),
        }
    }

    /// Begins a list.
    #[inline]
    pub fn begin_list(&mut self) -> Built {
        self.begin(false)
    }

    /// Begins a record.
    #[inline]
    pub fn begin_record(&mut self) -> Built {
        self.begin(true)
    }

    /// The name of the next value.
    pub fn key(&mut self, name: &str) -> Built {
        if let Purpose::Nothing = self.purpose {
            return Ok(());
        }
        let scratch = &mut self.run.scratch;
        if let Some(error) = &scratch.stopped {
            return Err(error.clone());
        }
        let Some(open) = scratch.open.last_mut().filter(|open| open.record) else {
            return Err(BuildError::Misuse(Misuse::KeyOutOfPlace));
        };
        let position = scratch.names.len() - open.names;
        if position != scratch.values.len() - open.values {
            return Err(BuildError::Misuse(Misuse::KeyOutOfPlace));
        }
        if let Err(trap) = self.meter.take(0, name.len()) {
            return self.stop(trap);
        }
        let program = self.run.machine.program.inner();
        let Heap { shapes, longest, .. } = &mut self.run.machine.heap;
        *longest = name.len().max(*longest);
        let guessed = match open.guess {
            NONE => None,
            shape => shapes.fields(program, shape).get(position).copied(),
        };
        let known = guessed.filter(|&known| shapes.name(program, known) == name);
        if known.is_none() {
            open.guess = NONE;
        }
        let interned = self.with_room(|run| {
            let Machine { program, heap: Heap { shapes, budget, .. }, .. } = &mut run.machine;
            match known {
                Some(known) => shapes.charge_name(budget, known).map(|()| known),
                None => shapes.intern_name(program.inner(), budget, name),
            }
        });
        match interned {
            Ok(id) => {
                self.run.scratch.names.push(id);
                Ok(())
            }
            Err(trap) => self.stop(trap),
        }
    }

    /// Ends the innermost open list or record.
    pub fn end(&mut self) -> Built {
        if let Purpose::Nothing = self.purpose {
            return Ok(());
        }
        if let Some(error) = &self.run.scratch.stopped {
            return Err(error.clone());
        }
        let scratch = &mut self.run.scratch;
        let Some(&open) = scratch.open.last() else {
            return Err(BuildError::Misuse(Misuse::EndOutOfPlace));
        };
        if open.record && scratch.names.len() - open.names != scratch.values.len() - open.values {
            return Err(BuildError::Misuse(Misuse::EndOutOfPlace));
        }
        match self.close_with_room(open) {
            Ok(value) => {
                let scratch = &mut self.run.scratch;
                scratch.open.pop();
                scratch.values.truncate(open.values);
                scratch.names.truncate(open.names);
                scratch.values.push(value);
                Ok(())
            }
            Err(Refusal::Trap(trap)) => self.stop(trap),
            Err(refusal) => {
                let scratch = &mut self.run.scratch;
                scratch.open.pop();
                scratch.values.truncate(open.values);
                scratch.names.truncate(open.names);
                scratch.values.push(Value::NIL);
                scratch.refusal.get_or_insert(refusal);
                Ok(())
            }
        }
    }

    /// Completes the value: starts the function, or answers the call.
    ///
    /// An answer with a duplicate field or a number that is not finite becomes a failure of the call with
    /// that message.
    ///
    /// # Errors
    /// An incomplete value, a value that exceeds a limit, or arguments that do not fit the function.
    pub fn finish(self) -> Built {
        if let Purpose::Nothing = self.purpose {
            entry_answered(self.run, None);
            return Ok(());
        }
        let scratch = &mut self.run.scratch;
        if let Some(error) = scratch.stopped.take() {
            return Err(error);
        }
        let &[value] = &scratch.values[..] else {
            return Err(BuildError::Misuse(Misuse::Unfinished));
        };
        if !scratch.open.is_empty() {
            return Err(BuildError::Misuse(Misuse::Unfinished));
        }
        let result = match scratch.refusal.take() {
            Some(refusal) => Err(refusal),
            None => Ok(value),
        };
        scratch.values.clear();
        match self.purpose {
            Purpose::Start => self.run.start_record(result).map_err(BuildError::Start),
            Purpose::Answer | Purpose::Nothing => {
                if self.run.machine.pending_call.kind >= CallKind::Covered && result.is_ok() {
                    // Until the entry is pushed, the limit on fuel waits.
                    self.run.machine.heap.budget.lend();
                }
                answered(self.run, result, self.meter)
            }
        }
    }

    /// Checks that a value is allowed here.
    #[inline]
    fn ready(&self) -> Built {
        let scratch = &self.run.scratch;
        if let Some(error) = &scratch.stopped {
            return Err(error.clone());
        }
        match scratch.open.last() {
            None if !scratch.values.is_empty() => Err(BuildError::Misuse(Misuse::SecondValue)),
            Some(open)
                if open.record && scratch.names.len() - open.names == scratch.values.len() - open.values =>
            {
                Err(BuildError::Misuse(Misuse::ValueWithoutKey))
            }
            _ => Ok(()),
        }
    }

    #[inline]
    fn leaf(&mut self, value: Value) -> Built {
        if let Purpose::Nothing = self.purpose {
            return Ok(());
        }
        self.ready()?;
        match self.meter.take(1, 0) {
            Ok(()) => self.push(value),
            Err(trap) => self.stop(trap),
        }
    }

    /// Runs an operation that may need memory, and again after a garbage collection if necessary.
    #[inline]
    fn with_room<T>(&mut self, mut then: impl FnMut(&mut Run) -> Result<T, Trap>) -> Result<T, Trap> {
        loop {
            match then(self.run) {
                Err(trap) => self.run.make_room(trap)?,
                done => return done,
            }
        }
    }

    fn close_with_room(&mut self, open: Building) -> Result<Value, Refusal> {
        loop {
            match self.close(open) {
                Err(Refusal::Trap(trap)) => self.run.make_room(trap)?,
                done => return done,
            }
        }
    }

    #[inline]
    fn push(&mut self, value: Value) -> Built {
        if let Err(trap) = self.grant() {
            return self.stop(trap);
        }
        self.run.scratch.values.push(value);
        Ok(())
    }

    /// Charges one more value, name or container on the stacks.
    #[inline]
    fn grant(&mut self) -> Result<(), Trap> {
        self.with_room(|run| {
            let scratch = &mut run.scratch;
            let need = scratch.values.len() + scratch.open.len() + 1;
            if need > scratch.granted {
                let budget = &mut run.machine.heap.budget;
                scratch.granted = budget.grow(scratch.granted, need, 16, STACKED)?;
            }
            Ok(())
        })
    }

    #[inline]
    fn begin(&mut self, record: bool) -> Built {
        if let Purpose::Nothing = self.purpose {
            return Ok(());
        }
        self.ready()?;
        let depth = self.run.scratch.open.len() + 1;
        let taken = self.meter.take(1, 0).and_then(|()| self.grant());
        let checked = taken.and_then(|()| self.run.machine.heap.budget.check_depth(narrow(depth)));
        if let Err(trap) = checked {
            return self.stop(trap);
        }
        let guess = if record { self.run.machine.heap.shapes.guess(self.place + depth) } else { NONE };
        let scratch = &mut self.run.scratch;
        scratch.open.push(Building {
            record,
            values: scratch.values.len(),
            names: scratch.names.len(),
            guess,
        });
        Ok(())
    }

    /// Moves a complete container into the heap.
    fn close(&mut self, open: Building) -> Result<Value, Refusal> {
        let scratch = &self.run.scratch;
        let program = self.run.machine.program.inner();
        let heap = &mut self.run.machine.heap;
        let values = &scratch.values[open.values..];
        heap.budget.check_items(values.len())?;
        if !open.record {
            let (start, depth) = heap.put_new(values)?;
            return Ok(Value::list(start, narrow(values.len()), depth));
        }
        let names = &scratch.names[open.names..];
        let place = self.place + scratch.open.len();
        let Heap { shapes, budget, .. } = &mut *heap;
        let shape = match open.guess {
            guess if guess != NONE && shapes.fields(program, guess).len() == names.len() => {
                shapes.charge_shape(budget, guess)?;
                guess
            }
            _ => shapes.intern(program, budget, names)?.map_err(Refusal::Duplicate)?,
        };
        shapes.learn(place, shape);
        let (start, depth) = heap.put_new(values)?;
        Ok(Value::record(start, shape, depth))
    }

    /// A limit ends the building; if it was an answer, it also ends the run.
    #[cold]
    fn stop(&mut self, trap: Trap) -> Built {
        let error = match self.purpose {
            Purpose::Start => BuildError::Start(StartError::from(trap)),
            Purpose::Answer | Purpose::Nothing => refuse_answer(self.run, trap),
        };
        self.run.scratch.stopped = Some(error.clone());
        Err(error)
    }
}
