//! Functions on numbers and times.

use super::operand::{Applied, number_of, unfit, want, whole};
use crate::calendar;
use crate::decimal::{self, Decimal};
use crate::fault::{Trap, mismatch};
use crate::heap::Heap;
use crate::program::ProgramData;
use crate::render;
use crate::value::{Tag, Value, at};
use alloc::string::String;
use ilo_spec::error::Code;
use ilo_spec::number::{self, NumberError};
use ilo_spec::program::Number;

/// The most decimal places that FIXED writes.
const MOST_PLACES: usize = 20;

/// The longest text that can be a time, in bytes.
const LONGEST_TIME: usize = 64;

pub(super) fn round(heap: &mut Heap, value: Value, places: Value) -> Result<Value, Trap> {
    let number = number_of(value, "a number to round")?;
    let places = whole(places, "a whole number of decimal places")?;
    heap.budget.burn(1)?;
    match decimal::round(number, places) {
        Some(rounded) => Ok(Value::number(rounded)),
        None => Err(Trap::new(
            Code::FaultOverflow,
            format_args!("{number} rounded to {places} decimal places is beyond 64 bits"),
        )),
    }
}

pub(super) fn fixed(heap: &mut Heap, value: Value, places: Value) -> Result<Value, Trap> {
    const EXPECTED: &str = "0 to 20 decimal places";
    let number = number_of(value, "a number to write")?;
    let places = whole(places, EXPECTED)?;
    let wanted = usize::try_from(places).ok().filter(|&places| places <= MOST_PLACES);
    let Some(wanted) = wanted else { return Err(unfit(EXPECTED, Number::Int(places))) };
    heap.budget.burn(1)?;
    // At most 309 digits and the places.
    let mut text = String::new();
    decimal::write_fixed(number, wanted, &mut text);
    heap.add_text(&text)
}

pub(super) fn number(heap: &mut Heap, program: &ProgramData, value: Value) -> Result<Applied, Trap> {
    if value.as_number().is_some() {
        return Ok(Applied::Value(value));
    }
    want(value, Tag::Text, "a text or number")?;
    heap.budget.burn_bulk(0, at(value.high()))?;
    Ok(match number::parse(heap.text_of(program, value).trim()) {
        Ok(number) => Applied::Value(Value::number(number)),
        Err(error) => {
            let what = match error {
                NumberError::Form => "expected a number",
                NumberError::Beyond64Bits => "expected an integer within 64 bits",
                NumberError::NotFinite => "expected a finite number",
            };
            failure(heap, program, what, value)
        }
    })
}

/// A failure that says what was expected and shows the text.
fn failure(heap: &Heap, program: &ProgramData, expected: &str, found: Value) -> Applied {
    let mut message = String::from(expected);
    message.push_str(", found ");
    render::excerpt(heap, program, found, &mut message);
    Applied::Failure(message)
}

pub(super) fn time(heap: &mut Heap, program: &ProgramData, text: Value) -> Result<Applied, Trap> {
    want(text, Tag::Text, "a text that is a time")?;
    heap.budget.burn(1)?;
    let source = heap.text_of(program, text);
    let time = if source.len() <= LONGEST_TIME { calendar::parse(source) } else { None };
    let Some(calendar::Time { seconds, fraction }) = time else {
        return Ok(failure(heap, program, "expected a time such as 2026-01-31T12:00:00Z or a date", text));
    };
    if fraction == 0 {
        return Ok(Applied::Value(Value::int(seconds)));
    }
    let unit = i128::from(10_u64.pow(calendar::FRACTION_DIGITS));
    let attos = i128::from(seconds) * unit + i128::from(fraction);
    Ok(Applied::Value(Value::double(decimal::from_attos(attos))))
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
