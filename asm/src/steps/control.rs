//! `if`, `assert`, `switch` and `for`.

use super::keys::Keyed;
use super::reader::{Loop, Reader, literal};
use super::steps::{Step, Tail};
use crate::ast::{Block, Bound, Control, Expr, For, If, Literal, ReturnKind, StmtKind};
use crate::diagnostic::Diagnostic;
use crate::dialect::{ARM, Key};
use crate::document::edit::{Draft, mendable};
use crate::document::{Entry, Kind, Node};
use crate::document::{entries, first_of, shown};
use crate::span::Span;
use ilo_spec::error::Code;

/// The ways of an `if` or of an arm to end the function.
const LEAVES: [Key; 3] = [Key::Return, Key::Ok, Key::Message];

impl<'a> Reader<'_, 'a> {
    /// The key that says how a record ends the function.
    fn leaving<'d>(&mut self, keyed: &Keyed<'d, 'a>) -> Option<(Key, &'d Entry<'a>)> {
        let mut given = LEAVES.iter().filter_map(|&key| keyed.entry(key).map(|entry| (key, entry)));
        let first = given.next()?;
        if let Some((_, entry)) = given.next() {
            let found = shown(&entry.key);
            self.bad_step(
                entry.key.span,
                &format!("the function is left once, by `{}` or by `{found}`", shown(&first.1.key)),
                "one of them",
                "both",
                "leave one of them out",
            );
        }
        Some(first)
    }

    pub(crate) fn if_step(&mut self, step: &Step<'_, 'a>, tail: Tail) {
        let Some(condition) = step.get(Key::If) else { return };
        let condition = self.condition(condition);
        let tail_of_blocks = if step.target.is_some() { Tail::Value } else { tail };
        let leaving = self.leaving(&step.keyed);
        let then = match (leaving, step.keyed.entry(Key::Then)) {
            (Some((key, entry)), None) => self.block(|this| {
                this.compensations(step.get(Key::Compensate));
                this.leave(key, entry);
            }),
            (leaving, Some(then)) => {
                if let Some((_, entry)) = leaving {
                    self.bad_step(
                        entry.key.span,
                        &format!("`{}` and `then` both say what happens", shown(&entry.key)),
                        "one of them",
                        "both",
                        "make the return the last step under `then`",
                    );
                }
                self.branch(&then.value, tail_of_blocks, "then")
            }
            (None, None) if step.faulty => Block { statements: &[] },
            (None, None) => {
                let word =
                    self.dialect.word(if self.dialect.has(Key::Return) { Key::Return } else { Key::Ok });
                let help = format!("write `{word}` or `then` beside it");
                self.missing(step.place(), Key::Then, "a step with `if`", &help);
                Block { statements: &[] }
            }
        };
        let otherwise =
            step.keyed.entry(Key::Else).map(|entry| self.branch(&entry.value, tail_of_blocks, "else"));
        let node = If { condition, then, otherwise, span: step.place() };
        let control = Control::If(self.arena.alloc(node));
        self.finish_bound(Bound::Control(control), step.target, tail, step.head());
    }

    pub(crate) fn assert_step(&mut self, step: &Step<'_, 'a>) {
        let Some(condition) = step.get(Key::Assert) else { return };
        let at = step.place();
        let condition = self.condition(condition);
        let condition = self.not(condition, condition.span);
        let message = step.keyed.entry(Key::Message);
        let then = self.block(|this| {
            this.compensations(step.get(Key::Compensate));
            if let Some(entry) = message {
                this.fail_with(&entry.value, entry.key.span);
            }
        });
        let node = If { condition, then, otherwise: None, span: at };
        self.push(StmtKind::Control(Control::If(self.arena.alloc(node))), step.head());
    }

    pub(crate) fn for_step(&mut self, step: &Step<'_, 'a>, tail: Tail) {
        let Some(variable) = step.get(Key::For) else { return };
        let list = match step.get(Key::In) {
            Some(node) => self.subject(node),
            None => literal(Literal::Nil, variable.span),
        };
        let id = self.new_loop();
        self.scope.open();
        let name = match variable.kind {
            Kind::List([first, ..]) => {
                self.counted(variable);
                self.binder(first)
            }
            _ => self.binder(variable),
        };
        let (item, item_span) = match name {
            Some(name) => (self.bind(name), name.span),
            None => (self.hidden(None), variable.span),
        };
        let before = self.diagnostics.mark();
        self.open_loops.push(Loop { start: step.start, level: self.blocks, skipped: None });
        let body = match step.get(Key::Body) {
            Some(node) => {
                let word = self.dialect.word(Key::Body);
                self.branch(node, Tail::Yield, word)
            }
            None => Block { statements: &[] },
        };
        self.open_loops.pop();
        self.scope.close();
        let node = For { id, item, item_span, list, body, span: step.place() };
        let control = Control::For(self.arena.alloc(node));
        // Of a body that could not be read nobody knows.
        let gives = step.keyed.has(Key::Let) || yields(&body) || self.diagnostics.has_errors_since(before);
        let target = step.target.filter(|_| gives);
        self.finish_bound(Bound::Control(control), target, tail, step.head());
    }

    /// Reports a loop with a name for the place of its element.
    fn counted(&mut self, variable: &Node<'a>) {
        let Kind::List(names) = variable.kind else { return };
        let wrong = Diagnostic::new(Code::BadShape, first_of(variable), "a loop names its element alone")
            .expected("a name, a text", "a list");
        self.report(
            wrong
                .help("count in a variable that is bound to 0 before the loop, and bound again in each pass"),
        );
        names.iter().skip(1).filter_map(Node::text).for_each(|name| self.scope.lose(name));
    }

    pub(crate) fn switch_step(&mut self, step: &Step<'_, 'a>, tail: Tail) {
        let Some(node) = step.get(Key::Switch) else { return };
        let Kind::List(arms) = &node.kind else {
            self.bad_shape(node, "`switch`", "a list of arms, each with `if`, the last with `default`");
            return;
        };
        let by_name = step.target.is_some();
        if !self.dialect.is_yaml() {
            self.sister_switch(step, arms);
        }
        let start = self.statements.len();
        let of_arms = if by_name { Tail::Value } else { tail };
        let before = self.switched;
        self.arms(arms, of_arms, by_name);
        let returned = core::mem::replace(&mut self.switched, before);
        if returned.is_some() && tail == Tail::Yield && !by_name {
            self.report(
                Diagnostic::new(
                    Code::SwitchReturns,
                    step.head(),
                    "a `return` in this switch ends the function, not the pass of the loop",
                )
                .expected("a value for the pass", "a return")
                .help("refer to the switch by its name in a step behind it: then `return` is its value"),
            );
        }
        let Some(name) = step.target else { return };
        let slot = self.bind(name);
        self.bind_last(start, slot, name.span);
        if matches!(tail, Tail::Value | Tail::Yield) {
            self.push_slot(slot, name.span, step.head());
        }
    }

    /// Warns of a switch where steps with `if` stand one behind the other.
    fn sister_switch(&mut self, step: &Step<'_, 'a>, arms: &[Node<'a>]) {
        let leaves = |node: &Node<'a>| {
            entries(node)
                .iter()
                .any(|entry| entry.name().is_some_and(|name| self.dialect.meaning(name, &LEAVES).is_some()))
        };
        let text = |node: &Node<'a>| {
            let default = entries(node).iter().find(|entry| entry.name() == Some("default"));
            match default {
                None => leaves(node).then(|| self.source.get(node.span.range()))?.map(str::to_owned),
                Some(default) if leaves(&default.value) => {
                    self.source.get(default.value.span.range()).map(str::to_owned)
                }
                Some(default) if matches!(default.value.kind, Kind::Null) => {
                    let rest = entries(node).iter().filter(|entry| entry.name() != Some("default"));
                    let rest =
                        rest.filter_map(|entry| Some((entry.name()?, Draft::Kept(entry.value)))).collect();
                    leaves(node).then(|| Draft::Record(rest).text(self.source, self.dialect.is_bare()))
                }
                Some(_) => None,
            }
        };
        let steps: Option<Vec<String>> = arms.iter().map(text).collect();
        let steps =
            steps.filter(|steps| !steps.is_empty() && step.target.is_none() && mendable(step.keyed.span));
        let message = "`switch` is another notation's word for steps with `if`, and read as those";
        let warning = Diagnostic::new(Code::SisterWord, step.place(), message)
            .expected("a step with `if` for each arm, one behind the other", "`switch`");
        self.report(match steps {
            Some(steps) => warning.replace(step.keyed.span, steps.join(", ")),
            None => warning.help("a value for each condition is a step with `let`, `if`, `then` and `else`"),
        });
    }

    /// The arms of a switch, in order: those that end the function one behind the other, else each in the other branch
    /// of the one before.
    fn arms(&mut self, mut arms: &[Node<'a>], tail: Tail, by_name: bool) {
        while let Some((node, rest)) = arms.split_first() {
            if !matches!(node.kind, Kind::Record(_)) {
                self.bad_shape(node, "an arm of a switch", "a record with `if` or `default`");
                arms = rest;
                continue;
            }
            let keyed = self.keyed(node, &ARM, "an arm of a switch");
            let Some(condition) = keyed.entry(Key::If) else {
                self.last_arm(node, &keyed, rest, tail, by_name);
                return;
            };
            let at = condition.key.span;
            let test = self.condition(&condition.value);
            let then = self.block(|this| this.arm(&keyed, &keyed, at, tail, by_name));
            if ends(&then) {
                self.push_if(test, then, None, at);
                arms = rest;
                continue;
            }
            let otherwise = if rest.is_empty() {
                None
            } else {
                let read = self.deeper(at, |this| this.block(|this| this.arms(rest, tail, by_name)));
                read.filter(|block| !block.statements.is_empty())
            };
            self.push_if(test, then, otherwise, at);
            return;
        }
    }

    fn push_if(&mut self, condition: Expr<'a>, then: Block<'a>, otherwise: Option<Block<'a>>, span: Span) {
        let node = If { condition, then, otherwise, span };
        self.push(StmtKind::Control(Control::If(self.arena.alloc(node))), span);
    }

    /// The arm with `default`, which holds what it does or stands beside it.
    fn last_arm(
        &mut self,
        node: &Node<'a>,
        keyed: &Keyed<'_, 'a>,
        rest: &[Node<'a>],
        tail: Tail,
        by_name: bool,
    ) {
        let Some(default) = keyed.entry(Key::Default) else {
            self.missing(
                first_of(node),
                Key::If,
                "an arm of a switch",
                "write `if`, or `default` in the last one",
            );
            return;
        };
        if let Some(next) = rest.first() {
            self.bad_step(
                first_of(next),
                "no arm behind `default` is ever taken",
                "`default` as the last arm",
                "an arm behind it",
                "put `default` last",
            );
        }
        let at = default.key.span;
        let says = [Key::Return, Key::Ok, Key::Message, Key::Then, Key::Value];
        let beside = says.iter().find_map(|&key| keyed.entry(key));
        if let Some(entry) = beside.filter(|_| !matches!(default.value.kind, Kind::Null)) {
            let found = shown(&entry.key);
            self.bad_step(
                entry.key.span,
                &format!("`default` and `{found}` both say what the last arm gives"),
                "one of them",
                "both",
                &format!(
                    "write `default:` with nothing behind it where `{found}` says what it gives, or leave \
                     `{found}` out"
                ),
            );
        }
        match &default.value.kind {
            Kind::Null => self.arm(keyed, keyed, at, tail, by_name),
            Kind::Record(_) => {
                let inner = self.keyed(&default.value, &ARM, "an arm of a switch");
                self.arm(&inner, keyed, at, tail, by_name);
            }
            _ => {
                let value = self.returned(&default.value);
                if !by_name && self.is_result() {
                    self.plain_default(default);
                }
                if by_name {
                    self.push(StmtKind::Value(value), default.value.span);
                } else {
                    self.switched = Some(at);
                    self.push(StmtKind::Return(ReturnKind::Plain, value), default.value.span);
                }
            }
        }
    }

    /// What an arm does.
    fn arm(&mut self, keyed: &Keyed<'_, 'a>, outer: &Keyed<'_, 'a>, at: Span, tail: Tail, by_name: bool) {
        self.compensations(keyed.get(Key::Compensate).or(outer.get(Key::Compensate)));
        if let Some(node) = keyed.get(Key::Then) {
            return self.branch_steps(node, tail, "then");
        }
        if let Some(node) = keyed.get(Key::Value) {
            let value = self.value(node);
            return self.push(StmtKind::Value(value), node.span);
        }
        match self.leaving(keyed) {
            Some((Key::Return, entry)) if by_name && !is_result_form(entry) => {
                let value = self.value(&entry.value);
                self.push(StmtKind::Value(value), entry.value.span);
            }
            Some((key, entry)) => {
                if key == Key::Return && !is_result_form(entry) {
                    self.switched = self.switched.or(Some(entry.key.span));
                }
                self.leave(key, entry);
            }
            None => {
                let word = self.dialect.word(Key::Return);
                self.missing(
                    at,
                    Key::Return,
                    "an arm of a switch",
                    &format!("write `{word}` or `then` beside it"),
                );
            }
        }
    }
}

/// Whether a `return` holds `ok` or a failure.
fn is_result_form(entry: &Entry<'_>) -> bool {
    matches!(crate::document::entries(&entry.value), [only] if matches!(only.name(), Some("ok" | "error" | "err")))
}

/// Whether no path reaches the end of a block, as far as its last statement tells.
fn ends(block: &Block<'_>) -> bool {
    matches!(block.statements.last().map(|last| last.kind), Some(StmtKind::Return(..) | StmtKind::Fail(_)))
}

/// Whether a pass with this body can yield.
fn yields(block: &Block<'_>) -> bool {
    match block.statements.last().map(|last| last.kind) {
        Some(StmtKind::Value(_)) => true,
        Some(StmtKind::Control(Control::If(node))) => {
            yields(&node.then) || node.otherwise.as_ref().is_some_and(yields)
        }
        Some(StmtKind::Control(Control::Match(node))) => {
            [&node.err, &node.ok].into_iter().flatten().any(|arm| yields(&arm.body))
        }
        Some(StmtKind::Control(Control::For(node))) => yields(&node.body),
        _ => false,
    }
}
