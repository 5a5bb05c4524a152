//! Errors for JavaScript: texts with JSON, which `src/errors.ts` turns into errors. Anything else that is
//! thrown is a failure of the module itself.

use ilo_drive::problem::Problem;
use serde::Serialize;

/// An error of the package.
#[derive(Serialize)]
#[serde(tag = "name")]
enum Thrown<'t> {
    StartError { problems: Vec<Shown> },
    SnapshotError { code: &'t str, message: &'t str },
    NotWaiting { message: &'t str },
    BadValue { message: &'t str },
    TypeError { message: &'t str },
    RangeError { message: &'t str },
}

/// A problem in the form of JavaScript.
#[derive(Serialize)]
struct Shown {
    code: &'static str,
    place: String,
    message: String,
    text: String,
}

/// Writes one of our own structures as JSON. They contain only texts and numbers, which always serialise.
pub fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// `StartError` with every problem that prevents a run.
pub(crate) fn cannot_start(problems: Vec<Problem>) -> String {
    json(&Thrown::StartError { problems: problems.into_iter().map(shown).collect() })
}

fn shown(found: Problem) -> Shown {
    let text = found.to_string();
    Shown { code: found.code.as_str(), place: found.place, message: found.message, text }
}

/// `SnapshotError` with its stable code.
pub(crate) fn bad_snapshot(code: &str, message: &str) -> String {
    json(&Thrown::SnapshotError { code, message })
}

/// `NotWaiting`.
pub(crate) fn not_waiting(message: &str) -> String {
    json(&Thrown::NotWaiting { message })
}

/// `BadValue`.
pub(crate) fn bad_value(message: &str) -> String {
    json(&Thrown::BadValue { message })
}

/// `TypeError`, for an unknown name.
pub(crate) fn wrong_type(message: &str) -> String {
    json(&Thrown::TypeError { message })
}

/// `RangeError`, for a value out of bounds.
pub fn out_of_range(message: &str) -> String {
    json(&Thrown::RangeError { message })
}
