//! Reads `compensate` and `rollback`: calls that undo effects, now or if something fails later.

use super::reader::StepReader;
use super::step::Item;
use crate::ast::StmtKind;
use crate::diagnostic::Diagnostic;
use crate::dialect::Key;
use crate::document::{Kind, Node, entries, first_of};
use crate::span::Span;
use ilo_spec::error::Code;

impl<'a> StepReader<'_, 'a> {
    /// Reads calls under `compensate`, which are made here in order.
    pub(crate) fn compensations(&mut self, node: Option<&Node<'a>>) {
        let Some(node) = node else { return };
        for item in self.calls(node, Key::Compensate) {
            self.marked_call(item.node, Key::Compensate);
        }
    }

    /// Reads calls under `rollback`, which are registered here from the last to the first: the entry that is
    /// registered last runs first, so they run in the written order.
    pub(crate) fn rollbacks(&mut self, node: Option<&Node<'a>>) {
        let Some(node) = node else { return };
        for item in self.calls(node, Key::Rollback).into_iter().rev() {
            self.marked_call(item.node, Key::Rollback);
        }
    }

    /// The calls under `compensate` or `rollback`.
    fn calls<'d>(&mut self, node: &'d Node<'a>, key: Key) -> Vec<Item<'d, 'a>> {
        let call = self.dialect.word(Key::Call);
        let calls = |node: &Node<'a>| entries(node).iter().any(|entry| entry.name() == Some(call));
        let odd = match node.kind {
            Kind::Text(_) => true,
            Kind::Record(_) => self.dialect.is_yaml() && !calls(node),
            _ => false,
        };
        let node = self.shaped(key, node, odd);
        match &node.kind {
            Kind::List(nodes) => Item::listed(nodes),
            Kind::Record(list) if self.dialect.is_yaml() && !calls(node) => Item::named(list),
            Kind::Record(_) => vec![Item { name: None, node }],
            _ => {
                self.no_calls(node, key);
                Vec::new()
            }
        }
    }

    fn marked_call(&mut self, node: &Node<'a>, key: Key) {
        if entries(node).is_empty() {
            return self.bad_shape(node, "a rollback", "a record with `call`");
        }
        let keyed = self.keyed(node, &[Key::Call, Key::Args], "a rollback call");
        if !keyed.has(Key::Call) {
            let help = format!("`{}` takes calls alone", self.dialect.word(key));
            return self.missing(first_of(node), Key::Call, "a rollback", &help);
        }
        let call = self.within(self.sometimes(), |this| this.call(&keyed));
        let span = Span::new(node.span.start, call.span.end);
        self.push(if key == Key::Rollback { StmtKind::Rollback(call) } else { StmtKind::Undo(call) }, span);
    }

    /// Reports rollbacks that are neither a record nor a list.
    fn no_calls(&mut self, node: &Node<'a>, key: Key) {
        let (call, args) = (self.dialect.word(Key::Call), self.dialect.word(Key::Args));
        let (word, one) = (self.dialect.word(key), key == Key::Rollback);
        let form = match (self.dialect.is_yaml(), one) {
            (true, true) => format!("`{call}: tool` below it, with `{args}:`"),
            (true, false) => format!("`- {call}: tool`, with `{args}:`"),
            (false, true) => format!("`{{\"{call}\": \"tool\", …}}`"),
            (false, false) => format!("`[{{\"{call}\": \"tool\", …}}]`"),
        };
        let what = if one { "a call, or a list of calls" } else { "a list of calls" };
        let wrong = Diagnostic::new(Code::BadShape, node.span, format!("`{word}` is {what}"))
            .expected(form.clone(), node.kind_name());
        self.report(wrong.help(format!("write {form}")));
    }
}
