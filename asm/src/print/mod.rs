//! The syntax tree back to text, in each notation.
//!
//! The integer-ID notation has a printer of its own ([`id`]). The other four share one: a function becomes a document
//! (`doc`) in the words of its notation (`words`), and `json` or `yaml` lays it out. Statements become steps (`steps`), a
//! MATCH the handler of the call before it (`handlers`), expressions values (`value`, `infix`, `text`), slots names
//! (`names`). What a notation has no words for is reported, never left out in silence.

mod function;
mod handlers;
mod id;
mod infix;
mod names;
mod steps;
mod text;
mod twins;
mod uses;
mod value;
mod words;

use crate::ast::{File, Function, Slot};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::notation::Notation;
use crate::span::Span;
use hashbrown::HashSet;
use ilo_spec::error::Code;
use ilo_spec::limits::DEFAULT_NESTING as NESTING;
use names::Names;
use uses::Uses;
use words::Words;

pub use id::print as id;

/// Prints every function of a file in a notation. What it has no words for is in `diagnostics`; the text then lacks it.
pub fn print(file: &File<'_>, notation: Notation, diagnostics: &mut Diagnostics) -> String {
    match words::of(notation) {
        None => id::print(file),
        Some(words) => function::print(file, words, diagnostics),
    }
}

/// A function being printed.
struct Printer<'p, 'a> {
    words: &'static Words,
    /// The names of the file's functions.
    functions: &'p HashSet<&'a str>,
    function: &'p Function<'a>,
    names: Names<'a>,
    uses: Uses,
    /// Inputs that have been bound anew: names like any other from then on.
    rebound: HashSet<Slot>,
    /// An OK arm must not become a part of the block that is printed: a call in it would be read as a rollback.
    literal: bool,
    /// Steps are being made that stand in a list without names.
    in_list: bool,
    /// Where the outermost of the loops around begins.
    loop_start: Option<u32>,
    /// What is said already goes so far in the source.
    said_until: u32,
    /// The slots of the failures of the handlers around, the nearest last; none where it has a name.
    failures: Vec<Option<Slot>>,
    /// How deep what is printed is nested, as reading it will count.
    depth: usize,
    diagnostics: &'p mut Diagnostics,
}

impl Printer<'_, '_> {
    /// Prints something nested; reports what could not be read back for that.
    fn deeper<T>(&mut self, span: Span, print: impl FnOnce(&mut Self) -> T) -> T {
        self.fits(1, span);
        self.depth += 1;
        let printed = print(self);
        self.depth -= 1;
        printed
    }

    /// Reports, once for each way down, what is so many levels too deep here to be read back.
    fn fits(&mut self, levels: usize, span: Span) {
        if self.depth <= NESTING && self.depth + levels > NESTING {
            self.refuse(
                span,
                "what is nested so deeply",
                "bind what is inside with LET first, or make a function of it",
            );
        }
    }

    /// Reports what cannot be said.
    fn refuse(&mut self, span: Span, what: &str, way_out: &str) {
        let notation = self.words.notation;
        self.diagnostics.push_with(Code::NotExpressible, || {
            let message = format!("the notation `{notation}` has no words for {what}");
            Diagnostic::new(Code::NotExpressible, span, message).help(way_out)
        });
    }
}
