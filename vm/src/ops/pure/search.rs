//! Functions that look for values: in lists of records by a field, in texts and in lists.

use super::hash;
use super::operand::want;
use crate::fault::{Trap, mismatch};
use crate::heap::{Heap, narrow};
use crate::ops::compare;
use crate::program::ProgramData;
use crate::value::{Tag, Value, at};
use alloc::vec::Vec;

/// A name that is looked for in many records.
#[derive(Clone, Copy)]
struct Wanted {
    /// Its number, if any record of the run can have it.
    name: Option<u32>,
}

impl Wanted {
    fn new(heap: &mut Heap, program: &ProgramData, name: Value) -> Result<Wanted, Trap> {
        heap.budget.burn_bulk(0, at(name.high()))?;
        Ok(Wanted { name: heap.shapes.find_name(program, heap.text_of(program, name)) })
    }

    /// The field of a record; nil if it is absent.
    fn of(self, heap: &mut Heap, program: &ProgramData, item: Value) -> Result<Value, Trap> {
        want(item, Tag::Record, "records to read a field of")?;
        let Some(name) = self.name else { return Ok(Value::NIL) };
        if !heap.shapes.matrix_decides(item.aux, name) {
            heap.budget.burn_bulk(heap.len(program, item), 0)?;
        }
        let place = heap.shapes.position(program, item.aux, name);
        Ok(place.map_or(Value::NIL, |place| heap.value(at(item.low()) + place)))
    }
}

/// Checks a list and the name of a field; burns the fuel of one step for each item.
fn check(heap: &mut Heap, list: Value, what: &str, field: Value, or_nil: bool) -> Result<(), Trap> {
    want(list, Tag::List, what)?;
    if !(or_nil && field.tag == Tag::Nil) {
        let expected = if or_nil { "the name of a field or nil" } else { "the name of a field" };
        want(field, Tag::Text, expected)?;
    }
    heap.budget.burn_bulk(at(list.aux), 0)
}

/// The field of each record.
pub(super) fn column(
    heap: &mut Heap,
    program: &ProgramData,
    list: Value,
    field: Value,
) -> Result<Value, Trap> {
    check(heap, list, "a list of records to take a field of", field, false)?;
    let wanted = Wanted::new(heap, program, field)?;
    let (from, count) = (at(list.low()), at(list.aux));
    let start = heap.take(count)?;
    for place in 0..count {
        let item = heap.value(from + place);
        heap.values[start + place] = wanted.of(heap, program, item)?;
    }
    let depth = heap.nest_at(start..start + count)?;
    Ok(Value::list(narrow(start), narrow(count), depth))
}

/// The first record whose field equals a value, else nil.
pub(super) fn find(
    heap: &mut Heap,
    program: &ProgramData,
    list: Value,
    field: Value,
    value: Value,
) -> Result<Value, Trap> {
    check(heap, list, "a list of records to find one in", field, false)?;
    let wanted = Wanted::new(heap, program, field)?;
    for place in 0..at(list.aux) {
        let item = heap.value(at(list.low()) + place);
        let found = wanted.of(heap, program, item)?;
        if compare::equal(heap, program, &found, &value)? {
            return Ok(item);
        }
    }
    Ok(Value::NIL)
}

/// The items of a list, or a field of each.
fn keys(heap: &mut Heap, program: &ProgramData, list: Value, field: Value) -> Result<Vec<Value>, Trap> {
    let wanted = match field.tag {
        Tag::Nil => None,
        _ => Some(Wanted::new(heap, program, field)?),
    };
    let mut keys = Vec::with_capacity(at(list.aux));
    for place in 0..at(list.aux) {
        let item = heap.value(at(list.low()) + place);
        keys.push(match wanted {
            None => item,
            Some(wanted) => wanted.of(heap, program, item)?,
        });
    }
    Ok(keys)
}

/// The first of the items that are equal, or whose fields are.
pub(super) fn unique(
    heap: &mut Heap,
    program: &ProgramData,
    list: Value,
    field: Value,
) -> Result<Value, Trap> {
    check(heap, list, "a list", field, true)?;
    let scratch = hash::scratch(at(list.aux));
    heap.budget.charge(scratch)?;
    let kept = unique_of(heap, program, list, field);
    heap.budget.give_back(scratch);
    kept
}

