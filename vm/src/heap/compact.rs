//! Compaction: moves the values that the run can still reach to the front of the arenas, in place, and frees
//! the rest.
//!
//! One bit for each value and each byte of text marks what is reachable ([`super::marks`]). Values that share
//! parts keep sharing them, the order is kept, and no object needs a header. The mark bits are charged with
//! the arenas. Arguments are not moved, because a rewind needs them. `gc` finds the roots.

use super::{FIRST_BYTES, FIRST_VALUES, Heap, narrow};
use crate::fault::Trap;
use crate::inline_stack::InlineStack;
use crate::program::ProgramData;
use crate::value::{Tag, Value, at};
use alloc::string::String;

impl Heap {
    pub(crate) fn begin_marking(&mut self) -> Result<(), Trap> {
        let (values, bytes) = self.pinned;
        self.budget.burn_bulk((self.top - values) / 128, (self.text.len() - bytes) / 8)?;
        self.budget.burn(1)?;
        self.marks.values.clear(values, self.top);
        self.marks.text.clear(bytes, self.text.len());
        Ok(())
    }

    /// Marks a value and everything it reaches; `room` is the reserved length of a list that a loop collects.
    pub(crate) fn reach(&mut self, program: &ProgramData, value: Value, room: usize) {
        let mut open = InlineStack::new((0, 0));
        let mut next = Some(value);
        while let Some(value) = next {
            if let Some(items) = self.reach_one(program, value) {
                open.push((items.start, items.end));
            }
            next = loop {
                let Some((place, end)) = open.last() else { break None };
                if place == end {
                    open.pop();
                    continue;
                }
                *place += 1;
                break Some(self.values[*place - 1]);
            };
        }
        let (start, len) = (at(value.low()), at(value.aux));
        if value.tag == Tag::List && !value.is_growable() && room > len {
            self.spare(start + len..start + room);
        }
    }

    /// Marks what a value occupies in the arenas; returns the items that are reached for the first time.
    fn reach_one(&mut self, program: &ProgramData, value: Value) -> Option<core::ops::Range<usize>> {
        if value.tag == Tag::Text {
            if let Some(range) = self.arena_range(value).filter(|range| range.start >= self.pinned.1) {
                self.marks.text.set(range);
            }
            return None;
        }
        let start = at(value.low());
        if !value.is_container() || start < self.pinned.0 {
            return None;
        }
        let len = self.len(program, value);
        let marks = &mut self.marks.values;
        if len == 0 || marks.has(start + len - 1) {
            return None;
        }
        // Lists that share items all begin at the same place, so the marked part of one is a prefix.
        let (mut known, mut unknown) = (0, len);
        while known < unknown {
            let middle = usize::midpoint(known, unknown);
            if marks.has(start + middle) { known = middle + 1 } else { unknown = middle }
        }
        marks.set(start + known..start + len);
        if value.is_growable() {
            marks.set(start - 1..start);
            let header = self.values[start - 1];
            if at(header.aux) == len {
                self.spare(start + len..start + at(header.low()));
            }
        }
        Some(start + known..start + len)
    }

    /// Marks reserved places that are not filled yet.
    fn spare(&mut self, places: core::ops::Range<usize>) {
        self.values[places.clone()].fill(Value::NIL);
        self.marks.values.set(places);
    }

    /// Counts what is kept, and burns the fuel for moving it.
    pub(crate) fn finish_marking(&mut self) -> Result<(), Trap> {
        let (values, bytes) = (self.marks.values.count(), self.marks.text.count());
        self.budget.burn_bulk(values, bytes)
    }

    /// The value after the move.
    pub(crate) fn moved(&self, value: Value) -> Value {
        if value.tag == Tag::Text {
            return match self.arena_range(value) {
                Some(range) if range.is_empty() => Value::text(narrow(self.base), 0),
                Some(range) if range.start >= self.pinned.1 => {
                    Value::text(narrow(self.base + self.marks.text.to(range.start)), value.high())
                }
                _ => value,
            };
        }
        let start = at(value.low());
        if !value.is_container() || start < self.pinned.0 {
            return value;
        }
        // An empty container occupies nothing, so it is not marked.
        let marked = start < self.top && self.marks.values.has(start);
        value.at_offset(if marked { narrow(self.marks.values.to(start)) } else { 0 })
    }

    /// Moves the marked places together and frees the rest.
    pub(crate) fn slide_together(&mut self) {
        let mut top = self.pinned.0;
        let mut from = top;
        while let Some(run) = self.marks.values.run(from) {
            from = run.end;
            for place in run {
                let value = self.values[place];
                self.values[top] = if value.is_header() { self.cut(value, place) } else { self.moved(value) };
                top += 1;
            }
        }
        self.top = top;
        let granted = (2 * top).max(FIRST_VALUES).max(self.least_granted.0).min(self.granted);
        self.budget.shrink(self.granted, granted, size_of::<Value>());
        self.granted = granted;
        self.values.truncate(granted);
        self.values.shrink_to(granted);
        self.slide_text();
    }

    fn slide_text(&mut self) {
        let mut bytes = core::mem::take(&mut self.text).into_bytes();
        let mut top = self.pinned.1;
        let mut from = top;
        while let Some(run) = self.marks.text.run(from) {
            from = run.end;
            let count = run.len();
            bytes.copy_within(run, top);
            top += count;
        }
        bytes.truncate(top);
        let granted = (2 * top).max(FIRST_BYTES).max(self.least_granted.1).min(self.granted_text);
        self.budget.shrink(self.granted_text, granted, 1);
        self.granted_text = granted;
        bytes.shrink_to(granted);
        // Only whole texts are kept.
        self.text = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    }

    /// The header of a list, adjusted if not all used places are kept.
    fn cut(&self, header: Value, place: usize) -> Value {
        let (start, used) = (place + 1, at(header.aux));
        if self.marks.values.has(start + used - 1) {
            return header;
        }
        let run = self.marks.values.run(start).map_or(0, |run| run.len());
        Value::header(narrow(run), narrow(run))
    }
}
