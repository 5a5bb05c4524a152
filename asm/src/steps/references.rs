//! Resolves references to slots and fields.

use super::reader::{StepReader, literal, of_slot};
use crate::ast::{Binary, Expr, ExprKind, Field, Literal, Name, Slot};
use crate::diagnostic::Diagnostic;
use crate::dialect::reader_habits::Seen;
use crate::expr;
use crate::expr::reference::{FAILURES, INPUT, Reference, Root, Step};
use crate::notation::Notation;
use crate::span::Span;
use ilo_spec::error::Code;
use ilo_spec::program::Number;

impl<'a> StepReader<'_, 'a> {
    /// The expression of a reference.
    pub(crate) fn reference(&mut self, reference: &Reference<'a>) -> Expr<'a> {
        self.rooted(reference, false)
    }

    /// The path of a reference in an expression: in each form, in every notation.
    pub(crate) fn braced(&mut self, reference: &Reference<'a>) -> Expr<'a> {
        if let Root::Name(name) = reference.root
            && self.named(name.text).is_none()
            && let Some(slot) = self.input_by_place(name)
        {
            let of = of_slot(slot, reference.span);
            return self.with_path(of, reference.path, reference.span);
        }
        if let (Root::Name(name), []) = (reference.root, reference.path)
            && self.named(name.text).is_none()
            && let Some(constant) = expr::constant(name.text)
        {
            return literal(constant, reference.span);
        }
        self.rooted(reference, true)
    }

    /// The input that a bare name is in an expression, decided by its place in the text: if no step has the
    /// name, in the arguments and the handler of the step that has it, and before the first such step
    /// outside of loops.
    fn input_by_place(&self, name: Name<'a>) -> Option<Slot> {
        let slot = self.scope.input(name.text)?;
        let before = match self.survey.first_binding(name.text) {
            None => true,
            Some(first) => self.binds(name.text) || (name.span.start < first && !self.in_loop()),
        };
        before.then_some(slot)
    }

    /// A reference by its root; `any` says that it may be in the form of each notation.
    fn rooted(&mut self, reference: &Reference<'a>, any: bool) -> Expr<'a> {
        let (value, path) = match (reference.root, reference.path) {
            (Root::Input, []) => (self.all_inputs(reference.span), reference.path),
            (Root::Input, [Step::Field(name), rest @ ..]) => {
                let Some(slot) = self.scope.input(name.text) else {
                    return self.unknown_input(*name, reference);
                };
                if !any {
                    self.input_form(reference);
                }
                (of_slot(slot, reference.span), rest)
            }
            (Root::Input, _) => return self.no_item_of_inputs(reference),
            (Root::Name(name), path) => match self.named(name.text) {
                Some(slot) => {
                    let failure = self.failure().is_some_and(|failure| failure.slot == slot)
                        && FAILURES.contains(&name.text);
                    if failure && name.text != self.dialect.failure() {
                        self.other_form(reference, "the failure has another name here");
                    }
                    let is_text = self.failure().is_some_and(|failure| failure.is_text);
                    if is_text && FAILURES.contains(&name.text) {
                        self.lint(&Seen::Failure(reference));
                    }
                    (of_slot(slot, reference.span), path)
                }
                None => return self.unknown(name, reference),
            },
        };
        self.with_path(value, path, reference.span)
    }

    /// The fields and items of a path that are read in a value.
    fn with_path(&mut self, mut value: Expr<'a>, path: &[Step<'a>], span: Span) -> Expr<'a> {
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

    /// Whether the reference to an input is in the form of this notation.
    fn input_form(&mut self, reference: &Reference<'a>) {
        let written = self.source.get(reference.span.range()).unwrap_or("");
        if !written.starts_with('$') {
            return;
        }
        let says_input = written.trim_start_matches(['$', '{', ' ']).starts_with(INPUT);
        let right = match self.dialect.notation {
            Notation::ToolCalling => says_input,
            // The failure shadows an input of the same name.
            Notation::Constrained => {
                let first = reference.path.first();
                self.failure().is_some()
                    && written.starts_with("${.")
                    && matches!(first, Some(Step::Field(name)) if FAILURES.contains(&name.text))
            }
            _ => !says_input || reference.path.is_empty(),
        };
        if !right {
            self.other_form(reference, "this is another notation's form of an input");
        }
    }

    /// Reports a reference in the form of another notation, with the correct form.
    fn other_form(&mut self, reference: &Reference<'a>, what: &str) {
        let written = self.source.get(reference.span.range()).unwrap_or("");
        let corrected = match written {
            _ if written.starts_with("${") => self.dialect.written(reference, '{'),
            _ if written.starts_with('$') => self.dialect.written(reference, '$'),
            _ => self.dialect.own_form(reference, false),
        };
        let wrong = Diagnostic::new(Code::BadReference, reference.span, what.to_owned())
            .expected(format!("`{corrected}`"), format!("`{}`", crate::text::shorten(written)));
        let fixed = written.starts_with('$');
        self.report(if fixed { wrong.replace(reference.span, corrected) } else { wrong });
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
