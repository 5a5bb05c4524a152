//! Computes which blocks have a value, and reports blocks that lack a needed value.
//!
//! [`Gives`] is computed bottom-up during the walk over a function. Conditions are not evaluated: each may be
//! true or false.

use super::messages;
use super::path_reasons::NoValue;
use crate::ast::{Control, Expr, Function, ReturnKind};
use crate::diagnostic::Diagnostic;
use crate::notation::Notation;
use crate::span::Span;
use ilo_spec::node::Word;
use ilo_spec::types::Type;

/// Whether the end of a statement or block is reached, and with a value or without.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gives {
    /// Some path reaches the end with a value.
    pub(super) value: bool,
    /// Some path reaches the end without a value; this is the first such path.
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

    /// The union of two branches.
    pub(super) fn or(self, other: Gives) -> Gives {
        Gives { value: self.value || other.value, lack: self.lack.or(other.lack) }
    }

    /// Whether the next statement can run.
    pub(super) fn completes(self) -> bool {
        self.value || self.lack.is_some()
    }
}

/// Reports a bound block in which some path has no value.
pub(super) fn bound(function: &Function<'_>, control: &Control<'_>, gives: Gives) -> Option<Diagnostic> {
    gives.lack.map(|reason| messages::values::missing_value(function, control, reason))
}

/// Reports a function body in which some path has no value, if the output type needs one.
pub(super) fn body(function: &Function<'_>, gives: Gives) -> Option<Diagnostic> {
    let reason = gives.lack.filter(|_| function.output.ok.ty != Type::NIL)?;
    Some(messages::values::missing_return(function, reason))
}

/// Reports RET in a function that returns a result, and `RET_OK` or `RET_ERR` in any other; `span` is that of
/// the statement.
pub(super) fn wrong_return(
    function: &Function<'_>,
    kind: ReturnKind,
    value: &Expr<'_>,
    in_err_arm: bool,
    span: Span,
) -> Option<Diagnostic> {
    if function.notation != Notation::Id {
        // The reader of JSON and YAML has reported it.
        return None;
    }
    let (word, right) = match (kind, &function.output.err) {
        (ReturnKind::Plain, Some(err)) => {
            // If the function succeeds with nil and fails with text, a text is meant as the failure.
            let fits = |ty: Type| value.evident_type().is_none_or(|found| found.meets(ty));
            let failure = !fits(function.output.ok.ty) && fits(err.ty);
            (Word::Ret, if failure { Word::RetErr } else { Word::RetOk })
        }
        (ReturnKind::Ok, None) => (Word::RetOk, Word::Ret),
        (ReturnKind::Err, None) => (Word::RetErr, Word::Fail),
        _ => return None,
    };
    // After a failed call, a value may be the failure itself or a replacement: both are common.
    let unsure = in_err_arm && kind == ReturnKind::Plain && value.evident_type().is_none();
    Some(messages::values::wrong_return(function, span, word, Some(right).filter(|_| !unsure)))
}
