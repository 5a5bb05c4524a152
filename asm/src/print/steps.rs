//! Prints statements as steps.

use super::function;
use super::{Printer, infix, names};
use crate::ast::{
    Binary, Block, Bound, Call, Control, Expr, ExprKind, For, If, Literal, ReturnKind, Slot, Stmt, StmtKind,
    Unary,
};
use crate::dialect::{Key, is_outcome, is_word};
use crate::document::print::{Doc, Pair};
use crate::matched::{matched_call, rollbacks};
use crate::notation::Notation;
use crate::span::Span;
use crate::text::is_name;
use ilo_spec::types::Type;

/// A step without its name.
pub(super) struct Step<'a> {
    /// The slot that it binds.
    pub(super) slot: Option<Slot>,
    /// Whether the slot is read, but not after this step, so that the name of the step would not bind it.
    pub(super) says_so: bool,
    /// The path to the part that it sets instead.
    pub(super) path: Option<String>,
    /// Its name in a workflow if it binds nothing.
    pub(super) label: &'static str,
    /// Its content.
    pub(super) entries: Vec<Pair<'a>>,
}

/// The purpose of the value of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// Nothing.
    Drop,
    /// It is the value of the function.
    Function,
    /// A loop yields it.
    Loop,
    /// Nothing, at the end of an iteration.
    Pass,
    /// Like `Loop` and `Pass`, in a branch at the end of the iteration.
    Yield,
    Inner,
    /// It is bound.
    Bind,
}

impl<'a> Step<'a> {
    pub(super) fn of(slot: Option<Slot>, label: &'static str, entries: Vec<Pair<'a>>) -> Step<'a> {
        Step { slot, says_so: false, path: None, label, entries }
    }
}

impl Goal {
    /// Whether a reader takes the last step as a value.
    pub(super) fn is_read(self) -> bool {
        self != Goal::Drop
    }

    /// Whether it ends an iteration.
    fn is_pass(self) -> bool {
        matches!(self, Goal::Loop | Goal::Pass | Goal::Yield | Goal::Inner)
    }

    /// Whether a reader may take the last step as a value that is not wanted.
    pub(super) fn is_dropped(self, printer: &Printer<'_, '_>) -> bool {
        match self {
            Goal::Drop | Goal::Pass | Goal::Inner => true,
            Goal::Function => printer.function.output.ok.ty == Type::NIL,
            Goal::Loop | Goal::Yield | Goal::Bind => false,
        }
    }

    /// The purpose in a branch of IF, or in an arm.
    pub(super) fn of_branch(self) -> Goal {
        match self {
            Goal::Loop => Goal::Yield,
            Goal::Pass => Goal::Inner,
            other => other,
        }
    }
}

