//! Texts: references, texts with references in them, and plain ones.

use super::reader::{StepReader, literal, nothing};
use super::unresolved::{SUBTRACTION, rename_near, replaced, subtracts};
use crate::ast::{Binary, Expr, Literal};
use crate::diagnostic::{Diagnostic, Diagnostics, Mark};
use crate::dialect::lint::{Place, Seen};
use crate::dialect::loose::is_file;
use crate::dialect::reference::{Reference, Root, bare};
use crate::dialect::template::{Part, Sigil, Template, template};
use crate::document::{Kind, Node, Style, Text};
use crate::span::Span;
use crate::text::{Near, nearly_meets};
use ilo_spec::error::Code;

impl<'a> StepReader<'_, 'a> {
    /// A text: a reference, a text with references, or plain.
    pub(crate) fn text(&mut self, node: &Node<'a>, place: Place) -> Expr<'a> {
        if self.dialect.is_bare()
            && let Some(reference) = bare(node, self.arena)
            && let Some(found) = self.bare(node, &reference)
        {
            return found;
        }
        let before = self.diagnostics.mark();
        let template = template(node, self.dialect.sigil(), self.arena, self.diagnostics);
        if self.diagnostics.has_since(before) {
            self.own_words(node, before);
        }
        self.text_of(node, &template, place)
    }

    /// Mends `${.n + 1}`, where that is all of a text of JSON, with the operation.
    fn computes_inside(&self, node: &Node<'a>, wrong: &mut Diagnostic) -> bool {
        let text = node.text().unwrap_or("");
        let Some(inside) = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) else {
            return false;
        };
        if inside.contains(['$', '{', '}', '|', '?']) || self.dialect.is_yaml() {
            return false;
        }
        let inside = format!(" {inside}").replace(" .", " $.").replace("(.", "($.");
        let Some(mended) = self.surroundings().operation_of(self.arena.alloc_str(&inside), node.span) else {
            return false;
        };
        wrong.expected = Some(format!("`{mended}`"));
        wrong.help = None;
        wrong.fix = Some(replaced(node.span, mended));
        true
    }

    /// Puts the reference that is meant, in this notation's form, into what was said of broken ones.
    fn own_words(&mut self, node: &Node<'a>, before: Mark) {
        let whole = node.text().unwrap_or("").len();
        let mut list = core::mem::take(self.diagnostics);
        list.reword(before, |wrong| {
            if wrong.fix.is_none() && self.computes_inside(node, wrong) {
                return;
            }
            let edit = wrong.fix.as_mut().and_then(|fix| fix.edits.first_mut());
            let Some(edit) = edit.filter(|edit| edit.text.starts_with("${")) else { return };
            let text = self.arena.alloc_str(&edit.text);
            let kind = Kind::Text(Text { text, style: Style::Block, start: None });
            let inside = Node { kind, span: edit.span };
            let reference = template(&inside, Sigil::Dollar, self.arena, &mut Diagnostics::default()).whole();
            let Some(meant) = reference.and_then(|reference| self.resolve_loosely(&reference)) else {
                return;
            };
            let alone = (edit.span.end - edit.span.start) as usize == whole && !self.dialect.is_bare();
            edit.text = self.dialect.own_form(&meant, !alone);
            let text = edit.text.clone();
            wrong.expected = Some(format!("`{text}`"));
            wrong.help = None;
            wrong.fix = Some(replaced(edit.span, text));
        });
        *self.diagnostics = list;
    }

    /// A text that is a bare reference; `None` where it is text.
    fn bare(&mut self, node: &Node<'a>, reference: &Reference<'a>) -> Option<Expr<'a>> {
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
        let mut wrong = Diagnostic::new(code, name.span, message)
            .expected(self.names_in_scope(), format!("`{}`", name.text))
            .nearest(near.map(|near| near.name))
            .help("where it is meant as text, write `{\"text\": …}` around it");
        wrong.fix = near.and_then(|near| rename_near(name, near));
        if near.is_some_and(|near| subtracts(name.text, near.name)) {
            wrong = wrong.help(SUBTRACTION);
        }
        let text = node.text().unwrap_or("");
        if near.is_none() && later.is_none() && is_file(text) {
            wrong = wrong.replace(
                node.span,
                format!("{{\"text\":{}}}", self.source.get(node.span.range()).unwrap_or("")),
            );
        }
        if let Some(span) = later {
            wrong = wrong.related(span, "bound here");
        }
        self.report(wrong);
        Some(nothing(node))
    }

    /// Reports a bare reference under a root that there is none of.
    fn says_more(&mut self, reference: &Reference<'a>, meant: &Reference<'a>) {
        let mended = self.dialect.own_form(meant, false);
        let written = self.source.get(reference.span.range()).unwrap_or("");
        let message = "an input or a variable is referred to by its name alone";
        let mut wrong = Diagnostic::new(Code::UnknownReference, reference.span, message)
            .expected(format!("`{mended}`"), format!("`{}`", crate::text::shorten(written)));
        wrong.fix = Some(replaced(reference.span, mended));
        self.report(wrong);
    }

    /// What a template makes: the one value that it is, or everything joined.
    pub(crate) fn text_of(&mut self, node: &Node<'a>, template: &Template<'a>, place: Place) -> Expr<'a> {
        self.lint(Seen::Text(node, template, place));
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
        self.joined(&parts, node.span)
    }

    /// All parts as one text. Halves keep the tree flat; what is joined in which order makes no difference.
    fn joined(&self, parts: &[Expr<'a>], span: Span) -> Expr<'a> {
        match parts {
            [] => literal(Literal::Text(""), span),
            [only] => *only,
            _ => {
                let (first, second) = parts.split_at(parts.len().div_ceil(2));
                self.binary(Binary::Concat, self.joined(first, span), self.joined(second, span), span)
            }
        }
    }
}
