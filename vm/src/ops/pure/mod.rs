//! The pure functions that `apply` calls.
//!
//! Each takes its operands as values and returns a value or, if the table says so, a failure. Fuel is burnt
//! before the work that it pays for, as far as the amount of work is known; what is built is charged before
//! it is written. If there is no memory, the instruction is executed again after a collection, so it first
//! takes back what it burnt and wrote.

mod hash;
mod list;
mod number;
mod operand;
mod parse;
mod record;
mod search;
mod text;
mod time;

use crate::fault::Trap;
use crate::frame::Window;
use crate::heap::Heap;
use crate::ops::{set, span};
use crate::program::ProgramData;
use crate::value::{Tag, Value};
use ilo_spec::error::Code;
use ilo_spec::isa::Op;
use ilo_spec::pure::Pure;
use operand::Applied;

/// The most operands that a function has.
const OPERANDS: usize = 3;

/// The distance of a failure that the instruction does not handle; no jump is as far.
pub(crate) const UNHANDLED: usize = usize::MAX;

/// `dst` = the result of the function, or its failure; returns how far to jump.
#[inline(never)]
pub(crate) fn apply(heap: &mut Heap, program: &ProgramData, w: &mut Window, op: &Op) -> Result<usize, Trap> {
    let Op::Apply { dst, first, count, function, fail } = *op else { return Ok(0) };
    // The verifier shows that the function exists and has this number of operands.
    let Some(function) = Pure::from_number(function.0) else { return Ok(0) };
    let mut operands = [Value::NIL; OPERANDS];
    for (place, value) in operands.iter_mut().zip(span(w, first, count.0.into())) {
        *place = *value;
    }
    let before = heap.checkpoint();
    let applied = call(heap, program, function, operands).and_then(|applied| match applied {
        Applied::Value(value) => Ok((value, 0)),
        Applied::Failure(message) => {
            heap.undo(&before);
            let handler = if fail.0 == 0 { UNHANDLED } else { usize::from(fail.0) };
            heap.add_text(&message).map(|text| (text, handler))
        }
    });
    match applied {
        Ok((value, distance)) => {
            set(w, dst, value);
            Ok(distance)
        }
        Err(trap) => {
            if trap.code() == Code::FaultMemory {
                heap.undo_with_fuel(&before);
            }
            Err(trap)
        }
    }
}

fn call(
    heap: &mut Heap,
    program: &ProgramData,
    function: Pure,
    [a, b, c]: [Value; OPERANDS],
) -> Result<Applied, Trap> {
    let value = match function {
        Pure::Join => text::join(heap, program, a, b),
        Pure::Get => record::get(heap, program, a, b, c),
        Pure::Put => record::put(heap, program, a, b, c),
        Pure::Keys => record::keys(heap, program, a),
        Pure::Split => text::split(heap, program, a, b),
        Pure::Replace => text::replace(heap, program, a, b, c),
        Pure::Trim => text::trim(heap, program, a),
        Pure::Lower => text::change_case(heap, program, a, text::lower),
        Pure::Upper => text::change_case(heap, program, a, text::upper),
        Pure::Slice => match a.tag {
            Tag::Text => text::slice(heap, program, a, b, c),
            _ => list::slice(heap, a, b, c),
        },
        Pure::Sort => list::sort(heap, program, a, b, list::Direction::Up),
        Pure::Reverse => list::reverse(heap, a),
        Pure::Range => list::range(heap, a),
        Pure::Sum => list::sum(heap, a),
        Pure::Min => return list::extreme(heap, program, a, core::cmp::Ordering::Less),
        Pure::Max => return list::extreme(heap, program, a, core::cmp::Ordering::Greater),
        Pure::Round => number::round(heap, a, b),
        Pure::Fixed => number::fixed(heap, a, b),
        Pure::Number => return number::number(heap, program, a),
        Pure::Parse => return parse::parse(heap, program, a),
        Pure::Json => text::json(heap, program, a),
        Pure::Time => return time::time(heap, program, a),
        Pure::Iso => time::iso(heap, a),
        Pure::Floor => number::floor(heap, a),
        Pure::Ceil => number::ceil(heap, a),
        Pure::Abs => number::abs(heap, a),
        Pure::FloorDiv => number::floor_div(heap, a, b),
        Pure::SortDown => list::sort(heap, program, a, b, list::Direction::Down),
        Pure::Unique => search::unique(heap, program, a, b),
        Pure::Group => search::group(heap, program, a, b),
        Pure::Column => search::column(heap, program, a, b),
        Pure::Find => search::find(heap, program, a, b, c),
        Pure::Values => record::values(heap, program, a),
        Pure::Entries => record::entries(heap, program, a),
        Pure::Record => record::of_entries(heap, program, a),
        Pure::Without => record::without(heap, program, a, b),
        Pure::Joined => record::joined(heap, program, a, b),
        Pure::Set => list::set(heap, a, b, c),
        Pure::Starts => text::starts(heap, program, a, b),
        Pure::Ends => text::ends(heap, program, a, b),
        Pure::Index => search::index(heap, program, a, b),
        Pure::Date => return time::date(heap, program, a),
        Pure::Days => return time::days(heap, program, a, b),
        Pure::Grouped => number::grouped(heap, a, b),
        Pure::Read => parse::read(heap, program, a),
    };
    value.map(Applied::Value)
}
