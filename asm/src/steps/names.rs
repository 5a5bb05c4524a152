//! The names in scope, for messages and for lints.

use super::context::Context;
use super::reader::StepReader;
use crate::ast::{Expr, ExprKind, Literal};
use crate::dialect::Key;
use crate::dialect::reader_habits::{Asked, Names, Rewritten, Surroundings};
use crate::document::{Kind, Node};
use crate::expr::reference::Reference;
use crate::habits::{self, Lints};
use crate::span::Span;
use crate::text::{Near, near, some_of};

/// The most names that are examined for a message.
const MOST_NAMES: usize = 64;

impl<'a> StepReader<'_, 'a> {
    /// The reference that an inexact one means.
    pub(crate) fn resolve_loosely(&self, reference: &Reference<'a>) -> Option<Reference<'a>> {
        self.of_habits(habits::resolve(reference, self, self.arena))
    }

    pub(crate) fn near_name(&self, name: &str) -> Option<Near<'a>> {
        let bare = self.scope.inputs().filter(|_| self.dialect.is_bare()).map(|(name, _)| name);
        near(name, self.readable().take(MOST_NAMES).chain(bare.take(MOST_NAMES)))
    }

    /// The names that may be read here: not that of the step which is being read.
    fn readable(&self) -> impl Iterator<Item = &'a str> {
        self.scope.visible().filter(|name| self.scope.find(name).is_some() || !self.binds(name))
    }

    pub(crate) fn names_in_scope(&self) -> String {
        let inputs = self.scope.inputs().filter(|_| self.dialect.is_bare()).map(|(name, _)| name);
        let all = self.readable().take(MOST_NAMES).chain(inputs);
        listed(all, "a name that a step before has bound; there are none")
    }

    /// The context for lints at this position.
    pub(crate) fn surroundings(&self) -> Surroundings<'_, 'a> {
        let Context { dialect, source, arena, nesting, .. } = self.context;
        Surroundings { dialect, source, arena, nesting, names: self }
    }

    /// What is read in place of a node that is not understood.
    pub(crate) fn rewritten(&mut self, asked: Asked<'_, 'a>, node: &Node<'a>) -> Option<&'a Node<'a>> {
        let Rewritten { node, found, lost } = habits::rewrite(asked, node, &self.surroundings());
        let node = self.of_habits(node);
        if self.canonical.is_some() {
            return None;
        }
        self.diagnostics.append(found);
        lost.into_iter().for_each(|name| self.scope.lose(name));
        node.map(|node| &*self.arena.alloc(node))
    }

    /// The value of a key; if it is `odd`, what is read in its place.
    pub(crate) fn shaped<'d>(&mut self, key: Key, node: &'d Node<'a>, odd: bool) -> &'d Node<'a> {
        if odd { self.rewritten(Asked::Part(key), node).unwrap_or(node) } else { node }
    }

    /// Runs lints on something that was read. What they warn about becomes a suspect.
    pub(crate) fn lint(&mut self, examine: impl FnOnce(&mut Lints<'_, 'a>)) {
        if self.canonical.is_some() {
            return;
        }
        let mut lints = Lints { at: self.surroundings(), warnings: Vec::new() };
        examine(&mut lints);
        for (suspect, diagnostic) in lints.warnings {
            if suspect.is_none() || !self.at.reported {
                self.suspects.extend(suspect);
                self.report(diagnostic);
            }
        }
    }

    /// Whether a node was read as a plain text about which no lint has warned.
    pub(crate) fn is_plain(&self, node: &Node<'a>, value: &Expr<'a>) -> bool {
        let constant = matches!(value.kind, ExprKind::Literal(Literal::Text(_)));
        constant && matches!(node.kind, Kind::Text(_)) && self.suspects.last() != Some(&node.span)
    }
}

impl<'a> Names<'a> for StepReader<'_, 'a> {
    fn resolve(&self, reference: &Reference<'a>) -> Option<Reference<'a>> {
        self.resolve_loosely(reference)
    }

    fn has(&self, name: &str) -> bool {
        self.named(name).is_some()
    }

    fn has_step(&self, name: &str) -> bool {
        self.scope.has_step(name)
    }

    fn has_input(&self, name: &str) -> bool {
        self.scope.input(name).is_some()
    }

    fn is_list(&self, input: &str) -> bool {
        self.lists.contains(&input)
    }

    fn has_function(&self, name: &str) -> bool {
        self.functions.list.iter().any(|&(own, given)| given && own == name)
    }

    fn listed(&self) -> String {
        self.names_in_scope()
    }

    fn is_used_after(&self, name: &str, place: u32) -> bool {
        self.survey.used_after(name, place)
    }

    fn result(&self) -> Option<Span> {
        self.is_result().then_some(self.output.span)
    }

    fn in_loop(&self) -> bool {
        !self.loops.is_empty()
    }
}

/// The first few names; `none` if there are none.
pub(crate) fn listed<'n>(names: impl Iterator<Item = &'n str>, none: &str) -> String {
    let shown = some_of(names);
    if shown.is_empty() { none.to_owned() } else { shown }
}
