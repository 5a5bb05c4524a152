//! A run from a snapshot: everything is verified as it is read, for the bytes may come from anywhere.
//!
//! What is shown: the sum and the program fit; frames follow from calls of the program; registers are those that are
//! live there, loops have their lists; texts are UTF-8, numbers finite, records have the fields of their shape; a value
//! is named again only once it is whole, so nothing is circular; sizes, depth and memory keep to the limits. Nothing
//! recurses, and no room is taken that the bytes or the limits do not pay for.

use crate::fault::{StartError, Trap};
use crate::heap::{Heap, narrow};
use crate::interp::{self, Machine, Waiting};
use crate::live::Use;
use crate::program::{Inner, Program};
use crate::run::Run;
use crate::set;
use crate::snapshot::{HEAD, MAGIC, SUM, VERSION, tag};
use crate::value::{Tag, Value, at};
use crate::{Limits, frame::Frame};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use ilo_spec::decode::Reader;
use ilo_spec::error::{Code, DecodeError};
use ilo_spec::isa::Op;
use ilo_spec::operand::{FunctionId, StringId};
use xxhash_rust::xxh3::xxh3_64;

/// Why bytes are not a snapshot that a run may go on from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RestoreError {
    /// They do not begin as a snapshot does.
    Magic,
    /// A version that this build does not read.
    Version {
        /// The version found.
        found: u8,
    },
    /// The sum does not fit: bytes were changed or lost.
    Damaged,
    /// The snapshot is of another program.
    OtherProgram {
        /// The hash of the program at hand.
        expected: u64,
        /// The hash that the snapshot names.
        found: u64,
    },
    /// Something in it is not of the form.
    Form(DecodeError),
    /// Something in it breaks a rule.
    Rule {
        /// The byte at which reading stopped.
        offset: usize,
        /// What should be there.
        expected: &'static str,
        /// What is.
        found: u64,
    },
    /// It passes a limit of the run.
    Limit {
        /// The limit's code.
        code: Code,
        /// What was found and the limit.
        message: String,
    },
}

impl RestoreError {
    /// The stable code.
    pub fn code(&self) -> Code {
        match self {
            RestoreError::Limit { code, .. } => *code,
            _ => Code::BadSnapshot,
        }
    }
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RestoreError::Magic => f.write_str("expected the magic bytes of an ilo snapshot"),
            RestoreError::Version { found } => {
                write!(f, "expected a snapshot of version {VERSION}, found {found}")
            }
            RestoreError::Damaged => {
                f.write_str("the sum at the end does not fit: bytes were changed or lost")
            }
            RestoreError::OtherProgram { expected, found } => {
                write!(f, "expected a snapshot of program {expected:016x}, found one of {found:016x}")
            }
            RestoreError::Form(error) => error.fmt(f),
            RestoreError::Rule { offset, expected, found } => {
                write!(f, "at byte {offset}: expected {expected}, found {found}")
            }
            RestoreError::Limit { message, .. } => f.write_str(message),
        }
    }
}

impl core::error::Error for RestoreError {}

impl From<DecodeError> for RestoreError {
    fn from(error: DecodeError) -> RestoreError {
        RestoreError::Form(error)
    }
}

impl From<Trap> for RestoreError {
    fn from(trap: Trap) -> RestoreError {
        let (code, message) = trap.into_parts();
        RestoreError::Limit { code, message }
    }
}

impl From<StartError> for RestoreError {
    fn from(error: StartError) -> RestoreError {
        // The function is there, so it is the memory of its frames.
        RestoreError::Limit { code: error.code(), message: alloc::format!("{error}") }
    }
}

type Result<T> = core::result::Result<T, RestoreError>;

impl Run {
    /// A run that goes on from a snapshot of this program.
    ///
    /// # Errors
    /// As [`Run::restore`].
    pub fn from_snapshot(program: &Program, snapshot: &[u8], limits: Limits) -> Result<Run> {
        let mut run = Run::new(program, limits);
        run.restore(snapshot)?;
        Ok(run)
    }

