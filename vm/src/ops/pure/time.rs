//! Functions of times.

use super::number::failure;
use super::operand::{Applied, unfit};
use crate::calendar::{self, DAY};
use crate::decimal::{self, Decimal};
use crate::fault::{Trap, mismatch};
use crate::heap::Heap;
use crate::number::{nearest, truncated};
use crate::ops::arith::{self, Sub};
use crate::program::ProgramData;
use crate::value::{Tag, Value};
use alloc::string::String;
use ilo_spec::program::Number;

/// The longest text that can be a time, in bytes.
const LONGEST_TIME: usize = 64;

pub(super) fn time(heap: &mut Heap, program: &ProgramData, text: Value) -> Result<Applied, Trap> {
    super::operand::want(text, Tag::Text, "a text that is a time")?;
    heap.budget.burn(1)?;
    Ok(seconds(heap, program, text).map_or_else(|| no_time(heap, program, text), Applied::Value))
}

/// The failure of a text that is no time.
fn no_time(heap: &Heap, program: &ProgramData, text: Value) -> Applied {
    failure(heap, program, "expected a time such as 2026-01-31T12:00:00Z or a date", text)
}

/// The seconds of a text that is a time.
fn seconds(heap: &Heap, program: &ProgramData, text: Value) -> Option<Value> {
    let source = heap.text_of(program, text);
    let time = if source.len() <= LONGEST_TIME { calendar::parse(source) } else { None };
    let calendar::Time { seconds, fraction } = time?;
    if fraction == 0 {
        return Some(Value::int(seconds));
    }
    let unit = i128::from(10_u64.pow(calendar::FRACTION_DIGITS));
    let attos = i128::from(seconds) * unit + i128::from(fraction);
    Some(Value::double(decimal::from_attos(attos)))
}

/// The seconds of a time, and these rounded down, within the years 1 to 9999. A failure says what was
/// expected.
fn moment(heap: &Heap, program: &ProgramData, time: Value) -> Result<Result<(Value, i64), Applied>, Trap> {
    const EXPECTED: &str = "expected seconds since 1970 within the years 1 to 9999";
    let (found, is_text) = match time.tag {
        Tag::Text => (seconds(heap, program, time), true),
        Tag::Int | Tag::Double => (Some(time), false),
        tag => return Err(mismatch("a time as text or as seconds since 1970", tag)),
    };
    let whole = found.and_then(|found| match found.tag {
        Tag::Double => {
            let whole = truncated(found.payload)?;
            whole.checked_sub((nearest(whole) > found.payload).into())
        }
        _ => Some(found.as_int()),
    });
    let whole = whole.filter(|whole| (calendar::FIRST..calendar::END).contains(whole));
    Ok(match found.zip(whole) {
        Some(moment) => Ok(moment),
        None if is_text => Err(no_time(heap, program, time)),
        None => Err(failure(heap, program, EXPECTED, time)),
    })
}

/// The date of a time, in UTC.
pub(super) fn date(heap: &mut Heap, program: &ProgramData, time: Value) -> Result<Applied, Trap> {
    let seconds = match moment(heap, program, time)? {
        Ok((_, seconds)) => seconds,
        Err(failure) => return Ok(failure),
    };
    heap.budget.burn(1)?;
    let mut text = String::new();
    // A string takes everything.
    let _ = calendar::write_date(seconds, &mut text);
    heap.add_text(&text).map(Applied::Value)
}

/// The whole days from one time to another, rounded down.
pub(super) fn days(heap: &mut Heap, program: &ProgramData, from: Value, to: Value) -> Result<Applied, Trap> {
    // The division burns another one.
    heap.budget.burn(1)?;
    let (from, to) = match (moment(heap, program, from)?, moment(heap, program, to)?) {
        (Ok((from, _)), Ok((to, _))) => (from, to),
        (Err(failure), _) | (_, Err(failure)) => return Ok(failure),
    };
    let difference = arith::mixed::<Sub>(&to, &from)?;
    let day = Value::int(DAY);
    super::number::floor_div(heap, difference, day).map(Applied::Value)
}

pub(super) fn iso(heap: &mut Heap, value: Value) -> Result<Value, Trap> {
    const EXPECTED: &str = "seconds since 1970 within the years 1 to 9999";
    const NANOS: i128 = 1_000_000_000;
    let number = value.as_number().ok_or_else(|| mismatch("a number of seconds", value.tag))?;
    heap.budget.burn(1)?;
    let nanos = match number {
        Number::Int(int) => Some(i128::from(int) * NANOS),
        Number::Double(double) => {
            let mut decimal = Decimal::of(double);
            decimal.round(9);
            decimal.scaled(9)
        }
    };
    let within = i128::from(calendar::FIRST) * NANOS..i128::from(calendar::END) * NANOS;
    let Some(nanos) = nanos.filter(|nanos| within.contains(nanos)) else {
        return Err(unfit(EXPECTED, number));
    };
    let (seconds, rest) = (nanos.div_euclid(NANOS), nanos.rem_euclid(NANOS));
    let (Ok(seconds), Ok(rest)) = (i64::try_from(seconds), u32::try_from(rest)) else {
        return Err(unfit(EXPECTED, number));
    };
    let mut text = String::new();
    // A string takes everything.
    let _ = calendar::write(seconds, rest, &mut text);
    heap.add_text(&text)
}
