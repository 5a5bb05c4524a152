//! Steps to statements: blocks, bindings, and what each kind of step makes.
//!
//! Calls with handlers are the business of [`super::handler`], `if`, `switch` and `for` that of [`super::control`].

use super::keys::Keyed;
use super::reader::{Reader, of_slot};
use super::refer::inner;
use crate::ast::{Block, Bound, Expr, Name, Slot, Stmt, StmtKind};
use crate::diagnostic::Diagnostic;
use crate::dialect::reference::FAILURES;
use crate::dialect::{Form, Key, RESULT, begins_step};
use crate::document::{Entry, Kind, Node};
use crate::document::{entries, first_of, rename, shown};
use crate::span::Span;
use ilo_spec::error::Code;

/// What the value of a block's last step is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// Nothing.
    Drop,
    /// The block's value.
    Value,
    /// The value of a function in JSON: that of a step without a `let`.
    Unnamed,
    /// What a loop's pass yields.
    Yield,
}

impl Tail {
    pub(crate) fn wanted(self) -> bool {
        self != Tail::Drop
    }
}

/// A step and the name that it stands under, in YAML.
#[derive(Clone, Copy)]
pub(crate) struct Item<'d, 'a> {
    pub(crate) name: Option<&'d Node<'a>>,
    pub(crate) node: &'d Node<'a>,
}

impl Item<'_, '_> {
    pub(crate) fn start(&self) -> u32 {
        self.name.map_or(self.node.span.start, |name| name.span.start)
    }
}

/// A step being read: its kind and keys, the name that it binds, and where it stands.
#[derive(Clone, Copy)]
pub(crate) struct Step<'d, 'a> {
    pub(crate) form: &'static Form,
    pub(crate) keyed: Keyed<'d, 'a>,
    pub(crate) target: Option<Name<'a>>,
    pub(crate) start: u32,
    /// Something is wrong with its keys, and so nothing is said of those that are missing.
    pub(crate) faulty: bool,
}

impl<'d, 'a> Step<'d, 'a> {
    /// Where the key stands that makes it what it is.
    pub(crate) fn place(&self) -> Span {
        self.keyed.place(self.form.key)
    }

    /// From its first byte to the key that makes it what it is.
    pub(crate) fn head(&self) -> Span {
        Span::new(self.start, self.place().end)
    }

    pub(crate) fn get(&self, key: Key) -> Option<&'d Node<'a>> {
        self.keyed.get(key)
    }
}

