//! The immutable context of reading a function: the notation, the source, the declarations of the header.

use crate::ast::OutputName;
use crate::dialect::Dialect;
use crate::dialect::document_names::Survey;
use crate::dialect::reader_habits::Habits;
use bumpalo::Bump;

/// The names of a file's functions, for `mcp://self`.
#[derive(Clone, Copy)]
pub(crate) struct Functions<'f, 'a> {
    /// In source order: the name, and whether the source has it.
    pub(crate) list: &'f [(&'a str, bool)],
    /// The index of the current function.
    pub(crate) own: usize,
}

/// The context of reading a function.
#[derive(Clone, Copy)]
pub(crate) struct Context<'r, 'a> {
    pub(crate) dialect: Dialect,
    pub(crate) source: &'a str,
    pub(crate) arena: &'a Bump,
    /// The maximum nesting of blocks and expressions together.
    pub(crate) nesting: usize,
    pub(crate) functions: Functions<'r, 'a>,
    pub(crate) survey: &'r Survey<'a>,
    /// The output type.
    pub(crate) output: OutputName<'a>,
    /// The habits, which explain forms of other languages.
    pub(crate) habits: &'r dyn Habits,
    /// The inputs whose type is a list.
    pub(crate) lists: &'r [&'a str],
}

impl Context<'_, '_> {
    /// Whether the function returns a result.
    pub(crate) fn is_result(&self) -> bool {
        self.output.err.is_some()
    }
}
