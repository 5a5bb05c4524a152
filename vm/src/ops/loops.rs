//! Loops: three registers hold the list, the index with the fuel of a pass, and the collected items.

use crate::fault::{Trap, mismatch};
use crate::frame::Window;
use crate::heap::{Heap, narrow};
use crate::ops::{get, set, span};
use crate::program::ProgramData;
use crate::value::{Tag, Value, at};
use core::hint::cold_path;
use ilo_spec::isa::Op;
use ilo_spec::operand::{FieldsId, First, In, LoopBase, Out, ShapeId};

/// A register of a loop; `distance` is at most 2. The verifier shows that it is within the frame.
#[inline(always)]
fn slot(base: LoopBase, distance: usize) -> usize {
    usize::from(base.0) + distance
}

/// Begins a loop whose body is at `after`; with `collects`, reserves as many items as the list has.
#[inline(never)]
pub(crate) fn begin(
    heap: &mut Heap,
    program: &ProgramData,
    w: &mut Window,
    (base, list): (LoopBase, In),
    after: usize,
    collects: bool,
) -> Result<(), Trap> {
    let list = *get(w, list);
    if list.tag != Tag::List {
        return Err(mismatch("a list to loop over", list.tag));
    }
    let cost = program.facts.loops.get(after - 1).copied().unwrap_or(1);
    if collects {
        let start = heap.take(at(list.aux))?;
        w[slot(base, 2)] = Value::list(narrow(start), 0, 1);
    }
    w[slot(base, 0)] = list;
    w[slot(base, 1)] = Value::state(cost, 0, narrow(after));
    Ok(())
}

/// Takes the next item and returns where the body begins, or `None` after the last item.
///
/// The body's address is stored with the index, so it is available early: computed from the program counter,
/// it would make each pass wait for the one before.
#[inline(always)]
pub(crate) fn next(
    heap: &mut Heap,
    w: &mut Window,
    base: LoopBase,
    item: Out,
) -> Result<Option<usize>, Trap> {
    let (list, state) = (&w[slot(base, 0)], &w[slot(base, 1)]);
    let index = state.low();
    if index >= list.aux {
        cold_path();
        return Ok(None);
    }
    heap.budget.burn_or_pause(state.aux.into())?;
    let Some(&value) = heap.values.get(at(list.low()) + at(index)) else { return Ok(None) };
    let (body, advanced) = (state.high(), state.advanced());
    set(w, item, value);
    w[slot(base, 1)].payload = advanced;
    Ok(Some(at(body)))
}

/// Adds a value to the collected items.
#[inline(always)]
pub(crate) fn add(heap: &mut Heap, w: &mut Window, base: LoopBase, value: Value) -> Result<(), Trap> {
    let list = w[slot(base, 2)];
    if list.aux >= w[slot(base, 0)].aux || value.is_container() {
        return add_slowly(heap, w, base, value);
    }
    heap.values[at(list.low()) + at(list.aux)] = value;
    w[slot(base, 2)].aux = list.aux + 1;
    Ok(())
}

/// Adds a container, or an item beyond the reserved ones.
#[cold]
#[inline(never)]
fn add_slowly(heap: &mut Heap, w: &mut Window, base: LoopBase, value: Value) -> Result<(), Trap> {
    heap.nested |= value.is_container();
    add_container(heap, w, base, value)
}

#[cold]
#[inline(never)]
fn add_container(heap: &mut Heap, w: &mut Window, base: LoopBase, value: Value) -> Result<(), Trap> {
    let list = w[slot(base, 2)];
    if list.aux >= w[slot(base, 0)].aux {
        w[slot(base, 2)] = heap.append(list, value)?;
        return Ok(());
    }
    let depth = list.depth().max(1 + value.depth());
    heap.budget.check_depth(depth)?;
    heap.values[at(list.low()) + at(list.aux)] = value;
    w[slot(base, 2)] = Value::list(list.low(), list.aux + 1, depth);
    Ok(())
}

/// Adds a new record, to which nothing else refers. Inlined into the loop, it slows P2 and P4 by a seventh at
/// equal counts.
#[inline(never)]
pub(crate) fn add_record(
    heap: &mut Heap,
    program: &ProgramData,
    w: &mut Window,
    base: LoopBase,
    (first, shape): (First, ShapeId),
) -> Result<(), Trap> {
    let count = program.shape_len(shape);
    let (offset, depth) = heap.put(span(w, first, count))?;
    let list = &w[slot(base, 2)];
    let len = list.aux;
    // The depth of a list without header is the upper half of its payload.
    if len < w[slot(base, 0)].aux
        && depth < list.high()
        && let Some(place) = heap.values.get_mut(at(list.low()) + at(len))
    {
        // Built here and below: a value built once would be stored in halves and copied whole.
        *place = Value::record(offset, shape.0.into(), depth);
        w[slot(base, 2)].aux = len + 1;
        return Ok(());
    }
    add_new(heap, w, base, (offset, shape, depth))
}