    /// Drops whatever was under way and goes on from a snapshot: the call that it was taken at waits for its answer.
    ///
    /// Fuel and calls that were used stay used; memory is counted anew. There are no arguments to rewind to.
    ///
    /// # Errors
    /// Bytes that are no snapshot of this program, or that pass a limit of this run; then nothing is under way.
    pub fn restore(&mut self, snapshot: &[u8]) -> Result<()> {
        self.clear();
        let mut tables = self.tables.take().unwrap_or_default();
        let restored = self.read(snapshot, &mut tables);
        tables.clear();
        self.tables = Some(tables);
        if restored.is_err() {
            self.clear();
        }
        restored
    }

    fn read(&mut self, snapshot: &[u8], tables: &mut Tables) -> Result<()> {
        let program = self.machine.program.clone();
        let mut reader = open(snapshot, program.inner().lazy().id)?;
        let nested = flag(&mut reader)?;
        let (fuel, calls) = (reader.varint()?, reader.varint()?);
        let function = FunctionId(reader.varint16()?);
        if program.inner().function(function).is_none() {
            return rule(&reader, "the number of a function", function.0.into());
        }
        self.prepare(function)?;
        let inner = program.inner();
        let lazy = inner.lazy();
        self.machine.heap.budget.use_up(fuel, calls);
        self.machine.heap.nested = nested;
        windows(&mut self.machine, &mut reader, inner, function)?;
        let Machine { heap, stack, frames, notes, pc, base, .. } = &mut self.machine;
        let windows = frames.iter().map(|frame| (frame.pc, frame.base));
        let mut values = Values { reader, heap, program: inner, tables, charged: 0 };
        for (pc, base) in windows.chain([(*pc, *base)]) {
            let Some(site) = lazy.live.site(pc - 1) else { continue };
            let base = at(base);
            for register in set::registers(site.set) {
                let of = lazy.live.use_of(site, register);
                let value = values.register(of, &stack[base..])?;
                stack[base + usize::from(register)] = value;
            }
        }
        let count = values.reader.count("notes", usize::MAX, 2)?;
        for _ in 0..count {
            let tool = values.reader.varint32()?;
            if tool >= inner.string_count() {
                return values.rule("the number of a tool's name", tool.into());
            }
            let value = values.value(None)?;
            interp::note(values.heap, notes, StringId(tool), value)?;
        }
        if values.reader.left() > 0 {
            let left = values.reader.left() as u64;
            return values.rule("the end", left);
        }
        let charged = values.charged;
        self.machine.heap.budget.give_back(charged);
        Ok(self.wait()?)
    }
}

/// Reads where the run is: the calls that are under way, each of the function that the one before called.
fn windows(
    machine: &mut Machine,
    reader: &mut Reader<'_>,
    program: &Inner,
    function: FunctionId,
) -> Result<()> {
    let count = reader.count("frames", program.spec.functions.len(), 1)?;
    let (mut function, mut base) = (function, 0);
    for left in (0..=count).rev() {
        let found = reader.varint32()?;
        let range = program.function(function).map_or(0..0, |function| function.start..function.end);
        let op = program.spec.code.get(at(found)).filter(|_| range.contains(&found));
        let pc = at(found) + 1;
        match op {
            Some(&Op::Invoke { dst, first, function: callee, .. }) if left > 0 => {
                machine.frames.push(Frame { pc, base, dst });
                base += u32::from(first.0);
                function = callee;
            }
            Some(&Op::Tool { dst, first, call, .. }) if left == 0 => {
                (machine.pc, machine.base) = (pc, base);
                machine.waiting = Waiting { call, first, dst };
            }
            _ => {
                let expected = if left > 0 { "a call of a function" } else { "a tool call" };
                return Err(RestoreError::Rule { offset: reader.offset(), expected, found: found.into() });
            }
        }
    }
    Ok(())
}

