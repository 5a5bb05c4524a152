//! Reads the content of `then`, `else` and the body of a loop: steps, or a value if one is needed.

use super::reader::StepReader;
use super::step::{Item, Tail};
use crate::ast::{Block, StmtKind};
use crate::diagnostic::Diagnostic;
use crate::dialect::reader_habits::Asked;
use crate::dialect::{
    Key, begins_step, changes, copies_itself, is_operation, is_plain, is_record_value, is_value_step,
    lists_steps, names_steps, operator,
};
use crate::document::{Entry, Kind, Node, entries, first_of};
use crate::foreign;
use crate::span::Span;
use ilo_spec::error::Code;

impl<'a> StepReader<'_, 'a> {
    /// The block under `key`.
    pub(crate) fn branch(&mut self, node: &Node<'a>, tail: Tail, key: Key) -> Block<'a> {
        self.block(|this| this.branch_steps(node, tail, key))
    }

    /// The block under `key` beside `let` with `if`: the place of a value.
    pub(crate) fn choice(&mut self, node: &Node<'a>, key: Key) -> Block<'a> {
        let is_list =
            matches!(node.kind, Kind::List(items) if items.iter().all(is_value_step) && !items.is_empty());
        let steps = match node.kind {
            Kind::List(items) => lists_steps(items),
            Kind::Record(_) if self.dialect.is_yaml() && names_steps(node) => !is_record_value(node, true),
            _ => !is_value_step(node),
        };
        if steps {
            return self.branch(node, Tail::Value, key);
        }
        if is_list || is_value_step(node) {
            self.value_as_record(node);
        }
        self.block(|this| this.value_branch(node))
    }

    /// Warns about `{value: V}` alone in the place of a value.
    fn value_as_record(&mut self, node: &Node<'a>) {
        let only = if let Kind::List([only]) = node.kind { only } else { node };
        let [entry] = entries(only) else { return };
        let text = self.source.get(entry.value.span.range()).filter(|_| entry.value.is_scalar());
        let message = "beside `let` with `if` this is a record with the field `value`";
        let wrong = Diagnostic::new(Code::ValueRecord, entry.key.span, message)
            .expected("the value alone, or `obj` around the record", "`value`");
        self.report(match text {
            Some(text) => wrong.replace(node.span, text),
            None => wrong.help("write the value alone; for a record with this field write `obj` around it"),
        });
    }

    /// Reads the block under `key` into the current one.
    pub(crate) fn branch_steps(&mut self, node: &Node<'a>, tail: Tail, key: Key) {
        let mut node = node;
        if self.in_loop() && node.text().is_some() {
            let asked = Asked::Step { name: None, wanted: tail.wanted(), last: false };
            node = self.rewritten(asked, node).unwrap_or(node);
        }
        self.scope.open_block();
        self.steps_or_value(node, tail, key);
        self.scope.close_block();
    }

    fn steps_or_value(&mut self, node: &Node<'a>, tail: Tail, key: Key) {
        let yaml = self.dialect.is_yaml();
        match &node.kind {
            Kind::List(items) => self.steps(&Item::listed(items), tail),
            Kind::Record(list) if yaml && names_steps(node) => {
                let is_value = match tail {
                    Tail::Value => {
                        let named = |entry: &Entry<'a>| matches!(entry.value.kind, Kind::Record(_));
                        is_record_value(node, false) && !list.iter().all(named)
                    }
                    Tail::Yield => {
                        is_copy(list) || list.len() > 1 && list.iter().all(|entry| self.is_field(entry))
                    }
                    _ => false,
                };
                if is_value {
                    return self.value_branch(node);
                }
                let items = Item::named(list);
                if tail == Tail::Yield {
                    self.lost_values(&items);
                }
                self.steps(&items, tail);
            }
            Kind::Record(_) => self.steps(&[Item { name: None, node }], tail),
            _ if tail.wanted() => self.value_branch(node),
            _ => self.no_steps(node, key),
        }
    }

    #[inline(never)]
    fn no_steps(&mut self, node: &Node<'a>, key: Key) {
        let (word, found) = (self.dialect.word(key), node.kind_name());
        let fail = if self.dialect.is_yaml() { "raise: 'why'" } else { "{\"raise\": \"why\"}" };
        let message = format!("`{word}` is a list of steps, but this is {found}");
        let wrong = Diagnostic::new(Code::BadShape, first_of(node), message);
        let help = format!("a step that fails is `{fail}`; a branch without steps is left out");
        self.report(wrong.expected("a list of steps", found).help(help));
    }

    fn value_branch(&mut self, node: &Node<'a>) {
        let value = self.value(node);
        self.push(StmtKind::Value(value), node.span);
    }

    /// Whether an entry is a field of the value that a loop yields: a step is not a value under an unused
    /// name.
    fn is_field(&self, entry: &Entry<'a>) -> bool {
        let is_free = |name: &str| is_plain(&entry.value) || self.scope.find(name).is_none();
        entry.is(|name| !begins_step(name) && is_free(name)) && is_data(&entry.value)
    }

    /// Warns about several named values in an iteration of a loop, of which only the last is yielded.
    fn lost_values(&mut self, items: &[Item<'_, 'a>]) {
        let Some((last, before)) = items.split_last() else { return };
        let from = self.loops.first().map_or(0, |open| open.start);
        let is_lost = |item: &&Item<'_, 'a>| {
            let unread = |name: &str| self.scope.find(name).is_none() && !self.survey.used_after(name, from);
            self.is_value_step(item) && item.name.and_then(Node::text).is_some_and(unread)
        };
        let lost: Vec<&Item<'_, 'a>> = before.iter().filter(is_lost).collect();
        let Some(first) = lost.first().copied().filter(|_| self.is_value_step(last)) else { return };
        let fields: Vec<&str> =
            lost.iter().chain([&last]).filter_map(|item| item.name.and_then(Node::text)).collect();
        let shown: Vec<String> = fields.iter().take(8).map(|name| format!("{name}: ${{{name}}}")).collect();
        let name = fields.first().copied().unwrap_or("");
        let message = format!("nothing reads `{name}`, and what a pass yields is its last step alone");
        let place: Span = first.name.map_or(first.node.span, |name| name.span);
        self.report(
            Diagnostic::new(Code::LostValue, place, message)
                .expected("a step that reads it, or a record of all as the last step", format!("`{name}`"))
                .help(format!(
                    "to yield a record of them, add a last step with `{}:`, and below it `{}`",
                    self.dialect.word(Key::Obj),
                    shown.join("`, `")
                )),
        );
    }

    /// Whether a step is only a value.
    fn is_value_step(&self, item: &Item<'_, 'a>) -> bool {
        const VALUES: [Key; 6] = [Key::Expr, Key::Obj, Key::Value, Key::Op, Key::Merge, Key::Cases];
        let list = entries(item.node);
        let makes_value = |name: &str| self.dialect.key(name, &VALUES).is_some() || operator::is(name);
        let binds = list.iter().any(|entry| entry.is(|name| name == "let" || changes(name)));
        !binds && (is_data(item.node) || list.iter().any(|entry| entry.is(makes_value)))
    }
}

/// Whether the body of a loop is a record of values in which one before the last copies a name: as a step,
/// nothing would read it.
fn is_copy(list: &[Entry<'_>]) -> bool {
    let is_value = |entry: &Entry<'_>| {
        let operation = is_operation(entries(&entry.value));
        entry.is(|name| !begins_step(name)) && (operation || is_data(&entry.value))
    };
    let before = list.split_last().map_or(list, |(_, before)| before);
    before.iter().any(copies_itself) && list.iter().all(is_value)
}

/// Whether a value has nothing that makes it a step.
fn is_data(node: &Node<'_>) -> bool {
    // A part of a step makes a record a step even if the word of the step is misspelt.
    let word = |name: &str| begins_step(name) || changes(name) || foreign::is(foreign::Place::Part, name);
    let list = entries(node);
    let operation = matches!(list, [only] if only.is(|name| name == "value" || operator::is(name)));
    !operation && !list.iter().any(|entry| entry.is(word))
}
