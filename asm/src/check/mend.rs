//! Mends that the checker knows, written in the words of instruction text.

use crate::diagnostic::{Edit, Fix};
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
