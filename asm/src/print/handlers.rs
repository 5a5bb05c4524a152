//! Calls with what is done about their failure.

use super::Printer;
use super::doc::{Doc, Entry};
use super::steps::{Step, Tail};
use super::twins::{self, Handled, completes};
use crate::ast::{Arm, Block, Bound, Expr, ExprKind, Literal, ReturnKind, Slot, Stmt, StmtKind};

impl<'a> Printer<'_, 'a> {
    /// A call, its MATCH and what follows them.
    pub(super) fn handled(
        &mut self,
        handled: &Handled<'_, 'a>,
        rest: &[Stmt<'a>],
        tail: Tail,
        out: &mut Vec<Step<'a>>,
    ) {
        let node = handled.node;
        let slot = node.ok.map_or(node.slot, |arm| arm.bind);
        let mut entries = self.call(handled.call);
        let here = if rest.is_empty() { tail } else { Tail::Drop };
        let leaves = node.err.is_none_or(|arm| !completes(&arm.body));
        if leaves || self.skips(handled, here) {
            if let Some(arm) = &node.err {
                let handler = self.handler(arm);
                entries.extend(handler);
            }
            out.push(Step { slot: self.read(slot), label: "send", entries });
            if let Some(arm) = &node.ok {
                match handled.bound {
                    Some(bound) => self.bind_last(&arm.body, bound, out),
                    None => self.steps(arm.body.statements, here, out),
                }
            }
            return;
        }
        let Some(arm) = &node.err else { return };
        match self.replaced(handled) {
            Some(slot) => {
                let handler = self.replacement(arm, slot);
                entries.push((self.words.handler.into(), handler));
                out.push(Step { slot: self.read(slot), label: "send", entries });
            }
            None => {
                self.refuse(
                    node.span,
                    "a MATCH both of whose arms go on",
                    "end the ERR arm with RET_ERR, or bind the value of the MATCH with LET",
                );
            }
        }
    }

    /// The slot, where something reads it.
    fn read(&self, slot: Slot) -> Option<Slot> {
        self.uses.reads.contains(&slot).then_some(slot)
    }

    /// Whether a failure leaves the present element of a loop out.
    fn skips(&self, handled: &Handled<'_, 'a>, tail: Tail) -> bool {
        let empty = handled.node.err.is_some_and(|arm| arm.body.statements.is_empty());
        empty && handled.bound.is_none() && matches!(tail, Tail::Loop | Tail::Pass)
    }

    /// The slot that holds the call's value or what stands in for it, where success just binds.
    fn replaced(&self, handled: &Handled<'_, 'a>) -> Option<Slot> {
        let ok = handled.node.ok?;
        match (handled.bound, ok.body.statements) {
            (Some(slot), [Stmt { kind: StmtKind::Value(value), .. }]) => {
                matches!(value.kind, ExprKind::Ref(of) if of == ok.bind).then_some(slot)
            }
            (None, []) => Some(ok.bind),
            _ => None,
        }
    }

    /// The handler of an arm that does not go on.
    fn handler(&mut self, arm: &Arm<'a>) -> Vec<Entry<'a>> {
        if arm.body.statements.is_empty() {
            return vec![(self.words.handler.into(), Doc::one("skip", Doc::Bool(true)))];
        }
        self.failures.push(arm.bind);
        let entries = self.handler_inside(arm);
        self.failures.pop();
        entries
    }

    fn handler_inside(&mut self, arm: &Arm<'a>) -> Vec<Entry<'a>> {
        let body = arm.body.statements;
        let exit = body.split_last().and_then(|(last, before)| {
            let (kind, value) = match last.kind {
                StmtKind::Return(kind, value) => (Some(kind), value),
                StmtKind::Fail(value) => (None, value),
                _ => return None,
            };
            Some((kind, value, twins::rollbacks(before, kind == Some(ReturnKind::Err))?))
        });
        let Some((kind, value, calls)) = exit else {
            let steps = self.nested(&arm.body, Tail::Drop);
            return vec![(self.words.handler.into(), Doc::one("then", steps))];
        };
        let compensate = (!calls.is_empty()).then(|| self.compensate(&calls));
        let passes_on = matches!(value.kind, ExprKind::Ref(slot) if slot == arm.bind);
        let mut inside = Vec::new();
        match kind {
            None if passes_on && compensate.is_some() => {}
            None => inside = self.fail(&value),
            Some(kind) => inside = self.returns(kind, &value),
        }
        if self.words.short_handler {
            let message = match (&self.words.returns, kind, inside.pop()) {
                (_, _, None) => None,
                (None, Some(ReturnKind::Err), Some((_, message @ Doc::Text(_)))) => Some(message),
                (Some(_), Some(ReturnKind::Err), Some((word, Doc::Record(mut outcome)))) => {
                    match outcome.pop() {
                        Some((_, message @ Doc::Text(_))) => Some(message),
                        Some(entry) => Some(Doc::one(word, Doc::Record(vec![entry]))),
                        None => None,
                    }
                }
                (_, _, Some(entry)) => Some(Doc::Record(vec![entry])),
            };
            let message = message.map(|message| (self.words.handler.into(), message));
            return message.into_iter().chain(compensate).collect();
        }
        let entries = compensate.into_iter().chain(inside).collect();
        vec![(self.words.handler.into(), Doc::Record(entries))]
    }

    /// The handler of an arm that goes on with a value for `slot`.
    fn replacement(&mut self, arm: &Arm<'a>, slot: Slot) -> Doc<'a> {
        self.failures.push(arm.bind);
        let last = arm.body.statements.split_last().and_then(|(last, before)| match last.kind {
            StmtKind::Value(value) => Some((value, before)),
            StmtKind::Let { slot: bound, value: Bound::Expr(value), .. } if bound == slot => {
                Some((value, before))
            }
            _ => None,
        });
        let doc = match last {
            Some((Expr { kind: ExprKind::Literal(Literal::Nil), .. }, [])) => {
                Doc::one("ignore", Doc::Bool(true))
            }
            Some((value, [])) if !matches!(value.kind, ExprKind::Call(_)) => {
                let value = self.value(&value);
                Doc::one("value", value)
            }
            _ => {
                let steps = self.nested(&arm.body, Tail::Bind);
                Doc::one("then", steps)
            }
        };
        self.failures.pop();
        doc
    }

    /// A block whose last value is bound.
    fn bind_last(&mut self, block: &Block<'a>, slot: Slot, out: &mut Vec<Step<'a>>) {
        let Some((last, before)) = block.statements.split_last() else { return };
        self.steps(before, Tail::Drop, out);
        let value = match last.kind {
            StmtKind::Value(value) => Bound::Expr(value),
            StmtKind::Control(control) => Bound::Control(control),
            _ => return self.steps(core::slice::from_ref(last), Tail::Drop, out),
        };
        let kind = StmtKind::Let { slot, slot_span: last.span, value };
        self.steps(&[Stmt { kind, span: last.span }], Tail::Drop, out);
    }
}
