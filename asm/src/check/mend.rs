//! Mends that the checker knows: in the words of instruction text, and names where a notation writes names.

use crate::ast::Name;
use crate::build::Notation;
use crate::diagnostic::{Diagnostic, Edit, Fix};
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

/// The nearest name, and the mend that writes it where the notation has names and not ids.
pub(super) fn name(
    diagnostic: Diagnostic,
    name: Name<'_>,
    nearest: Option<&str>,
    notation: Notation,
) -> Diagnostic {
    let written = name.span.end.saturating_sub(name.span.start) as usize == name.text.len();
    let diagnostic = diagnostic.nearest(nearest);
    match nearest.filter(|_| written && notation != Notation::Id) {
        Some(nearest) => diagnostic.replace(name.span, nearest),
        None => diagnostic,
    }
}
