//! Functions of records.

use super::operand::want;
use crate::fault::{Trap, mismatch};
use crate::hash_index::HashIndex;
use crate::heap::{Heap, narrow};
use crate::ops::{list, record};
use crate::program::ProgramData;
use crate::render;
use crate::value::{Tag, Value, at};
use alloc::vec::Vec;

/// The item or field at a key, or the default.
pub(super) fn get(
    heap: &mut Heap,
    program: &ProgramData,
    container: Value,
    key: Value,
    default: Value,
) -> Result<Value, Trap> {
    let found = match container.tag {
        Tag::List => list::item_at(heap, container, key)?,
        Tag::Record => {
            want(key, Tag::Text, "the name of a field as text")?;
            record::find_named(heap, program, container, key)?
        }
        Tag::Nil => match key.tag {
            Tag::Text | Tag::Int | Tag::Double => None,
            tag => return Err(mismatch("a number or text as key", tag)),
        },
        tag => return Err(mismatch("a list, record or nil to take a value of", tag)),
    };
    Ok(found.filter(|value| value.tag != Tag::Nil).unwrap_or(default))
}

/// The record with one field set.
pub(super) fn put(
    heap: &mut Heap,
    program: &ProgramData,
    record: Value,
    name: Value,
    value: Value,
) -> Result<Value, Trap> {
    want(record, Tag::Record, "a record to set a field of")?;
    want(name, Tag::Text, "the name of a field as text")?;
    let old = heap.len(program, record);
    heap.budget.burn_bulk(old + 1, at(name.high()))?;
    let known = heap.shapes.find_name(program, heap.text_of(program, name));
    let place = known.and_then(|name| heap.shapes.position(program, record.aux, name));
    let (shape, count) = match place {
        Some(_) => (record.aux, old),
        None => (appended_shape(heap, program, record.aux, name)?, old + 1),
    };
    heap.shapes.charge_shape(&mut heap.budget, shape)?;
    heap.budget.check_items(count)?;
    let depth = if record.depth() > 1 || value.is_container() {
        heap.nested = true;
        heap.nest(&[value])?.max(record.depth())
    } else {
        1
    };
    let start = heap.take(count)?;
    heap.values.copy_within(at(record.low())..at(record.low()) + old, start);
    heap.values[start + place.unwrap_or(old)] = value;
    Ok(Value::record(narrow(start), shape, depth))
}

/// The shape with one more name.
fn appended_shape(heap: &mut Heap, program: &ProgramData, shape: u32, name: Value) -> Result<u32, Trap> {
    let name = heap.intern_text(program, name)?;
    let mut fields = heap.shapes.fields(program, shape).to_vec();
    fields.push(name);
    // The name is not among the others.
    Ok(heap.shapes.intern(program, &mut heap.budget, &fields)?.unwrap_or(shape))
}

/// The names of the fields.
pub(super) fn keys(heap: &mut Heap, program: &ProgramData, record: Value) -> Result<Value, Trap> {
    want(record, Tag::Record, "a record to list the names of")?;
    let count = heap.len(program, record);
    heap.budget.burn_bulk(count, 0)?;
    let start = heap.take(count)?;
    for place in 0..count {
        heap.values[start + place] = name_at(heap, program, record, place)?;
    }
    Ok(Value::list(narrow(start), narrow(count), 1))
}

/// The name of the field at a place, as a text.
fn name_at(heap: &mut Heap, program: &ProgramData, record: Value, place: usize) -> Result<Value, Trap> {
    let name = heap.shapes.fields(program, record.aux)[place];
    match program.texts.get(at(name)) {
        Some(&text) => Ok(text),
        None => heap.add_name(program, name),
    }
}

