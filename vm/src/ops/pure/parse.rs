//! PARSE: reads a JSON document as a value, within the limits on the answer of a tool.

use super::operand::Applied;
use crate::budget::Meter;
use crate::fault::Trap;
use crate::heap::{Heap, narrow};
use crate::json::{JsonError, JsonErrorKind, JsonEvent, JsonReader, JsonText};
use crate::program::ProgramData;
use crate::render;
use crate::shape_table::Duplicate;
use crate::value::{Tag, Value, at};
use alloc::string::String;
use alloc::vec::Vec;

/// The value of a text that is a JSON object or array; any other value is itself.
pub(super) fn read(heap: &mut Heap, program: &ProgramData, value: Value) -> Result<Value, Trap> {
    if value.tag != Tag::Text {
        return Ok(value);
    }
    let blank = [' ', '\t', '\n', '\r'];
    if !heap.text_of(program, value).trim_start_matches(blank).starts_with(['{', '[']) {
        return Ok(value);
    }
    let before = heap.checkpoint();
    match parse(heap, program, value)? {
        Applied::Value(read) => Ok(read),
        Applied::Failure(_) => {
            heap.undo(&before);
            Ok(value)
        }
    }
}

pub(super) fn parse(heap: &mut Heap, program: &ProgramData, text: Value) -> Result<Applied, Trap> {
    if text.tag != Tag::Text {
        return Ok(Applied::Value(text));
    }
    let length = at(text.high());
    // As for values: reading a byte takes far longer than copying it.
    heap.budget.burn_bulk(length, 0)?;
    // A copy, since its own texts are written to the same arena.
    heap.budget.charge(length as u64)?;
    let source = String::from(heap.text_of(program, text));
    let limits = &heap.budget.limits;
    let meter = Meter::new("a parsed value", limits.result_bytes, limits.result_nodes);
    let mut builder = HeapBuilder {
        heap,
        program,
        meter,
        values: Vec::new(),
        names: Vec::new(),
        open: Vec::new(),
        granted: 0,
    };
    let built = builder.document(&source);
    let stacks = builder.stacks();
    heap.budget.give_back(length as u64 + stacks);
    match built {
        Ok(value) => Ok(Applied::Value(value)),
        Err(Refused::Trap(trap)) => Err(trap),
        Err(Refused::Json(JsonError { offset, kind })) => {
            let place = source.get(..offset).map_or(0, |before| before.chars().count());
            Ok(Applied::Failure(alloc::format!("not JSON: {kind} at character {place}")))
        }
        Err(Refused::Duplicate(Duplicate(name))) => {
            let mut message = String::from("the field ");
            render::clip(heap.shapes.name(program, name), &mut message);
            message.push_str(" is given twice");
            Ok(Applied::Failure(message))
        }
    }
}

/// Why there is no value.
enum Refused {
    Trap(Trap),
    Json(JsonError),
    Duplicate(Duplicate),
}

impl From<Trap> for Refused {
    fn from(trap: Trap) -> Refused {
        Refused::Trap(trap)
    }
}

/// An open container: where its values and names begin on the stacks.
struct Parsing {
    record: bool,
    values: usize,
    names: usize,
}

/// Bytes that a value takes on the stacks: itself, a name, and an open container.
const STACKED: usize = size_of::<Value>() + size_of::<u32>() + size_of::<Parsing>();

/// Builds values; those of an open container wait on a stack.
struct HeapBuilder<'h> {
    heap: &'h mut Heap,
    program: &'h ProgramData,
    meter: Meter,
    values: Vec<Value>,
    names: Vec<u32>,
    open: Vec<Parsing>,
    /// Values for which the stacks are charged.
    granted: usize,
}

type Parsed<T> = Result<T, Refused>;

