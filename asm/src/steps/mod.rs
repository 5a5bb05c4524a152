//! The four JSON and YAML notations: documents to the syntax tree.
//!
//! One way through: `json` or `yaml` reads text into the documents of [`tree`], which remember to the byte where
//! everything stood; `steps` and its neighbours turn them into the tree of [`crate::ast`]. What a program means (slots,
//! calls, flow, types) is the business of [`crate::check`], as for every notation.

mod call;
mod cases;
mod control;
mod doubt;
mod foreign;
mod function;
mod handler;
mod keys;
mod kinds;
mod operate;
mod reader;
mod records;
mod refer;
mod returns;
mod scope;
mod skip;
mod steps;
mod value;

pub(crate) use function::UNNAMED;
pub(crate) use records::reads_as_more;
pub(crate) use refer::FAILURES;

use crate::ast::File;
use crate::diagnostic::Diagnostics;
use crate::document::{json, yaml};
use crate::notation::Notation;
use crate::source::Limits;
use bumpalo::Bump;

/// Reads a source in one of the four notations. What could be read is returned even where there are errors.
pub fn parse<'a>(
    source: &'a str,
    notation: Notation,
    arena: &'a Bump,
    options: &Limits,
    diagnostics: &mut Diagnostics,
) -> File<'a> {
    let read = if notation == Notation::Workflow { yaml::read } else { json::read };
    let documents = read(source, arena, options, diagnostics);
    let file = function::file(documents, source, notation, arena, options, diagnostics);
    diagnostics.sort();
    file
}
