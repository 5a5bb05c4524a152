//! Writes a suspended run: where it is, what it has used, and the live registers with everything they reach.
//!
//! Values are written depth first; a value that was written before is referred to by number, so that parts
//! stay shared. What the program has (strings, shapes, liveness) is not written. The specification defines
//! the format.

use super::format::{HEAD, MAGIC, SUM, VERSION, seal, tag};
use super::rollbacks;
use crate::fault::Fault;
use crate::hash_index::HashIndex;
use crate::heap::Heap;
use crate::inline_stack::InlineStack;
use crate::liveness::RegisterUse;
use crate::machine::Machine;
use crate::program::ProgramData;
use crate::register_set::registers;
use crate::value::{Tag, Value, at};
use alloc::boxed::Box;
use alloc::vec::Vec;
use ilo_spec::bytes::ByteSink;
use ilo_spec::operand::FunctionId;

/// Writes a machine that waits at a tool call to `out`, replacing its content. `function` is the one that was
/// started, `fault` the one with which the run ends once its entries have run.
pub(crate) fn write(machine: &Machine, function: FunctionId, fault: Option<&Fault>, out: &mut Vec<u8>) {
    out.clear();
    let program = machine.program.inner();
    let lazy = program.lazy();
    let mut sink = ByteSink::from(core::mem::take(out));
    let mut head = [0; HEAD + 1];
    head[..MAGIC.len()].copy_from_slice(&MAGIC);
    head[MAGIC.len()] = VERSION;
    head[MAGIC.len() + 1..HEAD].copy_from_slice(&lazy.id.to_le_bytes());
    let running = machine.rollbacks.more().running;
    let promised = if running.is_none() { program.section(machine.pc - 1).0 } else { 0 };
    let rollbacks = rollbacks::is_needed(machine, promised);
    head[HEAD] = u8::from(machine.heap.nested) | u8::from(rollbacks) << 1;
    sink.raw(&head);
    let (fuel, calls) = machine.heap.budget.used();
    sink.varint(fuel);
    sink.varint(calls);
    sink.varint(function.0.into());
    sink.size(machine.frames.len());
    let windows = machine.frames.iter().map(|frame| (frame.pc(), frame.base()));
    // An entry has no registers: its arguments are with the entries.
    let windows = windows.chain(running.is_none().then_some((machine.pc, machine.base)));
    for (pc, _) in windows.clone() {
        sink.size(pc - 1);
    }
    if let Some((entry, _)) = running {
        sink.varint(entry.pc.into());
    }
    let mut writer = Writer::new(sink, &machine.heap, program);
    for (pc, base) in windows {
        let Some(safepoint) = lazy.live.safepoint(pc - 1) else { continue };
        for register in registers(safepoint.set) {
            let value = machine.stack[at(base) + usize::from(register)];
            match lazy.live.use_of(safepoint, register) {
                RegisterUse::Index(_) => writer.out.varint(value.low().into()),
                RegisterUse::Value | RegisterUse::List | RegisterUse::Collected(_) => writer.value(value),
            }
        }
    }
    let notes = || machine.notes.iter().filter(|note| !note.aside);
    writer.out.size(notes().count());
    for note in notes() {
        writer.out.varint(note.tool.0.into());
        writer.value(note.value);
    }
    if rollbacks {
        rollbacks::write(&mut writer, machine, promised, fault);
    }
    *out = writer.out.into_bytes();
    out.extend_from_slice(&[0; SUM]);
    seal(out);
}

/// Numbers for what is already written, in the order of writing.
#[derive(Default)]
struct Seen {
    few: [u32; Seen::FEW],
    count: u32,
    many: Option<Box<Many>>,
}

/// The keys and their index, once there are many.
#[derive(Default)]
struct Many {
    keys: Vec<u32>,
    index: HashIndex,
}

impl Seen {
    /// Up to this many are searched linearly, without allocating.
    const FEW: usize = 8;

    /// The number of a key that has one; else assigns the next number and returns `None`.
    #[inline]
    fn number(&mut self, key: u32) -> Option<u32> {
        let count = at(self.count);
        if let Some(known) = self.few.iter().take(count).position(|&known| known == key) {
            return u32::try_from(known).ok();
        }
        if let Some(place) = self.few.get_mut(count) {
            *place = key;
            self.count += 1;
            return None;
        }
        self.number_of_many(key)
    }

    #[cold]
    #[inline(never)]
    fn number_of_many(&mut self, key: u32) -> Option<u32> {
        let few = self.few;
        let many = self.many.get_or_insert_with(|| {
            let mut many = Box::<Many>::default();
            few.into_iter().for_each(|key| many.keep(key));
            many
        });
        let Many { keys, index } = &**many;
        let known = index.find(index.hash_list(&[key]), |number| keys[at(number)] == key);
        if known.is_none() {
            many.keep(key);
            self.count += 1;
        }
        known
    }
}

