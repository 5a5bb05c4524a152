//! Functions of lists.

use super::operand::{Applied, position, unfit, want, whole};
use crate::fault::{Trap, mismatch};
use crate::heap::{Heap, narrow};
use crate::number::compare_exactly;
use crate::ops::arith::{self, Add};
use crate::ops::list::{out_of_range, place_of};
use crate::ops::record;
use crate::program::ProgramData;
use crate::value::{Tag, Value, at};
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::ops::Range;
use ilo_spec::program::Number;

/// A list of a range of the arena.
fn copy(heap: &mut Heap, items: Range<usize>) -> Result<Value, Trap> {
    let count = items.len();
    heap.budget.burn_bulk(count, 0)?;
    let start = heap.take(count)?;
    heap.values.copy_within(items, start);
    finish(heap, start, count)
}

/// The list of places that have just been filled.
fn finish(heap: &mut Heap, start: usize, count: usize) -> Result<Value, Trap> {
    let depth = heap.nest_at(start..start + count)?;
    Ok(Value::list(narrow(start), narrow(count), depth))
}

/// The places of a list's items.
fn places(list: Value) -> Range<usize> {
    let start = at(list.low());
    start..start + at(list.aux)
}

pub(super) fn slice(heap: &mut Heap, list: Value, from: Value, to: Value) -> Result<Value, Trap> {
    want(list, Tag::List, "a text or list to slice")?;
    let items = places(list);
    let from = position(whole(from, "a whole number to slice from")?, items.len());
    let to = match to.tag {
        Tag::Nil => items.len(),
        _ => position(whole(to, "a whole number or nil to slice to")?, items.len()),
    };
    if from == 0 && to == items.len() {
        return Ok(list);
    }
    copy(heap, items.start + from..items.start + to.max(from))
}

pub(super) fn reverse(heap: &mut Heap, list: Value) -> Result<Value, Trap> {
    want(list, Tag::List, "a list to reverse")?;
    let reversed = copy(heap, places(list))?;
    heap.values[places(reversed)].reverse();
    Ok(reversed)
}

/// The list with one item replaced.
pub(super) fn set(heap: &mut Heap, list: Value, index: Value, value: Value) -> Result<Value, Trap> {
    want(list, Tag::List, "a list to set an item of")?;
    let Some(place) = place_of(list, index)? else { return Err(out_of_range(list, index)) };
    let depth =
        if value.is_container() { heap.nest(&[value])?.max(list.depth()) } else { list.depth().max(1) };
    let changed = copy(heap, places(list))?;
    let start = at(changed.low());
    heap.values[start + place] = value;
    Ok(Value::list(changed.low(), changed.aux, depth))
}

pub(super) fn range(heap: &mut Heap, count: Value) -> Result<Value, Trap> {
    const EXPECTED: &str = "a whole number from 0 as the size of a range";
    let count = whole(count, EXPECTED)?;
    let Ok(size) = u64::try_from(count) else { return Err(unfit(EXPECTED, Number::Int(count))) };
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    heap.budget.check_items(size)?;
    heap.budget.burn_bulk(size, 0)?;
    let start = heap.take(size)?;
    for (value, int) in heap.values[start..start + size].iter_mut().zip(0..) {
        *value = Value::int(int);
    }
    Ok(Value::list(narrow(start), narrow(size), 1))
}

pub(super) fn sum(heap: &mut Heap, list: Value) -> Result<Value, Trap> {
    want(list, Tag::List, "a list to sum")?;
    heap.budget.burn_bulk(at(list.aux), 0)?;
    let mut items = heap.values[places(list)].iter();
    let Some(&first) = items.next() else { return Ok(Value::int(0)) };
    if first.as_number().is_none() {
        return Err(mismatch("numbers to sum", first.tag));
    }
    items.try_fold(first, |sum, item| {
        if item.as_number().is_none() {
            return Err(mismatch("numbers to sum", item.tag));
        }
        arith::mixed::<Add>(&sum, item)
    })
}

