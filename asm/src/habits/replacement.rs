//! The form of the notation that a habit makes of a record: new records, lists and words around parts of the
//! source.

use crate::document::{Entry, Kind, Node};
use crate::span::Span;
use bumpalo::Bump;
use ilo_spec::program::Number;

/// A value in the form of the notation.
pub(super) enum Replacement<'a> {
    /// A value of the source, unchanged.
    Kept(Node<'a>),
    /// A new text.
    Word(&'a str),
    /// A new integer.
    Integer(i64),
    /// A record.
    Record(Vec<(&'a str, Replacement<'a>)>),
    /// A list.
    List(Vec<Replacement<'a>>),
}

impl<'a> Replacement<'a> {
    /// A record with one key.
    pub(super) fn one(key: &'a str, value: Replacement<'a>) -> Replacement<'a> {
        Replacement::Record(vec![(key, value)])
    }

    /// The document with which reading continues; new values have the span `place`.
    pub(super) fn node(&self, place: Span, arena: &'a Bump) -> Node<'a> {
        let kind = match self {
            Replacement::Kept(node) => return *node,
            Replacement::Word(word) => return Node::of_text(word, place),
            Replacement::Integer(number) => Kind::Number(Number::Int(*number)),
            Replacement::Record(list) => {
                let entry = |(key, value): &(&'a str, Replacement<'a>)| Entry {
                    key: Node::of_text(key, place),
                    value: value.node(place, arena),
                };
                let list: Vec<Entry<'a>> = list.iter().map(entry).collect();
                Kind::Record(arena.alloc_slice_copy(&list))
            }
            Replacement::List(items) => {
                let items: Vec<Node<'a>> = items.iter().map(|item| item.node(place, arena)).collect();
                Kind::List(arena.alloc_slice_copy(&items))
            }
        };
        Node { kind, span: place }
    }
}
