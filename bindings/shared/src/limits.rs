//! The limits of a run by their names.

use crate::Words;
use ilo_drive::data::read::Bounds;
use ilo_drive::problem::meant_or_all;
use ilo_vm::Limits;

/// The names, in the order in which messages list them.
const NAMES: [(&str, &str); 9] = [
    ("fuel", "fuel"),
    ("memory", "memory"),
    ("text", "text"),
    ("items", "items"),
    ("value_depth", "valueDepth"),
    ("tool_calls", "toolCalls"),
    ("rollbacks", "rollbacks"),
    ("result_bytes", "resultBytes"),
    ("result_nodes", "resultNodes"),
];

/// The deepest value that a package reads or makes: conversion recurses, and threads may have small stacks.
pub const DEEPEST: usize = 512;

/// Sets a limit.
///
/// # Errors
/// An unknown name, with the nearest one, and a value past the package's own bound.
pub fn set(limits: &mut Limits, name: &str, value: u64, words: &Words) -> Result<(), String> {
    let spelled = |&(snake, camel): &(&'static str, &'static str)| if words.camel { camel } else { snake };
    let size = usize::try_from(value).unwrap_or(usize::MAX);
    match NAMES.iter().find(|names| spelled(names) == name).map(|names| names.0) {
        Some("fuel") => limits.fuel = value,
        Some("memory") => limits.memory = value,
        Some("text") => limits.text = size,
        Some("items") => limits.items = size,
        Some("value_depth") if size > DEEPEST => {
            return Err(format!("limits: `{name}` is at most {DEEPEST}"));
        }
        Some("value_depth") => limits.value_depth = size,
        Some("tool_calls") => limits.tool_calls = value,
        Some("rollbacks") => limits.rollbacks = size,
        Some("result_bytes") => limits.result_bytes = size,
        Some("result_nodes") => limits.result_nodes = size,
        _ => {
            let there = meant_or_all(name, NAMES.iter().map(spelled));
            return Err(format!("limits: `{name}` is not a limit{there}"));
        }
    }
    Ok(())
}

/// The bounds of an answer under these limits.
pub fn bounds(limits: &Limits) -> Bounds {
    limits.into()
}

/// Bounds of values that a caller supplies, such as inputs: the run's own limits apply.
pub fn input_bounds() -> Bounds {
    Bounds { bytes: usize::MAX, depth: ilo_spec::limits::VALUE_DEPTH + 1, values: 1 << 24 }
}
