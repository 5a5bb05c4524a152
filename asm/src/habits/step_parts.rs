//! Habits: parts of steps in other shapes, such as arguments and cases as lists of records, steps or a word
//! as a handler, the name of a tool as a rollback, `break` as a text, names with `$`, loops with an index,
//! and `yield` in a notation without it.

use super::context::Rewriter;
use super::new_nodes::NewNodes;
use super::words::{is_for, key_of};
use crate::catalog::meant_address;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::dialect::{Dialect, HANDLER, Key, changes};
use crate::document::{Entry, Kind, Node, entries, json};
use crate::foreign::{self, Place};
use crate::source::Limits;
use crate::span::Span;
use crate::text::is_name;
use ilo_spec::error::Code;

impl<'a> Rewriter<'_, 'a> {
    /// The arguments of a call as a list of records with one argument each, or as JSON in a text.
    pub(super) fn listed_arguments(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let Kind::List(items) = node.kind else { return self.quoted_arguments(node) };
        let only = |item: &Node<'a>| match entries(item) {
            [only] if only.name().is_some() => Some(*only),
            _ => None,
        };
        let fields: Vec<Entry<'a>> = items.iter().map(only).collect::<Option<_>>()?;
        (!fields.is_empty()).then(|| self.record_at(&fields, node))
    }

    fn quoted_arguments(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let text = node.text()?;
        let mut found = Diagnostics::default();
        let read = json::read(text, self.at.arena, &Limits::default(), &mut found);
        let [record @ Node { kind: Kind::Record(_), .. }] = read else { return None };
        if !found.as_slice().is_empty() {
            return None;
        }
        Some(record.placed(node.span, self.at.arena))
    }

    /// Cases as a list of records with one case each.
    pub(super) fn listed_cases(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let Kind::List(items) = node.kind else { return None };
        let cases: Vec<Entry<'a>> = items.iter().map(case_of).collect::<Option<_>>()?;
        (!cases.is_empty()).then(|| self.record_at(&cases, node))
    }

    /// The name of a server's tool without all of `mcp://`.
    pub(super) fn callee(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let name = meant_address(node.text()?)?;
        Some(self.text_at(&name, node))
    }

    /// A bound name written as `$name` or `${name}`.
    pub(super) fn binder(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let text = node.text().filter(|text| text.starts_with('$'))?;
        let name = text.trim_start_matches('$').trim_start_matches('{').trim_end_matches('}');
        is_name(name).then(|| self.text_at(name, node))
    }

    /// The element of a loop, or a list of its index and the element.
    pub(super) fn element(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let Kind::List([index, item]) = node.kind else { return self.binder(node) };
        Some(self.text_at(&format!("{}, {}", index.text()?, item.text()?), node))
    }

    /// The word of an action as a handler, in a function that cannot fail with it.
    pub(super) fn action(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let action = action_as_text(node, self.at.dialect, self.at.names.in_loop())?;
        if self.at.names.result().is_some() {
            return None;
        }
        self.found.push(action.diagnostic(Code::BadShape, format!("`{}`", action.form)));
        Some(self.with_true(action.key, node))
    }

    /// A text that is meant as `break` or `skip`.
    pub(super) fn text_step(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let key = match node.text().filter(|_| self.at.names.in_loop())? {
            "break" => Key::Break,
            "skip" | "continue" => Key::Skip,
            _ => return None,
        };
        Some(self.with_true(key, node))
    }

    /// A record with one key and the value `true`.
    pub(super) fn with_true(&self, key: Key, at: &Node<'a>) -> Node<'a> {
        let value = Node { kind: Kind::Bool(true), span: at.span };
        self.record_at(&[Entry { key: self.text_at(self.at.dialect.word(key), at), value }], at)
    }

    /// What is under a rollback: a call in the words of another language, or the name of a tool.
    pub(super) fn rollback(&mut self, node: &Node<'a>, key: Key) -> Option<Node<'a>> {
        let names_a_tool =
            |entry: &Entry<'a>| entry.is(|name| is_for(name, Key::Call)) && entry.value.text().is_some();
        if entries(node).iter().any(names_a_tool) {
            return self.words(node, &[Key::Call, Key::Args], "a rollback call");
        }
        // The name of a tool.
        node.text().filter(|_| !self.at.dialect.is_yaml())?;
        let new = NewNodes { place: node.span, ..self.at.new };
        let record = new.one(self.at.dialect.word(Key::Call), *node);
        Some(if key == Key::Rollback { record } else { new.list(&[record]) })
    }

    /// Steps, or one step, as a handler.
    pub(super) fn handling_steps(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let is_record = |item: &Node<'a>| matches!(item.kind, Kind::Record(_));
        let begins = |name: &str| changes(name) || matches!(name, "call" | "let" | "if" | "for");
        let (dialect, of_handler) = (self.at.dialect, |name: &str| key_of(name, &HANDLER).is_some());
        let named = |entry: &Entry<'a>| {
            is_record(&entry.value) && !dialect.means(entry, &HANDLER) && !entry.is(of_handler)
        };
        let are_steps = match node.kind {
            Kind::List(items) => items.iter().any(is_record),
            Kind::Record(list) => {
                list.iter().any(|entry| entry.is(begins))
                    || dialect.is_yaml() && !list.is_empty() && list.iter().all(named)
            }
            _ => false,
        };
        if !are_steps {
            return None;
        }
        let then = self.at.dialect.word(Key::Then);
        let key = self.text_at(then, node);
        Some(self.record_at(&[Entry { key, value: *node }], node))
    }
}

/// The word of an action as a text, in the position of a handler.
pub(super) struct ActionText {
    key: Key,
    text: &'static str,
    span: Span,
    /// The correct form of the action.
    pub(super) form: String,
}

impl ActionText {
    pub(super) fn diagnostic(&self, code: Code, expected: String) -> Diagnostic {
        let text = self.text;
        Diagnostic::new(code, self.span, format!("`{text}` is the message to fail with here"))
            .expected(expected, format!("`{text}`"))
            .replace(self.span, self.form.as_str())
    }
}

/// The action that a text means as a handler.
pub(super) fn action_as_text(node: &Node<'_>, dialect: Dialect, in_loop: bool) -> Option<ActionText> {
    let (text, key) = match node.text()? {
        "skip" if in_loop => ("skip", Key::Skip),
        "skip" => ("skip", Key::Ignore),
        "break" if in_loop => ("break", Key::Break),
        "ignore" => ("ignore", Key::Ignore),
        "continue" => ("continue", Key::Ignore),
        _ => return None,
    };
    let word = dialect.word(key);
    let form = if dialect.is_yaml() { format!("{{{word}: true}}") } else { format!("{{\"{word}\": true}}") };
    Some(ActionText { key, text, span: node.span, form })
}

/// The case that a record means: `{"gold": 20}`, `{"case": "gold", "value": 20}`.
fn case_of<'a>(node: &Node<'a>) -> Option<Entry<'a>> {
    match entries(node) {
        [only] => Some(*only),
        list @ [_, _] => {
            let get = |names: &[&str]| list.iter().find(|entry| entry.is(|name| names.contains(&name)));
            Some(Entry {
                key: get(foreign::words(Place::CaseKey))?.value,
                value: get(foreign::words(Place::CaseValue))?.value,
            })
        }
        _ => None,
    }
}