impl<'a> Printer<'_, 'a> {
    /// The statements of a block as steps.
    pub(super) fn steps(&mut self, statements: &[Stmt<'a>], tail: Goal, out: &mut Vec<Step<'a>>) {
        let mut at = 0;
        while let Some(statement) = statements.get(at) {
            if let Some(printed) = self.part_set(statements.get(at..).unwrap_or_default(), tail, out) {
                at += printed;
                continue;
            }
            let rest = statements.get(at + 1..).unwrap_or_default();
            if let Some(matched) = matched_call(statement, rest.first(), false)
                && self.handled(&matched, rest.get(1..).unwrap_or_default(), tail, out)
            {
                at += 2;
                continue;
            }
            let registered = rollbacks(statements.get(at..).unwrap_or_default());
            if !registered.is_empty() {
                let entry = self.rollback(registered);
                out.push(Step::of(None, "undo-later", vec![entry]));
                at += registered.len();
                continue;
            }
            // At the end of a block a call is the value, with or without a rollback.
            let beside = rollbacks(rest);
            let beside = if beside.len() < rest.len() || tail == Goal::Drop { beside } else { &[] };
            let tail = if rest.is_empty() { tail } else { Goal::Drop };
            let silent = self.must_not_give(statement, tail);
            self.statement(statement, tail, out);
            at += 1;
            if let Some(step) = out.last_mut().filter(|_| is_call(statement) && !beside.is_empty()) {
                let mut entries = core::mem::take(&mut step.entries);
                entries.push(self.rollback(beside));
                if let Some(step) = out.last_mut() {
                    step.entries = entries;
                }
                at += beside.len();
            }
            if !silent {
                continue;
            }
            out.push(if tail == Goal::Function { self.done() } else { nothing() });
        }
    }

    /// Prints the step that sets a part of a variable, if statements begin with one. Returns their number.
    fn part_set(&mut self, statements: &[Stmt<'a>], tail: Goal, out: &mut Vec<Step<'a>>) -> Option<usize> {
        let (first, rest) = statements.split_first()?;
        let StmtKind::Let { slot, slot_span, value: bound } = &first.kind else { return None };
        let part = *self.parts.get(slot_span)?;
        let (root, at) = part.root;
        let is_last = |one: &Stmt<'_>| matches!(one.kind, StmtKind::Let { slot_span, .. } if slot_span == at);
        let end = 2 + rest.iter().position(is_last)?;
        let value = statements.get(..end.checked_sub(part.statements)?)?;
        // The value of the step, at the end of a block.
        let given = usize::from(part.gives);
        if part.gives && !(statements.len() == end + given && tail.is_dropped(self)) {
            return None;
        }
        let mut path = Some(self.names.get(root).to_string()).filter(|_| self.names.is_visible(root))?;
        for key in part.keys {
            match key.kind {
                ExprKind::Literal(Literal::Text(name)) if is_name(name) => path.extend([".", name]),
                _ => path.extend(["[", &infix::print(self, key)?, "]"]),
            }
        }
        let word = if part.appends { self.words.word(Key::Push) } else { "expr" };
        let before = out.len();
        match bound {
            Bound::Expr(value) if part.appends => {
                out.push(Step::of(Some(*slot), "set", vec![(word.into(), self.value(value))]));
            }
            _ => self.steps(value, Goal::Drop, out),
        }
        let bound = Expr { kind: ExprKind::Ref(*slot), span: *slot_span };
        match out.get_mut(before..) {
            Some([step]) if step.slot == Some(*slot) => {
                (step.slot, step.label, step.path) = (None, "set", Some(path));
            }
            _ => {
                let entries = vec![(word.into(), self.value(&bound))];
                out.push(Step { path: Some(path), ..Step::of(None, "set", entries) });
            }
        }
        Some(end + given)
    }

    /// Whether it makes a difference that the last step of a block would be its value because it has a name.
    fn must_not_give(&self, last: &Stmt<'a>, tail: Goal) -> bool {
        let StmtKind::Let { slot, value, .. } = &last.kind else { return false };
        let call = matches!(value, Bound::Expr(value) if value.attempt().is_some());
        match tail {
            Goal::Drop => false,
            Goal::Function if self.words.notation != Notation::Workflow || !tail.is_dropped(self) => false,
            // That would read the binding; a name that nothing later can read would not be bound.
            Goal::Pass | Goal::Inner | Goal::Function => {
                self.uses.matched.contains(slot)
                    || (self.read(*slot).is_some() && (call || !self.names.is_visible(*slot)))
            }
            Goal::Loop | Goal::Yield | Goal::Bind => true,
        }
    }

    fn statement(&mut self, statement: &Stmt<'a>, tail: Goal, out: &mut Vec<Step<'a>>) {
        match &statement.kind {
            StmtKind::Let { slot, value: Bound::Expr(value), .. } => {
                let named = self.function.slots.get(slot.0 as usize).is_some_and(|info| info.name.is_some());
                // In a workflow a step with a name that nothing reads is a value when it is read again.
                let last = tail.is_pass() || self.words.notation == Notation::Workflow;
                let unnamed = self.uses.named_last(*slot).is_none() && (!named || last);
                if unnamed && !self.must_not_give(statement, tail) {
                    let entries = self.given(value, Goal::Drop);
                    return out.push(Step::of(None, label(value), entries));
                }
                let entries = self.bound(value);
                out.push(self.binding(Some(*slot), last_read(value).max(statement.span.end), "", entries));
            }
            StmtKind::Let { slot, value: Bound::Control(control), .. } => {
                // An unread binding matters if a MATCH handles something else in the slot.
                let named = self.uses.named_last(*slot).is_some() || self.must_not_give(statement, tail);
                let (slot, tail) = if named { (Some(*slot), Goal::Bind) } else { (None, Goal::Drop) };
                self.control(control, slot, tail, self.uses.whole(statement.span), out);
            }
            StmtKind::Value(value) => {
                let entries = self.given(value, tail);
                out.push(Step::of(None, label(value), entries));
            }
            StmtKind::Return(kind, value) => {
                let entries = self.returns(*kind, value);
                let label = if *kind == ReturnKind::Err { "fail" } else { "done" };
                out.push(Step::of(None, label, entries));
            }
            StmtKind::Fail(value) => {
                let entries = vec![("raise".into(), self.value(value))];
                out.push(Step::of(None, "fail", entries));
            }
            StmtKind::Break => out.push(Step::of(None, "stop", vec![self.flag(Key::Break)])),
            StmtKind::Skip => out.push(Step::of(None, "skip", vec![self.flag(Key::Skip)])),
            StmtKind::Yield(value) => {
                let entries = vec![(self.words.word(Key::Yield).into(), self.value(value))];
                out.push(Step::of(None, "add", entries));
            }
            StmtKind::Undo(call) => {
                let entries = self.compensate(&[*call]).into_iter().collect();
                out.push(Step::of(None, "undo", entries));
            }
            // `steps` prints several at once.
            StmtKind::Rollback(_) => {}
            StmtKind::Control(control) => self.control(control, None, tail, statement.span, out),
        }
    }

    /// The content of a step that binds an expression.
    pub(super) fn bound(&mut self, value: &Expr<'a>) -> Vec<Pair<'a>> {
        match value.kind {
            ExprKind::Call(call) => self.call(call),
            ExprKind::MatchMap(map) => self.cases(map),
            ExprKind::Record(fields) => vec![("obj".into(), self.fields(fields))],
            ExprKind::Merge(base, fields) => self.merge(base, fields),
            ExprKind::Literal(Literal::Text(_))
            | ExprKind::List(_)
            | ExprKind::Template(_)
            | ExprKind::Binary(Binary::Concat, ..)
                if self.words.notation == Notation::Workflow && !self.in_list =>
            {
                vec![("value".into(), self.value(value))]
            }
            _ => vec![("expr".into(), self.formula(value))],
        }
    }

    /// The content of a step that is a value.
    fn given(&mut self, value: &Expr<'a>, tail: Goal) -> Vec<Pair<'a>> {
        match value.kind {
            ExprKind::Record(fields) if tail == Goal::Loop && self.words.notation == Notation::Workflow => {
                match self.value(value) {
                    Doc::Record(entries) if !entries.iter().any(|(key, _)| is_word(key)) => entries,
                    _ => vec![("obj".into(), self.fields(fields))],
                }
            }
            _ => self.bound(value),
        }
    }

    /// The content of a step that returns a value or a failure.
    pub(super) fn returns(&mut self, kind: ReturnKind, value: &Expr<'a>) -> Vec<Pair<'a>> {
        let output = &self.function.output;
        let (key, ty) = match kind {
            ReturnKind::Err => (Some(self.words.word(Key::Message)), Type::ANY),
            ReturnKind::Ok => (Some("ok"), output.ok.ty),
            ReturnKind::Plain => (None, output.ok.ty),
        };
        let formula = ty == Type::NUMBER || ty == Type::BOOL;
        let value = if formula { self.returned_formula(value) } else { self.value(value) };
        match (self.words.returns(), key) {
            (Some(word), Some(key)) => vec![(word.into(), Doc::one(key, value))],
            (Some(word), None) => vec![(word.into(), Self::no_outcome(value))],
            (None, key) => vec![(key.unwrap_or("ok").into(), value)],
        }
    }

    /// A value that cannot be read as `{"ok": …}`.
    fn no_outcome(value: Doc<'a>) -> Doc<'a> {
        match &value {
            Doc::Record(entries) if entries.iter().any(|(key, _)| is_outcome(key)) => Doc::one("obj", value),
            _ => value,
        }
    }

    /// `break`, `skip` or `ignore`.
    pub(super) fn flag(&self, key: Key) -> Pair<'a> {
        (self.words.word(key).into(), Doc::Bool(true))
    }

    /// `compensate` with its calls, if there are any.
    pub(super) fn compensate(&mut self, calls: &[&Call<'a>]) -> Option<Pair<'a>> {
        let calls: Vec<Doc<'a>> = calls.iter().map(|call| Doc::Record(self.call(call))).collect();
        (!calls.is_empty()).then(|| ("compensate".into(), Doc::List(calls)))
    }

    /// `rollback` with its calls, in the order in which they run: the last registered one runs first.
    pub(super) fn rollback(&mut self, registered: &[Stmt<'a>]) -> Pair<'a> {
        let mut calls: Vec<Doc<'a>> = Vec::with_capacity(registered.len());
        for statement in registered.iter().rev() {
            if let StmtKind::Rollback(call) = statement.kind {
                calls.push(Doc::Record(self.call(call)));
            }
        }
        let calls = match calls.pop() {
            Some(only) if calls.is_empty() => only,
            last => Doc::List(calls.into_iter().chain(last).collect()),
        };
        ("rollback".into(), calls)
    }

    fn control(
        &mut self,
        control: &Control<'a>,
        slot: Option<Slot>,
        tail: Goal,
        span: Span,
        out: &mut Vec<Step<'a>>,
    ) {
        match control {
            Control::If(node) => {
                let entries = self.branches(node, tail);
                out.push(self.binding(slot, span.end, "check", entries));
            }
            Control::For(node) => {
                let collected = slot.is_some()
                    || matches!(tail, Goal::Loop | Goal::Yield | Goal::Bind)
                    || (tail == Goal::Function && self.function.output.ok.ty != Type::NIL);
                let entries = self.passes(node, span, collected);
                out.push(self.binding(slot, span.end, "process", entries));
            }
            Control::Try(node) => {
                let entries = self.tried(node, tail.of_branch());
                out.push(self.binding(slot, span.end, "attempt", entries));
            }
            Control::Match(node) => {
                let entries = self.result(node, tail);
                out.push(self.binding(slot, span.end, "outcome", entries));
            }
        }
    }

    /// IF with its branches.
    fn branches(&mut self, node: &If<'a>, tail: Goal) -> Vec<Pair<'a>> {
        if node.otherwise.is_none()
            && let Some(exit) = exit(&node.then, false)
        {
            return self.guard(&node.condition, &exit);
        }
        let mut entries = vec![("if".into(), self.formula(&node.condition))];
        let tail = tail.of_branch();
        entries.push(("then".into(), self.branch_of_if(&node.then, tail)));
        if let Some(otherwise) = &node.otherwise {
            entries.push(("else".into(), self.branch_of_if(otherwise, tail)));
        }
        entries
    }

    /// A branch of IF or the OK arm of a MATCH. It is written as a bare value if that cannot be read as
    /// steps.
    pub(super) fn branch(&mut self, block: &Block<'a>, tail: Goal) -> Doc<'a> {
        if let (Goal::Bind, [Stmt { kind: StmtKind::Value(value), .. }]) = (tail, block.statements)
            && let value = self.value(value)
            && !matches!(value, Doc::List(_) | Doc::Record(_))
        {
            return value;
        }
        self.nested(block, tail)
    }

    /// A branch of IF, where no bare call is a rollback, also in an ERR arm.
    fn branch_of_if(&mut self, block: &Block<'a>, tail: Goal) -> Doc<'a> {
        let outer = core::mem::replace(&mut self.literal, false);
        let branch = self.branch(block, tail);
        self.literal = outer;
        branch
    }

    /// A block inside a step.
    pub(super) fn nested(&mut self, block: &Block<'a>, tail: Goal) -> Doc<'a> {
        let mut steps = Vec::new();
        let place = block.statements.first().map_or_else(Span::default, |first| first.span);
        self.list_of(place, |printer, steps| printer.steps(block.statements, tail, steps), &mut steps);
        // An empty list would be a value.
        steps.extend((steps.is_empty() && tail.is_read()).then(nothing));
        function::listed(self, steps)
    }

    /// Prints the steps of a list.
    pub(super) fn list_of(
        &mut self,
        place: Span,
        make: impl FnOnce(&mut Self, &mut Vec<Step<'a>>),
        steps: &mut Vec<Step<'a>>,
    ) {
        let before = core::mem::replace(&mut self.in_list, true);
        self.deeper(place, |printer| make(printer, steps));
        self.in_list = before;
    }

    /// How a block is left that is only an exit.
    pub(super) fn left(&mut self, way: &Way<'a>) -> Vec<Pair<'a>> {
        match way {
            Way::Returns(kind, value) => self.returns(*kind, value),
            Way::Fails(_) => Vec::new(),
            Way::Breaks => vec![self.flag(Key::Break)],
            Way::Skips => vec![self.flag(Key::Skip)],
        }
    }

    /// IF whose branch leaves the function or a loop.
    fn guard(&mut self, condition: &Expr<'a>, exit: &Exit<'a>) -> Vec<Pair<'a>> {
        let compensate = self.compensate(&exit.calls);
        let returns = self.left(&exit.way);
        let workflow = self.words.notation == Notation::Workflow;
        let fails = matches!(exit.way, Way::Returns(ReturnKind::Err, _));
        let asserts = self.words.notation == Notation::Mcp && fails && self.tries == 0;
        let mut entries = match condition.kind {
            ExprKind::Unary(Unary::Not, holds) if asserts => vec![("assert".into(), self.value(holds))],
            ExprKind::Unary(Unary::Not, holds) if workflow && super::text::path(holds).is_some() => {
                vec![("if".into(), Doc::one("not", self.value(holds)))]
            }
            _ => vec![("if".into(), self.formula(condition))],
        };
        if workflow && compensate.is_none() && matches!(exit.way, Way::Returns(..)) {
            entries.push(("then".into(), Doc::Record(returns)));
        } else {
            entries.extend(compensate);
            entries.extend(returns);
        }
        entries
    }

    /// FOR with its body.
    fn passes(&mut self, node: &For<'a>, span: Span, collected: bool) -> Vec<Pair<'a>> {
        let mut entries = vec![
            ("for".into(), Doc::word(self.names.get(node.item).clone())),
            ("in".into(), self.subject(&node.list)),
        ];
        let tail = if collected && !node.yields { Goal::Loop } else { Goal::Pass };
        let mut steps = Vec::new();
        let (in_list, loop_start) = (self.in_list, self.loop_start);
        let literal = core::mem::replace(&mut self.literal, false);
        let scope = self.names.open(node.item);
        self.in_list = false;
        self.loop_start.get_or_insert(span.start);
        self.deeper(node.span, |printer| printer.steps(node.body.statements, tail, &mut steps));
        (self.in_list, self.loop_start) = (in_list, loop_start);
        if !node.breaks {
            self.names.close(scope);
        }
        let otherwise = node.otherwise.as_ref().map(|block| self.nested(block, Goal::Drop));
        self.literal = literal;
        let body = match self.words.notation {
            Notation::Workflow => function::named_steps(self, steps, true),
            _ => function::listed(self, steps),
        };
        entries.push((self.words.word(Key::Body).into(), body));
        entries.extend(otherwise.map(|steps| (self.words.word(Key::Else).into(), steps)));
        entries
    }
}

/// Whether a statement is a call or binds one.
fn is_call(statement: &Stmt<'_>) -> bool {
    let (StmtKind::Value(value) | StmtKind::Let { value: Bound::Expr(value), .. }) = statement.kind else {
        return false;
    };
    matches!(value.kind, ExprKind::Call(_))
}

/// A step that does nothing and has no value.
pub(super) fn nothing<'a>() -> Step<'a> {
    Step::of(None, "end", vec![("compensate".into(), Doc::List(Vec::new()))])
}

/// Rollbacks, and how the block is left.
pub(super) struct Exit<'a> {
    pub(super) calls: Vec<&'a Call<'a>>,
    pub(super) way: Way<'a>,
}

/// The exit that a branch of IF or an ERR arm is, if it is nothing else.
pub(super) fn exit<'a>(block: &Block<'a>, in_arm: bool) -> Option<Exit<'a>> {
    let (last, before) = block.statements.split_last()?;
    let way = match last.kind {
        StmtKind::Return(kind, value) => Way::Returns(kind, value),
        StmtKind::Fail(value) if in_arm => Way::Fails(value),
        StmtKind::Break => Way::Breaks,
        StmtKind::Skip if !in_arm || before.is_empty() => Way::Skips,
        _ => return None,
    };
    let fails = in_arm && matches!(way, Way::Returns(ReturnKind::Err, _));
    Some(Exit { calls: names::rollbacks(before, fails)?, way })
}

pub(super) enum Way<'a> {
    Returns(ReturnKind, Expr<'a>),
    Fails(Expr<'a>),
    Breaks,
    Skips,
}

/// After the last read of an expression; the span of a statement may cover only its first words.
pub(super) fn last_read(value: &Expr<'_>) -> u32 {
    let mut end = if matches!(value.kind, ExprKind::Ref(_)) { value.span.start.saturating_add(1) } else { 0 };
    value.children(|child| end = end.max(last_read(child)));
    end
}

/// The name in a workflow of a step that is a value and binds nothing.
fn label(value: &Expr<'_>) -> &'static str {
    if matches!(value.kind, ExprKind::Call(_)) { "send" } else { "result" }
}
