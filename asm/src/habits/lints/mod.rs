//! Lints: warnings about valid forms that mean something else in other languages, so that something else was
//! most likely meant.

mod cases;
mod failures;
mod records;
mod texts;

pub(crate) use records::{is_step, reads_as_more};

use crate::diagnostic::Diagnostic;
use crate::dialect::reader_habits::{Seen, Surroundings, Warning};
use crate::span::Span;

/// The lints for something that was read.
struct Lints<'l, 's, 'a> {
    at: &'l Surroundings<'s, 'a>,
    warnings: &'l mut Vec<Warning>,
}

/// Lints something that was read; see [`crate::dialect::reader_habits::Habits::lint`].
pub(super) fn lint<'s, 'a>(seen: &Seen<'s, 'a>, at: &Surroundings<'s, 'a>, warnings: &mut Vec<Warning>) {
    let mut lints = Lints { at, warnings };
    match *seen {
        Seen::Text(node, template, place) => lints.text(node, template, place),
        Seen::Record(node, place) => lints.record(node, place),
        Seen::List(node, items, place) => lints.list(node, items, place),
        Seen::Field(entry) => {
            lints.names_itself(entry);
            lints.refers_as_key(entry);
        }
        Seen::Operand(operator, node) => lints.operand(operator, node),
        Seen::Equal(node, tree) => lints.quoted_null(node, tree),
        Seen::Subject(node) => lints.names_without_sigil(node, true),
        Seen::Matched(node) => lints.constant(node, "this matches"),
        Seen::Failure(reference) => lints.field_of_failure(reference),
        Seen::Message(node, in_loop) => lints.message(node, in_loop),
        Seen::Case(key, has_default) => {
            if let Some(text) = key.text() {
                lints.default_case(key, text, has_default);
                lints.several_cases(key, text);
            }
        }
    }
}

impl Lints<'_, '_, '_> {
    /// Warns about an expression, which becomes a suspect.
    fn suspect(&mut self, whole: Span, diagnostic: Diagnostic) {
        self.warnings.push(Warning { suspect: Some(whole), diagnostic });
    }

    fn warn(&mut self, diagnostic: Diagnostic) {
        self.warnings.push(Warning { suspect: None, diagnostic });
    }
}
