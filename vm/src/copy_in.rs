//! Copies values from the host into the heap.
//!
//! Sizes are known from the slices, so a container reserves its place first and is filled in order. A record
//! with the same fields as the previous record at this place needs no hashing.

use crate::budget::Meter;
use crate::fault::Trap;
use crate::heap::{Heap, narrow};
use crate::host_value::{Datum, Shaped};
use crate::inline_stack::InlineStack;
use crate::program::ProgramData;
use crate::render;
use crate::shape_table::{Duplicate, NONE};
use crate::value::{Value, at};
use alloc::string::String;
use alloc::vec::Vec;
use core::hint::cold_path;

/// Why a value from outside is refused.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// A limit is exceeded: the run ends.
    Trap(Trap),
    /// A field is given twice: the call fails.
    Duplicate(Duplicate),
    /// A number is not finite: the call fails.
    NotFinite,
}

impl From<Trap> for Refusal {
    fn from(trap: Trap) -> Refusal {
        Refusal::Trap(trap)
    }
}

impl Refusal {
    /// The failure message, if it is not a limit.
    pub(crate) fn message(&self, heap: &Heap, program: &ProgramData) -> String {
        let mut message = String::new();
        match self {
            Refusal::Duplicate(Duplicate(name)) => {
                message.push_str("the field ");
                render::clip(heap.shapes.name(program, *name), &mut message);
                message.push_str(" is given twice");
            }
            Refusal::NotFinite => message.push_str("a number that is not finite"),
            Refusal::Trap(_) => {}
        }
        message
    }
}

/// Copies a flat record (no nested containers) that has the same names as the previous record at this place.
///
/// Returns `None` for any other record, and when a limit would be exceeded; only charges have been made then.
/// [`Copier::copy`] handles those cases and reports the error. Both charge the same, in the same order.
#[inline(always)]
pub(crate) fn flat_record(heap: &mut Heap, place: usize, fields: &[(&str, Datum<'_>)]) -> Option<Value> {
    let shape = heap.shapes.guess(place);
    let names = heap.shapes.match_names(shape, fields.iter().map(|&(name, _)| name))?;
    put_record(heap, (shape, names), fields.iter().map(|(_, datum)| datum))
}

/// Like [`flat_record`], for a record of the host shape that was used last at this place: its names are not
/// compared.
#[inline(always)]
pub(crate) fn shaped_record(heap: &mut Heap, place: usize, record: &Shaped<'_>) -> Option<Value> {
    let shape = heap.shapes.guess(place);
    let names = heap.shapes.match_host_shape(shape, record.names())?;
    put_record(heap, (shape, names), record.values().iter())
}

/// Puts a record into the heap; its shape, the bytes of all its names and the length of the longest are
/// known.
#[inline(always)]
fn put_record<'d>(
    heap: &mut Heap,
    (shape, (names, longest_name)): (u32, (usize, usize)),
    data: impl ExactSizeIterator<Item = &'d Datum<'d>>,
) -> Option<Value> {
    let (count, text) = (data.len(), heap.text.len());
    let limits = &heap.budget.limits;
    if count > limits.items || count >= limits.result_nodes || names > limits.result_bytes {
        return None;
    }
    heap.shapes.charge_shape_and_names(&mut heap.budget, shape).ok()?;
    let start = heap.take(count).ok()?;
    if let Some(longest) = fill_fields(heap, start, names, data) {
        let bytes = names + heap.text.len() - text;
        if let Some(left) = heap.budget.fuel.checked_sub(((1 + count) / 4 + bytes / 64) as u64) {
            heap.budget.fuel = left;
            heap.longest = heap.longest.max(longest).max(longest_name);
            return Some(Value::record(narrow(start), shape, 1));
        }
    }
    cold_path();
    heap.top = start;
    heap.text.truncate(text);
    None
}

/// Copies field values to their places. `names` bytes were already counted. Returns the length of the longest
/// text.
#[inline(always)]
fn fill_fields<'d>(
    heap: &mut Heap,
    start: usize,
    names: usize,
    data: impl Iterator<Item = &'d Datum<'d>>,
) -> Option<usize> {
    let (before, mut longest) = (heap.text.len(), 0);
    for (place, datum) in (start..).zip(data) {
        let value = match *datum {
            Datum::Text(text) => {
                let start = heap.text.len();
                if text.len() > heap.budget.limits.text
                    || text.len() > heap.budget.limits.result_bytes - names - (start - before)
                {
                    return None;
                }
                heap.reserve_text(text.len()).ok()?;
                heap.text.push_str(text);
                longest = longest.max(text.len());
                Value::text(narrow(heap.base + start), narrow(text.len()))
            }
            Datum::Nil => Value::NIL,
            Datum::Bool(value) => Value::bool(value),
            Datum::Int(value) => Value::int(value),
            Datum::Double(value) if value.is_finite() => Value::double(value),
            Datum::Double(_) | Datum::List(_) | Datum::Record(_) | Datum::Shaped(_) => return None,
        };
        *heap.values.get_mut(place)? = value;
    }
    Some(longest)
}

/// Copies one value of any kind.
pub(crate) struct Copier<'h> {
    pub(crate) heap: &'h mut Heap,
    pub(crate) program: &'h ProgramData,
    pub(crate) meter: &'h mut Meter,
    /// Scratch space for the names of a record.
    pub(crate) names: &'h mut Vec<u32>,
    /// Identifies where the values come from, for guessing shapes.
    pub(crate) place: usize,
}

#[derive(Clone, Copy)]
enum Items<'a> {
    List(&'a [Datum<'a>]),
    Record(&'a [(&'a str, Datum<'a>)]),
    Shaped(&'a [Datum<'a>]),
}

