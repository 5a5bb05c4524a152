//! The heap of a run: one arena of values and one of text bytes, each with its own top.
//!
//! Objects are not freed individually. Garbage is collected when memory is needed (`gc`, `compact`), and
//! everything is dropped at the next start. The program's strings come before the text arena in the numbering
//! of text offsets, so constants are never copied. A record is its fields and nothing else. A list that
//! APPEND made has a header before its items: how many places are used, and how many there are.

mod compact;
mod marks;

use crate::budget::{Budget, Limits, Remaining, arena_bytes};
use crate::fault::Trap;
use crate::inline_stack::InlineStack;
use crate::program::ProgramData;
use crate::shape_table::ShapeTable;
use crate::value::{Tag, Value, at};
use alloc::string::String;
use alloc::vec::Vec;
use marks::HeapMarks;

/// Values and bytes that an arena takes at first.
pub(crate) const FIRST_VALUES: usize = 64;
pub(crate) const FIRST_BYTES: usize = 256;

/// The heap.
#[derive(Debug)]
pub(crate) struct Heap {
    pub(crate) values: Vec<Value>,
    pub(crate) top: usize,
    /// Values that are charged; at least that many are allocated.
    pub(crate) granted: usize,
    pub(crate) text: String,
    pub(crate) granted_text: usize,
    /// Bytes of the program's strings, after which the arena's offsets begin.
    pub(crate) base: usize,
    /// Values and bytes that a rewind goes back to; they never move.
    pub(crate) pinned: (usize, usize),
    /// What was granted when the run started.
    pub(crate) least_granted: (usize, usize),
    marks: HeapMarks,
    pub(crate) budget: Budget,
    pub(crate) shapes: ShapeTable,
    /// Whether a container from a register was put into another. Values may then share parts, and be larger
    /// than the heap when written out.
    pub(crate) nested: bool,
    /// An upper bound on the length of any text, for the same purpose.
    pub(crate) longest: usize,
}

/// The fill level of a heap.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mark {
    top: usize,
    granted: usize,
    text: usize,
    granted_text: usize,
    left: Remaining,
    nested: bool,
    longest: usize,
    shapes: (usize, usize),
}

impl Heap {
    #[inline]
    pub(crate) fn new(program: &ProgramData, limits: Limits) -> Heap {
        Heap {
            values: Vec::new(),
            top: 0,
            granted: 0,
            text: String::new(),
            granted_text: 0,
            base: program.text_len(),
            pinned: (0, 0),
            least_granted: (0, 0),
            marks: HeapMarks::default(),
            budget: Budget::new(limits),
            shapes: ShapeTable::new(program),
            nested: false,
            longest: program.longest,
        }
    }

    pub(crate) fn adopt_program(&mut self, program: &ProgramData) {
        self.base = program.text_len();
        self.shapes.adopt_program(program);
        self.reset(program);
    }

    /// Empties the heap for a start.
    #[inline]
    pub(crate) fn reset(&mut self, program: &ProgramData) {
        self.top = 0;
        self.granted = 0;
        self.text.clear();
        self.granted_text = 0;
        self.pinned = (0, 0);
        self.least_granted = (0, 0);
        self.budget.reset();
        self.shapes.begin();
        self.nested = false;
        self.longest = program.longest;
    }

    /// Marks the state after the arguments were copied.
    #[inline]
    pub(crate) fn mark_start(&mut self) -> Mark {
        self.pinned = (self.top, self.text.len());
        self.least_granted = (self.granted, self.granted_text);
        self.budget.hold_back();
        Mark {
            top: self.top,
            granted: self.granted,
            text: self.text.len(),
            granted_text: self.granted_text,
            left: self.budget.mark(),
            nested: self.nested,
            longest: self.longest,
            shapes: self.shapes.mark_start(),
        }
    }

    /// Goes back to the mark of the start.
    #[inline]
    pub(crate) fn rewind(&mut self, mark: &Mark) {
        self.top = mark.top;
        self.granted = mark.granted;
        if self.text.len() > mark.text {
            self.text.truncate(mark.text);
        }
        self.granted_text = mark.granted_text;
        self.budget.rewind(mark.left);
        self.nested = mark.nested;
        self.longest = mark.longest;
        self.shapes.rewind(mark.shapes);
    }

