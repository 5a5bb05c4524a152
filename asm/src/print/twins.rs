//! Calls with the MATCH right behind them, and which slots are one name in a notation where a handler belongs to its call.

use super::uses::Uses;
use crate::ast::{
    Block, Bound, Call, Control, Expr, ExprKind, Function, Match, ReturnKind, Slot, Stmt, StmtKind,
};
use crate::span::Span;

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

/// The slot of a call and the slot that its OK arm binds, each by the other, where one name does for both.
#[derive(Debug)]
pub(super) struct Twins<'u, 'a> {
    of: Vec<Option<Slot>>,
    uses: &'u Uses<'a>,
    parameters: usize,
}

impl<'u, 'a> Twins<'u, 'a> {
    /// Those of a function.
    pub(super) fn find(function: &Function<'a>, uses: &'u Uses<'a>) -> Twins<'u, 'a> {
        let of = vec![None; function.slots.len()];
        let mut twins = Twins { of, uses, parameters: function.parameters.len() };
        twins.block(&function.body);
        twins
    }

    /// The twin of a slot.
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

/// What the end of an ERR arm or a branch of IF makes of its calls, once OK arms are steps of it.
///
/// There a bare call before `RET_ERR` is a rollback; in an OK arm it is none, nor where a MATCH without an ERR arm takes it.
/// Where such a call comes to stand in such a block, FAIL has to end it, and UNDO to say what is a rollback of its own.
#[derive(Debug)]
pub(super) struct Lifted<'u, 'a> {
    uses: &'u Uses<'a>,
    parameters: usize,
    /// Whether a call that is no rollback would be read as one.
    bare: bool,
    /// The block's own rollbacks, and calls of which only the flow of slots tells whether they are.
    pub(super) own: Vec<Span>,
    pub(super) unsure: Option<Span>,
    /// The `RET_ERR` that ends the steps.
    fails: Option<Span>,
}

impl<'u, 'a> Lifted<'u, 'a> {
    /// What has to be said, and the `RET_ERR` to say it at; nothing where the block means the same anyway.
    pub(super) fn find(
        block: &Block<'a>,
        uses: &'u Uses<'a>,
        parameters: usize,
    ) -> Option<(Lifted<'u, 'a>, Span)> {
        let mut lifted = Lifted { uses, parameters, bare: false, own: Vec::new(), unsure: None, fails: None };
        lifted.block(block, fails(block));
        let fails = lifted.fails.filter(|_| lifted.bare)?;
        Some((lifted, fails))
    }

    fn block(&mut self, block: &Block<'a>, rolls_back: bool) {
        let mut statements = block.statements.iter().peekable();
        while let Some(statement) = statements.next() {
            self.fails = None;
            if let Some(Handled { node, .. }) = handled(statement, statements.peek().copied()) {
                statements.next();
                let taken = node.ok.as_ref().is_some_and(|arm| self.is_read(arm.bind));
                self.bare |= node.err.is_none() && !taken;
                if let Some(arm) = &node.ok {
                    self.block(&arm.body, false);
                }
                continue;
            }
            match statement.kind {
                StmtKind::Return(ReturnKind::Err, _) => self.fails = Some(statement.span),
                StmtKind::Value(Expr { kind: ExprKind::Call(_), .. }) => {
                    self.call(statement, None, rolls_back);
                }
                StmtKind::Let { slot, value: Bound::Expr(Expr { kind: ExprKind::Call(_), .. }), .. } => {
                    self.call(statement, Some(slot), rolls_back);
                }
                _ => {}
            }
        }
    }

    fn call(&mut self, statement: &Stmt<'_>, slot: Option<Slot>, rolls_back: bool) {
        match slot {
            Some(slot) if self.is_read(slot) => {}
            _ if !rolls_back => self.bare = true,
            Some(slot) if self.uses.reads.contains_key(&slot) => self.unsure = Some(statement.span),
            _ => self.own.push(statement.span),
        }
    }

    /// Whether what is bound to a slot is surely read: something reads it, and nothing else binds it.
    fn is_read(&self, slot: Slot) -> bool {
        self.uses.reads.contains_key(&slot)
            && self.uses.bindings(slot) == 1
            && slot.0 as usize >= self.parameters
    }
}

/// Whether `RET_ERR` ends a block.
fn fails(block: &Block<'_>) -> bool {
    matches!(block.statements.last(), Some(Stmt { kind: StmtKind::Return(ReturnKind::Err, _), .. }))
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
                let ends = |block: &Block<'_>| !block.completes() || ends_binding(block, slot);
                ends(&node.then) && node.otherwise.as_ref().is_some_and(ends)
            }
            _ => false,
        }
}

/// Whether the first thing that binds a slot is one of these statements itself, and no call with a handler.
pub(super) fn binds_first(statements: &[Stmt<'_>], slot: Slot) -> bool {
    let first = statements
        .iter()
        .enumerate()
        .find(|(_, statement)| (Block { statements: core::slice::from_ref(*statement) }).binds(slot));
    first.is_some_and(|(at, statement)| {
        let inside = match &statement.kind {
            StmtKind::Let { value: Bound::Control(control), .. } => {
                let kind = StmtKind::Control(*control);
                Block { statements: &[Stmt { kind, span: statement.span }] }.binds(slot)
            }
            _ => false,
        };
        binds(statement, slot) && !inside && handled(statement, statements.get(at + 1)).is_none()
    })
}