/// The values of the fields.
pub(super) fn values(heap: &mut Heap, program: &ProgramData, record: Value) -> Result<Value, Trap> {
    want(record, Tag::Record, "a record to list the values of")?;
    let count = heap.len(program, record);
    heap.budget.burn_bulk(count, 0)?;
    let (from, start) = (at(record.low()), heap.take(count)?);
    heap.values.copy_within(from..from + count, start);
    let depth = heap.nest_at(start..start + count)?;
    Ok(Value::list(narrow(start), narrow(count), depth))
}

/// A record of key and value for each field.
pub(super) fn entries(heap: &mut Heap, program: &ProgramData, record: Value) -> Result<Value, Trap> {
    want(record, Tag::Record, "a record to list the fields of")?;
    let count = heap.len(program, record);
    heap.budget.burn_bulk(count, 0)?;
    let shape = heap.pair_shape(program, "key", "value")?;
    let records = heap.take(2 * count)?;
    let list = heap.take(count)?;
    for place in 0..count {
        let pair = records + 2 * place;
        heap.values[pair] = name_at(heap, program, record, place)?;
        heap.values[pair + 1] = heap.value(at(record.low()) + place);
        let depth = heap.nest_at(pair..pair + 2)?;
        heap.values[list + place] = Value::record(narrow(pair), shape, depth);
    }
    let depth = heap.nest_at(list..list + count)?;
    Ok(Value::list(narrow(list), narrow(count), depth))
}

/// The bytes that a record of `count` entries takes while it is built: names, values and their index.
fn scratch(count: usize) -> u64 {
    let index = (count * 2).next_power_of_two() * size_of::<u64>();
    (index + count * (size_of::<u32>() + size_of::<Value>())) as u64
}

/// The record of a list of records of key and value.
pub(super) fn of_entries(heap: &mut Heap, program: &ProgramData, list: Value) -> Result<Value, Trap> {
    want(list, Tag::List, "a list of records with `key` and `value`")?;
    let count = at(list.aux);
    heap.budget.burn_bulk(count, 0)?;
    heap.budget.charge(scratch(count))?;
    let built = built_of(heap, program, list);
    heap.budget.give_back(scratch(count));
    built
}

fn built_of(heap: &mut Heap, program: &ProgramData, list: Value) -> Result<Value, Trap> {
    let count = at(list.aux);
    let (mut names, mut values) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let mut index = HashIndex::with_room(count);
    for place in 0..count {
        let entry = heap.value(at(list.low()) + place);
        want(entry, Tag::Record, "records with `key` and `value`")?;
        let key = part(heap, program, entry, "key")?;
        let value = part(heap, program, entry, "value")?;
        let name = name_of(heap, program, key)?;
        let mut known = None;
        let same = |other: u32| {
            let equal = names.get(at(other)) == Some(&name);
            known = if equal { Some(other) } else { known };
            equal
        };
        let new = narrow(names.len());
        let hash_of = |index: &HashIndex, number: u32| {
            index.hash_list(&[names.get(at(number)).copied().unwrap_or(name)])
        };
        index.insert_new(new, same, hash_of);
        match known {
            Some(known) => values[at(known)] = value,
            None => {
                names.push(name);
                values.push(value);
            }
        }
    }
    // No name is twice in the list.
    let shape = heap.shapes.intern(program, &mut heap.budget, &names)?;
    let shape = shape.map_err(|_| heap.budget.no_memory(0))?;
    let (offset, depth) = heap.put(&values)?;
    Ok(Value::record(offset, shape, depth))
}

/// A field of an entry; a fault if it is absent.
fn part(heap: &mut Heap, program: &ProgramData, entry: Value, name: &str) -> Result<Value, Trap> {
    let known = heap.shapes.find_name(program, name);
    if !known.is_some_and(|known| heap.shapes.matrix_decides(entry.aux, known)) {
        heap.budget.burn_bulk(heap.len(program, entry), 0)?;
    }
    let place = known.and_then(|known| heap.shapes.position(program, entry.aux, known));
    match place {
        Some(place) => Ok(heap.value(at(entry.low()) + place)),
        None => Err(record::missing(heap, program, &entry, name)),
    }
}