impl Many {
    fn keep(&mut self, key: u32) {
        // At most the number of 32-bit offsets.
        let number = u32::try_from(self.keys.len()).unwrap_or(u32::MAX);
        self.keys.push(key);
        let keys = &self.keys;
        self.index.insert(number, |index, number| index.hash_list(&[keys[at(number)]]));
    }
}

/// Writes values.
pub(super) struct Writer<'h> {
    pub(super) out: ByteSink,
    heap: &'h Heap,
    program: &'h ProgramData,
    texts: Seen,
    objects: Seen,
    shapes: Seen,
    names: Seen,
}

impl<'h> Writer<'h> {
    fn new(out: ByteSink, heap: &'h Heap, program: &'h ProgramData) -> Writer<'h> {
        let (texts, objects, shapes, names) = Default::default();
        Writer { out, heap, program, texts, objects, shapes, names }
    }

    /// A text that is not a value.
    pub(super) fn text_of(&mut self, text: &str) {
        self.out.size(text.len());
        self.out.raw(text.as_bytes());
    }

    pub(super) fn value(&mut self, value: Value) {
        let Some(items) = self.begin(value) else { return };
        let mut open = InlineStack::new((0, 0));
        open.push(items);
        while let Some((place, end)) = open.last() {
            if place == end {
                open.pop();
                continue;
            }
            *place += 1;
            let item = self.heap.value(*place - 1);
            if let Some(items) = self.begin(item) {
                open.push(items);
            }
        }
    }

    /// Writes a value up to its items; returns the range of items still to be written.
    #[inline]
    fn begin(&mut self, value: Value) -> Option<(usize, usize)> {
        match value.tag {
            // There are no snapshots of look-ahead runs.
            Tag::Nil | Tag::Unknown => self.out.byte(tag::NIL),
            Tag::False => self.out.byte(tag::FALSE),
            Tag::True => self.out.byte(tag::TRUE),
            Tag::Int => {
                self.out.byte(tag::INT);
                self.out.zigzag(value.as_int());
            }
            Tag::Double => {
                self.out.byte(tag::DOUBLE);
                self.out.raw(&value.payload.to_bits().to_le_bytes());
            }
            Tag::Text => self.text(value),
            Tag::List | Tag::Record => return self.container(value),
        }
        None
    }

    fn text(&mut self, value: Value) {
        let Some(range) = self.heap.arena_range(value) else {
            self.out.byte(tag::STRING);
            return self.out.varint(self.program.string_id(value).into());
        };
        if !range.is_empty()
            && let Some(number) = self.texts.number(value.low())
        {
            self.out.byte(tag::TEXT_AGAIN);
            return self.out.varint(number.into());
        }
        self.out.byte(tag::TEXT);
        self.out.varint(value.high().into());
        self.out.raw(self.heap.text[range].as_bytes());
    }

    fn container(&mut self, value: Value) -> Option<(usize, usize)> {
        let (start, mut len) = (at(value.low()), self.heap.len(self.program, value));
        if len > 0
            && let Some(number) = self.objects.number(value.low())
        {
            self.out.byte(tag::AGAIN);
            self.out.varint(number.into());
            if value.is_growable() {
                self.out.size(len);
            }
            return None;
        }
        if value.tag == Tag::Record {
            self.shape(value.aux);
        } else if value.is_growable() {
            // All used places, because other lists may share them and continue after this one.
            let header = self.heap.value(start - 1);
            self.out.byte(tag::GROWABLE);
            self.out.size(len);
            self.out.varint(header.aux.into());
            self.out.varint(header.low().into());
            len = at(header.aux);
        } else {
            self.out.byte(tag::LIST);
            self.out.size(len);
        }
        Some((start, start + len))
    }

    fn shape(&mut self, shape: u32) {
        if shape < self.program.shape_count() {
            self.out.byte(tag::RECORD);
            return self.out.varint(shape.into());
        }
        self.out.byte(tag::OWN_RECORD);
        let next = self.shapes.count;
        if let Some(number) = self.shapes.number(shape) {
            return self.out.varint(number.into());
        }
        self.out.varint(next.into());
        let heap = self.heap;
        let names = heap.shapes.fields(self.program, shape);
        self.out.size(names.len());
        for &name in names {
            self.name(name);
        }
    }

    /// A name: twice the number of a string, or one more than twice the number of a name of the run.
    fn name(&mut self, name: u32) {
        if name < self.program.string_count() {
            return self.out.varint(2 * u64::from(name));
        }
        let next = self.names.count;
        let known = self.names.number(name);
        self.out.varint(2 * u64::from(known.unwrap_or(next)) + 1);
        if known.is_none() {
            let text = self.heap.shapes.name(self.program, name);
            self.out.size(text.len());
            self.out.raw(text.as_bytes());
        }
    }
}
