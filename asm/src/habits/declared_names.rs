//! The names that the document of a program declares, for habits that distinguish references from texts.

use super::loose_reference;
use crate::dialect::document_names::Survey;
use crate::dialect::{Dialect, Key};
use crate::document::{Entry, Node, entries};
use crate::expr::reference::Reference;
use crate::span::Span;
use bumpalo::Bump;
use hashbrown::HashSet;

/// The names that are bound anywhere in a program, and its inputs.
pub(super) struct Names<'a> {
    /// Where names are bound and referred to.
    pub(super) survey: Survey<'a>,
    inputs: HashSet<&'a str>,
    output: Option<Node<'a>>,
}

impl<'a> Names<'a> {
    pub(super) fn of(program: &Node<'a>, dialect: Dialect) -> Names<'a> {
        let member = |node: &Node<'a>, key: Key| {
            let named = |name: &str| dialect.meaning(name, &[key]).is_some();
            entries(node).iter().find(|entry| entry.is(named)).map(|entry| entry.value)
        };
        let head = member(program, Key::Meta).unwrap_or(*program);
        let inputs = member(&head, Key::Input);
        let inputs = inputs.iter().flat_map(entries).filter_map(Entry::name).collect();
        Names { survey: Survey::of(program), inputs, output: member(&head, Key::Output) }
    }

    /// Whether the function returns a result.
    pub(super) fn is_result(&self) -> bool {
        let ty = self.output.and_then(|output| output.text());
        ty.is_some_and(|ty| ty.split_whitespace().next() == Some("result"))
    }

    /// The span of the output type of the function.
    pub(super) fn output_span(&self) -> Span {
        self.output.map(|output| output.span).unwrap_or_default()
    }

    /// Whether a bare name may be that of a value.
    pub(super) fn has(&self, name: &str) -> bool {
        self.survey.binds_name(name) || self.inputs.contains(name)
    }

    /// The reference that an inexact one means.
    pub(super) fn resolve(&self, reference: &Reference<'a>, arena: &'a Bump) -> Option<Reference<'a>> {
        let is_input = |name: &str| self.inputs.contains(name);
        let is_value = |name: &str| self.survey.binds_name(name);
        loose_reference::resolve(reference, &is_input, &is_value, arena)
    }
}