/// The name that a key gives: a text, or a number or bool as it is rendered.
fn name_of(heap: &mut Heap, program: &ProgramData, key: Value) -> Result<u32, Trap> {
    let text = match key.tag {
        Tag::Text => key,
        Tag::Int | Tag::Double | Tag::True | Tag::False => {
            let start = heap.text.len();
            render::plain(&mut render::Arena::new(heap, program, start), key)?;
            heap.text_since(start)
        }
        tag => return Err(mismatch("a text, number or bool as key", tag)),
    };
    heap.budget.burn_bulk(0, at(text.high()))?;
    heap.intern_text(program, text)
}

/// The record without a field.
pub(super) fn without(
    heap: &mut Heap,
    program: &ProgramData,
    record: Value,
    name: Value,
) -> Result<Value, Trap> {
    want(record, Tag::Record, "a record to leave a field out of")?;
    want(name, Tag::Text, "the name of a field as text")?;
    let old = heap.len(program, record);
    heap.budget.burn_bulk(old, at(name.high()))?;
    let known = heap.shapes.find_name(program, heap.text_of(program, name));
    let place = known.and_then(|name| heap.shapes.position(program, record.aux, name));
    let Some(place) = place else { return Ok(record) };
    let mut fields = heap.shapes.fields(program, record.aux).to_vec();
    fields.remove(place);
    let shape = heap.shapes.intern(program, &mut heap.budget, &fields)?;
    let shape = shape.map_err(|_| heap.budget.no_memory(0))?;
    let (from, start) = (at(record.low()), heap.take(old - 1)?);
    heap.values.copy_within(from..from + place, start);
    heap.values.copy_within(from + place + 1..from + old, start + place);
    let depth = heap.nest_at(start..start + old - 1)?;
    Ok(Value::record(narrow(start), shape, depth))
}

/// The first record with the fields of the second set.
pub(super) fn joined(heap: &mut Heap, program: &ProgramData, a: Value, b: Value) -> Result<Value, Trap> {
    want(a, Tag::Record, "a record to join")?;
    want(b, Tag::Record, "a record to join with")?;
    let (old, new) = (heap.len(program, a), heap.len(program, b));
    heap.budget.burn_bulk(old + new, 0)?;
    heap.budget.charge(scratch(old + new))?;
    let joined = join(heap, program, a, b);
    heap.budget.give_back(scratch(old + new));
    joined
}

fn join(heap: &mut Heap, program: &ProgramData, a: Value, b: Value) -> Result<Value, Trap> {
    let mut names = heap.shapes.fields(program, a.aux).to_vec();
    let mut values = heap.items(program, a).to_vec();
    let added = heap.shapes.fields(program, b.aux);
    // Few names are looked for one by one; many through an index, so that the time stays linear.
    let many = names.len() * added.len() > FEW;
    let mut index = HashIndex::with_room(if many { names.len() } else { 0 });
    for number in (0..narrow(names.len())).filter(|_| many) {
        index.insert(number, |index, number| index.hash_list(&[names[at(number)]]));
    }
    let old = names.len();
    for (&name, &value) in added.iter().zip(heap.items(program, b)) {
        let place = if many {
            index.find(index.hash_list(&[name]), |number| names[at(number)] == name).map(at)
        } else {
            names[..old].iter().position(|&known| known == name)
        };
        match place {
            Some(place) => values[place] = value,
            None => {
                names.push(name);
                values.push(value);
            }
        }
    }
    heap.budget.check_items(names.len())?;
    let shape = heap.shapes.intern(program, &mut heap.budget, &names)?;
    let shape = shape.map_err(|_| heap.budget.no_memory(0))?;
    let (offset, depth) = heap.put(&values)?;
    Ok(Value::record(offset, shape, depth))
}

/// The products of the sizes of two records up to which their names are compared one by one.
const FEW: usize = 1024;
