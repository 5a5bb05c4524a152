//! Reads a snapshot; everything is verified, because the bytes may come from anywhere.
//!
//! It checks that the checksum and the program match; frames follow from calls in the program; the live
//! registers are there, and loops have their lists; texts are UTF-8, numbers are finite, records have the
//! fields of their shape; a value is referred to only once it is complete, so nothing is circular; sizes,
//! depth and memory respect the limits. Nothing recurses, and no memory is allocated beyond what the input or
//! the limits allow.

use super::error::{RestoreError, Restored};
use super::format::{HEAD, MAGIC, SUM, VERSION, checksum, tag};
use super::rollbacks::{self, EndFault, EntryPlace, Parts};
use super::tables::{ENTRY, Object, Open, Tables};
use crate::frame::Frame;
use crate::heap::{Heap, narrow};
use crate::liveness::RegisterUse;
use crate::machine::{self, CallKind, Machine, PendingCall};
use crate::program::{Program, ProgramData};
use crate::register_set::registers;
use crate::value::{Tag, Value, at};
use ilo_spec::bytes::ByteReader;
use ilo_spec::error::DecodeError;
use ilo_spec::isa::{Op, ToolCall};
use ilo_spec::operand::{FunctionId, Out, StringId};

/// The beginning of a snapshot; the rest is read when the function that it names is prepared.
pub(crate) struct Header<'b> {
    pub(crate) function: FunctionId,
    nested: bool,
    rollbacks: bool,
    fuel: u64,
    calls: u64,
    reader: ByteReader<'b>,
}

