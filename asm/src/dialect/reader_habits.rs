//! What the readers of steps and the habits say to each other: what was read where, and the names in scope.
//!
//! Where a reader does not understand a part of a document, it asks `crate::habits` for the form that the
//! notation has for it, and reads that in its place.
//!
//! A text is always read as a text and a record as a record. If something else was most likely meant, a lint
//! warns, and the expression becomes a *suspect*: an error that follows from it is that warning.

use super::{Dialect, Key};
use crate::arena::Arena;
use crate::diagnostic::Diagnostics;
use crate::document::Node;
use crate::expr::reference::Reference;
use crate::expr::{Tree, TreeKind};
use crate::span::Span;

/// The context of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValuePlace {
    /// A context in which it may be data.
    Data,
    /// The operand of a function that is the name of a field: data.
    Field,
    /// A context in which something is computed: `expr`, a condition, an operand.
    Formula,
    /// A text that is bound to a name, which is no expression.
    Bound,
    /// A quoted text in an expression. The text of the node is the one that the expression is in.
    Quoted,
}

/// The place of what a reader does not understand.
#[derive(Clone, Copy)]
pub(crate) enum Asked<'k, 'a> {
    /// The place of a step: its name, in YAML; whether its value is needed, so that it could be data; whether
    /// that is the value of a function or of a branch.
    Step { name: Option<&'k Node<'a>>, wanted: bool, last: bool },
    /// A record that may have these keys; the text names it in messages.
    Keys(&'k [Key], &'k str),
    /// The value of a key of a step, a handler or a program.
    Part(Key),
    /// A record as a value.
    Value,
    /// A record as a value that is computed: under `expr`, or as an operand.
    Formula,
    /// A record or list as a condition, or as what `and`, `or` and `not` join in one.
    Condition,
}

/// What a reader asked about, in the form of the notation.
#[derive(Default)]
pub(crate) struct Rewritten<'a> {
    /// What to read instead; a list in the place of a step is several steps or none.
    pub(crate) node: Option<Node<'a>>,
    pub(crate) found: Diagnostics,
    /// Names that are bound in what is left out: reads of them are not reported.
    pub(crate) lost: Vec<&'a str>,
}

/// The names in scope at the position of what was read, and the function around it.
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
    /// Whether a name is referred to after a position.
    fn is_used_after(&self, name: &str, place: u32) -> bool;
    /// The span of the output type of the function, if that is a result.
    fn result(&self) -> Option<Span>;
    /// Whether the position is inside a loop.
    fn in_loop(&self) -> bool;
}

/// The context of what was read.
pub(crate) struct Surroundings<'s, 'a> {
    pub(crate) dialect: Dialect,
    pub(crate) source: &'a str,
    pub(crate) arena: &'a Arena,
    pub(crate) nesting: usize,
    pub(crate) names: &'s dyn Names<'a>,
}

impl<'a> Surroundings<'_, 'a> {
    /// Whether all names in an expression exist.
    pub(crate) fn resolves(&self, tree: &Tree<'a>) -> bool {
        let mut all = !matches!(tree.kind, TreeKind::Path(path) if self.names.resolve(&path).is_none());
        // `JSON` in `JSON.parse(x)` is a module of another language.
        let module = match tree.kind {
            TreeKind::Method(of, name, _) => of.name().filter(|module| {
                super::other_operator::meant(&format!("{}.{}", module.text, name.text)).is_some()
            }),
            _ => None,
        };
        tree.children(&mut |child| {
            all &= self.resolves(child)
                || (module.is_some() && child.name().map(|name| name.span) == module.map(|name| name.span));
        });
        all
    }

    /// An inexact reference in the form of this notation.
    pub(crate) fn own_form(&self, reference: &Reference<'a>, inside: bool) -> String {
        self.dialect.own_form(&self.names.resolve(reference).unwrap_or(*reference), inside)
    }
}
