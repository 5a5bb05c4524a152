//! How messages name slots, output types and lists of names.

use crate::ast::{Function, OutputName, Slot};
use crate::span::Span;
use crate::syntax::header::write_output;

/// How a message names a slot.
pub(crate) fn slot_name(function: &Function<'_>, slot: Slot) -> String {
    match function.slots.get(slot.0 as usize) {
        Some(info) => match (info.number, info.name) {
            (Some(number), Some(name)) => format!("slot {number} ({name})"),
            (None, Some(name)) => format!("`{name}`"),
            (Some(number), None) => format!("slot {number}"),
            (None, None) => "the call's result".to_owned(),
        },
        None => format!("slot {}", slot.0),
    }
}

/// The span of the slot in a reference: a REF ends with the number of the slot; any other reference is the
/// name.
pub(crate) fn slot_place(function: &Function<'_>, slot: Slot, reference: Span) -> Span {
    let Some(number) = function.slots.get(slot.0 as usize).and_then(|info| info.number) else {
        return reference;
    };
    let digits = number.checked_ilog10().unwrap_or(0) + 1;
    Span::new(reference.end.saturating_sub(digits).max(reference.start), reference.end)
}

/// An output type as the source writes it.
pub(crate) fn output_name(output: &OutputName<'_>) -> String {
    let mut name = String::new();
    write_output(output, &mut name);
    name
}
