//! Handlers that leave the loop's current element out: what follows them stands where the call succeeded.

use super::handler::Failing;
use super::reader::{Loop, Reader, literal, of_slot};
use super::steps::{Item, Step, Tail};
use crate::ast::{Arm, Block, Bound, Control, If, Literal, Match, Slot, Stmt, StmtKind};
use crate::span::Span;

impl<'a> Reader<'_, 'a> {
    /// A handler that skips: what follows stands in the OK arm, behind what `first` makes of the value. Where the block
    /// is not the loop's own, a slot says to the blocks around it that the rest of the pass is left out.
    pub(crate) fn skip(
        &mut self,
        (slot, slot_span): (Slot, Span),
        failing: &Failing,
        step: &Step<'_, 'a>,
        (rest, of_block): (&[Item<'_, 'a>], Tail),
        first: impl FnOnce(&mut Self) -> (Slot, Span),
    ) {
        let at = failing.at;
        let deep = self.open_loops.last().is_some_and(|open| open.level + 2 < self.blocks);
        if deep {
            let flag = self.raise();
            let value = Bound::Expr(literal(Literal::Bool(true), at));
            self.push(StmtKind::Let { slot: flag, slot_span: at, value }, at);
            if of_block == Tail::Value {
                self.push(StmtKind::Value(literal(Literal::Nil, at)), at);
            }
        }
        let err = self.failed(failing);
        let mut bind = (slot, slot_span);
        let body = self.block(|this| {
            bind = first(this);
            // The blocks of a loop are counted as if this one were not there.
            this.blocks -= 1;
            this.steps(rest, of_block);
            this.blocks += 1;
        });
        let ok = Arm { bind: bind.0, bind_span: bind.1, body, span: step.place() };
        let node = Match { slot, slot_span, err: Some(err), ok: Some(ok), span: step.place() };
        self.push(StmtKind::Control(Control::Match(self.arena.alloc(node))), step.head());
        self.took_rest = true;
    }

    /// `skip` as a step of a loop.
    pub(crate) fn skip_step(&mut self, step: &Step<'_, 'a>) {
        self.bad_step(
            step.place(),
            "`skip` is what a handler does, and no step",
            "a step",
            "`skip`",
            "put what follows under the `then` of an `if` instead",
        );
    }

    /// The slot that says that the rest of a pass is left out.
    fn raise(&mut self) -> Slot {
        if let Some(Loop { skipped: Some(flag), .. }) = self.open_loops.last() {
            return *flag;
        }
        let flag = self.scope.own("skipped");
        if let Some(open) = self.open_loops.last_mut() {
            open.skipped = Some(flag);
        }
        flag
    }

    /// The slot that a step before has raised.
    pub(crate) fn raised(&self) -> Option<Slot> {
        self.open_loops.last().and_then(|open| open.skipped)
    }

    /// Reads the rest of a block for where `flag` was not raised; in the loop's own block it begins as not raised.
    pub(crate) fn guard(&mut self, flag: Slot, start: usize, rest: &[Item<'_, 'a>], tail: Tail) {
        let outermost = self.open_loops.last().is_some_and(|open| open.level + 1 >= self.blocks);
        let at = self.statements.get(start).map_or(Span::default(), |statement| statement.span);
        if outermost {
            let value = Bound::Expr(literal(Literal::Bool(false), at));
            let lowered = Stmt { kind: StmtKind::Let { slot: flag, slot_span: at, value }, span: at };
            self.statements.insert(start.min(self.statements.len()), lowered);
            if let Some(open) = self.open_loops.last_mut() {
                open.skipped = None;
            }
        }
        if rest.is_empty() {
            return;
        }
        let then: Block<'a> = self.block(|this| {
            this.blocks -= 1;
            this.steps(rest, tail);
            this.blocks += 1;
        });
        let condition = self.not(of_slot(flag, at), at);
        let otherwise = (tail == Tail::Value && !outermost)
            .then(|| self.block(|this| this.push(StmtKind::Value(literal(Literal::Nil, at)), at)));
        let node = If { condition, then, otherwise, span: at };
        self.push(StmtKind::Control(Control::If(self.arena.alloc(node))), at);
    }
}
