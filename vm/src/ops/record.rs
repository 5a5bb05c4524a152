//! Records: making, merging, reading fields.

use crate::fault::{Trap, mismatch};
use crate::field_matrix::FAR;
use crate::frame::Window;
use crate::heap::{Heap, narrow};
use crate::json::{JsonEvent, JsonReader};
use crate::ops::{compare, get, list, set, span, truth};
use crate::program::ProgramData;
use crate::value::{Tag, Value, at};
use alloc::string::String;
use core::hint::cold_path;
use ilo_spec::error::Code;
use ilo_spec::isa::Op;
use ilo_spec::node::LENGTHS;
use ilo_spec::operand::{FieldId, First, In, Out, ShapeId};

/// The number of fields named in a message.
const NAMED: usize = 8;

/// `dst` = a record of the window.
#[inline(never)]
pub(crate) fn make(
    heap: &mut Heap,
    program: &ProgramData,
    w: &mut Window,
    dst: Out,
    (first, shape): (First, ShapeId),
) -> Result<(), Trap> {
    let (offset, depth) = heap.put(span(w, first, program.shape_len(shape)))?;
    set(w, dst, Value::record(offset, shape.0.into(), depth));
    Ok(())
}

/// The field of a record, if the matrix says where it is.
#[inline(always)]
fn quick<'h>(heap: &'h Heap, record: &Value, field: FieldId) -> Option<&'h Value> {
    let column = usize::from(field.0);
    let stride = heap.shapes.stride;
    // A row has columns for the first names only: a later column would be in the next row.
    if record.tag != Tag::Record || column >= stride {
        return None;
    }
    let &place = heap.shapes.matrix.get(at(record.aux) * stride + column)?;
    if place >= FAR {
        return None;
    }
    heap.values.get(at(record.low()) + usize::from(place))
}

/// The position of a field in a record. If the matrix does not say, all fields are searched, which costs
/// fuel.
fn place_of(
    heap: &mut Heap,
    program: &ProgramData,
    record: &Value,
    field: FieldId,
) -> Result<Option<usize>, Trap> {
    let name = field.0.into();
    if !heap.shapes.matrix_decides(record.aux, name) {
        heap.budget.burn_bulk(heap.len(program, *record), 0)?;
    }
    Ok(heap.shapes.position(program, record.aux, name))
}

/// Like [`quick`], but finds every field, and the length of a list or text; a fault if there is none.
#[cold]
#[inline(never)]
fn find(heap: &mut Heap, program: &ProgramData, record: &Value, field: FieldId) -> Result<Value, Trap> {
    if record.tag != Tag::Record {
        return match (record.tag, program.string(field.0.into())) {
            (Tag::List | Tag::Text, name) if LENGTHS.contains(&name) => {
                list::length_of(heap, program, *record)
            }
            _ => Err(no_record(heap, program, record)),
        };
    }
    match place_of(heap, program, record, field)? {
        Some(place) => Ok(*heap.at(at(record.low()) + place)),
        None => Err(missing(heap, program, record, program.string(field.0.into()))),
    }
}

/// The fault of reading a field of something else; a text that holds a JSON record gets a hint.
#[cold]
#[inline(never)]
fn no_record(heap: &Heap, program: &ProgramData, value: &Value) -> Trap {
    const EXPECTED: &str = "a record to read a field of";
    if value.tag != Tag::Text || !is_json_record(heap.text_of(program, *value)) {
        return mismatch(EXPECTED, value.tag);
    }
    Trap::new(
        Code::FaultTypeMismatch,
        format_args!("expected {EXPECTED}, found a text that is a JSON document; PARSE gives its value"),
    )
}

fn is_json_record(text: &str) -> bool {
    let mut reader = JsonReader::new(text, usize::MAX);
    let mut event = reader.next_event();
    let begins = matches!(event, Ok(Some(JsonEvent::BeginRecord)));
    while begins && matches!(event, Ok(Some(_))) {
        event = reader.next_event();
    }
    begins && event.is_ok()
}

