//! A call, or a pure function that can fail, and what directly follows it: its MATCH, and the ROLLBACKs that
//! are one step with a call. Lowering makes code for them together, and printing may write them as one step.

use crate::ast::{Bound, Call, Control, Expr, ExprKind, Match, Slot, Stmt, StmtKind};

/// A call and the MATCH directly after it.
#[derive(Clone, Copy)]
pub(crate) struct Matched<'c, 'a> {
    /// The call, or the pure function that can fail.
    pub(crate) call: Expr<'a>,
    pub(crate) node: &'c Match<'a>,
    /// The slot that takes the value of the MATCH.
    pub(crate) bound: Option<Slot>,
    /// The slot that the call's value goes to: if both arms leave it in the same one, directly that one.
    pub(crate) into: Slot,
    /// The OK arm has nothing to do but to bind its slot.
    pub(crate) only_binds: bool,
    /// The ERR arm's slot is the failure by another name: nothing in the arm binds either, and nothing comes
    /// after it.
    pub(crate) alias: bool,
}

/// A LET of a call with the MATCH on it directly after: a failure then goes straight to its arm.
///
/// In the block of a TRY every slot keeps its own register: after a failure, the handler may read what a slot
/// held before.
pub(crate) fn matched_call<'c, 'a>(
    call: &Stmt<'a>,
    next: Option<&Stmt<'a>>,
    in_try: bool,
) -> Option<Matched<'c, 'a>> {
    let StmtKind::Let { slot, value: Bound::Expr(value), .. } = call.kind else { return None };
    value.attempt()?;
    let (node, bound) = match next?.kind {
        StmtKind::Control(Control::Match(node)) => (node, None),
        StmtKind::Let { slot, value: Bound::Control(Control::Match(node)), .. } => (node, Some(slot)),
        _ => return None,
    };
    if node.slot != slot {
        return None;
    }
    let own = target(node, bound).filter(|_| !in_try);
    let (into, only_binds) = own.unwrap_or((slot, false));
    let alias = !in_try
        && node.err.as_ref().is_some_and(|err| {
            let free = err.bind == into || !err.body.touches(into);
            free && err.body.leaves_function() && !err.body.binds(err.bind)
        });
    Some(Matched { call: value, node, bound, into, only_binds, alias })
}

/// The slot that a call's value may go to in place of the one that is matched, and whether the OK arm is done
/// with that.
///
/// A failure is put there too, so nothing may read what the slot held once the call has failed.
fn target(node: &Match<'_>, bound: Option<Slot>) -> Option<(Slot, bool)> {
    let ok = node.ok.as_ref()?;
    let Some(err) = &node.err else { return Some((ok.bind, false)) };
    match (bound, ok.body.statements) {
        // Both arms give the value that is bound.
        (Some(slot), [Stmt { kind: StmtKind::Value(value), .. }]) => {
            let gives = matches!(value.kind, ExprKind::Ref(given) if given == ok.bind);
            let body = &err.body;
            let free =
                err.bind != slot && body.completes() && !body.goes_on_elsewhere() && !body.touches(slot);
            (gives && free).then_some((slot, true))
        }
        // Both arms bind the slot.
        (None, []) => {
            let slot = ok.bind;
            (err.body.binds_last(slot)
                && err.bind != slot
                && !err.body.goes_on_elsewhere()
                && !err.body.uses(slot))
            .then_some((slot, false))
        }
        _ => None,
    }
}

/// The ROLLBACKs at the start of some statements.
pub(crate) fn rollbacks<'c, 'a>(statements: &'c [Stmt<'a>]) -> &'c [Stmt<'a>] {
    let is_rollback = |statement: &&Stmt<'a>| matches!(statement.kind, StmtKind::Rollback(_));
    let count = statements.iter().take_while(is_rollback).count();
    statements.get(..count).unwrap_or_default()
}

/// Whether a ROLLBACK comes first in some statements; `after` tells what follows them where there are none.
pub(crate) fn begins_with_rollback(statements: &[Stmt<'_>], after: bool) -> bool {
    statements.first().map_or(after, |first| matches!(first.kind, StmtKind::Rollback(_)))
}

/// The call of a statement with a ROLLBACK directly after it: as the next statement, or as the first one that
/// runs once its MATCH has taken a success. `after` tells whether a ROLLBACK follows the whole block.
pub(crate) fn covered_call<'a>(
    statement: &Stmt<'a>,
    behind: &[Stmt<'a>],
    after: bool,
) -> Option<&'a Call<'a>> {
    let (StmtKind::Value(value) | StmtKind::Let { value: Bound::Expr(value), .. }) = statement.kind else {
        return None;
    };
    let ExprKind::Call(call) = value.kind else { return None };
    let (StmtKind::Control(Control::Match(node))
    | StmtKind::Let { value: Bound::Control(Control::Match(node)), .. }) =
        behind.first().map_or(&StmtKind::Break, |next| &next.kind)
    else {
        return begins_with_rollback(behind, after).then_some(call);
    };
    let arm = node.ok.as_ref().map_or(&[][..], |ok| ok.body.statements);
    // Most arms begin with something else, whatever follows the MATCH.
    let covered =
        begins_with_rollback(arm, true) && matched_call(statement, behind.first(), false).is_some() && {
            let after = !node.handles() && begins_with_rollback(behind.get(1..).unwrap_or_default(), after);
            begins_with_rollback(arm, after)
        };
    covered.then_some(call)
}
