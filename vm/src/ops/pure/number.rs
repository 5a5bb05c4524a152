//! Functions on numbers.

use super::operand::{Applied, number_of, unfit, want, whole};
use crate::decimal;
use crate::fault::Trap;
use crate::heap::Heap;
use crate::number::{nearest, truncated};
use crate::ops::arith;
use crate::program::ProgramData;
use crate::render;
use crate::value::{Tag, Value, at};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use ilo_spec::error::Code;
use ilo_spec::number::{self, NumberError};
use ilo_spec::program::Number;

/// The most decimal places that FIXED writes.
const MOST_PLACES: usize = 20;

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

/// The greatest integer that is at most a number.
pub(super) fn floor(heap: &mut Heap, value: Value) -> Result<Value, Trap> {
    let number = number_of(value, "a number to round down")?;
    heap.budget.burn(1)?;
    let down = |double: f64| truncated(double)?.checked_sub((nearest(truncated(double)?) > double).into());
    integer(number, down, "down")
}

/// The least integer that is at least a number.
pub(super) fn ceil(heap: &mut Heap, value: Value) -> Result<Value, Trap> {
    let number = number_of(value, "a number to round up")?;
    heap.budget.burn(1)?;
    let up = |double: f64| truncated(double)?.checked_add((nearest(truncated(double)?) < double).into());
    integer(number, up, "up")
}

/// A number rounded to an integer.
fn integer(number: Number, round: impl Fn(f64) -> Option<i64>, way: &str) -> Result<Value, Trap> {
    let rounded = match number {
        Number::Int(int) => Some(int),
        Number::Double(double) => round(double),
    };
    rounded.map(Value::int).ok_or_else(|| {
        Trap::new(Code::FaultOverflow, format_args!("{number} rounded {way} is beyond 64 bits"))
    })
}

/// A number without its sign.
pub(super) fn abs(heap: &mut Heap, value: Value) -> Result<Value, Trap> {
    let number = number_of(value, "a number")?;
    heap.budget.burn(1)?;
    match number {
        Number::Double(double) => Ok(Value::double(double.abs())),
        Number::Int(int) => int.checked_abs().map(Value::int).ok_or_else(|| {
            Trap::new(Code::FaultOverflow, format_args!("{int} without its sign is beyond 64 bits"))
        }),
    }
}

/// The quotient rounded down.
pub(super) fn floor_div(heap: &mut Heap, value: Value, by: Value) -> Result<Value, Trap> {
    if value.tag == Tag::Int && by.tag == Tag::Int && by.as_int() != 0 {
        heap.budget.burn(1)?;
        let (a, b) = (value.as_int(), by.as_int());
        let down = a.checked_div(b).map(|quotient| quotient - i64::from(a % b != 0 && (a < 0) != (b < 0)));
        return down
            .map(Value::int)
            .ok_or_else(|| Trap::new(Code::FaultOverflow, format_args!("{a} // {b} is beyond 64 bits")));
    }
    let quotient = arith::quotient(&value, &by)?;
    floor(heap, quotient)
}

/// The number as FIXED writes it, with commas between thousands.
pub(super) fn grouped(heap: &mut Heap, value: Value, places: Value) -> Result<Value, Trap> {
    let plain = written(heap, value, places)?;
    let signed = usize::from(plain.starts_with('-'));
    let whole = plain.find('.').unwrap_or(plain.len());
    let mut text = String::new();
    for (place, digit) in plain.char_indices() {
        if place > signed && place < whole && (whole - place) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    heap.add_text(&text)
}

pub(super) fn fixed(heap: &mut Heap, value: Value, places: Value) -> Result<Value, Trap> {
    let text = written(heap, value, places)?;
    heap.add_text(&text)
}

/// A number with decimal places, at most 309 digits and the places.
fn written(heap: &mut Heap, value: Value, places: Value) -> Result<String, Trap> {
    const EXPECTED: &str = "0 to 20 decimal places";
    let number = number_of(value, "a number to write")?;
    let places = whole(places, EXPECTED)?;
    let wanted = usize::try_from(places).ok().filter(|&places| places <= MOST_PLACES);
    let Some(wanted) = wanted else { return Err(unfit(EXPECTED, Number::Int(places))) };
    heap.budget.burn(1)?;
    let mut text = String::new();
    decimal::write_fixed(number, wanted, &mut text);
    Ok(text)
}

pub(super) fn number(heap: &mut Heap, program: &ProgramData, value: Value) -> Result<Applied, Trap> {
    if value.as_number().is_some() {
        return Ok(Applied::Value(value));
    }
    want(value, Tag::Text, "a text or number")?;
    heap.budget.burn_bulk(0, at(value.high()))?;
    Ok(match number::parse(&without_zeros(heap.text_of(program, value).trim())) {
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

/// The text of a number without zeros before its first digit, which JSON does not allow: `09` as in dates.
fn without_zeros(text: &str) -> Cow<'_, str> {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let zeros = digits.bytes().take_while(|&byte| byte == b'0').count();
    let is_digit = |at: usize| digits.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let from = if is_digit(zeros) { zeros } else { zeros.saturating_sub(1) };
    match digits.get(from..) {
        Some(rest) if from > 0 && sign.is_empty() => Cow::Borrowed(rest),
        Some(rest) if from > 0 => Cow::Owned(format!("{sign}{rest}")),
        _ => Cow::Borrowed(text),
    }
}

/// A failure that says what was expected and shows the text.
pub(super) fn failure(heap: &Heap, program: &ProgramData, expected: &str, found: Value) -> Applied {
    let mut message = String::from(expected);
    message.push_str(", found ");
    render::excerpt(heap, program, found, &mut message);
    Applied::Failure(message)
}
