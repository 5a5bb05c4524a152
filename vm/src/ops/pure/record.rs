//! Functions of records.

use super::operand::want;
use crate::fault::{Trap, mismatch};
use crate::heap::{Heap, narrow};
use crate::ops::{list, record};
use crate::program::ProgramData;
use crate::value::{Tag, Value, at};

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
        let name = heap.shapes.fields(program, record.aux)[place];
        let text = match program.texts.get(at(name)) {
            Some(&text) => text,
            None => heap.add_name(program, name)?,
        };
        heap.values[start + place] = text;
    }
    Ok(Value::list(narrow(start), narrow(count), 1))
}