impl<'b> Header<'b> {
    /// Checks what encloses the content, and reads the beginning.
    pub(crate) fn read(snapshot: &'b [u8], program: &Program) -> Restored<Header<'b>> {
        let mut reader = open(snapshot, program.inner().lazy().id)?;
        let flags = reader.byte()?;
        if flags > 3 {
            return rule(&reader, "a number below 4", flags.into());
        }
        let (nested, rollbacks) = (flags & 1 != 0, flags & 2 != 0);
        let (fuel, calls) = (reader.varint()?, reader.varint()?);
        let function = FunctionId(reader.varint16()?);
        if program.inner().function(function).is_none() {
            return rule(&reader, "the number of a function", function.0.into());
        }
        Ok(Header { function, nested, rollbacks, fuel, calls, reader })
    }

    /// Reads the rest into a machine that is prepared for the function.
    pub(crate) fn read_rest(self, machine: &mut Machine, tables: &mut Tables) -> Restored<Option<EndFault>> {
        let Header { function, nested, rollbacks: has_rollbacks, fuel, calls, mut reader } = self;
        let program = machine.program.clone();
        let inner = program.inner();
        let lazy = inner.lazy();
        machine.heap.budget.use_up(fuel, calls);
        machine.heap.nested = nested;
        let running = windows(machine, &mut reader, inner, function)?;
        let Machine { heap, stack, frames, notes, rollbacks, pc, base, result, .. } = &mut *machine;
        let windows = frames.iter().map(|frame| (frame.pc(), frame.base()));
        let mut values = Values { reader, heap, program: inner, tables, charged: 0 };
        for (pc, base) in windows.chain(running.is_none().then_some((*pc, *base))) {
            let Some(safepoint) = lazy.live.safepoint(pc - 1) else { continue };
            let base = at(base);
            for register in registers(safepoint.set) {
                let of = lazy.live.use_of(safepoint, register);
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
            machine::note(values.heap, notes, StringId(tool), value)?;
            rollbacks.used = true;
        }
        let place = EntryPlace { function, calls, running };
        let mut fault = None;
        if has_rollbacks {
            let mut parts = Parts { rollbacks, frames, notes, pc, result };
            fault = rollbacks::read(&mut values, &mut parts, &place)?;
        } else {
            rollbacks::none(&values.reader, &place)?;
        }
        if values.reader.left() > 0 {
            let left = values.reader.left() as u64;
            return values.rule("the end", left);
        }
        let charged = values.charged;
        machine.heap.budget.give_back(charged);
        if running.is_none() {
            let (entries, arguments) = inner.section(machine.pc - 1);
            if entries > 0 {
                machine.rollbacks.promise(&mut machine.heap.budget, entries, arguments)?;
            }
        }
        Ok(fault)
    }
}

/// Reads where the run is: the open calls, each of a function that the one before invokes. Returns the
/// `rollback` whose entry waits for its answer, if it is not a `tool` that waits.
fn windows(
    machine: &mut Machine,
    reader: &mut ByteReader<'_>,
    program: &ProgramData,
    function: FunctionId,
) -> Restored<Option<u32>> {
    let count = reader.count("frames", program.spec.functions.len(), 1)?;
    let (mut function, mut base) = (function, 0);
    let mut running = None;
    for left in (0..=count).rev() {
        let found = reader.varint32()?;
        let range = program.function(function).map_or(0..0, |function| function.start..function.end);
        let op = program.spec.code.get(at(found)).filter(|_| range.contains(&found));
        let pc = at(found) + 1;
        match op {
            Some(&Op::Invoke { dst, first, function: callee, .. }) if left > 0 => {
                machine.frames.push(Frame::new(pc, base, dst));
                base += u32::from(first.0);
                function = callee;
            }
            Some(op)
                if left == 0
                    && let Some(ToolCall { dst, first, call, entries, .. }) = op.tool_call() =>
            {
                let kind = if entries.0 > 0 { CallKind::Covered } else { CallKind::Plain };
                (machine.pc, machine.base) = (pc, base);
                machine.pending_call = PendingCall { call, first, dst, kind };
            }
            // The function that pushed an entry may have returned.
            _ if left == 0
                && let Some(&Op::Rollback { first, call }) = program.spec.code.get(at(found)) =>
            {
                machine.pending_call = PendingCall { call, first, dst: Out(0), kind: CallKind::Entry };
                running = Some(found);
            }
            _ => {
                let expected = if left > 0 { "a call of a function" } else { "a tool call" };
                return Err(RestoreError::Rule { offset: reader.offset(), expected, found: found.into() });
            }
        }
    }
    Ok(running)
}

/// Checks magic, version, checksum and program; returns a reader of the content.
fn open(snapshot: &[u8], id: u64) -> Restored<ByteReader<'_>> {
    let Some(rest) = snapshot.strip_prefix(&MAGIC) else { return Err(RestoreError::Magic) };
    match rest.first() {
        Some(&VERSION) => {}
        Some(&found) => return Err(RestoreError::Version { found }),
        None => return Err(RestoreError::Damaged),
    }
    let Some((content, sum)) = snapshot.split_last_chunk::<SUM>() else { return Err(RestoreError::Damaged) };
    if content.len() < HEAD || checksum(content) != *sum {
        return Err(RestoreError::Damaged);
    }
    let mut reader = ByteReader::new(content);
    let mut found = [0; size_of::<u64>()];
    reader.raw(MAGIC.len() + 1)?;
    found.copy_from_slice(reader.raw(size_of::<u64>())?);
    let found = u64::from_le_bytes(found);
    if found == id { Ok(reader) } else { Err(RestoreError::OtherProgram { expected: id, found }) }
}

pub(super) fn rule<T>(reader: &ByteReader<'_>, expected: &'static str, found: u64) -> Restored<T> {
    Err(RestoreError::Rule { offset: reader.offset(), expected, found })
}

pub(super) fn flag(reader: &mut ByteReader<'_>) -> Restored<bool> {
    match reader.byte()? {
        0 => Ok(false),
        1 => Ok(true),
        found => Err(RestoreError::Rule { offset: reader.offset(), expected: "0 or 1", found: found.into() }),
    }
}

/// Reads values.
pub(super) struct Values<'r, 'b> {
    pub(super) reader: ByteReader<'b>,
    pub(super) heap: &'r mut Heap,
    pub(super) program: &'r ProgramData,
    tables: &'r mut Tables,
    /// Bytes charged for the tables.
    charged: u64,
}

impl Values<'_, '_> {
    pub(super) fn rule<T>(&self, expected: &'static str, found: u64) -> Restored<T> {
        rule(&self.reader, expected, found)
    }

