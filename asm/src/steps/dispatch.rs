//! Reads the steps of a block, and dispatches each kind of step to its reader.

use super::callees::in_parentheses;
use super::entries::Keyed;
use super::reader::{InnerLoops, Position, StepReader};
use super::step::{Item, Step, Tail, Target};
use crate::ast::{Bound, Expr, StmtKind};
use crate::diagnostic::Diagnostic;
use crate::dialect::reader_habits::Asked;
use crate::dialect::{Key, RESULT};
use crate::document::{Kind, Node, first_of};
use crate::span::Span;
use ilo_spec::error::Code;

/// Reads steps in order; `tail` is the purpose of the value of the last one.
pub(crate) fn read_steps<'a>(reader: &mut StepReader<'_, 'a>, items: &[Item<'_, 'a>], tail: Tail) {
    for (place, item) in items.iter().enumerate() {
        let of_step = if place + 1 == items.len() { tail } else { Tail::Drop };
        if !reader.step(item, of_step) {
            return;
        }
    }
}

impl<'a> StepReader<'_, 'a> {
    /// Reads a step; `false` if it is nested too deep.
    fn step(&mut self, item: &Item<'_, 'a>, tail: Tail) -> bool {
        let found = self.deeper(item.node.span, |this| {
            if this.at.blocks == 1 {
                this.at.step_end = item.node.span.end;
            }
            match item.node.kind {
                Kind::Record(_) => this.record_step(item, tail),
                _ => this.plain_step(item, tail),
            }
        });
        found.is_some()
    }

    /// A step that is not a record: a value, if one is needed.
    fn plain_step(&mut self, item: &Item<'_, 'a>, tail: Tail) {
        if self.in_loop() || matches!(item.node.kind, Kind::Bool(_)) {
            let asked = Asked::Step { name: item.name, wanted: tail.wanted(), last: false };
            if let Some(node) = self.rewritten(asked, item.node) {
                return self.record_step(&Item { node, ..*item }, tail);
            }
        }
        let is_call = item.node.text().and_then(in_parentheses).is_some();
        if item.name.is_none() && (is_call || !tail.wanted()) {
            let found = item.node.kind_name();
            let message = format!("a step is a record, but this is {found}");
            self.report(
                Diagnostic::new(Code::BadStep, first_of(item.node), message)
                    .expected(format!("a record with {}", self.dialect.step_words()), found)
                    .help(self.dialect.step_form()),
            );
            return;
        }
        let value = self.value(item.node);
        let target = self.step_name(item);
        if target.is_none() && !tail.wanted() && !value.calls() {
            self.report(
                Diagnostic::new(Code::UnusedValue, item.node.span, "this step does nothing: it is a value")
                    .expected("a value that a later step reads, or a step", item.node.kind_name())
                    .help(self.dialect.step_form()),
            );
        }
        self.finish(Bound::Expr(value), target, tail, Span::new(item.start(), item.node.span.end));
    }

    fn record_step(&mut self, item: &Item<'_, 'a>, tail: Tail) {
        let before = self.diagnostics.mark();
        let Some((form, keyed)) = self.kind_of_step(item, tail) else { return };
        let faulty = self.diagnostics.has_errors_since(before);
        let names = [item.name.and_then(Node::text), keyed.get(Key::Let).and_then(Node::text)];
        if let [Some(over), Some(own)] = names
            && over != own
        {
            self.scope.rename(over, own);
        }
        let mut inner: Position<'a> = Self::up_to_handlers(self.in_step(names), &keyed);
        if keyed.has(Key::Handler) || keyed.has(Key::Compensate) {
            inner.loops = InnerLoops::Infallible;
        }
        self.within(inner, |this| {
            let path = keyed.get(Key::Let).and_then(|node| this.let_path(node, item)).map(Box::new);
            let path_name = path.as_ref().map(|path| Target { name: path.name, own: false });
            let target = path_name.or_else(|| this.target(item, &keyed));
            let step = Step { form, keyed, target, start: item.start(), faulty };
            for &key in form.needs {
                if !(keyed.has(key) || faulty) {
                    let what = format!("a step with `{}`", this.dialect.word(form.key));
                    this.missing(step.place(), key, &what, needed(key));
                }
            }
            this.read_step(&step, tail);
            if let Some(path) = path {
                this.set_part(&path, form.key == Key::Push, step.head());
            }
        });
    }

    /// A position whose step ends before what handles its failure or undoes it: this is read after the step
    /// has bound its name.
    #[inline(never)]
    fn up_to_handlers(at: Position<'a>, keyed: &Keyed<'_, 'a>) -> Position<'a> {
        let after = [Key::Handler, Key::Rollback, Key::Compensate].into_iter();
        let after = after.filter_map(|key| keyed.entry(key)).map(|entry| entry.key.span.start).min();
        let end = after.filter(|_| at.blocks == 1).unwrap_or(u32::MAX);
        Position { step_end: at.step_end.min(end), ..at }
    }

    fn read_step(&mut self, step: &Step<'_, 'a>, tail: Tail) {
        match step.form.key {
            Key::Call => self.call_step(step, tail),
            Key::Expr | Key::Op => self.value_step(step, tail),
            Key::Match if core::ptr::eq(step.form, &RESULT) => self.result_step(step, tail),
            Key::If => self.if_step(step, tail),
            Key::Assert => self.assert_step(step),
            Key::For => self.for_step(step, tail),
            Key::Try => self.try_step(step, tail),
            Key::While | Key::Until => self.while_step(step),
            Key::Push => self.push_step(step),
            Key::Switch => self.switch_step(step, tail),
            key @ (Key::Return | Key::Ok | Key::Err | Key::Break | Key::Skip) => {
                self.compensations(step.get(Key::Compensate));
                if let Some(entry) = step.keyed.entry(key) {
                    self.leave(key, entry);
                }
            }
            Key::Yield => self.statement_step(step, StmtKind::Yield),
            Key::Compensate => self.compensations(step.get(Key::Compensate)),
            Key::Rollback => self.rollbacks(step.get(Key::Rollback)),
            Key::Fail => {
                self.compensations(step.get(Key::Compensate));
                self.statement_step(step, StmtKind::Fail);
            }
            key => {
                let value = self.construct_of(key, &step.keyed);
                self.finish(Bound::Expr(value), step.target, tail, step.head());
            }
        }
    }

    /// A step whose statement has the value under its key.
    fn statement_step(&mut self, step: &Step<'_, 'a>, made: fn(Expr<'a>) -> StmtKind<'a>) {
        if let Some(node) = step.get(step.form.key) {
            let value = self.value(node);
            self.push(made(value), Span::new(step.start, node.span.end));
        }
    }
}

/// The syntax of a missing part of a step.
fn needed(key: Key) -> &'static str {
    match key {
        Key::In => "write the list that the loop runs over",
        Key::Body => "write the steps of a pass; the last one is what it yields",
        Key::Cases => "write the value for each key, as in `{\"gold\": 20, \"silver\": 10}`",
        Key::Message => "write the message that it fails with",
        Key::Handler => "write what happens when a step fails",
        _ => "add it",
    }
}
