//! What writers bring from other languages and from the other notations: rewrites of documents to the
//! canonical form.
//!
//! [`crate::steps`] reads the canonical form alone. Where it does not understand a document, [`rewrite`] goes
//! over it: each place of a step or value is offered to the habits of [`table`], and what one of them
//! recognizes is reported and rewritten, so that the document can be read again. A habit is a row: what it is
//! called, where it looks, how it rewrites, and its example, which a test runs. Leaving all of them out
//! changes no valid program.

mod apply;
mod bindings;
mod calls;
mod choices;
mod context;
mod lints;
mod loops;
mod loose_reference;
mod names;
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

/// What the readers of steps ask of habits.
pub(crate) struct Reading;

/// Documents in the canonical form, as far as habits know it.
pub(crate) struct Rewritten<'a> {
    pub(crate) documents: &'a [Node<'a>],
    /// Names that were bound in what is left out: of who reads them there is nothing to say.
    pub(crate) lost: Vec<&'a str>,
}

/// Rewrites the documents of a source, and reports each rewrite; `None` where no habit applies.
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
    // A program that is a list is none: it stays in the list of all of them.
    let is_list = |program: &Node<'a>| matches!(program.kind, Kind::List(_));
    let documents = match documents.iter().find(|program| is_list(program)) {
        Some(program) => arena.alloc_slice_copy(&[Node { kind: Kind::List(documents), span: program.span }]),
        None => documents,
    };
    changed.then_some(Rewritten { documents, lost })
}
