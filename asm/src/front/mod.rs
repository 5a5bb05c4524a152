//! The four JSON and YAML notations: documents to the syntax tree.
//!
//! One way through: `json` or `yaml` reads text into the documents of [`tree`], which remember to the byte where
//! everything stood; `steps` and its neighbours turn them into the tree of [`crate::ast`]. What a program means (slots,
//! calls, flow, types) is the business of [`crate::check`], as for every notation.

pub mod infix;
mod json;
pub mod operator;
pub mod reference;
pub mod template;
pub mod tree;
mod yaml;

use crate::ast::File;
use crate::build::Notation;
use crate::diagnostic::Diagnostics;
use crate::id::Options;
use bumpalo::Bump;

/// Reads a source in one of the four notations. What could be read is returned even where there are errors.
pub fn parse<'a>(
    _source: &'a str,
    _notation: Notation,
    _arena: &'a Bump,
    _options: &Options,
    _diagnostics: &mut Diagnostics,
) -> File<'a> {
    File { functions: &[] }
}
