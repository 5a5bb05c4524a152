//! Lists: making, appending, indexing, length.

use crate::fault::{Trap, mismatch};
use crate::frame::Window;
use crate::heap::Heap;
use crate::number::integral;
use crate::ops::{get, record, set, span};
use crate::program::ProgramData;
use crate::value::{Tag, Value, at};
use ilo_spec::error::Code;
use ilo_spec::operand::{Count, First, In, Out};

/// `dst` = a list of the window.
#[inline(never)]
pub(crate) fn make(
    heap: &mut Heap,
    w: &mut Window,
    dst: Out,
    (first, count): (First, Count),
) -> Result<(), Trap> {
    heap.budget.check_items(count.0.into())?;
    let (offset, depth) = heap.put(span(w, first, count.0.into()))?;
    set(w, dst, Value::list(offset, count.0.into(), depth));
    Ok(())
}

/// `dst` = the list with one more item.
#[inline(never)]
pub(crate) fn append(heap: &mut Heap, w: &mut Window, dst: Out, (list, item): (In, In)) -> Result<(), Trap> {
    let list = *get(w, list);
    if list.tag != Tag::List {
        return Err(mismatch("a list to append to", list.tag));
    }
    let longer = heap.append(list, *get(w, item))?;
    set(w, dst, longer);
    Ok(())
}

/// The item at an index, from 0 or negative from the end, if the list has it.
pub(crate) fn item_at(heap: &Heap, list: Value, index: Value) -> Result<Option<Value>, Trap> {
    Ok(place_of(list, index)?.map(|place| heap.value(at(list.low()) + place)))
}

/// The position of the item at an index, from 0 or negative from the end, if the list has it.
pub(crate) fn place_of(list: Value, index: Value) -> Result<Option<usize>, Trap> {
    let int = match index.tag {
        Tag::Int => Some(index.as_int()),
        Tag::Double => integral(index.payload),
        tag => return Err(mismatch("a number as index", tag)),
    };
    let from_start = int.and_then(|int| if int < 0 { int.checked_add(list.aux.into()) } else { Some(int) });
    let place = from_start.and_then(|place| u32::try_from(place).ok()).filter(|&place| place < list.aux);
    Ok(place.map(at))
}

/// `dst` = the item at an index, or the field that a text names.
#[inline(never)]
pub(crate) fn item(
    heap: &mut Heap,
    program: &ProgramData,
    w: &mut Window,
    dst: Out,
    (container, key): (In, In),
) -> Result<(), Trap> {
    let (container, key) = (*get(w, container), *get(w, key));
    let value = match (container.tag, key.tag) {
        (Tag::List, _) => match item_at(heap, container, key)? {
            Some(item) => item,
            None => return Err(out_of_range(container, key)),
        },
        (Tag::Record, Tag::Text) => record::named_field(heap, program, container, key)?,
        (Tag::Record, tag) => return Err(mismatch("the name of a field as text", tag)),
        (tag, _) => return Err(mismatch("a list or record to take a value of", tag)),
    };
    set(w, dst, value);
    Ok(())
}

#[cold]
pub(crate) fn out_of_range(list: Value, index: Value) -> Trap {
    let Some(index) = index.as_number() else { return mismatch("a number as index", index.tag) };
    let len = list.aux;
    let message = match len {
        0 => alloc::format!("the index {index} in an empty list"),
        _ => alloc::format!("the index {index} in a list of {len}; its indexes are -{len} to {}", len - 1),
    };
    Trap::new(Code::FaultIndexOutOfRange, format_args!("{message}"))
}

/// `dst` = the length of a text in code points, of a list in items, or of a record in fields.
#[inline(never)]
pub(crate) fn length(
    heap: &mut Heap,
    program: &ProgramData,
    w: &mut Window,
    dst: Out,
    src: In,
) -> Result<(), Trap> {
    let length = length_of(heap, program, *get(w, src))?;
    set(w, dst, length);
    Ok(())
}

/// The length of a text, a list or a record.
pub(crate) fn length_of(heap: &mut Heap, program: &ProgramData, value: Value) -> Result<Value, Trap> {
    let len = match value.tag {
        Tag::Text => {
            heap.budget.burn_bulk(0, at(value.high()))?;
            heap.text_of(program, value).chars().count()
        }
        Tag::List | Tag::Record => heap.len(program, value),
        tag => return Err(mismatch("a text, list or record with a length", tag)),
    };
    // Lengths are 32 bits wide.
    Ok(Value::int(i64::try_from(len).unwrap_or(i64::MAX)))
}
