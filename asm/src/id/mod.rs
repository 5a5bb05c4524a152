//! The integer-ID notation: text to the syntax tree, and its canonical layout.
//!
//! [`parse`] goes through the source three times: the lexer makes tokens, the header reader takes the comments that name
//! a function and its ids, and the parser makes the tree. It reports everything that is wrong with the text itself.
//! What a program means (slots, calls, flow, types) is the business of [`crate::check`].

mod block;
mod cursor;
mod expr;
mod format;
mod header;
mod ids;
mod lexer;
mod literal;
mod mend;
mod parser;
mod registry;
mod text;

pub use format::format;

use crate::ast::File;
use crate::diagnostic::Diagnostics;
use bumpalo::Bump;
use ilo_spec::limits;

/// What a source may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Bytes in a source, at most [`limits::SOURCE`].
    pub source: usize,
    /// Bytes in a line.
    pub line: usize,
    /// Nesting of expressions and blocks together, at most [`limits::NESTING`].
    pub nesting: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            source: limits::DEFAULT_SOURCE,
            line: limits::DEFAULT_LINE,
            nesting: limits::DEFAULT_NESTING,
        }
    }
}

/// Reads a source. What could be read is returned even where there are errors; whether there are, `diagnostics` knows.
///
/// Time and memory are linear in the source.
pub fn parse<'a>(
    source: &'a str,
    arena: &'a Bump,
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> File<'a> {
    let file = match lexer::lex(source, options, diagnostics) {
        Some(lexed) => parser::file(source, arena, options, &lexed, diagnostics, None),
        None => File { functions: &[] },
    };
    diagnostics.sort();
    file
}
