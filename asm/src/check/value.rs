//! Which blocks have a value, which do not, and what their place asks of them.
//!
//! [`Gives`] is worked out while a function is walked, from the inside out. It follows what blocks are made of, not what
//! conditions are worth.

use super::describe::output_name;
use super::mend;
use crate::ast::{Binary, Control, Expr, ExprKind, Function, Literal, ReturnKind};
use crate::diagnostic::Diagnostic;
use crate::notation::Notation;
use crate::span::Span;
use ilo_spec::error::Code;
use ilo_spec::types::Type;

/// How the end of a statement or block is reached, if at all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gives {
    /// Some path reaches the end with a value.
    pub(super) value: bool,
    /// Some path reaches the end without one: the first such.
    pub(super) lack: Option<Lack>,
}

/// Why a path has no value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lack {
    /// A block without statements.
    Empty(Span),
    /// The last statement has none by its kind.
    Statement(Span),
    /// An IF without ELSE is not taken.
    NotTaken(Span),
    /// A MATCH has no OK arm.
    NoOk(Span),
    /// No pass of a FOR yields.
    NeverYields(Span),
}

impl Gives {
    /// The end is never reached.
    pub(super) const NEVER: Gives = Gives { value: false, lack: None };
    /// A value, always.
    pub(super) const VALUE: Gives = Gives { value: true, lack: None };

    /// No value.
    pub(super) const fn nothing(lack: Lack) -> Gives {
        Gives { value: false, lack: Some(lack) }
    }

    /// One of two branches.
    pub(super) fn or(self, other: Gives) -> Gives {
        Gives { value: self.value || other.value, lack: self.lack.or(other.lack) }
    }

    /// Whether what follows can run.
    pub(super) fn completes(self) -> bool {
        self.value || self.lack.is_some()
    }
}

impl Lack {
    fn place(self) -> (Span, &'static str) {
        match self {
            Lack::Empty(span) => (span, "this block is empty"),
            Lack::Statement(span) => (span, "this statement has no value"),
            Lack::NotTaken(span) => (span, "no value when this IF is not taken"),
            Lack::NoOk(span) => (span, "no value on success: this MATCH has no OK arm"),
            Lack::NeverYields(span) => (span, "no pass of this FOR yields a value"),
        }
    }
}

/// A bound block with a path without a value.
pub(super) fn bound(control: &Control<'_>, gives: Gives) -> Option<Diagnostic> {
    let lack = gives.lack?;
    let span = control.span();
    let word = match control {
        Control::If(_) => "IF",
        Control::Match(_) => "MATCH",
        Control::For(_) => {
            let message = "this FOR is bound, but no pass of it can yield a value".to_owned();
            let help = "end its body with the value that a pass yields";
            return Some(missing(span, message, "no pass yields").help(help));
        }
    };
    let (place, what) = lack.place();
    let message = format!("this {word} is bound, but a path through it gives no value");
    let help = "end every path with an expression, or bind the slot inside the branches";
    Some(missing(span, message, what).related(place, what).help(help))
}

/// A function's body with a path without the value that the function's type asks for.
pub(super) fn body(function: &Function<'_>, gives: Gives) -> Option<Diagnostic> {
    let lack = gives.lack?;
    if function.output.ok.ty == Type::NIL {
        return None;
    }
    let (place, what) = lack.place();
    let word = if function.output.err.is_some() { "RET_OK" } else { "RET" };
    let message = format!("a path through `{}` gives no value", function.name.text);
    Some(
        Diagnostic::new(Code::MissingReturn, function.span, message)
            .expected(output_name(&function.output), what)
            .related(place, what)
            .help(format!("end that path with {word} or an expression")),
    )
}

fn missing(span: Span, message: String, found: &str) -> Diagnostic {
    Diagnostic::new(Code::MissingValue, span, message).expected("a value on every path", found)
}

/// RET in a result function, or `RET_OK` or `RET_ERR` in one that is none; `span` is the statement's.
pub(super) fn wrong_return(
    function: &Function<'_>,
    kind: ReturnKind,
    value: &Expr<'_>,
    in_err_arm: bool,
    span: Span,
) -> Option<Diagnostic> {
    if function.notation != Notation::Id {
        // The reader has told, in the notation's own words.
        return None;
    }
    let (word, right) = match (kind, &function.output.err) {
        (ReturnKind::Plain, Some(err)) => {
            // A text from a function that succeeds with nil and fails with text is meant as the failure.
            let fits = |ty: Type| literal_type(value).is_none_or(|found| found.meets(ty));
            let failure = !fits(function.output.ok.ty) && fits(err.ty);
            ("RET", if failure { "RET_ERR" } else { "RET_OK" })
        }
        (ReturnKind::Ok, None) => ("RET_OK", "RET"),
        (ReturnKind::Err, None) => ("RET_ERR", "FAIL"),
        _ => return None,
    };
    let output = output_name(&function.output);
    let is = if function.output.err.is_some() { "a result" } else { "no result" };
    let message = format!("{word} in `{}`, whose type `{output}` is {is}", function.name.text);
    let wrong = Diagnostic::new(Code::WrongReturn, span, message)
        .expected(right, word)
        .related(function.output.span, "the type is given here");
    // Where a call failed, a value may be the failure passed on or what stands in for it: both are common.
    let unsure = in_err_arm && kind == ReturnKind::Plain && literal_type(value).is_none();
    Some(if unsure {
        wrong
            .expected("RET_ERR or RET_OK", word)
            .help("write `RET_ERR` to fail with it, `RET_OK` to succeed with it")
    } else {
        wrong.fix(mend::word(span, word, right))
    })
}

/// The type of a value that says it itself.
fn literal_type(value: &Expr<'_>) -> Option<Type> {
    match value.kind {
        ExprKind::Literal(Literal::Nil) => Some(Type::NIL),
        ExprKind::Literal(Literal::Bool(_)) => Some(Type::BOOL),
        ExprKind::Literal(Literal::Number(_)) => Some(Type::NUMBER),
        ExprKind::Literal(Literal::Text(_)) | ExprKind::Binary(Binary::Concat, ..) => Some(Type::TEXT),
        _ => None,
    }
}
