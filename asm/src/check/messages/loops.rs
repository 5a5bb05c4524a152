//! Messages about BREAK outside a loop, and about loops over RANGE that a BREAK should end.

use crate::ast::{Block, Bound, Control, ExprKind, For, Function, StmtKind};
use crate::diagnostic::Diagnostic;
use crate::dialect::terms::Terms;
use crate::span::Span;
use ilo_spec::error::Code;
use ilo_spec::node::Word;
use ilo_spec::pure::Pure;

/// A BREAK outside a loop.
pub(in crate::check) fn break_nowhere(function: &Function<'_>, span: Span) -> Diagnostic {
    let terms = Terms::of(function.notation);
    let (word, of, ret) = (terms.word(Word::Break), terms.word(Word::For), terms.word(Word::Ret));
    Diagnostic::new(Code::BreakNowhere, span, format!("{word} ends a {of}, but there is none around it"))
        .expected(format!("{word} in the body of a {of}"), "no enclosing loop")
        .help(format!("to end the function, write {ret} with its value"))
}

/// A loop over RANGE with a BREAK and without an ELSE: if no iteration reaches the BREAK, this goes
/// unnoticed, unless a slot is bound before each BREAK.
pub(in crate::check) fn no_else(function: &Function<'_>, node: &For<'_>) -> Option<Diagnostic> {
    if node.otherwise.is_some()
        || binds_before_breaks(&node.body)
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

/// Whether a slot is bound before each BREAK of a loop, in its block: the slot can show that it was reached.
fn binds_before_breaks(block: &Block<'_>) -> bool {
    let mut binds = false;
    block.statements.iter().all(|statement| {
        let control = match &statement.kind {
            StmtKind::Break => return binds,
            StmtKind::Let { value: Bound::Control(control), .. } | StmtKind::Control(control) => {
                Some(control)
            }
            _ => None,
        };
        binds |= matches!(statement.kind, StmtKind::Let { .. });
        match control {
            // A BREAK in its body is its own.
            Some(Control::For(node)) => node.otherwise.as_ref().is_none_or(binds_before_breaks),
            Some(control) => control.blocks().all(|(_, block)| binds_before_breaks(block)),
            None => true,
        }
    })
}