/// Checks what stands around the content, which is left to be read.
fn open(snapshot: &[u8], id: u64) -> Result<Reader<'_>> {
    let Some(rest) = snapshot.strip_prefix(&MAGIC) else { return Err(RestoreError::Magic) };
    match rest.first() {
        Some(&VERSION) => {}
        Some(&found) => return Err(RestoreError::Version { found }),
        None => return Err(RestoreError::Damaged),
    }
    let Some((content, sum)) = snapshot.split_last_chunk::<SUM>() else { return Err(RestoreError::Damaged) };
    if content.len() < HEAD || xxh3_64(content).to_le_bytes() != *sum {
        return Err(RestoreError::Damaged);
    }
    let mut reader = Reader::new(content);
    let mut found = [0; size_of::<u64>()];
    reader.raw(MAGIC.len() + 1)?;
    found.copy_from_slice(reader.raw(size_of::<u64>())?);
    let found = u64::from_le_bytes(found);
    if found == id { Ok(reader) } else { Err(RestoreError::OtherProgram { expected: id, found }) }
}

fn rule<T>(reader: &Reader<'_>, expected: &'static str, found: u64) -> Result<T> {
    Err(RestoreError::Rule { offset: reader.offset(), expected, found })
}

fn flag(reader: &mut Reader<'_>) -> Result<bool> {
    match reader.byte()? {
        0 => Ok(false),
        1 => Ok(true),
        found => Err(RestoreError::Rule { offset: reader.offset(), expected: "0 or 1", found: found.into() }),
    }
}

/// What was read before, kept by the run for the next time.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    texts: Vec<Value>,
    objects: Vec<Object>,
    open: Vec<Open>,
    shapes: Vec<u32>,
    names: Vec<u32>,
    list: Vec<u32>,
}

/// A list or record that has a number.
#[derive(Clone, Copy, Debug)]
struct Object {
    /// The value, as deep as what is there of it.
    value: Value,
    /// Items that are there.
    filled: u32,
    whole: bool,
    /// Whether a container holds it.
    held: bool,
}

/// A container whose items are being read.
#[derive(Clone, Copy, Debug)]
struct Open {
    object: u32,
    next: u32,
    count: u32,
    depth: u32,
}

/// Entries of a table that are kept.
const KEPT: usize = 1_024;
/// Bytes of an entry of a table, which may have twice the room.
const ENTRY: u64 = 2 * size_of::<Object>() as u64;

impl Tables {
    fn clear(&mut self) {
        fn clear<T>(list: &mut Vec<T>) {
            list.clear();
            list.shrink_to(KEPT);
        }
        clear(&mut self.texts);
        clear(&mut self.objects);
        clear(&mut self.open);
        clear(&mut self.shapes);
        clear(&mut self.names);
        clear(&mut self.list);
    }
}

/// Reads values.
struct Values<'r, 'b> {
    reader: Reader<'b>,
    heap: &'r mut Heap,
    program: &'r Inner,
    tables: &'r mut Tables,
    /// What the tables were charged.
    charged: u64,
}

impl Values<'_, '_> {
    fn rule<T>(&self, expected: &'static str, found: u64) -> Result<T> {
        rule(&self.reader, expected, found)
    }

    /// Charges an entry of a table.
    #[inline]
    fn entry(&mut self) -> Result<()> {
        self.heap.budget.charge(ENTRY)?;
        self.charged += ENTRY;
        Ok(())
    }

    /// Reads a register; those of its window that are lower are there.
    #[inline]
    fn register(&mut self, of: Use, window: &[Value]) -> Result<Value> {
        match of {
            Use::Value => self.value(None),
            Use::List => match self.value(None)? {
                list if list.tag == Tag::List => Ok(list),
                _ => self.rule("a list to loop over", 0),
            },
            Use::Index(open) => {
                let index = self.reader.varint32()?;
                if index > window[usize::from(open.base)].aux {
                    return self.rule("an index within the list of the loop", index.into());
                }
                let cost = self.program.facts.loops.get(at(open.pc)).copied().unwrap_or(1);
                Ok(Value::state(cost, index, open.pc + 1))
            }
            Use::Collected(open) => self.value(Some(window[usize::from(open.base)].aux)),
        }
    }

