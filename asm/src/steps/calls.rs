//! Reads steps that are calls or fallible functions, and `match` on their results.
//!
//! A handler covers only its own call or outermost function. It becomes the ERR arm of a MATCH directly after
//! the call. The OK arm is omitted, so that the value stays in the slot of the call, or it has the calls that
//! `rollback` registers.

use super::handlers::HandledBy;
use super::reader::StepReader;
use super::step::{Bind, Step, Tail};
use super::then_call::then_value;
use crate::ast::{Arm, Bound, Control, Expr, ExprKind, Match, StmtKind, Try};
use crate::catalog::own_function;
use crate::diagnostic::Diagnostic;
use crate::dialect::Key;
use crate::document::{Node, first_of, shown};
use crate::span::Span;
use ilo_spec::error::Code;

impl<'a> StepReader<'_, 'a> {
    /// A step with a call.
    pub(crate) fn call_step(&mut self, step: &Step<'_, 'a>, tail: Tail) {
        let call = self.call(&step.keyed);
        self.attempt(step, Expr { kind: ExprKind::Call(call), span: call.span }, tail);
    }

    /// A step with an expression, which may have a handler.
    pub(crate) fn value_step(&mut self, step: &Step<'_, 'a>, tail: Tail) {
        let suspects = self.suspects.len();
        let value = self.construct_of(step.form.key, &step.keyed);
        let faulty = step.faulty || self.suspects.len() > suspects;
        let handler = step.keyed.entry(Key::Handler).or(step.keyed.entry(Key::Compensate));
        match handler.filter(|_| value.attempt().is_none()) {
            None => self.attempt(step, value, tail),
            Some(_) if value.calls() => self.try_value(step, value, tail),
            Some(handler) => {
                if !faulty {
                    let word = shown(&handler.key);
                    let message = format!("`{word}` is beside an expression in which nothing can fail");
                    let help = "leave it out; a fault ends the run, so test for its cause with `if` before";
                    self.report(Diagnostic::new(Code::HandlerNowhere, handler.key.span, message).help(help));
                }
                self.finish(Bound::Expr(value), step.target, tail, step.head());
            }
        }
    }

    /// A step with an expression of which a part can fail: it is tried.
    fn try_value(&mut self, step: &Step<'_, 'a>, value: Expr<'a>, tail: Tail) {
        let of_blocks = if step.target.is_some() { Tail::Value } else { tail };
        let body = self.block(|this| this.push(StmtKind::Value(value), step.head()));
        let handler = self.failure_arm(step, HandledBy { tail: of_blocks, is_text: true, bind: None });
        let control = Control::Try(self.arena.alloc(Try { body, handler, span: step.place() }));
        self.finish(Bound::Control(control), step.target, tail, step.head());
    }

    /// A step whose value can fail.
    fn attempt(&mut self, step: &Step<'_, 'a>, value: Expr<'a>, tail: Tail) {
        let of_then = then_value(step, tail);
        let (tail, has_then) = (of_then.unwrap_or(tail), of_then.is_some());
        if !step.keyed.has(Key::Handler) && !step.keyed.has(Key::Compensate) {
            return self.attempt_unhandled(step, value, (tail, has_then));
        }
        let is_read = step.target.is_some_and(|target| self.is_read_behind(step, target));
        let bind = self.bind_call(step, value);
        let of_err = match tail {
            Tail::Drop if !is_read => Tail::Drop,
            Tail::Yield if has_then && !is_read => Tail::Yield,
            _ => Tail::Value,
        };
        let bound = (of_err == Tail::Value).then_some(bind);
        let by = HandledBy { tail: of_err, is_text: self.fails_with_text(&value), bind: bound };
        let err = self.failure_arm(step, by);
        let gives_in_arms = has_then || (err.body.completes() && !err.body.binds_last(bind.0));
        if tail == Tail::Yield && gives_in_arms {
            return self.attempt_in_pass(step, (bind, value.span), err);
        }
        let rollback = step.get(Key::Rollback);
        let result = (has_then && tail.wanted()).then(|| (self.hidden(None), step.place()));
        let (mut ok, mut gives) = (None, false);
        if has_then || rollback.is_some() {
            let body = self.block(|this| {
                this.rollbacks(rollback);
                gives = has_then && this.then_in_arm(step, result);
            });
            let span = step.keyed.place(if has_then { Key::Then } else { Key::Rollback });
            ok = Some(Arm { bind: bind.0, bind_span: bind.1, body, span });
        }
        let result = result.filter(|_| gives);
        let err = result.map_or(err, |result| self.also_bound(err, bind, result));
        let node = Match { slot: bind.0, slot_span: bind.1, err: Some(err), ok, span: value.span };
        self.push_control(Control::Match(self.arena.alloc(node)), step.head());
        match result {
            Some(result) => self.push_slot(result, step.head()),
            None if has_then => {}
            None => self.value_of_call(bind, step, tail),
        }
    }

    /// A step whose value can fail, without a handler; `has_then` says that steps follow its success.
    fn attempt_unhandled(&mut self, step: &Step<'_, 'a>, value: Expr<'a>, (tail, has_then): (Tail, bool)) {
        let rollback = step.get(Key::Rollback);
        if !has_then && (rollback.is_none() || (step.target.is_none() && !tail.wanted())) {
            self.finish(Bound::Expr(value), step.target, tail, step.head());
            return self.rollbacks(rollback);
        }
        if has_then && step.target.is_none() {
            self.push(StmtKind::Value(value), step.head());
            self.rollbacks(rollback);
            return self.then_steps(step, tail);
        }
        let bind = self.bind_call(step, value);
        self.rollbacks(rollback);
        if has_then { self.then_steps(step, tail) } else { self.value_of_call(bind, step, tail) }
    }

    /// The end of a call with a handler that is the last step of a pass: each arm gives what the pass yields,
    /// or nothing.
    fn attempt_in_pass(&mut self, step: &Step<'_, 'a>, (bind, span): (Bind, Span), err: Arm<'a>) {
        let err = if err.body.binds_last(bind.0) { self.giving(err, bind) } else { err };
        let body = self.block(|this| {
            this.rollbacks(step.get(Key::Rollback));
            if step.keyed.has(Key::Then) {
                this.then_steps(step, Tail::Yield);
            } else {
                this.push_slot(bind, step.head());
            }
        });
        let ok = Some(Arm { bind: bind.0, bind_span: bind.1, body, span: step.place() });
        let node = Match { slot: bind.0, slot_span: bind.1, err: Some(err), ok, span };
        self.push_control(Control::Match(self.arena.alloc(node)), step.head());
    }

    /// Binds a call to the name of its step, or to an unnamed slot.
    fn bind_call(&mut self, step: &Step<'_, 'a>, value: Expr<'a>) -> Bind {
        let bind = match step.target {
            Some(target) => self.bind_target(target),
            None => (self.hidden(None), value.span),
        };
        self.push(StmtKind::Let { slot: bind.0, slot_span: bind.1, value: Bound::Expr(value) }, step.head());
        bind
    }

    /// Ends a step that binds a call; its value is that of the call, if one is needed.
    fn value_of_call(&mut self, bind: Bind, step: &Step<'_, 'a>, tail: Tail) {
        if tail.wanted() && (step.target.is_none() || matches!(tail, Tail::Value | Tail::Yield)) {
            self.push_slot(bind, step.head());
        }
    }

    /// `try`: steps, and a handler for their failures.
    pub(crate) fn try_step(&mut self, step: &Step<'_, 'a>, tail: Tail) {
        let Some(steps) = step.get(Key::Try) else { return };
        let of_blocks = if step.target.is_some() { Tail::Value } else { tail };
        let inside = self.in_try();
        let body = self.within(inside, |this| this.branch(steps, of_blocks, Key::Try));
        let handler = self.failure_arm(step, HandledBy { tail: of_blocks, is_text: false, bind: None });
        let node = Try { body, handler, span: step.place() };
        self.finish(Bound::Control(Control::Try(self.arena.alloc(node))), step.target, tail, step.head());
    }

    /// `match` on the result of a call: steps for its value, and a handler for its failure.
    pub(crate) fn result_step(&mut self, step: &Step<'_, 'a>, tail: Tail) {
        let Some(own) = step.get(Key::Match).and_then(|node| self.result_of(node)) else { return };
        let of_arms = if step.target.is_some() { Tail::Value } else { tail };
        let handles = step.keyed.has(Key::Handler) || step.keyed.has(Key::Compensate);
        let by = HandledBy { tail: of_arms, is_text: false, bind: None };
        let err = handles.then(|| self.failure_arm(step, by));
        let ok = (step.keyed.has(Key::Then) || step.keyed.has(Key::As)).then(|| {
            let mut bind = own;
            let body = self.block(|this| bind = this.success(own, step, of_arms));
            Arm { bind: bind.0, bind_span: bind.1, body, span: step.place() }
        });
        let node = Match { slot: own.0, slot_span: own.1, err, ok, span: step.place() };
        self.finish(Bound::Control(Control::Match(self.arena.alloc(node))), step.target, tail, step.head());
    }

    /// Whether its failure is a text: that of a tool, or of a pure function.
    fn fails_with_text(&self, value: &Expr<'a>) -> bool {
        let ExprKind::Call(call) = value.kind else { return true };
        let own = own_function(call.tool.text).unwrap_or(call.tool.text);
        !self.functions.list.iter().any(|&(name, _)| name == own)
    }

    /// The slot of the call to which a `match` refers.
    fn result_of(&mut self, node: &Node<'a>) -> Option<Bind> {
        let value = self.value(node);
        if let ExprKind::Ref(slot) = value.kind {
            return Some((slot, value.span));
        }
        let message = "a `match` without `cases` takes the result of a call apart";
        self.report(
            Diagnostic::new(Code::BadShape, first_of(node), message)
                .expected("a reference to the name of a call before", shown(node))
                .help("name the call in its step, and refer to that name"),
        );
        None
    }

    /// The steps for the value of a call. Returns the slot of the value; without `as` it is that of the call.
    fn success(&mut self, own: Bind, step: &Step<'_, 'a>, tail: Tail) -> Bind {
        let name = step.get(Key::As).and_then(|node| self.written_name(node));
        let bind = name.map_or(own, |name| (self.bind(name), name.span));
        self.then_steps(step, tail);
        bind
    }
}
