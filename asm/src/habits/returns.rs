//! Habits: returns in the forms of other notations and languages, such as `ok` for `return` and `success` for
//! `ok`.

use super::context::{Rewriter, rebuilt};
use crate::diagnostic::Diagnostic;
use crate::dialect::{Key, Meant};
use crate::document::{Entry, Kind, Node, entries, shown};
use crate::foreign::{self, Place};
use ilo_spec::error::Code;

impl<'a> Rewriter<'_, 'a> {
    /// Rewrites the return of a step, a handler or an arm to the form of the notation.
    pub(super) fn ways_out(&mut self, node: &Node<'a>, keys: &[Key]) -> Option<Node<'a>> {
        let new = rebuilt(entries(node), |_, entry| {
            let (key, _) = self.at.dialect.meaning(entry.name()?, keys)?;
            let way = match key {
                Key::Ok | Key::Err => self.under_return(entry, key),
                Key::Message if keys.contains(&Key::Return) => self.under_return(entry, key),
                Key::Return => self.without_return(entry),
                _ => None,
            };
            Some(vec![way?])
        })?;
        Some(self.record_at(&new, node))
    }

    /// A bare `ok` or failure in a notation that writes it in `return`.
    pub(super) fn under_return(&mut self, entry: &Entry<'a>, key: Key) -> Option<Entry<'a>> {
        let dialect = self.at.dialect;
        if dialect.has(Key::Ok) {
            return None;
        }
        let outer = dialect.word(Key::Return);
        if key == Key::Ok && self.at.names.result().is_none() {
            return Some(Entry { key: self.text_at(outer, &entry.key), value: entry.value });
        }
        let word = dialect.word(if key == Key::Ok { Key::Ok } else { Key::Message });
        let inner = Entry { key: self.text_at(word, &entry.key), value: entry.value };
        let value = self.record_at(&[inner], &entry.value);
        Some(Entry { key: self.text_at(outer, &entry.key), value })
    }

    /// `return` in a notation that writes bare `ok` and `err`.
    fn without_return(&mut self, entry: &Entry<'a>) -> Option<Entry<'a>> {
        let dialect = self.at.dialect;
        if dialect.has(Key::Return) {
            return None;
        }
        let inner = match entries(&entry.value) {
            [only] => only.name().and_then(|name| Some((self.outcome_word(name)?, only.value))),
            _ => None,
        };
        let (word, value) = inner.unwrap_or((dialect.word(Key::Ok), entry.value));
        Some(Entry { key: self.text_at(word, &entry.key), value })
    }

    /// The word of this notation for a success or failure, given that of any notation.
    fn outcome_word(&self, name: &str) -> Option<&'static str> {
        let dialect = self.at.dialect;
        let (key, _) = dialect.meaning(name, &[Key::Ok, Key::Message])?;
        Some(dialect.word(key))
    }

    /// The content of `return`: a success or failure in the words of the notation, or a value.
    pub(super) fn outcome(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let new = match entries(node) {
            [a, b] if self.at.names.result().is_some() => self.both(a, b),
            [only] => self.other_outcome(only).or_else(|| self.other_word(only)),
            _ => None,
        };
        new.map(|entry| self.record_at(&[entry], node))
    }

    /// A return of both success and failure, read as the success.
    fn both(&mut self, a: &Entry<'a>, b: &Entry<'a>) -> Option<Entry<'a>> {
        let fails = |entry: &Entry<'a>| matches!(entry.name(), Some("err" | "error"));
        let (ok, err) = match (a.name(), b.name()) {
            (Some("ok"), _) if fails(b) => (a, b),
            (_, Some("ok")) if fails(a) => (b, a),
            _ => return None,
        };
        let (word, found) = (shown(&ok.key), shown(&err.key));
        let message = format!("a return is `{word}` or `{found}`, not both");
        let wrong = Diagnostic::new(Code::BadStep, err.key.span, message).expected("one of them", "both");
        if matches!(err.value.kind, Kind::Null) {
            return Some(*ok);
        }
        if matches!(ok.value.kind, Kind::Null) {
            return Some(*err);
        }
        self.found.push(
            wrong.help(format!("leave `{found}` out where it succeeds; it fails with `{found}` alone")),
        );
        Some(*ok)
    }

    /// `success` and `failure` for `ok` and the notation's word for a failure.
    fn other_outcome(&mut self, only: &Entry<'a>) -> Option<Entry<'a>> {
        let dialect = self.at.dialect;
        // `success` may be a field of the returned value.
        let is_value = matches!(only.value.kind, Kind::Bool(_));
        if is_value || self.at.names.result().is_none() || !dialect.has(Key::Return) {
            return None;
        }
        let name = only.name()?;
        let word = match name {
            _ if foreign::is(Place::Success, name) => dialect.word(Key::Ok),
            _ if foreign::is(Place::Failure, name) => dialect.word(Key::Message),
            _ => return None,
        };
        Some(Entry { key: self.text_at(word, &only.key), value: only.value })
    }

    /// Another notation's word for a failure.
    fn other_word(&mut self, only: &Entry<'a>) -> Option<Entry<'a>> {
        let dialect = self.at.dialect;
        let (key, meant) = dialect.meaning(only.name()?, &[Key::Message])?;
        if meant == Meant::Own || !dialect.has(Key::Return) {
            return None;
        }
        Some(Entry { key: self.text_at(dialect.word(key), &only.key), value: only.value })
    }
}
