//! Calls with the MATCH right behind them, and which slots are one name in a notation where a handler belongs to its call.

use crate::ast::{Arm, Block, Bound, Call, Control, Expr, ExprKind, Function, Match, Slot, Stmt, StmtKind};

/// A call and the MATCH right behind it.
#[derive(Clone, Copy)]
pub(super) struct Handled<'e, 'a> {
    pub(super) call: &'e Call<'a>,
    pub(super) node: &'e Match<'a>,
    /// The slot that takes the value of the MATCH.
    pub(super) bound: Option<Slot>,
}

/// The call that a statement is, with the MATCH on it that is next.
pub(super) fn handled<'e, 'a>(
    statement: &'e Stmt<'a>,
    next: Option<&'e Stmt<'a>>,
) -> Option<Handled<'e, 'a>> {
    let StmtKind::Let { slot, value: Bound::Expr(value), .. } = &statement.kind else { return None };
    let ExprKind::Call(call) = value.kind else { return None };
    let (node, bound) = match &next?.kind {
        StmtKind::Control(Control::Match(node)) => (*node, None),
        StmtKind::Let { slot, value: Bound::Control(Control::Match(node)), .. } => (*node, Some(*slot)),
        _ => return None,
    };
    (node.slot == *slot).then_some(Handled { call, node, bound })
}

/// Whether some path reaches the end of a block.
pub(super) fn completes(block: &Block<'_>) -> bool {
    block.statements.iter().all(|statement| match &statement.kind {
        StmtKind::Return(..) | StmtKind::Fail(_) => false,
        StmtKind::Control(control) | StmtKind::Let { value: Bound::Control(control), .. } => match control {
            Control::If(node) => {
                node.otherwise.as_ref().is_none_or(|block| completes(&node.then) || completes(block))
            }
            Control::Match(node) => {
                let arm = |arm: &Option<Arm<'_>>| arm.as_ref().is_some_and(|arm| completes(&arm.body));
                node.ok.is_none() || arm(&node.ok) || arm(&node.err)
            }
            Control::For(_) => true,
        },
        _ => true,
    })
}

/// The slot of a call and the slot that its OK arm binds, each by the other.
#[derive(Debug)]
pub(super) struct Twins(Vec<Option<Slot>>);

impl Twins {
    /// Those of a function.
    pub(super) fn find(function: &Function<'_>) -> Twins {
        let mut twins = Twins(vec![None; function.slots.len()]);
        twins.block(&function.body);
        twins
    }

    /// The twin of a slot.
    pub(super) fn of(&self, slot: Slot) -> Option<Slot> {
        self.0.get(slot.0 as usize).copied().flatten()
    }

    fn pair(&mut self, a: Slot, b: Slot) {
        if a != b && self.of(a).is_none() && self.of(b).is_none() {
            for (slot, other) in [(a, b), (b, a)] {
                if let Some(place) = self.0.get_mut(slot.0 as usize) {
                    *place = Some(other);
                }
            }
        }
    }

    fn block(&mut self, block: &Block<'_>) {
        for (at, statement) in block.statements.iter().enumerate() {
            if let Some(Handled { node, .. }) = handled(statement, block.statements.get(at + 1))
                && let Some(arm) = &node.ok
            {
                self.pair(node.slot, arm.bind);
            }
            match &statement.kind {
                StmtKind::Control(control) | StmtKind::Let { value: Bound::Control(control), .. } => {
                    self.control(control);
                }
                _ => {}
            }
        }
    }

    fn control(&mut self, control: &Control<'_>) {
        match control {
            Control::If(node) => {
                self.block(&node.then);
                node.otherwise.iter().for_each(|block| self.block(block));
            }
            Control::Match(node) => {
                [&node.err, &node.ok].into_iter().flatten().for_each(|arm| self.block(&arm.body));
            }
            Control::For(node) => self.block(&node.body),
        }
    }
}

/// The calls of statements that are rollbacks and nothing else; bare calls are where the block ends in `RET_ERR`.
pub(super) fn rollbacks<'a>(statements: &[Stmt<'a>], fails: bool) -> Option<Vec<&'a Call<'a>>> {
    let call = |statement: &Stmt<'a>| match statement.kind {
        StmtKind::Undo(call) => Some(call),
        StmtKind::Value(Expr { kind: ExprKind::Call(call), .. }) if fails => Some(call),
        _ => None,
    };
    statements.iter().map(call).collect()
}

/// Whether a statement binds a slot.
pub(super) fn binds(statement: &Stmt<'_>, slot: Slot) -> bool {
    matches!(statement.kind, StmtKind::Let { slot: bound, .. } if bound == slot)
}

/// Whether the last statement of a block binds a slot on every path that goes on.
pub(super) fn ends_binding(block: &Block<'_>, slot: Slot) -> bool {
    let Some(last) = block.statements.last() else { return false };
    binds(last, slot)
        || match &last.kind {
            StmtKind::Control(Control::If(node)) => {
                let ends = |block: &Block<'_>| !completes(block) || ends_binding(block, slot);
                ends(&node.then) && node.otherwise.as_ref().is_some_and(ends)
            }
            _ => false,
        }
}
