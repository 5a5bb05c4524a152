//! Words and places for slots, for types, and for the paths that leave slots unset.

use super::events::Path;
use crate::ast::{Function, OutputName, Slot, TypeName};
use crate::diagnostic::Diagnostic;
use crate::span::Span;

/// A slot as a message speaks of it.
pub(super) fn slot_name(function: &Function<'_>, slot: Slot) -> String {
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

/// Where a reference writes its slot: a REF has the number at its end, elsewhere the whole is the name.
pub(super) fn slot_place(function: &Function<'_>, slot: Slot, reference: Span) -> Span {
    let Some(number) = function.slots.get(slot.0 as usize).and_then(|info| info.number) else {
        return reference;
    };
    let digits = number.checked_ilog10().unwrap_or(0) + 1;
    Span::new(reference.end.saturating_sub(digits).max(reference.start), reference.end)
}

/// An output type in the words of the source.
pub(super) fn output_name(output: &OutputName<'_>) -> String {
    let ok = type_name(&output.ok);
    match &output.err {
        Some(err) => format!("result {ok}, {}", type_name(err)),
        None => ok,
    }
}

fn type_name(name: &TypeName<'_>) -> String {
    format!("{}{}", "list ".repeat(usize::from(name.ty.lists)), name.name)
}

/// Why a slot is unset at a point.
#[derive(Clone, Copy, Debug)]
pub(super) enum Why {
    /// Nothing sets it on the way.
    Nothing,
    /// A path leaves it unset where the other one sets it.
    Branch(Path, Span),
    /// The loop's body sets it, but only later in the pass.
    FirstPass(Span),
    /// The loop's body sets it, but may not run.
    NoPass(Span),
    /// A MATCH took the result out of it.
    TakenApart(Span),
}

impl Why {
    pub(super) fn words(self) -> &'static str {
        match self {
            Why::Nothing => "nothing sets it before",
            Why::Branch(Path::Then, _) => "it is not set when the condition of an IF holds",
            Why::Branch(Path::Else, _) => "it is not set when the ELSE of an IF runs",
            Why::Branch(Path::NotTaken, _) => "it is not set when an IF is not taken",
            Why::Branch(Path::Err, _) => "it is not set when a call fails and its ERR arm runs",
            Why::Branch(Path::Ok, _) => "it is not set when a call succeeds and its OK arm runs",
            Why::FirstPass(_) => "it is not set in the first pass of a FOR",
            Why::NoPass(_) => "it is not set when a FOR makes no pass",
            Why::TakenApart(_) => "a MATCH has taken its result out",
        }
    }

    /// Points to the place that leaves the slot unset.
    pub(super) fn point(self, diagnostic: Diagnostic) -> Diagnostic {
        let (span, what) = match self {
            Why::Nothing => return diagnostic,
            Why::Branch(Path::Then, span) => (span, "not set when the condition of this IF holds"),
            Why::Branch(Path::Else, span) => (span, "not set when the ELSE of this IF runs"),
            Why::Branch(Path::NotTaken, span) => (span, "not set when this IF is not taken"),
            Why::Branch(Path::Err | Path::Ok, span) => (span, "not set when this arm runs"),
            Why::FirstPass(span) => (span, "not set in the first pass of this FOR"),
            Why::NoPass(span) => (span, "not set when this FOR makes no pass"),
            Why::TakenApart(span) => (span, "taken apart by this MATCH; its OK arm binds the value"),
        };
        diagnostic.related(span, what)
    }
}
