//! The interface between the readers of steps and the habits: what was read, and the names in scope.
//!
//! The readers call this trait, and `crate::habits` implements it; neither imports the other. Without habits
//! ([`Canonical`]) the readers accept the same programs but explain errors less well.
//!
//! A text is always read as a text and a record as a record. If something else was most likely meant, a lint
//! warns, and the expression becomes a *suspect*: checking assumes nothing about it.

use super::Dialect;
use super::infix::{Infix, InfixKind, operation, operators};
use super::operator::Operator;
use super::reference::Reference;
use super::template::Template;
use crate::diagnostic::Diagnostic;
use crate::document::{Entry, Node};
use crate::span::Span;
use bumpalo::Bump;

/// The context of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A context in which it may be data.
    Data,
    /// The operand of a function that is the name of a field: data.
    Field,
    /// A context in which something is computed: `expr`, a condition, an operand.
    Formula,
    /// A quoted text in an infix text. The text of the node is the enclosing infix text.
    Quoted,
}

/// Something that was read.
#[derive(Clone, Copy)]
pub(crate) enum Seen<'s, 'a> {
    /// A text.
    Text(&'s Node<'a>, &'s Template<'a>, Place),
    /// A record that is data.
    Record(&'s Node<'a>, Place),
    /// A list.
    List(&'s Node<'a>, &'a [Node<'a>], Place),
    /// A field of a record that is data.
    Field(&'s Entry<'a>),
    /// A plain text as the operand of an operator.
    Operand(&'s Operator, &'s Node<'a>),
    /// The second operand of an equality in an infix text.
    Equal(&'s Node<'a>, &'s Infix<'a>),
    /// A plain text as a condition, or as the subject of a loop, match or merge.
    Subject(&'s Node<'a>),
    /// A plain text as the subject of a match, if no lint warned about it.
    Matched(&'s Node<'a>),
    /// A reference to the failure of a tool, which is a text.
    Failure(&'s Reference<'a>),
    /// The message of a handler that fails the function, and whether it is in a loop.
    Message(&'s Node<'a>, bool),
    /// A case with a text as its key: the key, the value, and whether there is a default before it.
    Case(&'s Node<'a>, &'s Node<'a>, bool),
}

/// The names in scope at the position of what was read.
pub(crate) trait Names<'a> {
    /// The reference that an inexact one means.
    fn resolve(&self, reference: &Reference<'a>) -> Option<Reference<'a>>;
    /// Whether a bare name refers to a value.
    fn has(&self, name: &str) -> bool;
    /// Whether a step has this name, including steps that bind nothing.
    fn has_step(&self, name: &str) -> bool;
    /// Whether an input has this name.
    fn has_input(&self, name: &str) -> bool;
    /// Whether the type of this input is a list.
    fn is_list(&self, input: &str) -> bool;
    /// Whether a function of the file has this name.
    fn has_function(&self, name: &str) -> bool;
    /// The names in scope, for a message.
    fn listed(&self) -> String;
}

/// The context that a lint gets.
pub(crate) struct Surroundings<'s, 'a> {
    pub(crate) dialect: Dialect,
    pub(crate) source: &'a str,
    pub(crate) arena: &'a Bump,
    pub(crate) nesting: usize,
    pub(crate) names: &'s dyn Names<'a>,
}

/// A warning of a lint.
pub(crate) struct Warning {
    /// The span of the expression that becomes a suspect.
    pub(crate) suspect: Option<Span>,
    pub(crate) diagnostic: Diagnostic,
}

/// Answers to what writers bring from other languages and notations.
pub(crate) trait Habits: Sync {
    /// Warnings about something that was read.
    fn lint<'a>(&self, _seen: &Seen<'_, 'a>, _at: &Surroundings<'_, 'a>, _warnings: &mut Vec<Warning>) {}

    /// The reference that an unresolved one means.
    fn reference<'a>(
        &self,
        _reference: &Reference<'a>,
        _names: &dyn Names<'a>,
        _arena: &'a Bump,
    ) -> Option<Reference<'a>> {
        None
    }

    /// What to write instead of a reference to an unknown name; `after` is the text after the reference.
    fn in_place_of_name(&self, _name: &str, _after: &str) -> Option<&'static str> {
        None
    }

    /// The operation that is meant by a text consisting of one malformed reference: `${.n + 1}`.
    fn operation_inside<'a>(&self, _text: &Node<'a>, _at: &Surroundings<'_, 'a>) -> Option<String> {
        None
    }

    /// Which step to write before a text with a malformed reference that computes, and what to write in the
    /// text.
    fn step_before(&self, _written: &str, _place: Span, _at: &Surroundings<'_, '_>) -> Option<String> {
        None
    }
}

/// No habits at all.
#[cfg_attr(not(test), allow(dead_code, reason = "tests read programs without habits"))]
pub(crate) struct Canonical;

impl Habits for Canonical {}

impl<'a> Surroundings<'_, 'a> {
    /// Whether all names in an expression exist.
    pub(crate) fn resolves(&self, tree: &Infix<'a>) -> bool {
        match &tree.kind {
            InfixKind::Reference(reference) => self.names.resolve(reference).is_some(),
            InfixKind::Literal(_) => true,
            InfixKind::Template(_) => false,
            InfixKind::Unary(_, operand) => self.resolves(operand),
            InfixKind::Binary(_, a, b) => self.resolves(a) && self.resolves(b),
            InfixKind::Apply(_, operands) => operands.iter().all(|operand| self.resolves(operand)),
        }
    }

    /// The operation that a text means in a context in which something is computed.
    pub(crate) fn operation_of(&self, text: &'a str, span: Span) -> Option<String> {
        let meant = operation(&Node::of_text(text, span), self.nesting, self.arena)?;
        let reference = |reference: &Reference<'a>| self.own_form(reference, false);
        self.resolves(&meant).then(|| operators(&meant, self.dialect.sigil(), &reference))?
    }

    /// An inexact reference in the form of this notation.
    pub(crate) fn own_form(&self, reference: &Reference<'a>, inside: bool) -> String {
        self.dialect.own_form(&self.names.resolve(reference).unwrap_or(*reference), inside)
    }
}
