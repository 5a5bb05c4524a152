//! The four JSON and YAML notations: documents to the syntax tree.
//!
//! One way through: `json` or `yaml` reads text into the documents of [`tree`], which remember to the byte where
//! everything stood; `steps` and its neighbours turn them into the tree of [`crate::ast`]. What a program means (slots,
//! calls, flow, types) is the business of [`crate::check`], as for every notation.

mod call;
mod cases;
mod control;
mod detect;
mod dialect;
mod doubt;
mod draft;
mod foreign;
mod format;
mod function;
mod handler;
pub mod infix;
mod json;
mod keys;
mod kinds;
mod operate;
pub mod operator;
mod reader;
mod records;
mod refer;
pub mod reference;
mod returns;
mod scope;
mod skip;
mod steps;
pub mod template;
pub mod tree;
mod value;
mod yaml;

pub(crate) use detect::{BEGINNINGS, detect, prose};
pub use dialect::words;
pub(crate) use dialect::{Dialect, Key, begins_step, is_word};
pub use format::{Formatted, format};
pub(crate) use function::UNNAMED;
pub(crate) use records::reads_as_more;
pub(crate) use refer::FAILURES;

use crate::ast::File;
use crate::build::Notation;
use crate::diagnostic::Diagnostics;
use crate::id::Options;
use bumpalo::Bump;

/// Reads a source in one of the four notations. What could be read is returned even where there are errors.
pub fn parse<'a>(
    source: &'a str,
    notation: Notation,
    arena: &'a Bump,
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> File<'a> {
    let read = if notation == Notation::Workflow { yaml::read } else { json::read };
    let documents = read(source, arena, options, diagnostics);
    let file = function::file(documents, source, notation, arena, options, diagnostics);
    diagnostics.sort();
    file
}