impl<'a> Reader<'_, 'a> {
    /// Reads steps in order. What a handler that skips leaves out stands in the branch where it does not.
    pub(crate) fn steps(&mut self, items: &[Item<'_, 'a>], tail: Tail) {
        let Some((item, rest)) = items.split_first() else { return };
        let mut item = item;
        let mut rest = rest;
        loop {
            let start = self.statements.len();
            self.step(item, rest, if rest.is_empty() { tail } else { Tail::Drop }, tail);
            if core::mem::take(&mut self.took_rest) {
                return;
            }
            if let Some(flag) = self.raised() {
                self.guard(flag, start, rest, tail);
                return;
            }
            let Some((next, after)) = rest.split_first() else { return };
            (item, rest) = (next, after);
        }
    }

    /// A step; `rest` follows it in its block, which is for `of_block`.
    fn step(&mut self, item: &Item<'_, 'a>, rest: &[Item<'_, 'a>], tail: Tail, of_block: Tail) {
        let found = self.deeper(item.node.span, |this| match item.node.kind {
            Kind::Record(_) => this.record_step(item, rest, tail, of_block),
            _ => this.plain_step(item, tail),
        });
        if found.is_none() {
            self.took_rest = true;
        }
    }

    /// Something that is no record in the place of a step: a value, where one may stand.
    fn plain_step(&mut self, item: &Item<'_, 'a>, tail: Tail) {
        let span = Span::new(item.start(), item.node.span.end);
        if item.name.is_none() && !tail.wanted() {
            let found = item.node.kind_name();
            self.report(
                Diagnostic::new(
                    Code::BadStep,
                    first_of(item.node),
                    format!("a step is a record, but this is {found}"),
                )
                .expected(format!("a record with {}", self.dialect.step_words()), found)
                .help(self.dialect.step_form()),
            );
            return;
        }
        let value = self.value(item.node);
        let target = item.name.and_then(|name| self.step_name(name, item.node.span.end));
        self.finish(value, target, tail, span);
    }

    fn record_step(&mut self, item: &Item<'_, 'a>, rest: &[Item<'_, 'a>], tail: Tail, of_block: Tail) {
        let before = self.diagnostics.mark();
        let Some((form, keyed)) = self.kind_of_step(item, tail) else { return };
        let faulty = self.diagnostics.has_errors_since(before);
        if self.blocks == 1 {
            self.step_end = item.node.span.end;
        }
        let named = self.naming.len();
        let names = [item.name.and_then(Node::text), keyed.get(Key::Let).and_then(Node::text)];
        self.naming.extend(names.into_iter().flatten());
        self.renamed(names);
        let target = self.target(item, &keyed);
        let step = Step { form, keyed, target, start: item.start(), faulty };
        for &key in form.needs {
            if !(keyed.has(key) || faulty) {
                let what = format!("a step with `{}`", self.dialect.word(form.key));
                self.missing(step.place(), key, &what, needed(key));
            }
        }
        match form.key {
            Key::Call => self.call_step(&step, rest, tail, of_block),
            Key::Match if core::ptr::eq(form, &RESULT) => self.result_step(&step, rest, tail, of_block),
            Key::If => self.if_step(&step, tail),
            Key::Assert => self.assert_step(&step),
            Key::For => self.for_step(&step, tail),
            Key::Switch => self.switch_step(&step, tail),
            Key::Return | Key::Ok | Key::Err => self.return_step(&step),
            Key::Yield => self.yield_step(&step, tail),
            Key::Skip => self.skip_step(&step),
            Key::Compensate => self.compensations(step.get(Key::Compensate)),
            Key::Fail => self.fail_step(&step),
            _ => {
                let value = self.construct_of(form.key, &keyed);
                self.finish(value, target, tail, step.head());
            }
        }
        self.naming.truncate(named);
    }

    /// Notes that the name over a step is not that of its value.
    fn renamed(&mut self, names: [Option<&'a str>; 2]) {
        if let [Some(over), Some(own)] = names
            && over != own
        {
            self.scope.rename(over, own);
        }
    }

    /// The name that a step binds.
    fn target(&mut self, item: &Item<'_, 'a>, keyed: &Keyed<'_, 'a>) -> Option<Name<'a>> {
        match keyed.get(Key::Let) {
            Some(node) => self.binder(node),
            None => item.name.and_then(|name| self.step_name(name, item.node.span.end)),
        }
    }

    /// The name of a step in YAML, where something behind it refers to it.
    pub(crate) fn step_name(&mut self, name: &Node<'a>, end: u32) -> Option<Name<'a>> {
        let text = self.name_of(name)?;
        let bound = self.binder(name)?;
        // What a loop binds its next pass may read further up.
        let from = self.open_loops.first().map_or(end, |open| open.start);
        if self.survey.used_after(text, from) {
            return Some(bound);
        }
        self.scope.unbound(text);
        None
    }

    fn name_of(&self, node: &Node<'a>) -> Option<&'a str> {
        match node.kind {
            Kind::Text(text) => Some(text.text),
            Kind::Number(_) | Kind::Bool(_) | Kind::Null => Some(self.arena.alloc_str(&shown(node))),
            _ => None,
        }
    }

    /// A name that is bound; says where it must not be.
    pub(crate) fn binder(&mut self, node: &Node<'a>) -> Option<Name<'a>> {
        let Kind::Text(text) = node.kind else {
            self.bad_shape(node, "the name that is bound", "a text");
            return None;
        };
        let stripped = text.text.trim_start_matches('$').trim_start_matches('{').trim_end_matches('}');
        if text.text.starts_with('$') && crate::text::is_name(stripped) {
            let mut wrong = Diagnostic::new(Code::BadReference, node.span, "a name is bound without `$`")
                .expected(format!("`{stripped}`"), format!("`{}`", shown(node)));
            wrong.fix = rename(node, stripped);
            self.report(wrong);
            return Some(Name { text: stripped, span: node.span });
        }
        if text.text.is_empty() {
            self.bad_shape(node, "the name that is bound", "a name, which is not empty");
            return None;
        }
        if FAILURES.contains(&text.text) || text.text == crate::dialect::reference::INPUT {
            self.report(
                Diagnostic::new(
                    Code::ReservedName,
                    node.span,
                    format!("`{}` is kept for what it means", text.text),
                )
                .expected("another name", format!("`{}`", text.text))
                .help("`err` and `error` are the failure in a handler, `input` the record of inputs"),
            );
            return None;
        }
        Some(Name { text: text.text, span: inner(node) })
    }

    /// The slot of a name that is bound here.
    pub(crate) fn bind(&mut self, name: Name<'a>) -> Slot {
        // Where every path comes by here, and the input is not read as such any more, nothing tells the two apart.
        let read = self.survey.input_read(name.text);
        let whole = self.blocks == 1 && read.is_none_or(|last| last <= self.step_end);
        self.scope.bind(name.text, whole || self.dialect.is_bare())
    }

    /// Ends a step that is an expression: binds it, or leaves it as what it is.
    pub(crate) fn finish(&mut self, value: Expr<'a>, target: Option<Name<'a>>, tail: Tail, span: Span) {
        self.finish_bound(Bound::Expr(value), target, tail, span);
    }

    /// Ends a step with a value: binds it, or leaves it as what it is.
    pub(crate) fn finish_bound(
        &mut self,
        value: Bound<'a>,
        target: Option<Name<'a>>,
        tail: Tail,
        span: Span,
    ) {
        let statement = |value| match value {
            Bound::Expr(value) => StmtKind::Value(value),
            Bound::Control(control) => StmtKind::Control(control),
        };
        let Some(name) = target else { return self.push(statement(value), span) };
        let is_value = matches!(tail, Tail::Value | Tail::Yield);
        if is_value && self.scope.find(name.text).is_none() {
            // Nothing can read the name any more.
            self.scope.pass(name.text, tail == Tail::Yield);
            return self.push(statement(value), span);
        }
        let slot = self.bind(name);
        self.push(StmtKind::Let { slot, slot_span: name.span, value }, span);
        if is_value {
            self.push_slot(slot, name.span, span);
        }
    }

    /// What the last statement has bound, as the value of its step; nothing where it never comes to one.
    pub(crate) fn push_slot(&mut self, slot: Slot, slot_span: Span, span: Span) {
        if self.statements.last().is_some_and(Stmt::completes) {
            self.push(StmtKind::Value(of_slot(slot, slot_span)), span);
        }
    }

    /// Binds the value of the block whose statements begin at `start`.
    pub(crate) fn bind_last(&mut self, start: usize, slot: Slot, slot_span: Span) {
        if self.statements.len() <= start {
            return;
        }
        if let Some(last) = self.statements.last_mut() {
            let value = match last.kind {
                StmtKind::Value(value) => Bound::Expr(value),
                StmtKind::Control(control) => Bound::Control(control),
                _ => return,
            };
            last.kind = StmtKind::Let { slot, slot_span, value };
        }
    }

    /// A block of steps, or a value where one is wanted: what stands under `then`, `else`, `do`, `yield`.
    pub(crate) fn branch(&mut self, node: &Node<'a>, tail: Tail, what: &str) -> Block<'a> {
        self.block(|this| this.branch_steps(node, tail, what))
    }

    pub(crate) fn branch_steps(&mut self, node: &Node<'a>, tail: Tail, what: &str) {
        let has_word =
            |node: &Node<'a>| entries(node).iter().any(|entry| entry.name().is_some_and(begins_step));
        match &node.kind {
            Kind::List(items) => {
                let are_steps = !items.is_empty() && items.iter().all(has_word);
                if tail == Tail::Value && !are_steps {
                    return self.value_branch(node);
                }
                let items: Vec<Item<'_, 'a>> = items.iter().map(|node| Item { name: None, node }).collect();
                self.steps(&items, tail);
            }
            Kind::Record(list)
                if tail == Tail::Value && self.dialect.is_yaml() && !has_word(node) && {
                    !list.iter().any(|entry| has_word(&entry.value))
                } =>
            {
                self.value_branch(node);
            }
            Kind::Record(list)
                if tail == Tail::Yield
                    && self.dialect.is_yaml()
                    && list.len() > 1
                    && list.iter().all(|entry| self.is_field(entry)) =>
            {
                self.value_branch(node);
            }
            Kind::Record(entries) if self.dialect.is_yaml() && !has_word(node) => {
                let items: Vec<Item<'_, 'a>> = named(entries);
                if tail == Tail::Yield {
                    self.lost_values(&items);
                }
                self.steps(&items, tail);
            }
            Kind::Record(_) => self.steps(&[Item { name: None, node }], tail),
            _ if tail.wanted() => self.value_branch(node),
            _ => self.bad_shape(node, &format!("`{what}`"), "a list of steps"),
        }
    }

    /// Whether an entry is a field of what a loop yields: no step is a value under a name that nothing has yet.
    fn is_field(&self, entry: &Entry<'a>) -> bool {
        let is_new = |name: &str| !begins_step(name) && self.scope.find(name).is_none();
        entry.name().is_some_and(is_new) && Self::is_data(&entry.value)
    }

    /// Whether nothing makes a value a step.
    fn is_data(node: &Node<'a>) -> bool {
        // What belongs to a step makes one of a record whose own word is misspelt.
        const PARTS: [&str; 8] = ["let", "args", "arguments", "parameters", "catch", "cases", "yield", "do"];
        let word = |name: &str| begins_step(name) || PARTS.contains(&name);
        let list = entries(node);
        let operation =
            matches!(list, [only] if only.name().is_some_and(|name| name == "value" || is_operator(name)));
        !operation && !list.iter().any(|entry| entry.name().is_some_and(word))
    }

    /// Warns of values in a pass of a loop that stand under names of their own, of which only the last is yielded.
    fn lost_values(&mut self, items: &[Item<'_, 'a>]) {
        const VALUES: [Key; 6] = [Key::Expr, Key::Obj, Key::Value, Key::Op, Key::Merge, Key::Cases];
        let Some((last, before)) = items.split_last() else { return };
        let from = self.open_loops.first().map_or(0, |open| open.start);
        let is_value = |item: &Item<'_, 'a>| {
            let words = entries(item.node);
            let names = |name: &str| {
                self.dialect.meaning(name, &VALUES).is_some()
                    || crate::dialect::operator::find(name).is_some()
            };
            let has = |word: &str| words.iter().any(|entry| entry.name() == Some(word));
            !has("let")
                && (Self::is_data(item.node) || words.iter().any(|entry| entry.name().is_some_and(names)))
        };
        let is_lost = |item: &&Item<'_, 'a>| {
            let name = item.name.and_then(Node::text);
            is_value(item)
                && name.is_some_and(|name| {
                    self.scope.find(name).is_none() && !self.survey.used_after(name, from)
                })
        };
        let lost: Vec<&Item<'_, 'a>> = before.iter().filter(is_lost).collect();
        let Some(first) = lost.first().copied().filter(|_| is_value(last)) else { return };
        let fields: Vec<&str> =
            lost.iter().chain([&last]).filter_map(|item| item.name.and_then(Node::text)).collect();
        let shown: Vec<String> = fields.iter().take(8).map(|name| format!("{name}: ${{{name}}}")).collect();
        let name = fields.first().copied().unwrap_or("");
        let message = format!("nothing reads `{name}`, and what a pass yields is its last step alone");
        let place = first.name.map_or(first.node.span, |name| name.span);
        let warning = Diagnostic::new(Code::LostValue, place, message)
            .expected("a step that reads it, or a record of all as the last step", format!("`{name}`"));
        self.report(warning.help(format!(
            "to yield a record of them, add a last step with `obj:`, and below it `{}`",
            shown.join("`, `")
        )));
    }

    fn value_branch(&mut self, node: &Node<'a>) {
        let value = self.value(node);
        self.push(StmtKind::Value(value), node.span);
    }

    /// `raise`: any function fails with a value.
    fn fail_step(&mut self, step: &Step<'_, 'a>) {
        if let Some(node) = step.get(Key::Fail) {
            let value = self.value(node);
            self.push(StmtKind::Fail(value), Span::new(step.start, node.span.end));
        }
    }

    /// `yield` as a step: the value of a pass.
    fn yield_step(&mut self, step: &Step<'_, 'a>, tail: Tail) {
        let Some(node) = step.get(Key::Yield) else { return };
        let value = self.value(node);
        if tail != Tail::Yield {
            let in_loop = !self.open_loops.is_empty();
            let (message, help) = if in_loop {
                ("a pass yields with its last step", "put what follows before it")
            } else {
                ("`yield` stands only in a loop", "bind the value with `let`, or return it")
            };
            self.report(
                Diagnostic::new(Code::BadStep, step.place(), message)
                    .expected("`yield` as the last step of a loop", "it elsewhere")
                    .help(help),
            );
            return;
        }
        if !self.dialect.has(Key::Yield) {
            let word = if matches!(node.kind, Kind::Record(_)) { Key::Obj } else { Key::Value };
            let word = self.dialect.word(word);
            let fix = step.keyed.entry(Key::Yield).and_then(|entry| rename(&entry.key, word));
            let message = format!("the last step of a loop is what it yields: `{word}` does here");
            self.sister_word(step.place(), message, word, "yield", fix);
        }
        self.push(StmtKind::Value(value), step.head());
    }

    pub(crate) fn bad_step(&mut self, span: Span, message: &str, expected: &str, found: &str, help: &str) {
        self.report(
            Diagnostic::new(Code::BadStep, span, message).expected(expected, found).help(help.to_owned()),
        );
    }
}

fn is_operator(name: &str) -> bool {
    crate::dialect::operator::find(name).is_some()
}

/// How what is missing beside a step is written.
fn needed(key: Key) -> &'static str {
    match key {
        Key::In => "say what the loop runs over",
        Key::Body => "say what each pass does; its last step is what it yields",
        Key::Cases => "give what each value stands for, as in `{\"gold\": 20, \"silver\": 10}`",
        Key::Message => "say with which message it fails",
        _ => "add it",
    }
}

/// The entries of a record as steps under their names.
pub(crate) fn named<'d, 'a>(entries: &'d [Entry<'a>]) -> Vec<Item<'d, 'a>> {
    entries.iter().map(|entry| Item { name: Some(&entry.key), node: &entry.value }).collect()
}