impl HeapBuilder<'_> {
    /// Bytes that the stacks were charged.
    fn stacks(&self) -> u64 {
        crate::budget::arena_bytes(self.granted, STACKED)
    }

    fn document(&mut self, source: &str) -> Parsed<Value> {
        let depth = self.heap.budget.limits.value_depth;
        let mut reader = JsonReader::new(source, depth);
        loop {
            let event = match reader.next_event() {
                Ok(Some(event)) => event,
                Ok(None) => break,
                Err(JsonError { kind: JsonErrorKind::TooDeep, .. }) => {
                    self.heap.budget.check_depth(narrow(depth + 1))?;
                    break;
                }
                Err(error) => return Err(Refused::Json(error)),
            };
            self.event(event)?;
        }
        let (values, _) = self.meter.used();
        self.heap.budget.burn_bulk(values, 0)?;
        Ok(self.values.pop().unwrap_or(Value::NIL))
    }

    fn event(&mut self, event: JsonEvent<'_>) -> Parsed<()> {
        let value = match event {
            JsonEvent::BeginList => return self.begin(false),
            JsonEvent::BeginRecord => return self.begin(true),
            JsonEvent::Key(name) => return self.key(name),
            JsonEvent::End => return self.end(),
            JsonEvent::Text(text) => {
                let length = text.decoded_len();
                self.meter.take(1, length)?;
                self.text(text, length)?
            }
            scalar => {
                self.meter.take(1, 0)?;
                match scalar {
                    JsonEvent::Bool(value) => Value::bool(value),
                    JsonEvent::Number(number) => Value::number(number),
                    _ => Value::NIL,
                }
            }
        };
        self.push(value)
    }

    fn text(&mut self, text: JsonText<'_>, length: usize) -> Parsed<Value> {
        self.heap.budget.check_text(length)?;
        self.heap.reserve_text(length)?;
        let start = self.heap.text.len();
        text.push_to(&mut self.heap.text);
        Ok(self.heap.text_since(start))
    }

    /// Charges one more value, name or container on the stacks.
    fn grant(&mut self) -> Parsed<()> {
        let need = self.values.len() + self.open.len() + 1;
        if need > self.granted {
            self.granted = self.heap.budget.grow(self.granted, need, 16, STACKED)?;
        }
        Ok(())
    }

    fn push(&mut self, value: Value) -> Parsed<()> {
        self.grant()?;
        self.values.push(value);
        Ok(())
    }

    fn begin(&mut self, record: bool) -> Parsed<()> {
        self.meter.take(1, 0)?;
        self.grant()?;
        self.open.push(Parsing { record, values: self.values.len(), names: self.names.len() });
        Ok(())
    }

    fn key(&mut self, name: JsonText<'_>) -> Parsed<()> {
        let length = name.decoded_len();
        self.meter.take(0, length)?;
        let Heap { shapes, budget, longest, .. } = &mut *self.heap;
        *longest = length.max(*longest);
        let name = match name.as_plain() {
            Some(plain) => shapes.intern_name(self.program, budget, plain)?,
            None => {
                budget.charge(length as u64)?;
                let mut decoded = String::with_capacity(length);
                name.push_to(&mut decoded);
                let name = shapes.intern_name(self.program, budget, &decoded);
                budget.give_back(length as u64);
                name?
            }
        };
        self.names.push(name);
        Ok(())
    }

    /// Moves the values of the innermost container into the heap.
    fn end(&mut self) -> Parsed<()> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let values = &self.values[open.values..];
        let count = values.len();
        self.heap.budget.check_items(count)?;
        let value = if open.record {
            let Heap { shapes, budget, .. } = &mut *self.heap;
            let shape = shapes.intern(self.program, budget, &self.names[open.names..])?;
            let shape = shape.map_err(Refused::Duplicate)?;
            let (start, depth) = self.heap.put_new(values)?;
            Value::record(start, shape, depth)
        } else {
            let (start, depth) = self.heap.put_new(values)?;
            Value::list(start, narrow(count), depth)
        };
        self.values.truncate(open.values);
        self.names.truncate(open.names);
        self.push(value)
    }
}