fn unique_of(heap: &mut Heap, program: &ProgramData, list: Value, field: Value) -> Result<Value, Trap> {
    let keys = keys(heap, program, list, field)?;
    let firsts = hash::firsts(heap, program, &keys)?;
    let is_first = |&(number, first): &(u32, u32)| number == first;
    let kept = (0_u32..).zip(firsts.iter().copied()).filter(is_first);
    let count = kept.clone().count();
    if count == keys.len() {
        return Ok(list);
    }
    let start = heap.take(count)?;
    for (place, (number, _)) in (start..).zip(kept) {
        heap.values[place] = heap.value(at(list.low()) + at(number));
    }
    let depth = heap.nest_at(start..start + count)?;
    Ok(Value::list(narrow(start), narrow(count), depth))
}

/// A record of key and items for each different item or field.
pub(super) fn group(
    heap: &mut Heap,
    program: &ProgramData,
    list: Value,
    field: Value,
) -> Result<Value, Trap> {
    check(heap, list, "a list to group", field, true)?;
    // The classes, and for each the number of its items and where they are.
    let scratch = hash::scratch(at(list.aux)) + (at(list.aux) * size_of::<Class>()) as u64;
    heap.budget.charge(scratch)?;
    let groups = group_of(heap, program, list, field);
    heap.budget.give_back(scratch);
    groups
}

/// A group: its key, how many items it has, and where the next one belongs.
#[derive(Clone, Copy)]
struct Class {
    key: Value,
    count: usize,
    next: usize,
}

fn group_of(heap: &mut Heap, program: &ProgramData, list: Value, field: Value) -> Result<Value, Trap> {
    let keys = keys(heap, program, list, field)?;
    let mut class_of = hash::firsts(heap, program, &keys)?;
    let mut classes: Vec<Class> = Vec::with_capacity(keys.len());
    for (number, &key) in keys.iter().enumerate() {
        let first = at(class_of[number]);
        let class = if first == number {
            classes.push(Class { key, count: 0, next: 0 });
            narrow(classes.len() - 1)
        } else {
            class_of[first]
        };
        class_of[number] = class;
        classes[at(class)].count += 1;
    }
    let shape = heap.pair_shape(program, "key", "items")?;
    let items = heap.take(keys.len())?;
    let mut next = items;
    for class in &mut classes {
        class.next = next;
        next += class.count;
    }
    for (number, &class) in class_of.iter().enumerate() {
        let class = &mut classes[at(class)];
        heap.values[class.next] = heap.value(at(list.low()) + number);
        class.next += 1;
    }
    let records = heap.take(2 * classes.len())?;
    let groups = heap.take(classes.len())?;
    for (place, class) in classes.iter().enumerate() {
        let from = class.next - class.count;
        let depth = heap.nest_at(from..class.next)?;
        let (record, count) = (records + 2 * place, narrow(class.count));
        heap.values[record] = class.key;
        heap.values[record + 1] = Value::list(narrow(from), count, depth);
        let depth = heap.nest_at(record..record + 2)?;
        heap.values[groups + place] = Value::record(narrow(record), shape, depth);
    }
    let depth = heap.nest_at(groups..groups + classes.len())?;
    Ok(Value::list(narrow(groups), narrow(classes.len()), depth))
}

/// The position of the first such part of a text, in code points, or of the first equal item of a list.
pub(super) fn index(
    heap: &mut Heap,
    program: &ProgramData,
    value: Value,
    wanted: Value,
) -> Result<Value, Trap> {
    let found = match (value.tag, wanted.tag) {
        (Tag::Text, Tag::Text) => {
            heap.budget.burn_bulk(0, at(value.high()) + at(wanted.high()))?;
            let text = heap.text_of(program, value);
            let place = text.find(heap.text_of(program, wanted));
            place.and_then(|place| text.get(..place)).map(|before| before.chars().count())
        }
        (Tag::Text, tag) => return Err(mismatch("a text to look for in a text", tag)),
        (Tag::List, _) => {
            let mut found = None;
            for place in 0..at(value.aux) {
                heap.budget.burn(1)?;
                let item = heap.value(at(value.low()) + place);
                if compare::equal(heap, program, &item, &wanted)? {
                    found = Some(place);
                    break;
                }
            }
            found
        }
        (tag, _) => return Err(mismatch("a text or list to look into", tag)),
    };
    let position = found.and_then(|place| i64::try_from(place).ok());
    Ok(position.map_or(Value::NIL, Value::int))
}