/// Like [`add_record`], for two registers. These take the instruction, so that nothing is spilled for the
/// slow path.
#[inline(never)]
pub(crate) fn add_two(heap: &mut Heap, w: &mut Window, op: &Op) -> Result<(), Trap> {
    match *op {
        Op::YieldTwo { base, a, b, shape } if add_plain(heap, w, base, [a, b], shape).is_some() => Ok(()),
        _ => add_any_fields(heap, w, op),
    }
}

/// Like [`add_record`], for three registers.
#[inline(never)]
pub(crate) fn add_three(heap: &mut Heap, w: &mut Window, op: &Op) -> Result<(), Trap> {
    match *op {
        Op::YieldThree { base, a, b, c, shape } if add_plain(heap, w, base, [a, b, c], shape).is_some() => {
            Ok(())
        }
        _ => add_any_fields(heap, w, op),
    }
}

/// Like [`add_record`], for four registers.
#[inline(never)]
pub(crate) fn add_four(heap: &mut Heap, w: &mut Window, op: &Op) -> Result<(), Trap> {
    match *op {
        Op::YieldFour { base, a, b, c, d, shape }
            if add_plain(heap, w, base, [a, b, c, d], shape).is_some() =>
        {
            Ok(())
        }
        _ => add_any_fields(heap, w, op),
    }
}

#[cold]
#[inline(never)]
fn add_any_fields(heap: &mut Heap, w: &mut Window, op: &Op) -> Result<(), Trap> {
    match *op {
        Op::YieldTwo { base, a, b, shape } => add_fields(heap, w, base, &[a, b], shape),
        Op::YieldThree { base, a, b, c, shape } => add_fields(heap, w, base, &[a, b, c], shape),
        Op::YieldFour { base, a, b, c, d, shape } => add_fields(heap, w, base, &[a, b, c, d], shape),
        _ => Ok(()),
    }
}

/// Adds a record without containers, if the list has room, already holds a record, and the heap needs no
/// growth.
#[inline(always)]
fn add_plain<const N: usize>(
    heap: &mut Heap,
    w: &mut Window,
    base: LoopBase,
    fields: [In; N],
    shape: FieldsId,
) -> Option<()> {
    let start = heap.top;
    if start + N > heap.granted {
        return None;
    }
    let places = heap.values.get_mut(start..)?.first_chunk_mut::<N>()?;
    let mut tags = 0;
    for (place, field) in places.iter_mut().zip(fields) {
        let value = get(w, field);
        tags |= value.tag as u32;
        *place = *value;
    }
    let list = &w[slot(base, 2)];
    let len = list.aux;
    if tags & Tag::List as u32 == 8 || len >= w[slot(base, 0)].aux || list.high() < 2 {
        return None;
    }
    // Built here: a value built earlier would be stored in halves and copied whole.
    *heap.values.get_mut(at(list.low()) + at(len))? = Value::record(narrow(start), shape.0.into(), 1);
    w[slot(base, 2)].aux = len + 1;
    heap.top = start + N;
    Some(())
}

fn add_fields(
    heap: &mut Heap,
    w: &mut Window,
    base: LoopBase,
    fields: &[In],
    shape: FieldsId,
) -> Result<(), Trap> {
    let start = heap.take(fields.len())?;
    for (place, &field) in (start..).zip(fields) {
        heap.values[place] = *get(w, field);
    }
    let depth = heap.nest_at(start..start + fields.len())?;
    add_container(heap, w, base, Value::record(narrow(start), shape.0.into(), depth))
}

#[cold]
#[inline(never)]
fn add_new(
    heap: &mut Heap,
    w: &mut Window,
    base: LoopBase,
    (offset, shape, depth): (u32, ShapeId, u32),
) -> Result<(), Trap> {
    add_container(heap, w, base, Value::record(offset, shape.0.into(), depth))
}

/// `dst` = the collected items.
#[inline(always)]
pub(crate) fn collect(w: &mut Window, dst: Out, base: LoopBase) {
    let list = w[slot(base, 2)];
    set(w, dst, list);
}
