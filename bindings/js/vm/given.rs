//! Reads values and limits that JavaScript passes as JSON.

use crate::WORDS;
use crate::thrown::{bad_value, out_of_range, wrong_type};
use bumpalo::Bump;
use ilo_bindings::limits::{bounds, input_bounds, set};
use ilo_drive::data::Data;
use ilo_drive::data::read::{Bounds, ReadErrorKind, read};
use ilo_drive::failure::Failure;
use ilo_spec::error::Code;
use ilo_spec::program::Number;
use ilo_vm::{Datum, JsonEvent, JsonReader, JsonText, Limits};

/// The default memory of a run: memory of WebAssembly never shrinks.
const MEMORY: u64 = 16 << 20;
/// The most names that are compared pairwise. More are sorted first.
const FEW: usize = 8;

/// Reads the limits of a run from a record of numbers; nothing if all are the defaults.
pub(crate) fn limits(text: Option<&str>) -> Result<Limits, String> {
    let mut limits = Limits { memory: MEMORY, ..Limits::default() };
    let Some(text) = text else { return Ok(limits) };
    let given = read(text.as_bytes(), &Bounds::default()).map_err(|error| bad_value(&error.to_string()))?;
    let Data::Record(fields) = &given else {
        return Err(wrong_type("limits: expected an object"));
    };
    for (name, value) in fields {
        let number = match value {
            Data::Number(Number::Int(int)) => u64::try_from(*int).ok(),
            _ => None,
        };
        // An unknown name is reported first.
        set(&mut limits, name, number.unwrap_or(0), &WORDS).map_err(|message| out_of_range(&message))?;
        if number.is_none() {
            return Err(out_of_range(&format!("limits: `{name}` expects a whole number from 0")));
        }
    }
    Ok(limits)
}

/// Reads the input of a run.
pub(crate) fn input(text: &str) -> Result<Data, String> {
    read(text.as_bytes(), &input_bounds()).map_err(|error| bad_value(&format!("the input: {}", error.kind)))
}

/// Reads a tool's answer, or gives the failure for an answer that is not a value.
pub(crate) fn answer(text: &str, limits: &Limits) -> Result<Data, Failure> {
    read(text.as_bytes(), &bounds(limits)).map_err(|error| unfit(error.kind))
}

/// Reads a value for the machine; nothing if it is not one, in which case `answer` and `input` report the
/// reason.
pub(crate) fn datum<'a>(text: &'a str, bounds: &Bounds, arena: &'a Bump) -> Option<Datum<'a>> {
    if text.len() > bounds.bytes {
        return None;
    }
    let whole = |text: JsonText<'a>| -> &'a str {
        text.as_plain().unwrap_or_else(|| {
            let mut decoded = String::with_capacity(text.decoded_len());
            text.push_to(&mut decoded);
            arena.alloc_str(&decoded)
        })
    };
    let mut reader = JsonReader::new(text, bounds.depth);
    let mut left = bounds.values;
    // Values whose list or record is still open, each with its name in a record.
    let mut values: Vec<(&'a str, Datum<'a>)> = Vec::with_capacity(8);
    // For each open container: where its values begin, whether it is a record, and its own name.
    let mut open: Vec<(usize, bool, &'a str)> = Vec::with_capacity(4);
    let mut name = "";
    while let Some(event) = reader.next_event().ok()? {
        let value = match event {
            JsonEvent::Key(key) => {
                name = whole(key);
                continue;
            }
            JsonEvent::BeginList | JsonEvent::BeginRecord => {
                left = left.checked_sub(1)?;
                open.push((values.len(), event == JsonEvent::BeginRecord, std::mem::take(&mut name)));
                continue;
            }
            JsonEvent::End => {
                let (begin, is_record, own) = open.pop()?;
                name = own;
                let inside = values.drain(begin..);
                if is_record {
                    let fields = &*arena.alloc_slice_fill_iter(inside);
                    if is_repeated(fields) {
                        return None;
                    }
                    Datum::Record(fields)
                } else {
                    Datum::List(arena.alloc_slice_fill_iter(inside.map(|(_, value)| value)))
                }
            }
            JsonEvent::Null => Datum::Nil,
            JsonEvent::Bool(value) => Datum::Bool(value),
            JsonEvent::Number(Number::Int(value)) => Datum::Int(value),
            JsonEvent::Number(Number::Double(value)) => Datum::Double(value),
            JsonEvent::Text(text) => Datum::Text(whole(text)),
        };
        if event != JsonEvent::End {
            left = left.checked_sub(1)?;
        }
        values.push((std::mem::take(&mut name), value));
    }
    values.pop().map(|(_, value)| value)
}

/// Whether a name occurs twice.
fn is_repeated(fields: &[(&str, Datum<'_>)]) -> bool {
    if fields.len() <= FEW {
        let before =
            |(at, (name, _)): (usize, &(&str, _))| fields[..at].iter().any(|(other, _)| other == name);
        return fields.iter().enumerate().any(before);
    }
    let mut names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    names.windows(2).any(|pair| pair[0] == pair[1])
}

/// The failure for an answer that exceeds a bound, which JavaScript reports as a number.
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
