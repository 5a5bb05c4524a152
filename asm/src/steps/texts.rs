//! Reads texts: references, templates, and plain texts.

use super::reader::{StepReader, literal, nothing};
use super::unresolved::with_near;
use crate::ast::{Expr, ExprKind, Literal};
use crate::diagnostic::Diagnostic;
use crate::dialect::reader_habits::ValuePlace;
use crate::document::Node;
use crate::expr::reference::{Reference, Root, bare, is_file};
use crate::expr::template::{Part, Template, template};
use crate::text::{Near, nearly_meets, shorten};
use ilo_spec::error::Code;

impl<'a> StepReader<'_, 'a> {
    /// Reads a text: a reference, a template, or a plain text.
    pub(crate) fn text(&mut self, node: &Node<'a>, place: ValuePlace) -> Expr<'a> {
        if self.dialect.is_bare()
            && let Some(reference) = bare(node, self.arena)
            && let Some(found) = self.bare(node, &reference, place)
        {
            return found;
        }
        let left = self.levels_left();
        let template = template(node, self.dialect.sigil(), left, self.arena, self.diagnostics);
        self.text_of(node, &template, place)
    }

    /// A text that is a bare reference; `None` if it is a plain text.
    fn bare(&mut self, node: &Node<'a>, reference: &Reference<'a>, place: ValuePlace) -> Option<Expr<'a>> {
        let Root::Name(name) = reference.root else { return None };
        if self.named(name.text).is_some() {
            return Some(self.reference(reference));
        }
        if self.scope.is_lost(name.text) {
            return Some(nothing(node));
        }
        if !reference.path.is_empty()
            && let Some(meant) = self.resolve_loosely(reference)
        {
            return Some(self.reference(&meant));
        }
        let near = {
            let mut names = self.scope.visible().chain(self.scope.inputs().map(|(name, _)| name));
            names.find(|known| nearly_meets(name.text, known))
        };
        if near.is_none() && reference.path.is_empty() {
            return None;
        }
        let bound = self.survey.binding(name.text);
        if let Some(place) = bound.filter(|_| self.binds(name.text)) {
            self.report(self.not_yet(name, place));
            return Some(nothing(node));
        }
        let later = bound.filter(|place| place.start > node.span.start);
        let (code, message) = match later {
            Some(_) => (Code::LaterReference, format!("`{}` is bound only by a later step", name.text)),
            None => (Code::UnknownReference, format!("nothing in scope is named `{}`", name.text)),
        };
        let near = self.near_name(name.text).or(near.map(|name| Near { name, sure: false }));
        let as_text = format!("{{\"text\":{}}}", self.source.get(node.span.range()).unwrap_or(""));
        let wrong = Diagnostic::new(code, name.span, message)
            .expected(self.names_in_scope(), format!("`{}`", name.text))
            .help(format!("if it is meant as text, write `{}`", shorten(&as_text)));
        let mut wrong = with_near(wrong, name, near);
        let text = node.text().unwrap_or("");
        let names_field = place == ValuePlace::Field && reference.path.is_empty() && wrong.fix.is_none();
        if names_field || (near.is_none() && later.is_none() && is_file(text)) {
            wrong = wrong.replace(node.span, as_text);
        }
        if let Some(span) = later {
            wrong = wrong.related(span, "bound here");
        }
        self.report(wrong);
        Some(nothing(node))
    }

    /// The expression of a template: the value of its only reference, or the joined parts.
    pub(crate) fn text_of(
        &mut self,
        node: &Node<'a>,
        template: &Template<'a>,
        place: ValuePlace,
    ) -> Expr<'a> {
        self.lint(|lints| lints.text(node, template, place));
        if let Some(part) = template.whole() {
            return self.part(node, &part);
        }
        if let Some(text) = template.text() {
            return literal(Literal::Text(text), node.span);
        }
        let parts: Vec<Expr<'a>> = template.parts.iter().map(|part| self.part(node, part)).collect();
        let levels = parts.len().next_power_of_two().trailing_zeros();
        if !self.fits(levels as usize, node.span) {
            return nothing(node);
        }
        Expr { kind: ExprKind::Template(self.arena.alloc_slice_copy(&parts)), span: node.span }
    }

    fn part(&mut self, node: &Node<'a>, part: &Part<'a>) -> Expr<'a> {
        match part {
            Part::Text(text, span) => literal(Literal::Text(text), *span),
            Part::Reference(reference) => self.reference(reference),
            Part::Value(tree) => self.of_tree(node, tree),
            Part::Bad(span) => self.unread(*span),
        }
    }
}
