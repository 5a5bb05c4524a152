//! Clearing the heap: what the run can still reach moves together, in place, and the rest is free again.
//!
//! A bit for each value and each byte of text marks what is reached; how many bits are set below a place is where it
//! moves to. So values that share parts go on sharing them, order is kept, and nothing needs a header. The maps are
//! charged along with the arenas. Arguments stay where they are, for a rewind.

use crate::fault::Trap;
use crate::heap::{FIRST_BYTES, FIRST_VALUES, Heap, narrow};
use crate::interp::Machine;
use crate::live::Use;
use crate::program::Inner;
use crate::set;
use crate::small::SmallStack;
use crate::value::{Tag, Value, at};
use alloc::string::String;
use alloc::vec::Vec;

/// The maps of a heap, kept for the next time.
#[derive(Debug, Default)]
pub(crate) struct Maps {
    values: Map,
    text: Map,
}

/// A bit for each place of an arena.
#[derive(Debug, Default)]
struct Map {
    bits: Vec<u64>,
    /// Set bits before each word.
    ranks: Vec<u32>,
    /// The first place that it has a bit for; those before stay.
    from: usize,
}

impl Map {
    fn clear(&mut self, from: usize, to: usize) {
        self.from = from;
        let words = (to - from).div_ceil(64);
        self.bits.clear();
        self.bits.reserve_exact(words);
        self.bits.resize(words, 0);
        self.ranks.clear();
        self.ranks.reserve_exact(words);
    }

    fn has(&self, place: usize) -> bool {
        let bit = place - self.from;
        self.bits[bit / 64] >> (bit % 64) & 1 != 0
    }

    fn set(&mut self, places: core::ops::Range<usize>) {
        let (mut bit, end) = (places.start - self.from, places.end - self.from);
        while bit < end {
            let count = (64 - bit % 64).min(end - bit);
            self.bits[bit / 64] |= (u64::MAX >> (64 - count)) << (bit % 64);
            bit += count;
        }
    }

    /// Counts; gives how many places are marked.
    fn count(&mut self) -> usize {
        let mut sum = 0_u32;
        for word in &self.bits {
            self.ranks.push(sum);
            sum += word.count_ones();
        }
        at(sum)
    }

    /// Where a marked place moves to.
    fn to(&self, place: usize) -> usize {
        let bit = place - self.from;
        let below = self.bits[bit / 64] & !(u64::MAX << (bit % 64));
        self.from + at(self.ranks[bit / 64]) + at(below.count_ones())
    }

    /// The first marked place from one on, and the first one after it that is not.
    fn run(&self, from: usize) -> Option<core::ops::Range<usize>> {
        let start = self.seek(from, 0)?;
        let end = self.seek(start, u64::MAX).unwrap_or(self.bits.len() * 64 + self.from);
        Some(start..end)
    }

    /// The first place whose bit is set, once all are flipped as in `flip`.
    fn seek(&self, from: usize, flip: u64) -> Option<usize> {
        let bit = from - self.from;
        let mut word = bit / 64;
        let mut bits = (self.bits.get(word)? ^ flip) & u64::MAX << (bit % 64);
        while bits == 0 {
            word += 1;
            bits = self.bits.get(word)? ^ flip;
        }
        Some(self.from + word * 64 + at(bits.trailing_zeros()))
    }
}

/// Clears the heap of a run that is under way. `scratch` are values of an answer that is being built.
///
/// Burns fuel by what is kept and by the size of the maps; without that much fuel everything stays as it is.
pub(crate) fn clear(program: &Inner, machine: &mut Machine, scratch: &mut [Value]) -> Result<(), Trap> {
    machine.heap.begin_maps()?;
    roots(program, machine, scratch, |heap, value, room| heap.reach(program, *value, room));
    machine.heap.count()?;
    roots(program, machine, scratch, |heap, value, _| *value = heap.moved(*value));
    machine.heap.slide();
    Ok(())
}

/// Hands over every value that the run can still read; with a list that a loop collects, the places that it has.
fn roots(
    program: &Inner,
    machine: &mut Machine,
    scratch: &mut [Value],
    mut each: impl FnMut(&mut Heap, &mut Value, usize),
) {
    let Machine { heap, stack, frames, notes, pc, base, .. } = machine;
    let live = &program.lazy().live;
    let windows = frames.iter().map(|frame| (frame.pc, frame.base)).chain([(*pc, *base)]);
    for (pc, base) in windows {
        let Some(site) = live.site(pc - 1) else { continue };
        let base = at(base);
        for register in set::registers(site.set) {
            let room = match live.use_of(site, register) {
                Use::Collected(open) => at(stack[base + usize::from(open.base)].aux),
                _ => 0,
            };
            each(heap, &mut stack[base + usize::from(register)], room);
        }
    }
    let notes = notes.iter_mut().map(|(_, value)| value);
    notes.chain(scratch).for_each(|value| each(heap, value, 0));
}