    /// Reads a value; with `room` it is what a loop collects over a list of that length.
    #[inline]
    fn value(&mut self, mut room: Option<u32>) -> Result<Value> {
        loop {
            let mut done = self.begin(room.take())?;
            loop {
                let Some(open) = self.tables.open.last_mut() else {
                    // Whatever opened something has left it in the table.
                    return Ok(done.unwrap_or(Value::NIL));
                };
                let object = &mut self.tables.objects[at(open.object)];
                if let Some(item) = done.take() {
                    self.heap.values[at(object.value.low()) + at(open.next)] = item;
                    open.next += 1;
                    open.depth = open.depth.max(1 + item.depth());
                    object.filled = open.next;
                    object.value = object.value.at_depth(open.depth);
                }
                if open.next < open.count {
                    break;
                }
                self.heap.budget.check_depth(open.depth)?;
                object.whole = true;
                done = Some(object.value);
                self.tables.open.pop();
            }
        }
    }

    /// Reads what is no container whole, and a container up to its items.
    #[inline]
    fn begin(&mut self, room: Option<u32>) -> Result<Option<Value>> {
        let tag = self.reader.byte()?;
        if room.is_some() && !matches!(tag, tag::LIST | tag::GROWABLE) {
            return self.rule("a list that a loop collects", tag.into());
        }
        let value = match tag {
            tag::NIL => Value::NIL,
            tag::FALSE => Value::bool(false),
            tag::TRUE => Value::bool(true),
            tag::INT => Value::int(self.reader.zigzag64()?),
            tag::DOUBLE => self.double()?,
            tag::TEXT => self.text()?,
            tag::TEXT_AGAIN => {
                let number = self.reader.varint32()?;
                match self.tables.texts.get(at(number)) {
                    Some(&text) => text,
                    None => return self.rule("the number of a text before", number.into()),
                }
            }
            tag::STRING => {
                let number = self.reader.varint32()?;
                match self.program.texts.get(at(number)) {
                    Some(&text) => text,
                    None => return self.rule("the number of a string", number.into()),
                }
            }
            tag::LIST => return self.list(room),
            tag::GROWABLE => return self.growable(room),
            tag::RECORD | tag::OWN_RECORD => return self.record(tag),
            tag::AGAIN => self.again()?,
            _ => return self.rule("the tag of a value", tag.into()),
        };
        Ok(Some(value))
    }

    fn double(&mut self) -> Result<Value> {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(self.reader.raw(8)?);
        let double = f64::from_bits(u64::from_le_bytes(bytes));
        if double.is_finite() { Ok(Value::double(double)) } else { self.rule("a finite number", 0) }
    }

    #[inline]
    fn text(&mut self) -> Result<Value> {
        let count = self.reader.count("bytes", usize::MAX, 1)?;
        let offset = self.reader.offset();
        let bytes = self.reader.raw(count)?;
        let Ok(text) = core::str::from_utf8(bytes) else { return not_utf8(offset) };
        let value = self.heap.add_text(text)?;
        if count > 0 {
            self.entry()?;
            self.tables.texts.push(value);
        }
        Ok(value)
    }

    fn list(&mut self, room: Option<u32>) -> Result<Option<Value>> {
        let count = self.reader.count("items", usize::MAX, 1)?;
        self.heap.budget.check_items(count)?;
        let room = room.map_or(count, at);
        if count > room {
            return self.rule("no more items than the loop has room for", count as u64);
        }
        let start = self.heap.take(room)?;
        self.open(Value::list(narrow(start), narrow(count), 1), count)
    }

    fn growable(&mut self, room: Option<u32>) -> Result<Option<Value>> {
        let len = self.reader.varint32()?;
        let used = self.reader.count("items", usize::MAX, 1)?;
        let places = self.reader.varint()?;
        if len == 0 || at(len) > used || room.is_some_and(|room| len < room) {
            return self.rule("a length of the list within its items", len.into());
        }
        if places < used as u64 || places > (2 * used as u64).max(4) {
            return self.rule("places for as many items, and at most twice as many", places);
        }
        self.heap.budget.check_items(used)?;
        // At most twice what the bytes hold.
        let places = usize::try_from(places).unwrap_or(used);
        let header = self.heap.take(places + 1)?;
        self.heap.values[header] = Value::header(narrow(used), narrow(places));
        self.open(Value::growable(narrow(header + 1), len, 1), used)
    }

