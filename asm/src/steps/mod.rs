//! The four JSON and YAML notations: documents to the syntax tree.
//!
//! `json` and `yaml` of [`crate::document`] read text into documents, which remember to the byte where everything is;
//! this room turns them into the tree of [`crate::ast`]. It reads the canonical form: what writers bring from elsewhere
//! is rewritten by [`crate::habits`]. What a program means (slots, calls, flow, types) is the business of
//! [`crate::check`], as for every notation.

mod call;
mod cases;
mod control;
mod doubt;
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

pub(crate) use crate::dialect::reference::FAILURES;
pub(crate) use function::UNNAMED;
pub(crate) use records::reads_as_more;

use crate::ast::File;

/// What reading documents gives.
pub(crate) struct Reading<'a> {
    /// What could be read, also where there are errors.
    pub(crate) file: File<'a>,
    /// Something was read that may be another form of something else: a record as data where a step or an operation may
    /// stand, a word of another notation.
    pub(crate) inexact: bool,
}

pub(crate) use function::read;
