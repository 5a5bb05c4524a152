//! Habits: constructs of other languages and notations that writers use by mistake. Documents that contain
//! habits are rewritten to the canonical form.
//!
//! [`crate::steps`] reads only the canonical form. If it does not understand a document, [`rewrite`] walks
//! the document and tries the habits of [`table`] on each step and value. What a habit recognizes is reported
//! and rewritten, and the document is read again. A habit is a row with its name, the positions at which it
//! is tried, the rewrite, and an example that a test runs. Valid programs need no habits.

mod apply;
mod bindings;
mod calls;
mod choices;
mod context;
mod declared_names;
mod lints;
mod loops;
mod loose_reference;
mod operations;
mod programs;
mod references;
mod returns;
mod signatures;
mod step_parts;
mod switch;
mod table;
#[cfg(test)]
mod tests;
pub(crate) mod tokens;
mod unsupported_steps;
mod walk;
mod words;

use crate::diagnostic::Diagnostics;
use crate::dialect::Dialect;
use crate::document::{Kind, Node, items_of};
use crate::notation::Notation;
use bumpalo::Bump;

pub(crate) use lints::reads_as_more;

/// The habits, as the readers of steps use them.
pub(crate) struct Reading;

/// Documents that are in canonical form as far as the habits know it.
pub(crate) struct Rewritten<'a> {
    pub(crate) documents: &'a [Node<'a>],
    /// Names that were bound in removed steps: reads of them are not reported.
    pub(crate) lost: Vec<&'a str>,
}

/// Rewrites the documents of a source, and reports each rewrite; `None` if no habit applies.
pub(crate) fn rewrite<'a>(
    documents: &[Node<'a>],
    source: &'a str,
    notation: Notation,
    arena: &'a Bump,
    diagnostics: &mut Diagnostics,
) -> Option<Rewritten<'a>> {
    let dialect = Dialect::of(notation);
    let listed: Vec<Node<'a>> = items_of(documents);
    let found = programs::programs(&listed, dialect, source, diagnostics);
    let (mut changed, mut lost) = (found.is_some(), Vec::new());
    let mut programs = found.unwrap_or(listed);
    for program in &mut programs {
        if let Some(new) = walk::program(program, dialect, source, arena, (&mut *diagnostics, &mut lost)) {
            *program = new;
            changed = true;
        }
    }
    let documents: &[Node<'a>] = arena.alloc_slice_copy(&programs);
    // A list is not a program: it stays in the list of all documents.
    let is_list = |program: &Node<'a>| matches!(program.kind, Kind::List(_));
    let documents = match documents.iter().find(|program| is_list(program)) {
        Some(program) => arena.alloc_slice_copy(&[Node { kind: Kind::List(documents), span: program.span }]),
        None => documents,
    };
    changed.then_some(Rewritten { documents, lost })
}
