//! Diagnostics for unresolved references, with the nearest existing name.

use super::names::listed;
use super::reader::{StepReader, literal, of_slot};
use crate::ast::{Expr, Literal, Name, Slot};
use crate::diagnostic::{Diagnostic, Fix};
use crate::dialect::Key;
use crate::expr::reference::{FAILURES, Reference, Root};
use crate::foreign::{self, Place};
use crate::notation::Notation;
use crate::span::Span;
use crate::text::{Near, is_name, near, shorten};
use ilo_spec::error::Code;

/// The help if a name may be meant as a subtraction.
const SUBTRACTION: &str = "a hyphen belongs to a name; to subtract, put blanks around it in an expression";

impl<'a> StepReader<'_, 'a> {
    pub(crate) fn unknown_input(&mut self, name: Name<'a>, reference: &Reference<'a>) -> Expr<'a> {
        let span = reference.span;
        let meant = self.resolve_loosely(reference);
        if let Some(read) = meant.and_then(|meant| self.read_as(name, &meant)) {
            return read;
        }
        let message = format!("no input is named `{}`", name.text);
        let wrong = Diagnostic::new(Code::UnknownReference, name.span, message);
        if let Some(meant) = meant {
            let wrong = self.means(wrong, reference, &meant);
            self.report(wrong);
            return literal(Literal::Nil, span);
        }
        let names: Vec<&'a str> = self.scope.inputs().map(|(name, _)| name).collect();
        let near = near(name.text, names.iter().copied());
        let wrong = wrong
            .expected(listed(names.iter().copied(), "an input; there are none"), format!("`{}`", name.text));
        let wrong = with_near(wrong, name, near);
        let helped = wrong.fix.is_some() || wrong.help.is_some();
        self.report(if helped { wrong } else { wrong.help("declare it among the inputs") });
        literal(Literal::Nil, span)
    }

    pub(crate) fn unknown(&mut self, name: Name<'a>, reference: &Reference<'a>) -> Expr<'a> {
        let nil = literal(Literal::Nil, reference.span);
        if self.scope.is_lost(name.text) {
            return nil;
        }
        let found = format!("`{}`", name.text);
        let wrong = if FAILURES.contains(&name.text) {
            let word = self.dialect.word(Key::Handler);
            let message =
                format!("`{}` is the failure of a call, and can only be read in its `{word}`", name.text);
            Diagnostic::new(Code::UnknownReference, name.span, message)
                .expected(self.names_in_scope(), found)
                .help("bind what is needed outside in the handler")
        } else if let Some(in_loop) = self.scope.has_left(name.text) {
            let (message, help) = if in_loop {
                (
                    "was bound in a loop that has ended",
                    "what a loop yields is read under the name of the loop's own step",
                )
            } else {
                (
                    "names what a block gives",
                    "what a block gives is read under the name of the block's own step",
                )
            };
            Diagnostic::new(Code::UnknownReference, name.span, format!("`{}` {message}", name.text))
                .expected(self.names_in_scope(), found)
                .help(help)
        } else if let Some(slot) = self.named_by_let(name.text) {
            return self.with_path(of_slot(slot, reference.span), reference.path, reference.span);
        } else if let Some(place) = self.survey.binding(name.text) {
            self.not_yet(name, place)
        } else {
            let meant = self.resolve_loosely(reference);
            if let Some(read) = meant.and_then(|meant| self.read_as(name, &meant)) {
                return read;
            }
            self.nothing_named(name, reference, meant.as_ref())
        };
        self.report(wrong);
        nil
    }

    /// The slot of the value of a step that has another name by its `let`, if only that step binds it.
    fn named_by_let(&self, step: &str) -> Option<Slot> {
        let own = self.scope.renamed(step).filter(|_| !self.binds(step))?;
        let once = self.survey.binding(own).map(|last| last.start) == self.survey.first_binding(own);
        self.named(own).filter(|_| once)
    }

    /// A reference whose root has this name in other languages (`steps.user.output.email`), read as what it
    /// means.
    fn read_as(&mut self, name: Name<'a>, meant: &Reference<'a>) -> Option<Expr<'a>> {
        let exists = match meant.root {
            Root::Input => true,
            Root::Name(meant) => meant.text != name.text && self.named(meant.text).is_some(),
        };
        (exists && foreign::meaning(Place::Root, name.text).is_some()).then(|| self.rooted(meant))
    }

    /// The diagnostic of a name that some step binds or has, but that has no value here.
    pub(crate) fn not_yet(&self, name: Name<'a>, place: Span) -> Diagnostic {
        let text = name.text;
        let wrong = |code, message| {
            Diagnostic::new(code, name.span, message)
                .expected("a name that an earlier step binds", format!("`{text}`"))
                .related(place, "bound here")
        };
        if self.binds(text) {
            return if self.failure().is_none() {
                let message = format!("`{text}` is read in the very step that binds it");
                let before = "bind it in a step before this one, which then binds it again; in a loop, before the loop";
                wrong(Code::UnknownReference, message).help(if self.dialect.is_bare() {
                    format!("{before}; if it is meant as text, write `{{\"text\":\"{text}\"}}`")
                } else {
                    before.to_owned()
                })
            } else {
                let message = format!("`{text}` has no value where its own call failed");
                wrong(Code::UnknownReference, message).help(
                    "a call that failed leaves nothing to undo: roll back what steps before it did, or write \
                         `rollback` beside the call to undo it if something later fails",
                )
            };
        }
        if let Some(own) = self.scope.renamed(text) {
            let message = format!("the value of the step `{text}` is named `{own}` by its `let`");
            return wrong(Code::UnknownReference, message)
                .nearest(Some(own))
                .expected(format!("`{own}`"), format!("`{text}`"))
                .fix(rename_part(name, own));
        }
        if place.start > name.span.start {
            let message = format!("`{text}` is bound only by a later step");
            return wrong(Code::LaterReference, message)
                .help("steps run in the order of the file: put that step before this one");
        }
        let message = format!("the step `{text}` has no value");
        wrong(Code::UnknownReference, message).help(
            "a loop has one where its last step is what a pass yields; steps that end or undo have none",
        )
    }

    /// The diagnostic of an unknown name.
    fn nothing_named(
        &self,
        name: Name<'a>,
        reference: &Reference<'a>,
        meant: Option<&Reference<'a>>,
    ) -> Diagnostic {
        let message = format!("nothing is named `{}` here", name.text);
        let wrong = Diagnostic::new(Code::UnknownReference, name.span, message)
            .expected(self.names_in_scope(), format!("`{}`", name.text));
        if let Some(meant) = meant {
            return self.means(wrong, reference, meant);
        }
        let near = self.near_name(name.text);
        let written = self.source.get(reference.span.range()).unwrap_or("");
        if near.is_none() && reference.path.is_empty() && written == name.text {
            // In an expression a text is in quotes.
            let text = format!("'{}'", name.text);
            let wrong = wrong.help(format!("write `{text}` for a text, or bind the name in a step before"));
            return wrong.replace(reference.span, text);
        }
        if near.is_some() {
            return with_near(wrong, name, near);
        }
        let bind = "bind it in a step before; a plain dollar sign is written `$$`";
        wrong.help(foreign::instead(Place::Name, name.text).unwrap_or(bind))
    }

    /// Adds the reference that is meant to the diagnostic of an unresolved reference.
    fn means(&self, wrong: Diagnostic, reference: &Reference<'a>, meant: &Reference<'a>) -> Diagnostic {
        let written = self.source.get(reference.span.range()).unwrap_or("");
        // In infix text and inside texts it has the form of a whole-text reference, except for braces that
        // exist already.
        let inside = written.starts_with("${") && self.dialect.notation == Notation::Mcp;
        let corrected = if self.dialect.notation == Notation::ToolCalling && written.starts_with("${") {
            self.dialect.written(meant, '{')
        } else {
            self.dialect.own_form(meant, inside || self.dialect.is_bare())
        };
        let found = format!("`{}`", shorten(written));
        let wrong = wrong.expected(format!("`{corrected}`"), found).nearest(Some(&corrected));
        if written.starts_with('$') {
            return wrong.replace(reference.span, corrected.as_str());
        }
        // In an expression.
        let inside = self.dialect.written(meant, '{');
        wrong.replace(reference.span, inside.trim_start_matches("${").trim_end_matches('}'))
    }
}

/// Adds the name that is most likely meant in place of another one, with the fix that writes it.
pub(crate) fn with_near(wrong: Diagnostic, name: Name<'_>, near: Option<Near<'_>>) -> Diagnostic {
    let Some(near) = near else { return wrong };
    let fix = rename_part(name, near.name).filter(|_| near.sure);
    let wrong = wrong.nearest(Some(near.name)).fix(fix);
    if subtracts(name.text, near.name) { wrong.help(SUBTRACTION) } else { wrong }
}

fn rename_part(name: Name<'_>, new: &str) -> Option<Fix> {
    let exact = (name.span.end - name.span.start) as usize == name.text.len();
    let kept = exact && is_name(new) && !subtracts(name.text, new);
    kept.then(|| Fix::write(new, name.span, new))
}

/// Whether a name is another name followed by a hyphen and more: a subtraction may be meant, so the rest must
/// not be dropped.
fn subtracts(name: &str, from: &str) -> bool {
    name.strip_prefix(from).is_some_and(|rest| rest.starts_with('-'))
}