impl<'a> Items<'a> {
    #[inline(always)]
    fn get(&self, place: usize) -> Option<Datum<'a>> {
        match self {
            Items::List(items) | Items::Shaped(items) => items.get(place).copied(),
            Items::Record(fields) => fields.get(place).map(|&(_, value)| value),
        }
    }
}

/// A container that is being filled.
#[derive(Clone, Copy)]
struct Copying<'a> {
    items: Items<'a>,
    next: usize,
    start: usize,
    shape: u32,
    depth: u32,
}

impl Copying<'_> {
    fn value(&self) -> Value {
        let start = narrow(self.start);
        match self.items {
            Items::List(items) => Value::list(start, narrow(items.len()), self.depth),
            Items::Record(_) | Items::Shaped(_) => Value::record(start, self.shape, self.depth),
        }
    }
}

impl Copier<'_> {
    /// Copies a value.
    #[inline]
    pub(crate) fn copy(&mut self, datum: Datum<'_>) -> Result<Value, Refusal> {
        if let Some(value) = self.leaf(datum)? {
            return Ok(value);
        }
        let mut top = self.open(datum, 1)?;
        match self.fill(&mut top)? {
            None => Ok(top.value()),
            Some(child) => self.copy_nested(top, child),
        }
    }

    #[inline(never)]
    fn copy_nested<'a>(&mut self, top: Copying<'a>, child: Datum<'a>) -> Result<Value, Refusal> {
        let mut stack = InlineStack::new(top);
        stack.push(top);
        let mut depth = 2;
        stack.push(self.open(child, depth)?);
        loop {
            let Some(open) = stack.last() else { return Ok(Value::NIL) };
            if let Some(child) = self.fill(open)? {
                depth += 1;
                let open = self.open(child, depth)?;
                stack.push(open);
                continue;
            }
            let value = open.value();
            stack.pop();
            depth -= 1;
            let Some(parent) = stack.last() else { return Ok(value) };
            self.heap.values[parent.start + parent.next] = value;
            parent.next += 1;
            parent.depth = parent.depth.max(1 + value.depth());
        }
    }

    /// The value, unless it is a container.
    #[inline(always)]
    fn leaf(&mut self, datum: Datum<'_>) -> Result<Option<Value>, Refusal> {
        let value = match datum {
            Datum::Nil => Value::NIL,
            Datum::Bool(value) => Value::bool(value),
            Datum::Int(value) => Value::int(value),
            Datum::Double(value) if value.is_finite() => Value::double(value),
            Datum::Double(_) => return Err(Refusal::NotFinite),
            Datum::Text(text) => {
                self.meter.take(1, text.len())?;
                return Ok(Some(self.heap.add_text(text)?));
            }
            Datum::List(_) | Datum::Record(_) | Datum::Shaped(_) => return Ok(None),
        };
        self.meter.take(1, 0)?;
        Ok(Some(value))
    }

    /// Reserves the place of a container.
    #[inline]
    fn open<'a>(&mut self, datum: Datum<'a>, depth: u32) -> Result<Copying<'a>, Refusal> {
        self.meter.take(1, 0)?;
        self.heap.budget.check_depth(depth)?;
        let (items, len, shape) = match datum {
            Datum::Record(fields) => {
                self.heap.budget.check_items(fields.len())?;
                let names = fields.iter().map(|&(name, _)| name);
                (Items::Record(fields), fields.len(), self.shape(names, at(depth))?)
            }
            Datum::Shaped(record) => {
                let values = record.values();
                self.heap.budget.check_items(values.len())?;
                let names = record.names().iter().map(|name| &**name);
                let shape = self.shape(names, at(depth))?;
                self.heap.shapes.set_host_shape(shape, record.names());
                (Items::Shaped(values), values.len(), shape)
            }
            Datum::List(items) => {
                self.heap.budget.check_items(items.len())?;
                (Items::List(items), items.len(), NONE)
            }
            _ => (Items::List(&[]), 0, NONE),
        };
        let start = self.heap.take(len)?;
        Ok(Copying { items, next: 0, start, shape, depth: 1 })
    }

    /// Fills a container until the next nested container.
    #[inline]
    fn fill<'a>(&mut self, open: &mut Copying<'a>) -> Result<Option<Datum<'a>>, Refusal> {
        while let Some(datum) = open.items.get(open.next) {
            let Some(value) = self.leaf(datum)? else { return Ok(Some(datum)) };
            self.heap.values[open.start + open.next] = value;
            open.next += 1;
        }
        Ok(None)
    }

    /// The shape for the names of a record.
    #[inline]
    fn shape<'n>(
        &mut self,
        fields: impl ExactSizeIterator<Item = &'n str> + Clone,
        depth: usize,
    ) -> Result<u32, Refusal> {
        let Heap { shapes, budget, longest, .. } = &mut *self.heap;
        let place = self.place + depth;
        let guess = shapes.guess(place);
        let known = if guess == NONE { &[][..] } else { shapes.fields(self.program, guess) };
        let alike = guess != NONE
            && known.len() == fields.len()
            && known.iter().zip(fields.clone()).all(|(&name, text)| shapes.name(self.program, name) == text);
        let mut bytes = 0;
        for text in fields.clone() {
            bytes += text.len();
            *longest = text.len().max(*longest);
        }
        self.meter.take(0, bytes)?;
        if alike {
            shapes.charge_shape_and_names(budget, guess)?;
            return Ok(guess);
        }
        self.names.clear();
        for text in fields {
            self.names.push(shapes.intern_name(self.program, budget, text)?);
        }
        let shape = shapes.intern(self.program, budget, self.names)?.map_err(Refusal::Duplicate)?;
        shapes.learn(place, shape);
        Ok(shape)
    }
}
