//! Resolves references to slots and fields.

use super::reader::{StepReader, literal, of_slot};
use crate::ast::{Binary, Expr, ExprKind, Field, Literal, Name, Slot};
use crate::diagnostic::Diagnostic;
use crate::expr;
use crate::expr::reference::{FAILURES, Reference, Root, Step};
use crate::span::Span;
use ilo_spec::error::Code;
use ilo_spec::program::Number;

impl<'a> StepReader<'_, 'a> {
    /// The expression of a reference without braces, in any notation's form.
    pub(crate) fn reference(&mut self, reference: &Reference<'a>) -> Expr<'a> {
        if self.dialect.is_bare() {
            self.other_failure(reference);
        }
        match self.input_by_place(reference) {
            Some(found) => found,
            None => self.rooted(reference),
        }
    }

    /// The path of a reference in an expression.
    pub(crate) fn braced(&mut self, reference: &Reference<'a>) -> Expr<'a> {
        if let Some(found) = self.input_by_place(reference) {
            return found;
        }
        if let (Root::Name(name), []) = (reference.root, reference.path)
            && self.named(name.text).is_none()
            && let Some(constant) = expr::constant(name.text)
        {
            return literal(constant, reference.span);
        }
        self.rooted(reference)
    }

    /// The input that a bare name is, decided by its place in the text: if no step has the name, in the
    /// arguments and the handler of the step that has it, and before the first such step outside of loops.
    fn input_by_place(&mut self, reference: &Reference<'a>) -> Option<Expr<'a>> {
        let Root::Name(name) = reference.root else { return None };
        let slot = self.scope.input(name.text).filter(|_| self.named(name.text).is_none())?;
        let before = match self.survey.first_binding(name.text) {
            None => true,
            Some(first) => self.binds(name.text) || (name.span.start < first && !self.in_loop()),
        };
        let of = of_slot(slot, reference.span);
        before.then(|| self.with_path(of, reference.path, reference.span))
    }

    /// A reference by its root.
    pub(crate) fn rooted(&mut self, reference: &Reference<'a>) -> Expr<'a> {
        let (value, path) = match (reference.root, reference.path) {
            (Root::Input, []) => (self.all_inputs(reference.span), reference.path),
            (Root::Input, [Step::Field(name), rest @ ..]) => {
                let Some(slot) = self.scope.input(name.text) else {
                    return self.unknown_input(*name, reference);
                };
                (of_slot(slot, reference.span), rest)
            }
            (Root::Input, _) => return self.no_item_of_inputs(reference),
            (Root::Name(name), path) => match self.named(name.text) {
                Some(slot) => {
                    let is_text = self.failure().is_some_and(|failure| failure.is_text);
                    if is_text && FAILURES.contains(&name.text) {
                        self.lint(|lints| lints.field_of_failure(reference));
                    }
                    (of_slot(slot, reference.span), path)
                }
                None => return self.unknown(name, reference),
            },
        };
        self.with_path(value, path, reference.span)
    }

    /// Reports a bare name that is another notation's name of the failure, or a text.
    fn other_failure(&mut self, reference: &Reference<'a>) {
        let Root::Name(name) = reference.root else { return };
        let own = self.dialect.failure();
        if name.text == own || !FAILURES.contains(&name.text) || self.failure().is_none() {
            return;
        }
        self.report(
            Diagnostic::new(Code::BadReference, reference.span, "the failure has another name here")
                .expected(format!("`{own}`"), format!("`{}`", name.text))
                .help(format!("write `\"{own}\"`, or `{{\"text\":\"{}\"}}` for the text", name.text)),
        );
    }

    /// The fields and items of a path that are read in a value.
    pub(crate) fn with_path(&mut self, mut value: Expr<'a>, path: &[Step<'a>], span: Span) -> Expr<'a> {
        if !self.fits(path.len(), span) {
            return literal(Literal::Nil, span);
        }
        for step in path {
            let kind = match step {
                Step::Field(name) => ExprKind::Field(self.alloc(value), *name),
                Step::Index(index, span) => {
                    let Ok(index) = i64::try_from(*index) else { return value };
                    let index = literal(Literal::Number(Number::Int(index)), *span);
                    ExprKind::Binary(Binary::At, self.alloc(value), self.alloc(index))
                }
            };
            value = Expr { kind, span };
        }
        value
    }

    fn no_item_of_inputs(&mut self, reference: &Reference<'a>) -> Expr<'a> {
        self.report(
            Diagnostic::new(Code::BadReference, reference.span, "inputs have names, not numbers")
                .expected("the name of an input", "a number"),
        );
        self.unread(reference.span)
    }

    /// `$input`: a record of all inputs.
    fn all_inputs(&mut self, span: Span) -> Expr<'a> {
        let inputs: Vec<(&'a str, Slot)> = self.scope.inputs().collect();
        let fields: Vec<Field<'a>> = inputs
            .into_iter()
            .map(|(text, slot)| Field { name: Name { text, span }, value: of_slot(slot, span) })
            .collect();
        Expr { kind: ExprKind::Record(self.arena.alloc_slice_copy(&fields)), span }
    }
}
