//! Reads texts: references, templates, and plain texts.

use super::reader::{StepReader, literal, nothing};
use super::unresolved::{SUBTRACTION, rename_near, subtracts};
use crate::ast::{Expr, ExprKind, Literal};
use crate::diagnostic::{Diagnostic, Fix};
use crate::dialect::reader_habits::{Place, Seen};
use crate::dialect::reference::{Broken, Reference, Root, bare, is_file};
use crate::dialect::template::{Part, Template, template_and_broken};
use crate::document::Node;
use crate::span::Span;
use crate::text::{Near, nearly_meets, shorten};
use ilo_spec::error::Code;

impl<'a> StepReader<'_, 'a> {
    /// Reads a text: a reference, a template, or a plain text.
    pub(crate) fn text(&mut self, node: &Node<'a>, place: Place) -> Expr<'a> {
        if self.dialect.is_bare()
            && let Some(reference) = bare(node, self.arena)
            && let Some(found) = self.bare(node, &reference, place)
        {
            return found;
        }
        let (sigil, arena) = (self.dialect.sigil(), self.arena);
        let template =
            template_and_broken(node, sigil, arena, &mut |broken| self.report_broken(node, broken));
        self.text_of(node, &template, place)
    }

    /// Reports a malformed reference, with the operation or reference that is meant, in the form of this
    /// notation.
    fn report_broken(&mut self, node: &Node<'a>, broken: Broken<'a>) {
        let Broken { mut diagnostic, meant, text } = broken;
        if diagnostic.span == node.span
            && let Some(span) = self.only_place(node, text)
        {
            diagnostic.span = span;
        }
        let written = |diagnostic: Diagnostic, span: Span, text: String| Diagnostic {
            expected: Some(format!("`{text}`")),
            help: None,
            fix: Some(Fix::write(&text, span, text.as_str())),
            ..diagnostic
        };
        let diagnostic = if diagnostic.fix.is_none() {
            match self.habits.operation_inside(node, &self.surroundings()) {
                Some(operation) => written(diagnostic, node.span, operation),
                None => match self.habits.step_before(text, diagnostic.span, &self.surroundings()) {
                    Some(help) => diagnostic.help(help),
                    None => diagnostic,
                },
            }
        } else if let Some(meant) = meant.and_then(|meant| self.resolve_loosely(&meant)) {
            let span = diagnostic.span;
            let whole = node.text().is_some_and(|text| text.len() == (span.end - span.start) as usize);
            let text = self.dialect.own_form(&meant, !whole || self.dialect.is_bare());
            written(diagnostic, span, text)
        } else {
            diagnostic
        };
        self.report(diagnostic);
    }

    /// The place of a text in a node whose text is not in the source as it is, such as a block of YAML.
    fn only_place(&self, node: &Node<'a>, text: &str) -> Option<Span> {
        /// The longest node that is searched, in bytes.
        const SEARCHED: usize = 8 << 10;
        let source = self.source.get(node.span.range()).filter(|source| source.len() <= SEARCHED)?;
        let at = source.find(text).filter(|at| source.rfind(text) == Some(*at))?;
        let start = node.span.start.checked_add(u32::try_from(at).ok()?)?;
        Some(Span::new(start, start.checked_add(u32::try_from(text.len()).ok()?)?))
    }

    /// A text that is a bare reference; `None` if it is a plain text.
    fn bare(&mut self, node: &Node<'a>, reference: &Reference<'a>, place: Place) -> Option<Expr<'a>> {
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
            self.says_more(reference, &meant);
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
        let mut wrong = Diagnostic::new(code, name.span, message)
            .expected(self.names_in_scope(), format!("`{}`", name.text))
            .nearest(near.map(|near| near.name))
            .help(format!("if it is meant as text, write `{}`", shorten(&as_text)))
            .fix(near.and_then(|near| rename_near(name, near)));
        if near.is_some_and(|near| subtracts(name.text, near.name)) {
            wrong = wrong.help(SUBTRACTION);
        }
        let text = node.text().unwrap_or("");
        let names_field = place == Place::Field && reference.path.is_empty() && wrong.fix.is_none();
        if names_field || (near.is_none() && later.is_none() && is_file(text)) {
            wrong = wrong.replace(node.span, as_text);
        }
        if let Some(span) = later {
            wrong = wrong.related(span, "bound here");
        }
        self.report(wrong);
        Some(nothing(node))
    }

    /// Reports a bare reference with an unknown root.
    fn says_more(&mut self, reference: &Reference<'a>, meant: &Reference<'a>) {
        let fixed = self.dialect.own_form(meant, false);
        let written = self.source.get(reference.span.range()).unwrap_or("");
        let message = "an input or a variable is referred to by its name alone";
        let wrong = Diagnostic::new(Code::UnknownReference, reference.span, message)
            .expected(format!("`{fixed}`"), format!("`{}`", shorten(written)));
        self.report(wrong.replace(reference.span, fixed));
    }

    /// The expression of a template: the value of its only reference, or the joined parts.
    pub(crate) fn text_of(&mut self, node: &Node<'a>, template: &Template<'a>, place: Place) -> Expr<'a> {
        self.lint(&Seen::Text(node, template, place));
        if let Some(reference) = template.whole() {
            return self.reference(&reference);
        }
        if let Some(text) = template.text() {
            return literal(Literal::Text(text), node.span);
        }
        let parts: Vec<Expr<'a>> = template
            .parts
            .iter()
            .map(|part| match part {
                Part::Text(text, span) => literal(Literal::Text(text), *span),
                Part::Reference(reference) => self.reference(reference),
            })
            .collect();
        let levels = parts.len().next_power_of_two().trailing_zeros();
        if !self.fits(levels as usize, node.span) {
            return nothing(node);
        }
        Expr { kind: ExprKind::Template(self.arena.alloc_slice_copy(&parts)), span: node.span }
    }
}
