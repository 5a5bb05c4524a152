//! Messages about paths without a value, and about returns of the wrong kind.

use super::naming::output_name;
use crate::ast::{Control, Function};
use crate::check::fixes;
use crate::check::path_reasons::NoValue;
use crate::diagnostic::Diagnostic;
use crate::dialect::terms::Terms;
use crate::span::Span;
use ilo_spec::error::Code;
use ilo_spec::node::Word;

/// Why a path has no value, and where.
fn clause(reason: NoValue, terms: Terms) -> (Span, String) {
    match reason {
        NoValue::EmptyBlock(span) => (span, "this block is empty".to_owned()),
        NoValue::Statement(span) => (span, format!("this {} has no value", terms.statement)),
        NoValue::NotTaken(span) => {
            (span, format!("no value when this {} is not taken", terms.word(Word::If)))
        }
        NoValue::NoOkArm(span) => (span, format!("no value on success: no {} gives one", terms.statement)),
        NoValue::NeverYields(span) => {
            (span, format!("no pass of this {} yields a value", terms.word(Word::For)))
        }
        NoValue::LoopElse(span) => {
            let (end, word) = (terms.word(Word::Else), terms.word(Word::For));
            (span, format!("no value when the {end} of this {word} runs to its end"))
        }
    }
}

fn missing(span: Span, message: String, found: &str) -> Diagnostic {
    Diagnostic::new(Code::MissingValue, span, message).expected("a value on every path", found)
}

/// A bound block in which some path has no value.
pub(crate) fn missing_value(function: &Function<'_>, control: &Control<'_>, reason: NoValue) -> Diagnostic {
    let terms = Terms::of(function.notation);
    let span = control.span();
    let word = match control {
        Control::If(_) => terms.word(Word::If),
        Control::Match(_) => terms.handler.into(),
        Control::Try(_) => terms.word(Word::Try),
        Control::For(_) if matches!(reason, NoValue::LoopElse(_)) => {
            let (word, end) = (terms.word(Word::For), terms.word(Word::Else));
            let message = format!("this {word} is bound, but gives no value when its {end} runs to its end");
            return missing(span, message, &format!("a path through the {end}")).help(format!(
                "end every path of the {end} with a return or a failure, or collect the values with {} in a {}",
                terms.word(Word::Append),
                terms.slot
            ));
        }
        Control::For(_) => {
            let word = terms.word(Word::For);
            let message = format!("this {word} is bound, but no pass of it can yield a value");
            return missing(span, message, "no pass yields").help(format!(
                "make its last {} the value that a pass yields, or do not bind the loop",
                terms.statement
            ));
        }
    };
    let (place, what) = clause(reason, terms);
    let message = format!("this {word} is bound, but a path through it gives no value");
    missing(span, message, &what).related(place, what).help("end every path with a value")
}

/// A function whose type needs a value has a path without one.
pub(crate) fn missing_return(function: &Function<'_>, reason: NoValue) -> Diagnostic {
    let terms = Terms::of(function.notation);
    let (place, what) = clause(reason, terms);
    let help = format!("end that path with a return, or with a {} that has a value", terms.statement);
    let message = format!("a path through `{}` gives no value", function.name.text);
    Diagnostic::new(Code::MissingReturn, function.span, message)
        .expected(output_name(&function.output), what.clone())
        .related(place, what)
        .help(help)
}

/// RET in a function that returns a result, or `RET_OK` or `RET_ERR` in any other. `right` is the correct
/// word; if it is `None`, there are two. `span` is that of the statement.
pub(crate) fn wrong_return(
    function: &Function<'_>,
    span: Span,
    word: Word,
    right: Option<Word>,
) -> Diagnostic {
    let word = word.mnemonic();
    let output = output_name(&function.output);
    let is = if function.output.err.is_some() { "a result" } else { "not a result" };
    let message = format!("{word} in `{}`, whose type `{output}` is {is}", function.name.text);
    let diagnostic = Diagnostic::new(Code::WrongReturn, span, message)
        .related(function.output.span, "the type is given here");
    match right.map(Word::mnemonic) {
        Some(right) => diagnostic.expected(right, word).fix(fixes::word(span, word, right)),
        None => diagnostic
            .expected("RET_ERR or RET_OK", word)
            .help("write `RET_ERR` to fail with it, `RET_OK` to succeed with it"),
    }
}
