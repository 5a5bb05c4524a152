//! Messages about loops: BREAK, SKIP and YIELD outside of one, loops over RANGE that a BREAK should end,
//! values beside those of a YIELD; about paths without a value; and about returns of the wrong kind.

use super::naming::output_name;
use crate::ast::{Block, Control, Expr, ExprKind, For, Function, Stmt, StmtKind};
use crate::check::fixes;
use crate::diagnostic::{Diagnostic, Diagnostics, Fix};
use crate::dialect::terms::Terms;
use crate::span::Span;
use ilo_spec::error::Code;
use ilo_spec::node::Word;
use ilo_spec::pure::Pure;

/// A BREAK, SKIP or YIELD outside a loop; `in_err` says that it is in an ERR arm.
pub(crate) fn nowhere(function: &Function<'_>, statement: Word, span: Span, in_err: bool) -> Diagnostic {
    let terms = Terms::of(function.notation);
    let (word, of, ret) = (terms.word(statement), terms.word(Word::For), terms.word(Word::Ret));
    let (code, does) = match statement {
        Word::Break => (Code::BreakNowhere, "ends"),
        Word::Skip => (Code::SkipNowhere, "ends a pass of"),
        _ => (Code::YieldNowhere, "adds to the list of"),
    };
    Diagnostic::new(code, span, format!("{word} {does} a {of}, but there is none around it"))
        .expected(format!("{word} in the body of a {of}"), "no enclosing loop")
        .help(if in_err && !terms.is_id() {
            "`ignore` binds nil and continues".to_owned()
        } else {
            format!("to end the function, write {ret} with its value")
        })
}

/// Reports the values at the end of the passes of a loop with a YIELD, to which they do not belong.
pub(crate) fn mixed(function: &Function<'_>, node: &For<'_>, found: &mut Diagnostics) {
    let terms = Terms::of(function.notation);
    let (word, of) = (terms.word(Word::Yield), terms.word(Word::For));
    each_last(&node.body, &mut |last, before| {
        let (value, control) = match last.kind {
            // In JSON and YAML a step that binds a name has that value too.
            StmtKind::Value(Expr { kind: ExprKind::Ref(_), .. }) if before.is_some_and(binds) => return,
            StmtKind::Value(value) => (Some(value), None),
            StmtKind::Control(Control::For(inner)) => (None, Some(inner)),
            _ => return,
        };
        let is_call = value.is_some_and(|value| matches!(value.kind, ExprKind::Call(_)));
        let (code, what) =
            if is_call { (Code::LostValue, "the answer") } else { (Code::MixedYield, "this value") };
        let message = format!("a {word} gives what this {of} collects, so {what} is in no list");
        let wrong = Diagnostic::new(code, last.span, message)
            .expected(format!("{word} with it"), format!("a value without {word}"))
            .related(node.span, format!("the {of}"));
        found.push(match control {
            _ if is_call => {
                wrong.help(format!("if it is not to be collected, put another {} after it", terms.statement))
            }
            None if terms.is_id() => wrong.fix(Fix::write("YIELD", Span::at(last.span.start), "YIELD ")),
            None => wrong.help("write `yield` with the value"),
            Some(_) => wrong.help(format!(
                "bind the list with {} and add it with {word}, or add each value there",
                terms.word(Word::Let)
            )),
        });
    });
}

/// Visits the last statement of a block, or those of its branches and arms.
fn each_last<'a>(block: &Block<'a>, each: &mut impl FnMut(&Stmt<'a>, Option<&Stmt<'a>>)) {
    let Some((last, before)) = block.statements.split_last() else { return };
    match &last.kind {
        StmtKind::Control(Control::For(node)) if node.yields => each(last, before.last()),
        StmtKind::Control(Control::For(_)) => {}
        StmtKind::Control(control) => control.blocks().for_each(|(_, block)| each_last(block, each)),
        _ => each(last, before.last()),
    }
}

/// Whether a statement binds a slot to a value, or handles the failure of the call that is bound.
fn binds(statement: &Stmt<'_>) -> bool {
    matches!(statement.kind, StmtKind::Let { .. } | StmtKind::Control(Control::Match(_)))
}

/// A loop over RANGE with a BREAK and without an ELSE: if no iteration reaches the BREAK, this goes
/// unnoticed, unless a slot shows it that the loop binds.
pub(crate) fn no_else(function: &Function<'_>, node: &For<'_>) -> Option<Diagnostic> {
    if node.otherwise.is_some()
        || !matches!(node.list.kind, ExprKind::Apply(apply) if apply.function == Pure::Range)
    {
        return None;
    }
    let terms = Terms::of(function.notation);
    let word = |word| terms.word(word);
    let (of, end, over) = (word(Word::For), word(Word::Else), word(Word::Break));
    let message = format!("nothing shows whether a {over} ended this {of} or its passes ran out");
    let help = terms.choose(
        "write `ELSE` with what follows when no BREAK ended it, such as `ELSE 1` and a FAIL; `ELSE 0` if that does \
         not matter",
        "write `\"else\"` with the steps for when no `break` ended it, such as a failure; an empty list if that does \
         not matter",
    );
    let found = Diagnostic::new(Code::NoElse, node.span, message);
    Some(found.expected(format!("{end} after it"), format!("{of} without {end}")).help(help))
}

/// A bound block in which some path has no value: at `place`.
pub(crate) fn missing_value(function: &Function<'_>, control: &Control<'_>, place: Span) -> Diagnostic {
    let terms = Terms::of(function.notation);
    let word = match control {
        Control::If(_) => terms.word(Word::If),
        Control::Match(_) => terms.handler.into(),
        Control::Try(_) => terms.word(Word::Try),
        Control::For(_) => terms.word(Word::For),
    };
    let message = format!("this {word} is bound, but a path through it gives no value");
    let found = Diagnostic::new(Code::MissingValue, control.span(), message)
        .expected("a value on every path", "a path without a value")
        .related(place, "no value here");
    found.help(match control {
        Control::For(_) => format!(
            "let a pass end with a value or a {}, and every path of the {} with a return or a failure; or do not \
             bind the loop",
            terms.word(Word::Yield),
            terms.word(Word::Else)
        ),
        _ => "end every path with a value".to_owned(),
    })
}

/// A function whose type needs a value has a path without one: at `place`.
pub(crate) fn missing_return(function: &Function<'_>, place: Span) -> Diagnostic {
    let statement = Terms::of(function.notation).statement;
    let message = format!("a path through `{}` gives no value", function.name.text);
    Diagnostic::new(Code::MissingReturn, function.span, message)
        .expected(output_name(&function.output), "a path without a value")
        .related(place, "no value here")
        .help(format!("end that path with a return, or with a {statement} that has a value"))
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
