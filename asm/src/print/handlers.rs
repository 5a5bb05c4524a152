//! Calls with what is done about their failure.

use super::Printer;
use super::doc::{Doc, Entry};
use super::steps::{Step, Tail, last_read};
use super::text::Root;
use super::twins::{self, Handled};
use crate::ast::{Arm, Block, Bound, Expr, ExprKind, Literal, ReturnKind, Slot, Stmt, StmtKind};
use crate::front::Key;
use crate::span::Span;

/// What a handler does with the failure, in the end.
enum Ending {
    /// It leaves the function, or the loop's pass.
    Leaves,
    /// It goes on with a value for the slot.
    Gives(Slot),
    /// It goes on, and nothing is read of it.
    GoesOn,
}

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
        let here = if rest.is_empty() { tail } else { Tail::Drop };
        let Some(ending) = self.ending(handled, here) else {
            self.refuse(
                node.span,
                "a MATCH whose ERR arm goes on, but not with a value in place of that of the call",
                "end the ERR arm with RET_ERR, or with a value for the slot, and leave the OK arm empty",
            );
            return;
        };
        let mut entries = self.call(handled.call);
        // What the step itself reads, its handler with it, is no read behind it.
        let last = node.err.and_then(|arm| arm.body.statements.last());
        let end = last.map_or(node.span.end, |last| last.span.end.max(node.span.end));
        let arguments = handled.call.arguments.iter().map(|argument| last_read(&argument.value));
        let end = arguments.fold(end, u32::max);
        match (ending, &node.err) {
            (Ending::Leaves, Some(arm)) => entries.extend(self.handler(arm)),
            (Ending::Gives(slot), Some(arm)) => {
                entries.push((self.words.word(Key::Handler).into(), self.replacement(arm, Some(slot))));
                out.push(self.binding(Some(slot), end, "send", entries));
                return;
            }
            (Ending::GoesOn, Some(arm)) => {
                entries.push((self.words.word(Key::Handler).into(), self.replacement(arm, None)));
                out.push(Step::of(None, "send", entries));
                // A call at the end of a block would give its value, and so would its handler.
                if here.is_read() {
                    out.push(self.nothing(here));
                }
                return;
            }
            (_, None) => {}
        }
        let Some(ok) = &node.ok else {
            return out.push(self.binding(self.read(node.slot), end, "send", entries));
        };
        if node.err.is_none() || self.uses.is_one(node.slot, ok.bind, self.function.parameters.len()) {
            out.push(self.binding(self.read(ok.bind), end, "send", entries));
        } else {
            out.push(Step::of(self.read(ok.bind).map(|_| node.slot), "send", entries));
            if self.read(ok.bind).is_some() {
                let value = Expr { kind: ExprKind::Ref(node.slot), span: ok.bind_span };
                let entries = self.bound(&value);
                out.push(self.binding(Some(ok.bind), end, "", entries));
            }
        }
        match handled.bound {
            Some(bound) => self.bind_last(&ok.body, bound, out),
            None => self.steps(ok.body.statements, here, out),
        }
    }

    /// How the handler of a call ends, where there are words for that.
    fn ending(&self, handled: &Handled<'_, 'a>, tail: Tail) -> Option<Ending> {
        let Some(err) = handled.node.err.filter(|arm| arm.body.completes()) else {
            return Some(Ending::Leaves);
        };
        if err.body.statements.is_empty()
            && handled.bound.is_none()
            && matches!(tail, Tail::Loop | Tail::Pass)
        {
            return Some(Ending::Leaves);
        }
        let unread = |slot: Slot| self.read(slot).is_none();
        match (handled.bound, &handled.node.ok) {
            (None, None) if unread(handled.node.slot) => Some(Ending::GoesOn),
            (None, None) => {
                let slot = handled.node.slot;
                twins::ends_binding(&err.body, slot).then_some(Ending::Gives(slot))
            }
            (None, Some(ok)) if ok.body.statements.is_empty() => match err.body.statements.last() {
                _ if unread(ok.bind) => Some(Ending::GoesOn),
                Some(last) if twins::binds(last, ok.bind) => Some(Ending::Gives(ok.bind)),
                _ => None,
            },
            (Some(slot), Some(ok)) => match ok.body.statements {
                [Stmt { kind: StmtKind::Value(value), .. }] => {
                    matches!(value.kind, ExprKind::Ref(of) if of == ok.bind).then_some(Ending::Gives(slot))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// A step that does nothing, behind one that must not be the last.
    fn nothing(&mut self, tail: Tail) -> Step<'a> {
        let nil = Expr { kind: ExprKind::Literal(Literal::Nil), span: Span::default() };
        if tail == Tail::Function {
            let kind = if self.function.output.err.is_some() { ReturnKind::Ok } else { ReturnKind::Plain };
            return Step::of(None, "done", self.returns(kind, &nil));
        }
        Step::of(None, "end", self.bound(&nil))
    }

    /// A step that binds a slot, if any, and ends there in the source.
    pub(super) fn binding(
        &mut self,
        slot: Option<Slot>,
        end: u32,
        label: &'static str,
        entries: Vec<Entry<'a>>,
    ) -> Step<'a> {
        self.rebound.extend(slot);
        let last = slot.and_then(|slot| self.uses.reads.get(&slot));
        let from = self.loop_start.unwrap_or(end);
        let says_so = last.is_some_and(|&last| last < from);
        Step { says_so, ..Step::of(slot, label, entries) }
    }

    /// The slot, where something reads it.
    pub(super) fn read(&self, slot: Slot) -> Option<Slot> {
        self.uses.reads.contains_key(&slot).then_some(slot)
    }

    /// The handler of an arm that does not go on.
    fn handler(&mut self, arm: &Arm<'a>) -> Vec<Entry<'a>> {
        if arm.body.statements.is_empty() {
            return vec![(self.words.word(Key::Handler).into(), Doc::one("skip", Doc::Bool(true)))];
        }
        self.keep_calls(&arm.body);
        if !self.is_failure(arm) {
            return vec![(self.words.word(Key::Handler).into(), self.named_failure(arm, Tail::Drop))];
        }
        self.failures.push(Some(arm.bind));
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
            return vec![(self.words.word(Key::Handler).into(), Doc::one("then", steps))];
        };
        let compensate = (!calls.is_empty()).then(|| self.compensate(&calls));
        let passes_on = matches!(value.kind, ExprKind::Ref(slot) if slot == arm.bind);
        let mut inside = Vec::new();
        match kind {
            None if passes_on && compensate.is_some() => {}
            None => {
                let steps = self.nested(&arm.body, Tail::Drop);
                return vec![(self.words.word(Key::Handler).into(), Doc::one("then", steps))];
            }
            Some(kind) => inside = self.returns(kind, &value),
        }
        if self.words.short_handler() {
            let message = match (self.words.returns(), kind, inside.pop()) {
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
            let message = message.map(|message| (self.words.word(Key::Handler).into(), message));
            return message.into_iter().chain(compensate).collect();
        }
        let entries = compensate.into_iter().chain(inside).collect();
        vec![(self.words.word(Key::Handler).into(), Doc::Record(entries))]
    }

    /// The handler of an arm that goes on, with a value where there is a slot for it.
    fn replacement(&mut self, arm: &Arm<'a>, slot: Option<Slot>) -> Doc<'a> {
        if !self.is_failure(arm) {
            return self.named_failure(arm, if slot.is_some() { Tail::Bind } else { Tail::Drop });
        }
        if arm.body.statements.is_empty() {
            return Doc::one("ignore", Doc::Bool(true));
        }
        self.failures.push(Some(arm.bind));
        let doc = self.replacement_inside(arm, slot);
        self.failures.pop();
        doc
    }

    /// The handler of an arm that goes on and whose slot is bound elsewhere too: it is bound by name, since what follows
    /// may read it.
    fn named_failure(&mut self, arm: &Arm<'a>, tail: Tail) -> Doc<'a> {
        self.failures.push(None);
        let failure = Root { name: self.words.failure(), parameter: false };
        let failure = vec![("expr".into(), Doc::word(self.words.reference(failure, &[])))];
        let mut steps = vec![Step::of(Some(arm.bind), "", failure)];
        self.list_of(|printer, steps| printer.steps(arm.body.statements, tail, steps), &mut steps);
        self.failures.pop();
        Doc::one("then", self.list(steps))
    }

    /// Whether the slot of an arm is the failure and nothing else: what reads it may say so.
    fn is_failure(&self, arm: &Arm<'a>) -> bool {
        let input = (arm.bind.0 as usize) < self.function.parameters.len();
        let alone = (self.uses.bindings(arm.bind) == 1 && !input) || self.read(arm.bind).is_none();
        !arm.body.binds(arm.bind) && (alone || !arm.body.completes())
    }

    fn replacement_inside(&mut self, arm: &Arm<'a>, slot: Option<Slot>) -> Doc<'a> {
        let last = arm.body.statements.split_last().and_then(|(last, before)| match last.kind {
            StmtKind::Value(value) => Some((value, before)),
            StmtKind::Let { slot: bound, value: Bound::Expr(value), .. } if Some(bound) == slot => {
                Some((value, before))
            }
            _ => None,
        });
        let (Some((value, before)), Some(_)) = (last, slot) else {
            return Doc::one(
                "then",
                self.nested(&arm.body, if slot.is_some() { Tail::Bind } else { Tail::Drop }),
            );
        };
        let calls = twins::rollbacks(before, false);
        match calls {
            Some(calls) if !matches!(value.kind, ExprKind::Call(_)) => {
                let compensate = (!calls.is_empty()).then(|| self.compensate(&calls));
                let nil = matches!(value.kind, ExprKind::Literal(Literal::Nil));
                let value = if nil {
                    ("ignore".into(), Doc::Bool(true))
                } else {
                    ("value".into(), self.value(&value))
                };
                Doc::Record(compensate.into_iter().chain([value]).collect())
            }
            _ => {
                let mut steps = Vec::new();
                self.list_of(
                    |printer, steps| {
                        printer.steps(before, Tail::Drop, steps);
                        let entries = printer.bound(&value);
                        steps.push(Step::of(None, "result", entries));
                    },
                    &mut steps,
                );
                Doc::one("then", self.list(steps))
            }
        }
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
