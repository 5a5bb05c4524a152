//! The parts that a habit makes of a record: new records, lists and words around parts of the source.

use crate::document::{Entry, Kind, Node};
use crate::span::Span;
use bumpalo::Bump;
use ilo_spec::program::Number;

/// Makes new parts of a document, at a place of the source.
#[derive(Clone, Copy)]
pub(super) struct NewNodes<'a> {
    pub(super) arena: &'a Bump,
    pub(super) place: Span,
}

impl<'a> NewNodes<'a> {
    /// A text.
    pub(super) fn word(self, word: &'a str) -> Node<'a> {
        Node::of_text(word, self.place)
    }

    /// An integer.
    pub(super) fn integer(self, number: i64) -> Node<'a> {
        Node { kind: Kind::Number(Number::Int(number)), span: self.place }
    }

    /// A record with one key.
    pub(super) fn one(self, key: &'a str, value: Node<'a>) -> Node<'a> {
        self.record(vec![(key, value)])
    }

    /// A record.
    pub(super) fn record(self, list: Vec<(&'a str, Node<'a>)>) -> Node<'a> {
        let list = list.into_iter().map(|(key, value)| Entry { key: self.word(key), value });
        let list: Vec<Entry<'a>> = list.collect();
        Node { kind: Kind::Record(self.arena.alloc_slice_copy(&list)), span: self.place }
    }

    /// A list.
    pub(super) fn list(self, items: &[Node<'a>]) -> Node<'a> {
        Node { kind: Kind::List(self.arena.alloc_slice_copy(items)), span: self.place }
    }
}
