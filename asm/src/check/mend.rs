//! Mends that the checker knows: in the words of instruction text, and names where a notation writes names.

use super::describe::slot_name;
use crate::ast::{Function, Name, Slot};
use crate::build::Notation;
use crate::diagnostic::{Diagnostic, Edit, Fix, Near};
use crate::span::Span;

/// Another word where a statement begins with `old`.
pub(super) fn word(statement: Span, old: &str, new: &str) -> Fix {
    let length = u32::try_from(old.len()).unwrap_or(0);
    let span = Span::new(statement.start, statement.start.saturating_add(length));
    Fix { title: format!("write `{new}`"), edits: vec![Edit { span, text: new.to_owned() }] }
}

/// UNDO before a call, in place of the LET where there is one: `before` is what stands there now.
pub(super) fn undo(before: Span) -> Fix {
    Fix { title: "write `UNDO`".to_owned(), edits: vec![Edit { span: before, text: "UNDO ".to_owned() }] }
}

/// Binds a slot again to what was made of its value: the diagnostic stands where that begins.
pub(super) fn bind_again(diagnostic: Diagnostic, function: &Function<'_>, slot: Slot) -> Diagnostic {
    let place = Span::at(diagnostic.span.start);
    let name = slot_name(function, slot);
    let diagnostic =
        diagnostic.help(format!("this makes a new value and leaves {name} as it was: bind it again"));
    let number = function.slots.get(slot.0 as usize).and_then(|info| info.number);
    match number.filter(|_| function.notation == Notation::Id) {
        Some(number) => diagnostic.replace(place, format!("LET {number} ")),
        None => diagnostic,
    }
}

/// The nearest name, and the mend that writes it where that is sure and the notation has names and not ids.
pub(super) fn name(
    diagnostic: Diagnostic,
    name: Name<'_>,
    near: Option<Near<'_>>,
    notation: Notation,
) -> Diagnostic {
    let written = name.span.end.saturating_sub(name.span.start) as usize == name.text.len();
    let diagnostic = diagnostic.nearest(near.map(|near| near.name));
    match near.filter(|near| near.sure && written && notation != Notation::Id) {
        Some(near) => diagnostic.replace(name.span, near.name),
        None => diagnostic,
    }
}
