//! Finds slots that share a name in a notation that writes the handler inside the call: the slot of the call,
//! and the slot that the OK arm of the following MATCH binds.

use super::slot_usage::Usage;
use crate::ast::{Block, Bound, Call, Control, Expr, ExprKind, Function, ReturnKind, Slot, Stmt, StmtKind};
use crate::matched::{Matched, matched_call};

/// The pairs of slots that share a name, each mapped to the other.
#[derive(Debug)]
pub(super) struct SharedNames<'u> {
    of: Vec<Option<Slot>>,
    uses: &'u Usage,
    parameters: usize,
}

impl<'u> SharedNames<'u> {
    /// The shared names of a function.
    pub(super) fn find(function: &Function<'_>, uses: &'u Usage) -> SharedNames<'u> {
        let of = vec![None; function.slots.len()];
        let mut shared = SharedNames { of, uses, parameters: function.parameters.len() };
        shared.block(&function.body);
        shared
    }

    /// The slot that shares its name with this one.
    pub(super) fn of(&self, slot: Slot) -> Option<Slot> {
        self.of.get(slot.0 as usize).copied().flatten()
    }

    fn pair(&mut self, a: Slot, b: Slot) {
        if a != b && self.uses.is_one(a, b, self.parameters) {
            for (slot, other) in [(a, b), (b, a)] {
                if let Some(place) = self.of.get_mut(slot.0 as usize) {
                    *place = Some(other);
                }
            }
        }
    }

    fn block(&mut self, block: &Block<'_>) {
        for control in block.statements.iter().filter_map(Stmt::control) {
            if let Control::Match(node) = control {
                node.ok.iter().for_each(|arm| self.pair(node.slot, arm.bind));
            }
            control.blocks().for_each(|(_, block)| self.block(block));
        }
    }
}

/// The calls of statements that are only rollbacks. Bare calls count if the block ends in `RET_ERR`.
pub(super) fn rollbacks<'a>(statements: &[Stmt<'a>], fails: bool) -> Option<Vec<&'a Call<'a>>> {
    let call = |statement: &Stmt<'a>| match statement.kind {
        StmtKind::Undo(call) => Some(call),
        StmtKind::Value(Expr { kind: ExprKind::Call(call), .. }) if fails => Some(call),
        _ => None,
    };
    statements.iter().map(call).collect()
}

/// Whether a call in an ERR arm or a branch of IF would become a rollback if its OK arms were printed as
/// steps of it.
///
/// A call before `RET_ERR` whose value is not read is a rollback there, but not in an OK arm. `parameters` is
/// the number of parameters: a slot of one of them has a value before the call too, to which its reads may
/// belong.
pub(super) fn would_undo(block: &Block<'_>, uses: &Usage, parameters: usize) -> bool {
    let mut bare = false;
    let may_be_unread =
        |slot: Slot| uses.count(slot) == 0 || uses.bindings(slot) > 1 || (slot.0 as usize) < parameters;
    lifted(block, fails(block), &may_be_unread, &mut bare) && bare
}

/// Whether `RET_ERR` ends a block whose OK arms are printed as steps of it; `bare` is set if a call is not,
/// or may not be, a rollback.
fn lifted(
    block: &Block<'_>,
    rolls_back: bool,
    may_be_unread: &dyn Fn(Slot) -> bool,
    bare: &mut bool,
) -> bool {
    let mut ends = false;
    let mut statements = block.statements.iter().peekable();
    while let Some(statement) = statements.next() {
        ends = matches!(statement.kind, StmtKind::Return(ReturnKind::Err, _));
        if let Some(Matched { node, .. }) = matched_call(statement, statements.peek().copied(), false) {
            statements.next();
            ends = node.ok.as_ref().is_some_and(|arm| lifted(&arm.body, false, may_be_unread, bare));
            continue;
        }
        *bare |= !rolls_back
            && match statement.kind {
                StmtKind::Value(Expr { kind: ExprKind::Call(_), .. }) => true,
                StmtKind::Let { slot, value: Bound::Expr(Expr { kind: ExprKind::Call(_), .. }), .. } => {
                    may_be_unread(slot)
                }
                _ => false,
            };
    }
    ends
}

/// Whether a slot is read in the handler of another call.
pub(super) fn read_in_handler(block: &Block<'_>, slot: Slot) -> bool {
    block.statements.iter().filter_map(Stmt::control).any(|control| match control {
        Control::Match(node) => {
            node.err.as_ref().is_some_and(|arm| arm.body.uses(slot))
                || node.ok.as_ref().is_some_and(|arm| read_in_handler(&arm.body, slot))
        }
        Control::Try(node) => node.handler.body.uses(slot) || read_in_handler(&node.body, slot),
        _ => control.blocks().any(|(_, block)| read_in_handler(block, slot)),
    })
}

/// Whether `RET_ERR` ends a block.
fn fails(block: &Block<'_>) -> bool {
    matches!(block.statements.last(), Some(Stmt { kind: StmtKind::Return(ReturnKind::Err, _), .. }))
}

/// Whether the first binding of a slot is one of these statements itself, and not a call with a handler.
pub(super) fn binds_first(statements: &[Stmt<'_>], slot: Slot) -> bool {
    let first = statements
        .iter()
        .enumerate()
        .find(|(_, statement)| (Block { statements: core::slice::from_ref(*statement) }).binds(slot));
    first.is_some_and(|(at, statement)| {
        let inside = statement.control().is_some_and(|control| {
            control.blocks().any(|(bound, block)| bound == Some(slot) || block.binds(slot))
        });
        statement.binds(slot) && !inside && matched_call(statement, statements.get(at + 1), false).is_none()
    })
}