/// `dst` = the field of a record.
#[inline(always)]
pub(crate) fn field(
    heap: &mut Heap,
    program: &ProgramData,
    w: &mut Window,
    op: &Op,
    (dst, src, field): (Out, In, FieldId),
) -> Result<(), Trap> {
    if let Some(value) = quick(heap, get(w, src), field) {
        set(w, dst, *value);
        return Ok(());
    }
    cold_path();
    field_slowly(heap, program, w, op)
}

/// Separate from [`field`], so that its paths do not join with a value between them.
#[cold]
#[inline(never)]
fn field_slowly(heap: &mut Heap, program: &ProgramData, w: &mut Window, op: &Op) -> Result<(), Trap> {
    let Op::Field { dst, src, field } = *op else { return Ok(()) };
    let value = find(heap, program, get(w, src), field)?;
    set(w, dst, value);
    Ok(())
}

/// Whether the field of a record is true as a condition.
#[inline(always)]
pub(crate) fn flag(
    heap: &mut Heap,
    program: &ProgramData,
    record: &Value,
    field: FieldId,
) -> Result<bool, Trap> {
    match quick(heap, record, field) {
        Some(value) => truth(value),
        None => truth(&find(heap, program, record, field)?),
    }
}

#[cold]
#[inline(never)]
pub(crate) fn missing(heap: &Heap, program: &ProgramData, record: &Value, name: &str) -> Trap {
    let mut there = String::new();
    let fields = heap.shapes.fields(program, record.aux);
    for &name in fields.iter().take(NAMED) {
        there.push_str(if there.is_empty() { " there are " } else { ", " });
        crate::render::clip(heap.shapes.name(program, name), &mut there);
    }
    if fields.is_empty() {
        there.push_str(" it has none");
    } else if fields.len() > NAMED {
        there.push_str(", …");
    }
    let mut clipped = String::new();
    crate::render::clip(name, &mut clipped);
    Trap::new(Code::FaultMissingField, format_args!("the record has no field {clipped};{there}"))
}

/// The field with that name, a text, if the record has it.
pub(crate) fn find_named(
    heap: &mut Heap,
    program: &ProgramData,
    record: Value,
    name: Value,
) -> Result<Option<Value>, Trap> {
    heap.budget.burn_bulk(heap.len(program, record), at(name.high()))?;
    let known = heap.shapes.find_name(program, heap.text_of(program, name));
    let place = known.and_then(|name| heap.shapes.position(program, record.aux, name));
    Ok(place.map(|place| heap.value(at(record.low()) + place)))
}

/// Like [`find_named`]; a fault if there is none.
pub(crate) fn named_field(
    heap: &mut Heap,
    program: &ProgramData,
    record: Value,
    name: Value,
) -> Result<Value, Trap> {
    match find_named(heap, program, record, name)? {
        Some(value) => Ok(value),
        None => Err(missing(heap, program, &record, heap.text_of(program, name))),
    }
}

/// `dst` = whether the record has the field, the list the name as an item, or the text the name as a part.
#[inline(never)]
pub(crate) fn has(
    heap: &mut Heap,
    program: &ProgramData,
    w: &mut Window,
    dst: Out,
    (src, field): (In, FieldId),
) -> Result<(), Trap> {
    let container = get(w, src);
    let found = match container.tag {
        Tag::Record => place_of(heap, program, container, field)?.is_some(),
        _ => contains(heap, program, *container, program.texts[usize::from(field.0)])?,
    };
    set(w, dst, Value::bool(found));
    Ok(())
}

