//! Messages about values that may be nil, where nil is not accepted.

use super::types::takes;
use crate::ast::{Expr, Function};
use crate::check::messages::given::Place;
use crate::check::value_info::Nil;
use crate::diagnostic::Diagnostic;
use crate::dialect::terms::Terms;
use crate::notation::Notation;
use crate::rules::Demand;
use ilo_spec::error::Code;
use ilo_spec::node::Word;

/// An operand that may be nil; `index` counts from 0.
pub(crate) fn operand(
    function: &Function<'_>,
    (word, index): (Word, usize),
    value: &Expr<'_>,
    demand: Demand,
    nil: Nil,
) -> Diagnostic {
    let takes = takes(Terms::of(function.notation), word, index, demand);
    maybe_nil(function, value, demand, nil, format!("{takes}, but this may be nil"))
}

/// An argument that may be nil.
pub(crate) fn argument(
    function: &Function<'_>,
    place: Place<'_, '_>,
    value: &Expr<'_>,
    demand: Demand,
    nil: Nil,
) -> Diagnostic {
    let message = format!("{place} takes {demand}, but this may be nil");
    maybe_nil(function, value, demand, nil, message)
}

fn maybe_nil(
    function: &Function<'_>,
    value: &Expr<'_>,
    demand: Demand,
    nil: Nil,
    message: String,
) -> Diagnostic {
    let terms = Terms::of(function.notation);
    let why = match nil {
        Nil::Optional => "the schema does not require this field".to_owned(),
        Nil::Nullable => "the schema allows null".to_owned(),
        Nil::Find => format!("{} gives nil where no record has the value", terms.word(Word::Find)),
        Nil::Index => format!("{} gives nil where nothing is found", terms.word(Word::Index)),
        Nil::Get => format!("{} without a default gives nil where nothing is there", terms.word(Word::Get)),
        Nil::Input => "the input may be nil".to_owned(),
    };
    let how = match function.notation {
        Notation::Id => "test it before with NEQ and nil, or read it by GET with a default",
        _ => "test it before with `!= null`, or give a default with `??`",
    };
    Diagnostic::new(Code::MaybeNil, value.span, message)
        .expected(demand.to_string(), format!("a value that may be nil: {why}"))
        .help(how)
}