    /// Reserves `count` values; their content is undefined.
    #[inline(always)]
    pub(crate) fn take(&mut self, count: usize) -> Result<usize, Trap> {
        let start = self.top;
        let end = start + count;
        if end > self.granted {
            self.grow(end)?;
        }
        self.top = end;
        Ok(start)
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, need: usize) -> Result<(), Trap> {
        if self.granted == 0 && need <= FIRST_VALUES && self.values.len() >= FIRST_VALUES {
            // The common case, with a charge computed at compile time: most reused runs need no more.
            if self.budget.charge(const { arena_bytes(FIRST_VALUES, size_of::<Value>()) }).is_ok() {
                self.granted = FIRST_VALUES;
                return Ok(());
            }
        }
        if u32::try_from(need).is_err() {
            return Err(self.budget.no_memory(need as u64));
        }
        self.granted = self.budget.grow(self.granted, need, FIRST_VALUES, size_of::<Value>())?;
        if self.values.len() < self.granted {
            self.values.reserve_exact(self.granted - self.values.len());
            self.values.resize(self.granted, Value::CLEAR);
        }
        Ok(())
    }

    /// Makes sure that `bytes` more bytes of text fit.
    #[inline(always)]
    pub(crate) fn reserve_text(&mut self, bytes: usize) -> Result<(), Trap> {
        let need = self.text.len() + bytes;
        if need > self.granted_text { self.grow_text(need) } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    fn grow_text(&mut self, need: usize) -> Result<(), Trap> {
        if u32::try_from(need + self.base).is_err() {
            return Err(self.budget.no_memory(need as u64));
        }
        self.granted_text = self.budget.grow(self.granted_text, need, FIRST_BYTES, 1)?;
        self.text.reserve_exact(self.granted_text.saturating_sub(self.text.len()));
        Ok(())
    }

    /// Copies a text from outside.
    #[inline]
    pub(crate) fn add_text(&mut self, text: &str) -> Result<Value, Trap> {
        self.budget.check_text(text.len())?;
        self.reserve_text(text.len())?;
        let start = self.text.len();
        self.text.push_str(text);
        Ok(self.text_since(start))
    }

    /// The value of the text written from `start` to the end of the arena.
    #[inline]
    pub(crate) fn text_since(&mut self, start: usize) -> Value {
        let len = self.text.len() - start;
        self.longest = self.longest.max(len);
        Value::text(narrow(self.base + start), narrow(len))
    }

    /// The place of a text in the arena, unless it is a string of the program.
    #[inline]
    pub(crate) fn arena_range(&self, value: Value) -> Option<core::ops::Range<usize>> {
        let start = at(value.low()).checked_sub(self.base)?;
        Some(start..start + at(value.high()))
    }

    /// The content of a text.
    #[inline]
    pub(crate) fn text_of<'a>(&'a self, program: &'a ProgramData, value: Value) -> &'a str {
        debug_assert_eq!(value.tag, Tag::Text, "only a text has one");
        match self.arena_range(value) {
            Some(range) => &self.text[range],
            None => program.text_at(at(value.low()), at(value.high())),
        }
    }

    /// The list item or record field at an offset of the arena.
    #[inline(always)]
    pub(crate) fn value(&self, offset: usize) -> Value {
        self.values[offset]
    }

    /// Like [`Heap::value`], by reference, for values that are only inspected.
    #[inline(always)]
    pub(crate) fn at(&self, offset: usize) -> &Value {
        &self.values[offset]
    }

    /// The number of items or fields of a container.
    #[inline]
    pub(crate) fn len(&self, program: &ProgramData, value: Value) -> usize {
        match value.tag {
            Tag::List => at(value.aux),
            Tag::Record => self.shapes.fields(program, value.aux).len(),
            _ => 0,
        }
    }

    /// The items of a list, or the field values of a record.
    #[inline]
    pub(crate) fn items(&self, program: &ProgramData, value: Value) -> &[Value] {
        let start = at(value.low());
        &self.values[start..start + self.len(program, value)]
    }

    /// Copies a window of registers into the arena; returns its place, and the depth of a container of it.
    #[inline(always)]
    pub(crate) fn put(&mut self, window: &[Value]) -> Result<(u32, u32), Trap> {
        let start = self.take(window.len())?;
        let mut tags = 0;
        for (place, value) in self.values[start..start + window.len()].iter_mut().zip(window) {
            *place = *value;
            tags |= value.tag as u32;
        }
        let depth = if tags & Tag::List as u32 == 8 { self.nest(window)? } else { 1 };
        Ok((narrow(start), depth))
    }

    /// The depth of a container of these values, some of which are containers from registers.
    #[cold]
    #[inline(never)]
    pub(crate) fn nest(&mut self, items: &[Value]) -> Result<u32, Trap> {
        self.nested |= items.iter().any(|item| item.is_container());
        let depth = 1 + items.iter().map(|item| item.depth()).max().unwrap_or(0);
        self.budget.check_depth(depth)?;
        Ok(depth)
    }

    /// Like [`Heap::nest`], for values in the arena; 1 if none is a container.
    pub(crate) fn nest_at(&mut self, items: core::ops::Range<usize>) -> Result<u32, Trap> {
        let items = &self.values[items];
        self.nested |= items.iter().any(|item| item.is_container());
        let depth = 1 + items.iter().map(|item| item.depth()).max().unwrap_or(0);
        self.budget.check_depth(depth)?;
        Ok(depth)
    }

    /// Copies new values, to which nothing else refers; returns their place, and the depth of a container of
    /// them.
    pub(crate) fn put_new(&mut self, items: &[Value]) -> Result<(u32, u32), Trap> {
        let start = self.take(items.len())?;
        self.values[start..start + items.len()].copy_from_slice(items);
        Ok((narrow(start), 1 + items.iter().map(|item| item.depth()).max().unwrap_or(0)))
    }

    /// The list with one more item: in place, unless another list already continues there.
    pub(crate) fn append(&mut self, list: Value, item: Value) -> Result<Value, Trap> {
        let len = at(list.aux);
        self.budget.check_items(len + 1)?;
        let depth =
            if item.is_container() { self.nest(&[item])?.max(list.depth()) } else { list.depth().max(1) };
        let start = at(list.low());
        if list.is_growable() {
            let header = &mut self.values[start - 1];
            if at(header.aux) == len && len < at(header.low()) {
                header.aux += 1;
                self.values[start + len] = item;
                return Ok(Value::growable(list.low(), list.aux + 1, depth));
            }
        }
        self.append_moved(list, item, depth)
    }

    /// The items of two lists as one list.
    pub(crate) fn join_lists(&mut self, a: Value, b: Value) -> Result<Value, Trap> {
        let (first, second) = (at(a.aux), at(b.aux));
        let count = first + second;
        self.budget.check_items(count)?;
        // Reserve first: without room, the instruction is executed again.
        let start = self.take(count)?;
        self.budget.burn_bulk(count, 0)?;
        self.values.copy_within(at(a.low())..at(a.low()) + first, start);
        self.values.copy_within(at(b.low())..at(b.low()) + second, start + first);
        let depth = self.nest_at(start..start + count)?;
        Ok(Value::list(narrow(start), narrow(count), depth))
    }

    /// Copies the list to a place with room to double.
    #[cold]
    fn append_moved(&mut self, list: Value, item: Value, depth: u32) -> Result<Value, Trap> {
        let (start, len) = (at(list.low()), at(list.aux));
        let room = (2 * len).max(4);
        // Reserve first: if there is no room the instruction is executed again, and must not have burnt any
        // fuel.
        let header = self.take(room + 1)?;
        self.budget.burn_bulk(len, 0)?;
        let new = header + 1;
        self.values[header] = Value::header(list.aux + 1, narrow(room));
        self.values.copy_within(start..start + len, new);
        self.values[new + len] = item;
        Ok(Value::growable(narrow(new), list.aux + 1, depth))
    }

    /// Checks that values which leave the run are, written out, no larger than its memory limit. Parts may be
    /// shared, so a small heap could fill a disk.
    #[inline]
    pub(crate) fn check_output_size(&mut self, program: &ProgramData, values: &[Value]) -> Result<(), Trap> {
        if !values.iter().any(|value| value.is_container()) {
            return Ok(());
        }
        // If nothing is shared, every value except text is in the heap once.
        let bound =
            self.top.saturating_mul(self.longest.saturating_add(WRITTEN)).saturating_mul(values.len());
        if !self.nested && bound as u64 <= self.budget.limits.memory {
            return Ok(());
        }
        values.iter().try_for_each(|&value| self.measure_output(program, value))
    }

    #[cold]
    #[inline(never)]
    fn measure_output(&mut self, program: &ProgramData, value: Value) -> Result<(), Trap> {
        let mut left = self.budget.limits.memory;
        let mut open = InlineStack::new((value, 0));
        if value.is_container() {
            open.push((value, 0));
        }
        while let Some((value, next)) = open.last() {
            let (parent, place) = (*value, *next);
            if place == self.len(program, parent) {
                open.pop();
                continue;
            }
            *next += 1;
            let item = self.value(at(parent.low()) + place);
            let mut bytes = WRITTEN;
            if item.tag == Tag::Text {
                bytes += at(item.high());
            }
            if parent.tag == Tag::Record {
                bytes += self.shapes.name(program, self.shapes.fields(program, parent.aux)[place]).len();
            }
            if place % 4 == 0 {
                self.budget.burn(1)?;
            }
            left = match left.checked_sub(bytes as u64) {
                Some(left) => left,
                None => return Err(self.budget.too_large_to_leave()),
            };
            if item.is_container() {
                open.push((item, 0));
            }
        }
        Ok(())
    }
}

/// The state before an instruction that may have to be executed again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checkpoint {
    fuel: u64,
    top: usize,
    text: usize,
}