    /// Charges one table entry.
    #[inline]
    fn entry(&mut self) -> Restored<()> {
        self.heap.budget.charge(ENTRY)?;
        self.charged += ENTRY;
        Ok(())
    }

    /// Reads a register; lower registers of its window are already there.
    #[inline]
    fn register(&mut self, of: RegisterUse, window: &[Value]) -> Restored<Value> {
        match of {
            RegisterUse::Value => self.value(None),
            RegisterUse::List => match self.value(None)? {
                list if list.tag == Tag::List => Ok(list),
                _ => self.rule("a list to loop over", 0),
            },
            RegisterUse::Index(open) => {
                let index = self.reader.varint32()?;
                if index > window[usize::from(open.base)].aux {
                    return self.rule("an index within the list of the loop", index.into());
                }
                let cost = self.program.facts.loops.get(at(open.pc)).copied().unwrap_or(1);
                Ok(Value::state(cost, index, open.pc + 1))
            }
            RegisterUse::Collected(open) => self.value(Some(window[usize::from(open.base)].aux)),
        }
    }

    /// Reads a value; with `room`, the items collected by a loop over a list of that length.
    #[inline]
    pub(super) fn value(&mut self, mut room: Option<u32>) -> Restored<Value> {
        loop {
            let mut done = self.begin(room.take())?;
            loop {
                let Some(open) = self.tables.open.last_mut() else {
                    // Every open container has left its value in the table.
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

    /// Reads a scalar, or a container up to its items.
    #[inline]
    fn begin(&mut self, room: Option<u32>) -> Restored<Option<Value>> {
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

    fn double(&mut self) -> Restored<Value> {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(self.reader.raw(8)?);
        let double = f64::from_bits(u64::from_le_bytes(bytes));
        if double.is_finite() { Ok(Value::double(double)) } else { self.rule("a finite number", 0) }
    }

    #[inline]
    fn text(&mut self) -> Restored<Value> {
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

    fn list(&mut self, room: Option<u32>) -> Restored<Option<Value>> {
        let count = self.reader.count("items", usize::MAX, 1)?;
        self.heap.budget.check_items(count)?;
        let room = room.map_or(count, at);
        if count > room {
            return self.rule("no more items than the loop has room for", count as u64);
        }
        let start = self.heap.take(room)?;
        self.open(Value::list(narrow(start), narrow(count), 1), count)
    }

    fn growable(&mut self, room: Option<u32>) -> Restored<Option<Value>> {
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
        // At most twice the bytes of the input.
        let places = usize::try_from(places).unwrap_or(used);
        let header = self.heap.take(places + 1)?;
        self.heap.values[header] = Value::header(narrow(used), narrow(places));
        self.open(Value::growable(narrow(header + 1), len, 1), used)
    }

    fn record(&mut self, tag: u8) -> Restored<Option<Value>> {
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

    fn own_shape(&mut self) -> Restored<u32> {
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

    fn name(&mut self) -> Restored<u32> {
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

    /// A container with its place reserved: complete if it is empty, else its items follow.
    fn open(&mut self, value: Value, count: usize) -> Restored<Option<Value>> {
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

    /// A container that was read before: complete, or the existing part of a growable list.
    fn again(&mut self) -> Restored<Value> {
        let number = self.reader.varint32()?;
        let Some(&Object { value, filled, whole, held }) = self.tables.objects.get(at(number)) else {
            return self.rule("the number of a list or record before", number.into());
        };
        // A value held by two containers may be larger, written out, than the heap. One that only registers
        // share is not.
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

pub(super) fn not_utf8<T>(offset: usize) -> Restored<T> {
    Err(RestoreError::Form(DecodeError { offset, kind: ilo_spec::error::DecodeErrorKind::Utf8 }))
}
