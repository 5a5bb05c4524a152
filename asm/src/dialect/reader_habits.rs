//! What the readers of steps ask habits, and what they lend them: what was read and the names in scope there.
//!
//! The readers ask, and `crate::habits` answers. Both import this module and not each other. Without habits
//! ([`Canonical`]) the readers read the same programs, and explain errors less well.
//!
//! A text is a text and a record a record. Where one was most likely meant otherwise, a lint warns of it, and
//! the expression becomes a suspect: checking assumes nothing of it.

use super::Dialect;
use super::infix::{Infix, InfixKind, arithmetic, operators};
use super::operator::Operator;
use super::reference::Reference;
use super::template::{Sigil, Template};
use crate::diagnostic::Diagnostic;
use crate::document::{Entry, Node};
use crate::span::Span;
use bumpalo::Bump;

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Where it may well be data.
    Data,
    /// Where something is computed: `expr`, a condition, an operand.
    Formula,
    /// A text in quotes in an infix text. The text of the node is the infix text around it.
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
    /// A plain text as a condition, or as what is looped over, matched or merged.
    Subject(&'s Node<'a>),
    /// A plain text as what is matched, of which no lint warned as a subject.
    Matched(&'s Node<'a>),
    /// A reference to the failure of a tool, which is a text.
    Failure(&'s Reference<'a>),
    /// The message of a handler that fails, and whether it is in a loop.
    Message(&'s Node<'a>, bool),
    /// A case with a text as its key: the key, the value, and whether there is a default before it.
    Case(&'s Node<'a>, &'s Node<'a>, bool),
}

/// The names in scope where something was read.
pub(crate) trait Names<'a> {
    /// The reference that a loosely written one means.
    fn resolve(&self, reference: &Reference<'a>) -> Option<Reference<'a>>;
    /// Whether a name alone refers to a value.
    fn has(&self, name: &str) -> bool;
    /// Whether a step has this name, also one that binds nothing.
    fn has_step(&self, name: &str) -> bool;
    /// Whether an input has this name.
    fn has_input(&self, name: &str) -> bool;
    /// Whether the type of this input is a list.
    fn is_list(&self, input: &str) -> bool;
    /// Whether a function of the file is named so.
    fn has_function(&self, name: &str) -> bool;
    /// The names, for a message.
    fn listed(&self) -> String;
}

/// What a lint may look at beside what was read.
pub(crate) struct Surroundings<'s, 'a> {
    pub(crate) dialect: Dialect,
    pub(crate) source: &'a str,
    pub(crate) arena: &'a Bump,
    pub(crate) nesting: usize,
    pub(crate) names: &'s dyn Names<'a>,
}

/// A warning of a lint.
pub(crate) struct Warning {
    /// The expression that becomes a suspect.
    pub(crate) suspect: Option<Span>,
    pub(crate) diagnostic: Diagnostic,
}

/// What writers bring from other languages and notations.
pub(crate) trait Habits: Sync {
    /// Warns of something that was read.
    fn lint<'a>(&self, _seen: &Seen<'_, 'a>, _at: &Surroundings<'_, 'a>, _warnings: &mut Vec<Warning>) {}

    /// The reference that one to nothing means.
    fn reference<'a>(
        &self,
        _reference: &Reference<'a>,
        _names: &dyn Names<'a>,
        _arena: &'a Bump,
    ) -> Option<Reference<'a>> {
        None
    }

    /// What to do in place of a reference to this name, which no step and no input has, with the text behind
    /// the reference.
    fn in_place_of_name(&self, _name: &str, _behind: &str) -> Option<&'static str> {
        None
    }

    /// The operation that a text means which is one broken reference: `${.n + 1}`.
    fn operation_inside<'a>(&self, _text: &Node<'a>, _at: &Surroundings<'_, 'a>) -> Option<String> {
        None
    }
}

/// No habits at all.
#[cfg_attr(not(test), allow(dead_code, reason = "tests read programs without habits"))]
pub(crate) struct Canonical;

impl Habits for Canonical {}

impl<'a> Surroundings<'_, 'a> {
    /// Whether all that an expression refers to is there.
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

    /// The operation that a text means where something is computed.
    pub(crate) fn operation_of(&self, text: &'a str, span: Span) -> Option<String> {
        let meant = arithmetic(&Node::of_text(text, span), Sigil::Dollar, true, self.nesting, self.arena)?;
        let reference = |reference: &Reference<'a>| self.own_form(reference, false);
        self.resolves(&meant).then(|| operators(&meant, self.dialect.sigil(), &reference))?
    }

    /// A loosely written reference as this notation writes it.
    pub(crate) fn own_form(&self, reference: &Reference<'a>, inside: bool) -> String {
        self.dialect.own_form(&self.names.resolve(reference).unwrap_or(*reference), inside)
    }
}
