//! Reads `while` and `until`: loops with a condition and a bound, written out as FOR over RANGE.
//!
//! `while` is tested before each pass, and once after the last one; `until` after each pass. A loop whose
//! passes are over fails.

use super::reader::{OpenLoop, StepReader, literal};
use super::step::{Step, Tail};
use crate::ast::{Apply, Block, Control, Expr, ExprKind, For, If, Literal, Stmt, StmtKind};
use crate::diagnostic::Diagnostic;
use crate::dialect::Key;
use crate::document::{Kind, Node};
use crate::span::Span;
use ilo_spec::error::Code;
use ilo_spec::limits::DEFAULT_TOOL_CALLS;
use ilo_spec::program::Number;
use ilo_spec::pure::Pure;

/// The most passes of a loop without `max`.
const PASSES: i64 = 100;

/// The most calls that a block makes, if each loop over a list makes one pass.
fn calls_of(block: &Block<'_>) -> u64 {
    let mut calls: u64 = 0;
    for statement in block.statements {
        statement.each_value(|value| value.each_call(&mut |_| calls += 1));
        let inner: u64 = match statement.control() {
            Some(Control::If(node)) => calls_of(&node.then).max(node.otherwise.as_ref().map_or(0, calls_of)),
            Some(control) => {
                let passes = match control {
                    Control::For(For { list: Expr { kind: ExprKind::Apply(apply), .. }, .. }) => {
                        passes_of(apply)
                    }
                    _ => 1,
                };
                control.blocks().map(|(_, block)| calls_of(block)).sum::<u64>().saturating_mul(passes)
            }
            None => 0,
        };
        calls = inner.saturating_add(calls);
    }
    calls
}

fn passes_of(apply: &Apply<'_>) -> u64 {
    match (apply.function, apply.operands) {
        (Pure::Range, [Expr { kind: ExprKind::Literal(Literal::Number(Number::Int(passes))), .. }]) => {
            u64::try_from(*passes).unwrap_or(0)
        }
        _ => 1,
    }
}

impl<'a> StepReader<'_, 'a> {
    /// Reads a step with `while` or `until`.
    pub(crate) fn while_step(&mut self, step: &Step<'_, 'a>) {
        let key = step.form.key;
        let Some(condition) = step.get(key) else { return };
        let passes = step.get(Key::Max).map_or(PASSES, |node| self.passes(node));
        let Some(node) = step.get(Key::Do).or_else(|| step.get(Key::Body)) else {
            let what = format!("a step with `{}`", self.dialect.word(key));
            if !step.faulty {
                self.missing(step.place(), Key::Do, &what, "write the steps of a pass");
            }
            return;
        };
        let at = step.place();
        let tested = (key == Key::While).then(|| self.apart(|this| this.condition(condition)));
        let is_true = |condition: Expr<'_>| matches!(condition.kind, ExprKind::Literal(Literal::Bool(true)));
        let forever = tested.is_some_and(|(_, condition)| is_true(condition));
        let id = self.new_loop();
        self.scope.open();
        let item = self.hidden(None);
        let until = tested.is_none().then_some(*condition);
        self.loops.push(OpenLoop { start: step.start, breaks: false, gives: false, until });
        let body = self.block(|this| {
            if let Some((before, condition)) = tested.filter(|_| !forever) {
                this.statements.extend_from_slice(before.statements);
                let condition = this.not(condition, condition.span);
                this.push_break_if(condition, at);
            }
            this.branch_steps(node, Tail::Drop, Key::Do);
            if tested.is_none() {
                let condition = this.condition(condition);
                this.push_break_if(condition, at);
            }
        });
        self.many_calls(&body, passes, at);
        let breaks = self.loops.pop().is_some_and(|open| open.breaks);
        if breaks || tested.is_none() {
            self.scope.keep();
        } else {
            self.scope.close();
        }
        let otherwise = self.ended_too_late(tested.filter(|_| !forever).map(|_| condition), passes, at);
        let list = self.range(passes, at);
        let yields = body.yields();
        let breaks = breaks || !forever;
        let end = if breaks { Some(otherwise) } else { None };
        let node = For { id, item, item_span: at, list, body, otherwise: end, breaks, yields, span: at };
        self.push_control(Control::For(self.arena.alloc(node)), step.head());
        if !breaks {
            self.statements.extend_from_slice(otherwise.statements);
        }
    }

    /// Warns of a loop whose passes may make more calls than a run has.
    fn many_calls(&mut self, body: &Block<'a>, passes: i64, at: Span) {
        let calls = calls_of(body);
        let all = u64::try_from(passes).unwrap_or(u64::MAX).saturating_mul(calls);
        if all > DEFAULT_TOOL_CALLS {
            let message = format!(
                "{passes} passes of {calls} calls each are more than the {DEFAULT_TOOL_CALLS} calls of a run"
            );
            self.report(
                Diagnostic::new(Code::ManyCalls, at, message)
                    .expected(format!("at most {DEFAULT_TOOL_CALLS} calls"), format!("{all} calls"))
                    .help("write a `max` that the passes need, or raise the limit of calls for the run"),
            );
        }
    }

    /// The end of a loop whose passes are over: it fails, a `while` only if its condition still holds.
    fn ended_too_late(&mut self, tested: Option<&Node<'a>>, passes: i64, at: Span) -> Block<'a> {
        let message = self.arena.alloc_str(&format!("the loop did not end within {passes} passes"));
        let fail = StmtKind::Fail(literal(Literal::Text(message), at));
        let Some(tested) = tested else { return self.one(fail, at) };
        let then = self.one(fail, at);
        self.block(|this| {
            let condition = this.again(|this| this.condition(tested));
            this.push_if(If { condition, then, otherwise: None, span: at }, at);
        })
    }

    /// The test of an `until` where a pass is skipped, if its names are set there. It is read again at the
    /// end of the pass, with its findings.
    pub(crate) fn test_before_skip(&mut self, at: Span) {
        let Some(condition) = self.loops.last().and_then(|open| open.until) else { return };
        let (condition, readable) = self.again(|this| {
            let before = this.diagnostics.mark();
            (this.condition(&condition), !this.diagnostics.has_errors_since(before))
        });
        if readable {
            self.push_break_if(condition, at);
        }
    }

    fn push_break_if(&mut self, condition: Expr<'a>, at: Span) {
        let then = self.one(StmtKind::Break, at);
        self.push_if(If { condition, then, otherwise: None, span: at }, at);
    }

    /// A block of one statement.
    fn one(&self, kind: StmtKind<'a>, span: Span) -> Block<'a> {
        Block { statements: self.arena.alloc_slice_copy(&[Stmt { kind, span }]) }
    }

    fn range(&self, passes: i64, span: Span) -> Expr<'a> {
        let operand = literal(Literal::Number(Number::Int(passes)), span);
        let operands = self.arena.alloc_slice_copy(&[operand]);
        let apply = Apply { function: Pure::Range, operands, id: None };
        Expr { kind: ExprKind::Apply(apply), span }
    }

    /// The most passes: a constant of at least 1.
    fn passes(&mut self, node: &Node<'a>) -> i64 {
        match node.kind {
            Kind::Number(Number::Int(passes)) if passes >= 1 => passes,
            _ => {
                self.bad_shape(node, "the most passes", "a whole number of at least 1");
                PASSES
            }
        }
    }
}
