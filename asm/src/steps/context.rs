//! What reading a function is lent and never changes: the notation, the source, what the header declares.

use crate::ast::OutputName;
use crate::dialect::Dialect;
use crate::dialect::document_names::Survey;
use crate::dialect::reader_habits::Habits;
use bumpalo::Bump;

/// The names of a file's functions, for `mcp://self`.
#[derive(Clone, Copy)]
pub(crate) struct Functions<'f, 'a> {
    /// In the order of the source: the name, and whether the source gives it.
    pub(crate) list: &'f [(&'a str, bool)],
    /// The index of the one that is read.
    pub(crate) own: usize,
}

/// What reading a function is lent.
#[derive(Clone, Copy)]
pub(crate) struct Context<'r, 'a> {
    pub(crate) dialect: Dialect,
    pub(crate) source: &'a str,
    pub(crate) arena: &'a Bump,
    /// How deep blocks and expressions may nest together.
    pub(crate) nesting: usize,
    pub(crate) functions: Functions<'r, 'a>,
    pub(crate) survey: &'r Survey<'a>,
    /// The output type.
    pub(crate) output: OutputName<'a>,
    /// Explains what comes from other languages.
    pub(crate) habits: &'r dyn Habits,
    /// The inputs whose type is a list.
    pub(crate) lists: &'r [&'a str],
}

impl Context<'_, '_> {
    /// Whether the function is of type `result`.
    pub(crate) fn is_result(&self) -> bool {
        self.output.err.is_some()
    }
}
