//! Reads `then` beside a call: steps that run if it succeeds, after its ROLLBACKs.
//!
//! Without a handler they follow the call; with one they are in the OK arm of its MATCH. As the last step of
//! a block the step has the value of the last of them.

use super::reader::{StepReader, of_slot};
use super::step::{Bind, Step, Tail, Target};
use crate::ast::{Arm, Block, Bound, Stmt, StmtKind};
use crate::dialect::Key;

/// The purpose of the value of the last step under `then`, if a call has it.
pub(crate) fn then_value(step: &Step<'_, '_>, tail: Tail) -> Option<Tail> {
    step.get(Key::Then)?;
    let named = step.target.is_some() && tail == Tail::Unnamed;
    Some(if named { Tail::Drop } else { tail })
}

impl<'a> StepReader<'_, 'a> {
    /// Whether the value of a call may be read behind its step, and not only in its `then`. A name that was
    /// bound before may be read by the next pass of a loop. Asked before the step binds its name.
    pub(crate) fn is_read_behind(&self, step: &Step<'_, 'a>, of: Target<'a>) -> bool {
        let rebound = !of.own && self.scope.find(of.name.text).is_some();
        step.get(Key::Then).is_none_or(|then| rebound || self.survey.used_after(of.name.text, then.span.end))
    }

    /// The steps under `then`, in the current block.
    pub(crate) fn then_steps(&mut self, step: &Step<'_, 'a>, tail: Tail) {
        if let Some(node) = step.get(Key::Then) {
            self.branch_steps(node, tail, Key::Then);
        }
    }

    /// Adds the steps under `then` to an OK arm, which binds their value to `result`. Returns whether there
    /// is a value, or no path goes on.
    pub(crate) fn then_in_arm(&mut self, step: &Step<'_, 'a>, result: Option<Bind>) -> bool {
        let start = self.statements.len();
        self.then_steps(step, if result.is_some() { Tail::Value } else { Tail::Drop });
        let last = self.statements.get(start..).and_then(<[Stmt<'a>]>::last);
        let gives = last.is_some_and(|last| last.kind.given().is_some() || !last.completes());
        self.bind_last(start, result);
        gives
    }

    /// A failure arm that goes on with a value, which is bound to a second slot.
    pub(crate) fn also_bound(&self, err: Arm<'a>, (from, at): Bind, (slot, slot_span): Bind) -> Arm<'a> {
        let value = Bound::Expr(of_slot(from, at));
        self.longer(err, Stmt { kind: StmtKind::Let { slot, slot_span, value }, span: at })
    }

    /// A failure arm that gives the value that it has bound to the slot of its call.
    pub(crate) fn giving(&self, err: Arm<'a>, (slot, at): Bind) -> Arm<'a> {
        self.longer(err, Stmt { kind: StmtKind::Value(of_slot(slot, at)), span: at })
    }

    /// An arm with one more statement, if a path goes on behind it.
    fn longer(&self, arm: Arm<'a>, last: Stmt<'a>) -> Arm<'a> {
        if !arm.body.completes() {
            return arm;
        }
        let statements: Vec<Stmt<'a>> = arm.body.statements.iter().copied().chain([last]).collect();
        Arm { body: Block { statements: self.arena.alloc_slice_copy(&statements) }, ..arm }
    }
}
