//! Prints a call with the MATCH after it: as a call with a handler if that gives the same code, otherwise as
//! a call followed by a step with `match`.

use super::function;
use super::steps::{Exit, Goal, Step, Way, exit, last_read, nothing};
use super::{Printer, names};
use crate::ast::{Arm, Block, Bound, Expr, ExprKind, Literal, Match, ReturnKind, Slot, Stmt, StmtKind, Try};
use crate::dialect::Key;
use crate::document::print::{Doc, Pair};
use crate::matched::{Matched, rollbacks};
use crate::span::Span;
use ilo_spec::types::Type;

/// How a call and the MATCH directly after it become one step.
enum HandlerForm {
    /// Only the call; the OK arm follows as further steps. A failure propagates.
    Plain(Slot),
    /// With a handler that leaves the function; the OK arm follows as further steps.
    Leaves(Slot),
    /// With a handler that continues with a value for the slot.
    Gives(Slot),
    /// With a handler that continues; neither value is read.
    Continues,
}

impl<'a> Printer<'_, 'a> {
    /// Prints a call and the MATCH directly after it as one step, followed by its OK arm; `false` if that is
    /// not possible.
    pub(super) fn handled(
        &mut self,
        matched: &Matched<'_, 'a>,
        rest: &[Stmt<'a>],
        tail: Goal,
        out: &mut Vec<Step<'a>>,
    ) -> bool {
        let here = if rest.is_empty() { tail } else { Goal::Drop };
        let Some(form) = self.handler_form(matched, here) else { return false };
        let node = matched.node;
        let mut entries = self.bound(&matched.call);
        let success = node.ok.as_ref().map_or(&[][..], |ok| ok.body.statements);
        // At the end of a block the value of the call would be that of the block.
        let is_call = matches!(matched.call.kind, ExprKind::Call(_));
        let registered = if is_call { rollbacks(success) } else { &[] };
        let alone = registered.len() == success.len() && here != Goal::Drop;
        let continues = matches!(form, HandlerForm::Gives(_) | HandlerForm::Continues);
        let registered = if alone && !continues { &[] } else { registered };
        let place = entries.len();
        // Reads in the step itself, including its handler, do not count as reads after it.
        let last = node.err.and_then(|arm| arm.body.statements.last());
        let end = last.map_or(node.span.end, |last| last.span.end.max(node.span.end));
        let end = end.max(last_read(&matched.call));
        let slot = match form {
            HandlerForm::Plain(slot) | HandlerForm::Leaves(slot) => self.read(slot).or(self.read(node.slot)),
            HandlerForm::Gives(slot) => Some(slot),
            HandlerForm::Continues => None,
        };
        if let Some(arm) = &node.err {
            entries.extend(self.failure(arm, |printer| match form {
                HandlerForm::Gives(slot) => printer.replacement(arm, Some(slot), Goal::Bind),
                HandlerForm::Continues => printer.replacement(arm, None, Goal::Drop),
                // A reader expects a value there.
                _ if slot.is_some() || here.is_read() => printer.leaving(arm, Goal::Bind),
                _ => printer.leaving(arm, Goal::Drop),
            }));
        }
        let mut step = self.binding(slot, end, "send", entries);
        // The name of the step is in scope there.
        if !registered.is_empty() {
            let entry = self.rollback(registered);
            step.entries.insert(place, entry);
        }
        match form {
            // The handler binds the slot, whether or not something reads it.
            HandlerForm::Gives(slot) => {
                step.says_so |= self.read(slot).is_none();
                out.push(step);
                return true;
            }
            HandlerForm::Continues => {
                out.push(step);
                // The value of a call at the end of a block would be that of the block, and so would that of
                // its handler.
                out.extend(here.is_read().then(|| self.done()));
                return true;
            }
            _ => out.push(step),
        }
        if let Some(success) = success.get(registered.len()..).filter(|_| node.ok.is_some()) {
            let behind = node.err.as_ref().map_or(0, |err| self.uses.end(err));
            let outer = self.printed_until;
            self.printed_until = outer.max(behind);
            match matched.bound {
                Some(bound) => self.bind_last(&Block { statements: success }, bound, here, out),
                None => self.steps(success, here, out),
            }
            self.printed_until = outer;
        }
        true
    }

    /// A step without a value, at the end of a function that returns nothing.
    pub(super) fn done(&mut self) -> Step<'a> {
        if self.in_list {
            // In a nested block a return would be an additional instruction.
            return nothing();
        }
        let nil = Expr { kind: ExprKind::Literal(Literal::Nil), span: Span::default() };
        let kind = if self.function.output.err.is_some() { ReturnKind::Ok } else { ReturnKind::Plain };
        Step::of(None, "done", self.returns(kind, &nil))
    }

    /// A step that binds a slot, if any, and ends at this position.
    pub(super) fn binding(
        &mut self,
        slot: Option<Slot>,
        end: u32,
        label: &'static str,
        entries: Vec<Pair<'a>>,
    ) -> Step<'a> {
        self.rebound.extend(slot);
        slot.into_iter().for_each(|slot| self.names.bind(slot));
        let last = slot.and_then(|slot| self.uses.named_last(slot));
        let from = self.loop_start.unwrap_or(end).max(self.printed_until);
        let says_so = last.is_some_and(|last| last < from);
        Step { says_so, ..Step::of(slot, label, entries) }
    }

    /// The slot, if something reads it.
    pub(super) fn read(&self, slot: Slot) -> Option<Slot> {
        (self.uses.count(slot) > 0).then_some(slot)
    }

    /// How a call and its MATCH become one step with the same code; `None` if they cannot.
    fn handler_form(&self, matched: &Matched<'_, 'a>, tail: Goal) -> Option<HandlerForm> {
        let Matched { node, bound, .. } = *matched;
        let taken = node.ok.as_ref().map_or(node.slot, |ok| ok.bind);
        let one = self.names.get(taken) == self.names.get(node.slot);
        // The name of a slot that is also bound elsewhere cannot be omitted.
        let bindings = 1 + u32::from(taken == node.slot && node.ok.is_some());
        let input = (node.slot.0 as usize) < self.function.parameters.len();
        let alone = one && self.uses.bindings(node.slot) == bindings && !input;
        let is_read = self.read(taken).is_some() || self.read(node.slot).is_some();
        let success = node.ok.as_ref().map_or(&[][..], |ok| ok.body.statements);
        let Some(err) = &node.err else {
            let surely = self.is_surely_read(taken) || (alone && is_read);
            return (surely && self.follows(success, bound, tail)).then_some(HandlerForm::Plain(taken));
        };
        if !err.body.completes() {
            let fits = one && (is_read || alone) && self.follows(success, bound, tail);
            return fits.then_some(HandlerForm::Leaves(taken));
        }
        if let Some(slot) = self.given_by_both(matched, err) {
            let silent = tail == Goal::Drop || (tail.is_dropped(self) && self.read(slot).is_some());
            return silent.then_some(HandlerForm::Gives(slot));
        }
        let silent =
            tail == Goal::Drop || (tail == Goal::Function && self.function.output.ok.ty == Type::NIL);
        let nothing = success.is_empty() || is_registered_alone(matched);
        (bound.is_none() && nothing && alone && !is_read && silent).then_some(HandlerForm::Continues)
    }

    /// The slot that both arms bind, if the call may bind it itself.
    fn given_by_both(&self, matched: &Matched<'_, 'a>, err: &Arm<'a>) -> Option<Slot> {
        let Matched { node, bound, .. } = *matched;
        let last = err.body.statements.last()?;
        let binds = |slot: Slot| match last.kind {
            StmtKind::Let { slot: bound, value: Bound::Expr(_), .. } => bound == slot,
            _ => false,
        };
        match (bound, &node.ok) {
            (None, Some(ok)) if ok.body.statements.is_empty() => {
                let same = ok.bind == node.slot || ok.bind == matched.into;
                (binds(ok.bind) && same).then_some(ok.bind)
            }
            (None, ok) if ok.is_none() || is_registered_alone(matched) => {
                binds(node.slot).then_some(node.slot)
            }
            (Some(slot), Some(ok)) if matched.only_binds => {
                let StmtKind::Value(instead) = last.kind else { return None };
                let kept = instead.attempt().is_none() || self.is_surely_read(slot);
                (self.uses.count(ok.bind) == 1 && kept).then_some(slot)
            }
            _ => None,
        }
    }

    /// Whether the statements of an OK arm may follow the step instead.
    fn follows(&self, success: &[Stmt<'a>], bound: Option<Slot>, tail: Goal) -> bool {
        let Some(last) = success.last() else {
            // The value of the last step would be that of the block.
            return bound.is_none() && (tail == Goal::Drop || tail.is_dropped(self));
        };
        let kept = match (bound, last.kind) {
            (Some(slot), StmtKind::Value(value)) => value.attempt().is_none() || self.is_surely_read(slot),
            (None, _) | (_, StmtKind::Control(_)) => true,
            // Nothing is bound in the end, which matters if a MATCH handles something else in the slot.
            (Some(slot), _) => self.uses.named_last(slot).is_none(),
        };
        kept && !self.literal
    }

    /// Whether the binding of a slot is certainly read: something reads the slot, and nothing else binds it.
    fn is_surely_read(&self, slot: Slot) -> bool {
        self.read(slot).is_some()
            && self.uses.bindings(slot) == 1
            && slot.0 as usize >= self.function.parameters.len()
    }

    /// The content of a step with `match`: the unchanged arms of a MATCH.
    pub(super) fn result(&mut self, node: &Match<'a>, tail: Goal) -> Vec<Pair<'a>> {
        self.in_scope(node.slot, node.slot_span);
        let reference = self.words.reference(self.root(node.slot), &[]);
        let mut entries = vec![("match".into(), Doc::word(reference))];
        let tail = tail.of_branch();
        let err = node.err.as_ref().map(|arm| {
            self.failure(arm, |printer| {
                if arm.body.completes() {
                    printer.replacement(arm, None, tail)
                } else {
                    printer.leaving(arm, tail)
                }
            })
        });
        let ok = node.ok.as_ref().and_then(|arm| {
            let named = self.names.get(arm.bind) != self.names.get(node.slot);
            if named {
                entries.push(("as".into(), self.named_slot(arm.bind)));
            }
            let has_steps = named || err.is_some();
            let only_binds = has_steps && arm.body.statements.is_empty() && !tail.is_read();
            (!only_binds).then(|| ("then".into(), self.branch(&arm.body, tail)))
        });
        // In source order, since later reads depend on it.
        let first = |arm: &Option<Arm<'_>>| arm.as_ref().map_or(0, |arm| arm.span.start);
        let turned = first(&node.ok) < first(&node.err);
        let err = err.unwrap_or_default();
        if turned {
            entries.extend(ok.into_iter().chain(err));
        } else {
            entries.extend(err.into_iter().chain(ok));
        }
        entries
    }

    /// The content of a step with `try`: its steps and its handler.
    pub(super) fn tried(&mut self, node: &Try<'a>, tail: Goal) -> Vec<Pair<'a>> {
        self.tries += 1;
        let body = self.nested(&node.body, tail);
        self.tries -= 1;
        let mut entries = vec![(self.words.word(Key::Try).into(), body)];
        let arm = &node.handler;
        entries.extend(self.failure(arm, |printer| {
            // A call before a return is no compensation there.
            let short = arm.body.statements.len() <= 1;
            match arm.body.completes() {
                true if short => printer.replacement(arm, None, tail),
                false if short => printer.leaving(arm, tail),
                _ => vec![("then".into(), printer.nested(&arm.body, tail))],
            }
        }));
        entries
    }

    fn named_slot(&mut self, slot: Slot) -> Doc<'a> {
        self.rebound.insert(slot);
        self.names.bind(slot);
        Doc::Word(self.names.get(slot).clone())
    }

    /// The handler of an arm, with the name of the failure if it has one.
    fn failure(&mut self, arm: &Arm<'a>, inside: impl FnOnce(&mut Self) -> Vec<Pair<'a>>) -> Vec<Pair<'a>> {
        let (slot, alias) = (arm.bind, self.uses.is_alias(arm));
        let input = (slot.0 as usize) < self.function.parameters.len();
        let named = if alias {
            input
        } else {
            let once = !input && self.uses.bindings(slot) == 1 && self.uses.is_read_inside(arm);
            !once && self.uses.named_last(slot).is_some()
        };
        let unnamed = !named && !arm.body.binds(slot) && !names::read_in_handler(&arm.body, slot);
        let mut entries = Vec::new();
        let known = self.rebound.contains(&slot);
        if !unnamed {
            entries.push(("as".into(), self.named_slot(slot)));
        }
        self.failures.push(unnamed.then_some(slot));
        let outer = core::mem::replace(
            &mut self.literal,
            names::would_undo(&arm.body, &self.uses, self.function.parameters.len()),
        );
        entries.extend(inside(self));
        self.literal = outer;
        self.failures.pop();
        if alias && !known {
            // After the arm the name means the input again.
            self.rebound.remove(&slot);
        }
        self.handler(entries)
    }

    /// A handler with these parts, in its shortest form.
    fn handler(&self, mut parts: Vec<Pair<'a>>) -> Vec<Pair<'a>> {
        let word = self.words.word(Key::Handler);
        // In the block of a TRY a text as a handler would go to its handler.
        let short = word == self.words.word(Key::Message);
        let beside = short && self.tries == 0 && !parts.iter().any(|(key, _)| key == "as");
        if !beside {
            return vec![(word.into(), Doc::Record(parts))];
        }
        let rollback = parts.iter().position(|(key, _)| key == "compensate").map(|at| parts.remove(at));
        let message = match (self.words.returns(), parts.pop()) {
            (_, None) => None,
            (None, Some((key, message @ Doc::Text(_)))) if key == self.words.word(Key::Err) => Some(message),
            (Some(returns), Some((key, Doc::Record(mut outcome)))) if key == returns => {
                match (&outcome[..], self.words.word(Key::Message)) {
                    ([(key, Doc::Text(_))], message) if key == message => outcome.pop().map(|(_, text)| text),
                    _ => Some(Doc::one(key, Doc::Record(outcome))),
                }
            }
            (_, Some(part)) => Some(Doc::Record(vec![part])),
        };
        message.map(|message| (word.into(), message)).into_iter().chain(rollback).collect()
    }

    /// The action of a handler whose arm leaves the block.
    fn leaving(&mut self, arm: &Arm<'a>, tail: Goal) -> Vec<Pair<'a>> {
        let Some(Exit { calls, way }) = exit(&arm.body, true) else {
            return vec![("then".into(), self.nested(&arm.body, tail))];
        };
        let compensate = self.compensate(&calls);
        let Way::Fails(value) = way else {
            let left = self.left(&way);
            return compensate.into_iter().chain(left).collect();
        };
        // A named failure is read by its name, which affects other uses of that name.
        let unnamed = self.failures.last() == Some(&Some(arm.bind));
        let passes_on = unnamed && matches!(value.kind, ExprKind::Ref(slot) if slot == arm.bind);
        let compensate = compensate.filter(|_| passes_on);
        vec![compensate.unwrap_or_else(|| ("then".into(), self.nested(&arm.body, tail)))]
    }

    /// The action of a handler whose arm continues: with a value for a slot, or with the value of its block.
    fn replacement(&mut self, arm: &Arm<'a>, slot: Option<Slot>, tail: Goal) -> Vec<Pair<'a>> {
        if arm.body.statements.is_empty() && tail == Goal::Drop {
            return vec![self.flag(Key::Ignore)];
        }
        let last = arm.body.statements.split_last().and_then(|(last, before)| match last.kind {
            StmtKind::Value(value) => Some((value, before)),
            StmtKind::Let { slot: bound, value: Bound::Expr(value), .. } if Some(bound) == slot => {
                Some((value, before))
            }
            _ => None,
        });
        let Some((value, before)) = last else {
            return vec![("then".into(), self.nested(&arm.body, tail))];
        };
        match names::rollbacks(before, false) {
            Some(calls) if !matches!(value.kind, ExprKind::Call(_)) && tail != Goal::Drop => {
                let compensate = self.compensate(&calls);
                let value = if matches!(value.kind, ExprKind::Literal(Literal::Nil)) {
                    self.flag(Key::Ignore)
                } else {
                    ("value".into(), self.value(&value))
                };
                compensate.into_iter().chain([value]).collect()
            }
            _ if slot.is_none() => vec![("then".into(), self.nested(&arm.body, tail))],
            _ => {
                let mut steps = Vec::new();
                self.list_of(
                    arm.span,
                    |printer, steps| {
                        printer.steps(before, Goal::Drop, steps);
                        let entries = printer.bound(&value);
                        steps.push(Step::of(None, "result", entries));
                    },
                    &mut steps,
                );
                vec![("then".into(), function::listed(self, steps))]
            }
        }
    }

    /// A block whose last value is bound.
    fn bind_last(&mut self, block: &Block<'a>, slot: Slot, tail: Goal, out: &mut Vec<Step<'a>>) {
        let mut statements = block.statements.to_vec();
        if let Some(last) = statements.last_mut()
            && let Some(value) = last.kind.given()
        {
            last.kind = StmtKind::Let { slot, slot_span: last.span, value };
        }
        self.steps(&statements, tail, out);
    }
}

/// Whether the OK arm of a call only registers rollbacks, in the slot of the call.
fn is_registered_alone(matched: &Matched<'_, '_>) -> bool {
    let Some(ok) = matched.node.ok.as_ref() else { return false };
    let statements = ok.body.statements;
    matches!(matched.call.kind, ExprKind::Call(_))
        && ok.bind == matched.node.slot
        && rollbacks(statements).len() == statements.len()
}