/// For pure functions: texts from parts, and undoing.
impl Heap {
    /// Saves the fuel and the ends of the arenas.
    pub(crate) fn checkpoint(&self) -> Checkpoint {
        Checkpoint { fuel: self.budget.fuel_left(), top: self.top, text: self.text.len() }
    }

    /// Drops what was written since; nothing may refer to it.
    pub(crate) fn undo(&mut self, before: &Checkpoint) {
        self.top = before.top;
        self.text.truncate(before.text);
    }

    /// Like [`Heap::undo`], and takes back the fuel.
    pub(crate) fn undo_with_fuel(&mut self, before: &Checkpoint) {
        self.undo(before);
        self.budget.take_back(before.fuel);
    }

    /// Copies a part of a text to the end of the arena, where room is reserved for it.
    pub(crate) fn push_part(&mut self, program: &ProgramData, text: Value, part: core::ops::Range<usize>) {
        match self.arena_range(text) {
            Some(range) => self.text.extend_from_within(range.start + part.start..range.start + part.end),
            None => {
                let whole = program.text_at(at(text.low()), at(text.high()));
                self.text.push_str(whole.get(part).unwrap_or_default());
            }
        }
    }

    /// The name of a field as a text value; burns the fuel of copying it.
    pub(crate) fn add_name(&mut self, program: &ProgramData, name: u32) -> Result<Value, Trap> {
        let bytes = self.shapes.name(program, name).len();
        self.budget.check_text(bytes)?;
        self.budget.burn_bulk(0, bytes)?;
        self.reserve_text(bytes)?;
        let start = self.text.len();
        self.text.push_str(self.shapes.name(program, name));
        Ok(self.text_since(start))
    }

