//! The immutable context of reading a function: the notation, the source, the declarations of the header.

use crate::ast::OutputName;
use crate::dialect::Dialect;
use crate::dialect::document_names::Survey;
use crate::document::Node;
use bumpalo::Bump;
use core::cell::Cell;

/// The names of a file's functions, for `mcp://self`.
#[derive(Clone, Copy)]
pub(crate) struct Functions<'f, 'a> {
    /// In source order: the name, and whether the source has it.
    pub(crate) list: &'f [(&'a str, bool)],
    /// Their inputs, as they are written.
    pub(crate) inputs: &'f [Option<&'f Node<'a>>],
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
    /// Where habits are left out, as in tests: whether they would have changed something.
    pub(crate) canonical: Option<&'r Cell<bool>>,
    /// The inputs whose type is a list.
    pub(crate) lists: &'r [&'a str],
}

impl Context<'_, '_> {
    /// What habits have found, unless they are left out.
    pub(super) fn of_habits<T>(&self, found: Option<T>) -> Option<T> {
        if let Some(left_out) = self.canonical {
            left_out.set(left_out.get() || found.is_some());
        }
        found.filter(|_| self.canonical.is_none())
    }

    /// Whether the function returns a result.
    pub(crate) fn is_result(&self) -> bool {
        self.output.err.is_some()
    }
}
