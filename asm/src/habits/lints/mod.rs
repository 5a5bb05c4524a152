//! Lints: warnings about valid forms that mean something else in other languages, so that something else was
//! most likely meant.

mod cases;
mod failures;
mod records;
mod texts;

pub(crate) use records::{is_step, reads_as_more};

use crate::diagnostic::Diagnostic;
use crate::dialect::reader_habits::Surroundings;
use crate::span::Span;

/// The lints for something that was read.
pub(crate) struct Lints<'s, 'a> {
    pub(crate) at: Surroundings<'s, 'a>,
    /// The warnings, each with the span of the expression that becomes a suspect.
    pub(crate) warnings: Vec<(Option<Span>, Diagnostic)>,
}

impl Lints<'_, '_> {
    /// Warns about an expression, which becomes a suspect.
    fn suspect(&mut self, whole: Span, diagnostic: Diagnostic) {
        self.warnings.push((Some(whole), diagnostic));
    }

    fn warn(&mut self, diagnostic: Diagnostic) {
        self.warnings.push((None, diagnostic));
    }
}