    /// The number of the name that a text is, new or existing.
    pub(crate) fn intern_text(&mut self, program: &ProgramData, text: Value) -> Result<u32, Trap> {
        self.longest = self.longest.max(at(text.high()));
        let range = self.arena_range(text);
        let Heap { shapes, budget, text: arena, .. } = self;
        let name = match range {
            Some(range) => &arena[range],
            None => program.text_at(at(text.low()), at(text.high())),
        };
        shapes.intern_name(program, budget, name)
    }

    /// The shape of records with these two fields.
    pub(crate) fn pair_shape(&mut self, program: &ProgramData, a: &str, b: &str) -> Result<u32, Trap> {
        self.longest = self.longest.max(a.len()).max(b.len());
        let names = [a, b].map(|name| self.shapes.intern_name(program, &mut self.budget, name));
        let [a, b] = names;
        let shape = self.shapes.intern(program, &mut self.budget, &[a?, b?])?;
        shape.map_err(|_| self.budget.no_memory(0))
    }
}

/// Bytes of a value when written out, without its text: brackets, commas, the longest number.
const WRITTEN: usize = 32;

/// Converts an offset; growing the arena has checked that it fits in 32 bits.
#[inline(always)]
pub(crate) fn narrow(offset: usize) -> u32 {
    debug_assert!(u32::try_from(offset).is_ok(), "an arena is at most 4 G");
    (offset as u64 & 0xffff_ffff) as u32
}