/// `dst` = whether the record has the field with that name, the list an equal item, or the text that part.
#[inline(never)]
pub(crate) fn has_name(
    heap: &mut Heap,
    program: &ProgramData,
    w: &mut Window,
    dst: Out,
    (src, name): (In, In),
) -> Result<(), Trap> {
    let (container, wanted) = (*get(w, src), *get(w, name));
    let found = match (container.tag, wanted.tag) {
        (Tag::Record, Tag::Text) => find_named(heap, program, container, wanted)?.is_some(),
        (Tag::Record, tag) => return Err(mismatch("the name of a field as text", tag)),
        _ => contains(heap, program, container, wanted)?,
    };
    set(w, dst, Value::bool(found));
    Ok(())
}

/// Whether a list has an item that equals a value, or a text has a text as a part.
fn contains(heap: &mut Heap, program: &ProgramData, container: Value, wanted: Value) -> Result<bool, Trap> {
    match (container.tag, wanted.tag) {
        (Tag::List, _) => {
            heap.budget.burn_bulk(at(container.aux), 0)?;
            for place in 0..at(container.aux) {
                let item = heap.value(at(container.low()) + place);
                if compare::equal(heap, program, &item, &wanted)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        (Tag::Text, Tag::Text) => {
            heap.budget.burn_bulk(0, at(container.high()) + at(wanted.high()))?;
            Ok(heap.text_of(program, container).contains(heap.text_of(program, wanted)))
        }
        (Tag::Text, tag) => Err(mismatch("a text to look for in a text", tag)),
        (tag, _) => Err(mismatch("a record, list or text to look into", tag)),
    }
}

/// `dst` = the record with the window's fields set.
#[inline(never)]
pub(crate) fn merge(
    heap: &mut Heap,
    program: &ProgramData,
    w: &mut Window,
    (dst, src): (Out, In),
    (first, shape): (First, ShapeId),
) -> Result<(), Trap> {
    let record = *get(w, src);
    if record.tag != Tag::Record {
        return Err(mismatch("a record to merge into", record.tag));
    }
    let new: u32 = shape.0.into();
    let window = span(w, first, program.shape_len(shape));
    let result = merged_shape(heap, program, record.aux, new)?;
    heap.shapes.charge_shape(&mut heap.budget, result)?;
    let old = heap.len(program, record);
    let count = heap.shapes.fields(program, result).len();
    heap.budget.check_items(count)?;
    let depth = if record.depth() > 1 || window.iter().any(|item| item.is_container()) {
        heap.nested = true;
        heap.nest(window)?.max(record.depth())
    } else {
        1
    };
    let start = heap.take(count)?;
    heap.budget.burn_bulk(count + old * window.len() / 16, 0)?;
    heap.values.copy_within(at(record.low())..at(record.low()) + old, start);
    let mut follows = start + old;
    for (&name, value) in program.shape_fields(new).iter().zip(window) {
        let place = heap.shapes.position(program, record.aux, name).map_or(follows, |place| start + place);
        follows += usize::from(place == follows);
        heap.values[place] = *value;
    }
    debug_assert_eq!(follows, start + count, "every new field has its place");
    set(w, dst, Value::record(narrow(start), result, depth));
    Ok(())
}

/// The shape of a record of shape `old` with the fields of `new` set.
fn merged_shape(heap: &mut Heap, program: &ProgramData, old: u32, new: u32) -> Result<u32, Trap> {
    if let Some(shape) = heap.shapes.merged(old, new) {
        return Ok(shape);
    }
    let has = |name| heap.shapes.position(program, old, name).is_some();
    let added = program.shape_fields(new).iter().copied().filter(|&name| !has(name));
    let mut fields = heap.shapes.fields(program, old).to_vec();
    let before = fields.len();
    fields.extend(added);
    let shape = if fields.len() == before {
        old
    } else {
        match heap.shapes.intern(program, &mut heap.budget, &fields)? {
            Ok(shape) => shape,
            // Neither list has duplicates, and common fields were left out of one.
            Err(_) => old,
        }
    };
    heap.shapes.learn_merge(old, new, shape);
    Ok(shape)
}