/// Checks that values are all numbers or all texts; returns the bytes of the texts.
fn comparable(values: impl Iterator<Item = Value>, what: &str) -> Result<usize, Trap> {
    let (mut numbers, mut texts, mut bytes) = (false, false, 0);
    for value in values {
        match value.tag {
            Tag::Int | Tag::Double => numbers = true,
            Tag::Text => {
                texts = true;
                bytes += at(value.high());
            }
            tag => return Err(mismatch(what, tag)),
        }
        if numbers && texts {
            return Err(mismatch(what, value.tag));
        }
    }
    Ok(bytes)
}

/// The order of two numbers or two texts.
fn order(heap: &Heap, program: &ProgramData, a: Value, b: Value) -> Ordering {
    match (a.as_number(), b.as_number()) {
        (Some(Number::Int(a)), Some(Number::Int(b))) => a.cmp(&b),
        (Some(Number::Double(a)), Some(Number::Double(b))) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        (Some(Number::Int(a)), Some(Number::Double(b))) => compare_exactly(a, b),
        (Some(Number::Double(a)), Some(Number::Int(b))) => compare_exactly(b, a).reverse(),
        // Both are texts then; UTF-8 preserves the order of code points.
        _ => heap.text_of(program, a).cmp(heap.text_of(program, b)),
    }
}

/// The first item that compares as `wanted` with all items before it, and as `wanted` or equal with all after
/// it.
pub(super) fn extreme(
    heap: &mut Heap,
    program: &ProgramData,
    list: Value,
    wanted: Ordering,
) -> Result<Applied, Trap> {
    let what = if wanted == Ordering::Less { "the least of" } else { "the greatest of" };
    want(list, Tag::List, "a list of numbers or of texts")?;
    heap.budget.burn_bulk(at(list.aux), 0)?;
    let bytes = comparable(heap.values[places(list)].iter().copied(), "all numbers or all texts")?;
    heap.budget.burn_bulk(0, bytes)?;
    let mut items = heap.values[places(list)].iter().copied();
    let Some(mut best) = items.next() else {
        return Ok(Applied::Failure(alloc::format!("{what} an empty list")));
    };
    for item in items {
        if order(heap, program, item, best) == wanted {
            best = item;
        }
    }
    Ok(Applied::Value(best))
}

/// An item to be sorted and what it is sorted by.
#[derive(Clone, Copy)]
struct Keyed {
    key: Value,
    item: Value,
}

/// Whether the least or the greatest item comes first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Up,
    Down,
}

pub(super) fn sort(
    heap: &mut Heap,
    program: &ProgramData,
    list: Value,
    field: Value,
    direction: Direction,
) -> Result<Value, Trap> {
    want(list, Tag::List, "a list to sort")?;
    if field.tag != Tag::Nil {
        want(field, Tag::Text, "the name of a field or nil to sort by")?;
    }
    let count = at(list.aux);
    heap.budget.burn_bulk(count, 0)?;
    // The items with their keys, and the buffer of a stable sort.
    let scratch = 2 * (count * size_of::<Keyed>()) as u64;
    heap.budget.charge(scratch)?;
    let sorted = sort_keyed(heap, program, list, field, direction);
    heap.budget.give_back(scratch);
    sorted
}

fn sort_keyed(
    heap: &mut Heap,
    program: &ProgramData,
    list: Value,
    field: Value,
    direction: Direction,
) -> Result<Value, Trap> {
    let count = at(list.aux);
    let mut keyed = Vec::with_capacity(count);
    for place in places(list) {
        let item = heap.value(place);
        let key = match field.tag {
            Tag::Nil => item,
            _ => {
                want(item, Tag::Record, "records to sort by a field")?;
                record::named_field(heap, program, item, field)?
            }
        };
        keyed.push(Keyed { key, item });
    }
    let bytes = comparable(keyed.iter().map(|keyed| keyed.key), "all numbers or all texts to sort by")?;
    let rounds = u64::from(count.next_power_of_two().trailing_zeros());
    heap.budget.burn(rounds.saturating_mul((count + bytes / 64) as u64))?;
    let start = heap.take(count)?;
    // One sort for both, since each is compiled again.
    keyed.sort_by(|a, b| {
        let (a, b) = if direction == Direction::Up { (a, b) } else { (b, a) };
        order(heap, program, a.key, b.key)
    });
    for (value, keyed) in heap.values[start..start + count].iter_mut().zip(keyed) {
        *value = keyed.item;
    }
    finish(heap, start, count)
}
