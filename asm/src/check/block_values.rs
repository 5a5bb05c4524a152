//! Which blocks have a value, and whether they have one where it is needed.
//!
//! [`Gives`] is computed while a function is walked, from the inside out. Conditions are not evaluated: each
//! may hold or not.

use super::messages;
use super::path_reasons::NoValue;
use crate::ast::{Control, Expr, ExprKind, Function, ReturnKind};
use crate::diagnostic::Diagnostic;
use crate::notation::Notation;
use crate::span::Span;
use ilo_spec::node::Word;
use ilo_spec::types::Type;

/// How the end of a statement or block is reached, if at all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gives {
    /// Some path reaches the end with a value.
    pub(super) value: bool,
    /// Some path reaches the end without one: the first such.
    pub(super) lack: Option<NoValue>,
}

impl Gives {
    /// The end is never reached.
    pub(super) const NEVER: Gives = Gives { value: false, lack: None };
    /// A value, always.
    pub(super) const VALUE: Gives = Gives { value: true, lack: None };

    /// No value.
    pub(super) const fn nothing(lack: NoValue) -> Gives {
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

/// A bound block with a path without a value.
pub(super) fn bound(function: &Function<'_>, control: &Control<'_>, gives: Gives) -> Option<Diagnostic> {
    gives.lack.map(|reason| messages::values::missing_value(function, control, reason))
}

/// A function's body with a path without a value, where its type asks for one.
pub(super) fn body(function: &Function<'_>, gives: Gives) -> Option<Diagnostic> {
    let reason = gives.lack.filter(|_| function.output.ok.ty != Type::NIL)?;
    Some(messages::values::missing_return(function, reason))
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
        // The reader of documents has reported it.
        return None;
    }
    let (word, right) = match (kind, &function.output.err) {
        (ReturnKind::Plain, Some(err)) => {
            // A text from a function that succeeds with nil and fails with text is meant as the failure.
            let fits = |ty: Type| evident_type(value).is_none_or(|found| found.meets(ty));
            let failure = !fits(function.output.ok.ty) && fits(err.ty);
            (Word::Ret, if failure { Word::RetErr } else { Word::RetOk })
        }
        (ReturnKind::Ok, None) => (Word::RetOk, Word::Ret),
        (ReturnKind::Err, None) => (Word::RetErr, Word::Fail),
        _ => return None,
    };
    // Where a call failed, a value may be the failure passed on or a value in its place: both are common.
    let unsure = in_err_arm && kind == ReturnKind::Plain && evident_type(value).is_none();
    Some(messages::values::wrong_return(function, span, word, Some(right).filter(|_| !unsure)))
}

/// The type of a value that is evident from its form.
fn evident_type(value: &Expr<'_>) -> Option<Type> {
    match value.kind {
        ExprKind::Literal(literal) => Some(literal.ty()),
        _ if value.is_text_join() => Some(Type::TEXT),
        _ => None,
    }
}
