//! Messages about BREAK, SKIP and YIELD outside a loop, about loops over RANGE that a BREAK should end, and
//! about values beside those of a YIELD.

use crate::ast::{Block, Control, Expr, ExprKind, For, Function, Stmt, StmtKind};
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
        if value.is_some_and(|value| matches!(value.kind, ExprKind::Call(_))) {
            let message = format!("a {word} gives what this {of} collects, so the answer is in no list");
            found.push(
                Diagnostic::new(Code::LostValue, last.span, message)
                    .expected(format!("{word} with the answer"), "a call whose answer nothing reads")
                    .related(node.span, format!("the {of}"))
                    .help(format!("if it is not to be collected, put another {} after it", terms.statement)),
            );
            return;
        }
        let message = format!("a {word} gives what this {of} collects, so this value is in no list");
        let wrong = Diagnostic::new(Code::MixedYield, last.span, message)
            .expected(format!("{word} with the value"), "a value without it")
            .related(node.span, format!("the {of}"));
        found.push(match control {
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
