//! Operands of pure functions: checked for their kind, and positions within a text or list.

use crate::fault::{Trap, mismatch};
use crate::number;
use crate::value::{Tag, Value};
use alloc::string::String;
use ilo_spec::error::Code;
use ilo_spec::program::Number;

/// The result of a function.
pub(super) enum Applied {
    Value(Value),
    /// It failed with this message.
    Failure(String),
}

/// Checks that an operand is of a kind.
#[inline]
pub(super) fn want(value: Value, tag: Tag, expected: &str) -> Result<(), Trap> {
    if value.tag == tag { Ok(()) } else { Err(mismatch(expected, value.tag)) }
}

/// A number of any kind.
pub(super) fn number_of(value: Value, expected: &str) -> Result<Number, Trap> {
    value.as_number().ok_or_else(|| mismatch(expected, value.tag))
}

/// An integer. One beyond 64 bits is clamped, which is beyond every size.
pub(super) fn whole(value: Value, expected: &str) -> Result<i64, Trap> {
    let double = match number_of(value, expected)? {
        Number::Int(int) => return Ok(int),
        Number::Double(double) => double,
    };
    match number::truncated(double) {
        None => Ok(if double < 0.0 { i64::MIN } else { i64::MAX }),
        Some(_) => number::integral(double).ok_or_else(|| unfit(expected, Number::Double(double))),
    }
}

/// The fault of a number that the function does not accept.
#[cold]
pub(super) fn unfit(expected: &str, found: Number) -> Trap {
    Trap::new(Code::FaultTypeMismatch, format_args!("expected {expected}, found {found}"))
}

/// The position of an index in something of a given length: negative ones count from the end, and all are
/// clamped to the length.
pub(super) fn position(whole: i64, length: usize) -> usize {
    let distance = usize::try_from(whole.unsigned_abs()).unwrap_or(usize::MAX);
    if whole < 0 { length.saturating_sub(distance) } else { distance.min(length) }
}