impl Heap {
    fn begin_maps(&mut self) -> Result<(), Trap> {
        let (values, bytes) = self.kept;
        self.budget.burn_bulk((self.top - values) / 128, (self.text.len() - bytes) / 8)?;
        self.budget.burn(1)?;
        self.maps.values.clear(values, self.top);
        self.maps.text.clear(bytes, self.text.len());
        Ok(())
    }

    /// Marks a value and all that it reaches; `room` is how many places a list has that a loop collects.
    fn reach(&mut self, program: &Inner, value: Value, room: usize) {
        let mut open = SmallStack::new((0, 0));
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

    /// Marks what a value has in the arenas; gives the items that are reached for the first time.
    fn reach_one(&mut self, program: &Inner, value: Value) -> Option<core::ops::Range<usize>> {
        if value.tag == Tag::Text {
            if let Some(range) = self.arena_range(value).filter(|range| range.start >= self.kept.1) {
                self.maps.text.set(range);
            }
            return None;
        }
        let start = at(value.low());
        if !value.is_container() || start < self.kept.0 {
            return None;
        }
        let len = self.len(program, value);
        let map = &mut self.maps.values;
        if len == 0 || map.has(start + len - 1) {
            return None;
        }
        // Lists that share places all begin at the first, so what is marked of one is its beginning.
        let (mut known, mut unknown) = (0, len);
        while known < unknown {
            let middle = usize::midpoint(known, unknown);
            if map.has(start + middle) { known = middle + 1 } else { unknown = middle }
        }
        map.set(start + known..start + len);
        if value.is_growable() {
            map.set(start - 1..start);
            let header = self.values[start - 1];
            if at(header.aux) == len {
                self.spare(start + len..start + at(header.low()));
            }
        }
        Some(start + known..start + len)
    }

    /// Marks places that are there to be filled.
    fn spare(&mut self, places: core::ops::Range<usize>) {
        self.values[places.clone()].fill(Value::NIL);
        self.maps.values.set(places);
    }

    /// Counts what is kept, and burns the fuel of moving it.
    fn count(&mut self) -> Result<(), Trap> {
        let (values, bytes) = (self.maps.values.count(), self.maps.text.count());
        self.budget.burn_bulk(values, bytes)
    }

    /// A value after the move.
    fn moved(&self, value: Value) -> Value {
        if value.tag == Tag::Text {
            return match self.arena_range(value) {
                Some(range) if range.is_empty() => Value::text(narrow(self.base), 0),
                Some(range) if range.start >= self.kept.1 => {
                    Value::text(narrow(self.base + self.maps.text.to(range.start)), value.high())
                }
                _ => value,
            };
        }
        let start = at(value.low());
        if !value.is_container() || start < self.kept.0 {
            return value;
        }
        // What is empty is nowhere, and so is not marked.
        let marked = start < self.top && self.maps.values.has(start);
        value.at_offset(if marked { narrow(self.maps.values.to(start)) } else { 0 })
    }

    /// Moves what is marked together and gives back the rest.
    fn slide(&mut self) {
        let mut top = self.kept.0;
        let mut from = top;
        while let Some(run) = self.maps.values.run(from) {
            from = run.end;
            for place in run {
                let value = self.values[place];
                self.values[top] = if value.is_header() { self.cut(value, place) } else { self.moved(value) };
                top += 1;
            }
        }
        self.top = top;
        let granted = (2 * top).max(FIRST_VALUES).max(self.least.0).min(self.granted);
        self.budget.shrink(self.granted, granted, size_of::<Value>());
        self.granted = granted;
        self.values.truncate(granted);
        self.values.shrink_to(granted);
        self.slide_text();
    }

    fn slide_text(&mut self) {
        let mut bytes = core::mem::take(&mut self.text).into_bytes();
        let mut top = self.kept.1;
        let mut from = top;
        while let Some(run) = self.maps.text.run(from) {
            from = run.end;
            let count = run.len();
            bytes.copy_within(run, top);
            top += count;
        }
        bytes.truncate(top);
        let granted = (2 * top).max(FIRST_BYTES).max(self.least.1).min(self.granted_text);
        self.budget.shrink(self.granted_text, granted, 1);
        self.granted_text = granted;
        bytes.shrink_to(granted);
        // What is kept are whole texts.
        self.text = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    }

    /// The header of a list, of which maybe not all that was used is kept.
    fn cut(&self, header: Value, place: usize) -> Value {
        let (start, used) = (place + 1, at(header.aux));
        if self.maps.values.has(start + used - 1) {
            return header;
        }
        let run = self.maps.values.run(start).map_or(0, |run| run.len());
        Value::header(narrow(run), narrow(run))
    }
}
