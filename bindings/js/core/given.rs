//! What JavaScript gives: values and limits as JSON.

use crate::WORDS;
use crate::thrown::{bad_value, out_of_range, wrong_type};
use ilo_bindings::limits::{bounds, input_bounds, set};
use ilo_drive::data::Data;
use ilo_drive::data::read::{Bounds, ReadErrorKind, read};
use ilo_drive::failure::Failure;
use ilo_spec::error::Code;
use ilo_spec::program::Number;
use ilo_vm::Limits;

/// The memory of a run where nothing else is given: memory of WebAssembly never shrinks.
const MEMORY: u64 = 16 << 20;

/// The limits of a run, from a record of numbers.
pub(crate) fn limits(text: &str) -> Result<Limits, String> {
    let mut limits = Limits { memory: MEMORY, ..Limits::default() };
    let given = read(text.as_bytes(), &Bounds::default()).map_err(|error| bad_value(&error.to_string()))?;
    let Data::Record(fields) = &given else {
        return Err(wrong_type("limits: expected an object"));
    };
    for (name, value) in fields {
        let number = match value {
            Data::Number(Number::Int(int)) => u64::try_from(*int).ok(),
            _ => None,
        };
        // A name that is none is said first.
        set(&mut limits, name, number.unwrap_or(0), &WORDS).map_err(|message| out_of_range(&message))?;
        if number.is_none() {
            return Err(out_of_range(&format!("limits: `{name}` expects a whole number from 0")));
        }
    }
    Ok(limits)
}

/// The input of a run.
pub(crate) fn input(text: &str) -> Result<Data, String> {
    read(text.as_bytes(), &input_bounds()).map_err(|error| bad_value(&format!("the input: {}", error.kind)))
}

/// A tool's answer, or the failure that it comes to.
pub(crate) fn answer(text: &str, limits: &Limits) -> Result<Data, Failure> {
    read(text.as_bytes(), &bounds(limits)).map_err(|error| unfit(error.kind))
}

/// The failure for an answer that passes a bound: what JavaScript counted, by number.
pub(crate) fn past(bound: u8, limits: &Limits) -> Failure {
    let bounds = bounds(limits);
    unfit(match bound {
        0 => ReadErrorKind::Depth(bounds.depth),
        1 => ReadErrorKind::Values(bounds.values),
        _ => ReadErrorKind::Bytes(bounds.bytes),
    })
}

fn unfit(kind: ReadErrorKind) -> Failure {
    let verb = if matches!(kind, ReadErrorKind::Depth(_)) { "is" } else { "has" };
    let message = format!("the tool's answer {verb} {kind}");
    match kind {
        ReadErrorKind::Depth(_) => Failure::Limit(Code::FaultDepth, message),
        ReadErrorKind::Bytes(_) | ReadErrorKind::Values(_) => Failure::Limit(Code::FaultTooLarge, message),
        _ => Failure::text(message),
    }
}