    fn record(&mut self, tag: u8) -> Result<Option<Value>> {
        let shape = if tag == tag::RECORD {
            let shape = self.reader.varint32()?;
            if shape >= self.program.shape_count() {
                return self.rule("the number of a shape", shape.into());
            }
            shape
        } else {
            self.own_shape()?
        };
        let count = self.heap.shapes.fields(self.program, shape).len();
        if count > self.reader.left() {
            return self.rule("a value for each field", self.reader.left() as u64);
        }
        self.heap.budget.check_items(count)?;
        let start = self.heap.take(count)?;
        self.open(Value::record(narrow(start), shape, 1), count)
    }

    fn own_shape(&mut self) -> Result<u32> {
        let number = self.reader.varint32()?;
        if let Some(&shape) = self.tables.shapes.get(at(number)) {
            return Ok(shape);
        }
        if at(number) != self.tables.shapes.len() {
            return self.rule("the number of a shape before, or the next", number.into());
        }
        let count = self.reader.count("fields", usize::MAX, 1)?;
        self.heap.budget.check_items(count)?;
        self.tables.list.clear();
        for _ in 0..count {
            let name = self.name()?;
            self.entry()?;
            self.tables.list.push(name);
        }
        let Heap { shapes, budget, .. } = &mut *self.heap;
        let shape = match shapes.intern(self.program, budget, &self.tables.list)? {
            Ok(shape) => shape,
            Err(duplicate) => return self.rule("every field of a shape once", duplicate.0.into()),
        };
        self.entry()?;
        self.tables.shapes.push(shape);
        Ok(shape)
    }

    fn name(&mut self) -> Result<u32> {
        let found = self.reader.varint()?;
        let Ok(number) = u32::try_from(found / 2) else { return self.rule("the number of a name", found) };
        if found % 2 == 0 {
            if number >= self.program.string_count() {
                return self.rule("the number of a name", found);
            }
            return Ok(number);
        }
        if let Some(&name) = self.tables.names.get(at(number)) {
            return Ok(name);
        }
        if at(number) != self.tables.names.len() {
            return self.rule("the number of a name before, or the next", found);
        }
        let count = self.reader.count("bytes", usize::MAX, 1)?;
        let offset = self.reader.offset();
        let Ok(text) = core::str::from_utf8(self.reader.raw(count)?) else { return not_utf8(offset) };
        let Heap { shapes, budget, longest, .. } = &mut *self.heap;
        *longest = text.len().max(*longest);
        let name = shapes.intern_name(self.program, budget, text)?;
        self.entry()?;
        self.tables.names.push(name);
        Ok(name)
    }

    /// A container whose place is taken: whole where it is empty, else its items follow.
    fn open(&mut self, value: Value, count: usize) -> Result<Option<Value>> {
        if count == 0 {
            return Ok(Some(value));
        }
        self.entry()?;
        self.entry()?;
        let object = narrow(self.tables.objects.len());
        let held = !self.tables.open.is_empty();
        self.tables.objects.push(Object { value, filled: 0, whole: false, held });
        self.tables.open.push(Open { object, next: 0, count: narrow(count), depth: 1 });
        Ok(None)
    }

    /// A container that was there before: whole, or of a list that grows what is there.
    fn again(&mut self) -> Result<Value> {
        let number = self.reader.varint32()?;
        let Some(&Object { value, filled, whole, held }) = self.tables.objects.get(at(number)) else {
            return self.rule("the number of a list or record before", number.into());
        };
        // What two containers hold may be larger, written out, than the heap; what registers hold as well is not.
        if !self.tables.open.is_empty() {
            self.heap.nested |= held;
            self.tables.objects[at(number)].held = true;
        }
        if value.tag == Tag::List && value.is_growable() {
            let len = self.reader.varint32()?;
            if len == 0 || len > filled {
                return self.rule("a length of what is there of the list", len.into());
            }
            return Ok(Value { aux: len, ..value });
        }
        if whole { Ok(value) } else { self.rule("a list or record that is whole", number.into()) }
    }
}

fn not_utf8<T>(offset: usize) -> Result<T> {
    Err(RestoreError::Form(DecodeError { offset, kind: ilo_spec::error::DecodeErrorKind::Utf8 }))
}
