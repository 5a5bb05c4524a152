//! What habits work with: the record and its context, the new parts that they make of it, and what they find.

use crate::arena::Arena;
use crate::dialect::Dialect;
use crate::document::{Entry, Node, NodeKind, shown};
use crate::span::Span;
use crate::steps::reader::StepReader;
use core::ops::Deref;
use ilo_spec::program::Number;

/// Makes new parts of a document, at a place of the source.
#[derive(Clone, Copy)]
pub(crate) struct NewNodes<'a> {
    pub(super) arena: &'a Arena,
    pub(super) place: Span,
}

impl<'a> NewNodes<'a> {
    /// A text.
    pub(super) fn word(self, word: &'a str) -> Node<'a> {
        Node::of_text(word, self.place)
    }

    /// An integer.
    pub(super) fn integer(self, number: i64) -> Node<'a> {
        Node { kind: NodeKind::Number(Number::Int(number)), span: self.place }
    }

    /// A record with one key.
    pub(super) fn one(self, key: &'a str, value: Node<'a>) -> Node<'a> {
        self.record(vec![(key, value)])
    }

    /// A record.
    pub(super) fn record(self, list: Vec<(&'a str, Node<'a>)>) -> Node<'a> {
        let list = list.into_iter().map(|(key, value)| Entry { key: self.word(key), value });
        Node { kind: NodeKind::Record(self.arena.collect(list)), span: self.place }
    }

    /// A list.
    pub(super) fn list(self, items: &[Node<'a>]) -> Node<'a> {
        Node { kind: NodeKind::List(self.arena.alloc_slice_copy(items)), span: self.place }
    }
}

/// The positions at which a habit is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spot {
    /// Steps.
    Step,
    /// Records in the position of a step, without a word that identifies a step.
    NoStep,
    /// Values.
    Value,
    /// Values that are computed: under `expr`, in conditions, as operands.
    Formula,
    /// Conditions, in which nothing is data, and what `and`, `or` and `not` join in them.
    Condition,
}

/// What is read in place of a part of a document: the part with its context.
pub(crate) struct Rewriter<'w, 'a> {
    pub(super) reader: &'w mut StepReader<'a>,
    pub(super) dialect: Dialect,
    /// The record.
    pub(super) node: Node<'a>,
    /// What makes new parts, at the first key of the record.
    pub(super) new: NewNodes<'a>,
    /// Whether the step is under a name, in YAML.
    pub(super) named: bool,
    /// Whether the value of the step is needed, so that it could be data.
    pub(super) wanted: bool,
}

impl<'a> Deref for Rewriter<'_, 'a> {
    type Target = NewNodes<'a>;

    fn deref(&self) -> &NewNodes<'a> {
        &self.new
    }
}

impl<'a> Rewriter<'_, 'a> {
    /// A record with the same meaning: without some entries, and with others behind the rest.
    pub(super) fn instead(&self, list: EntryList<'a>, without: &[&str], with: Fields<'a>) -> Node<'a> {
        self.record(others(list, without).into_iter().chain(with).collect())
    }

    /// Reports a step that no notation has, which is left out.
    pub(super) fn no_step(&mut self, entry: &Entry<'a>, help: &str) -> Node<'a> {
        let found = format!("`{}`", shown(&entry.key));
        let expected = format!("a record with {}", self.dialect.step_words());
        let message = format!("{found} is not a step");
        self.reader.bad_step(entry.key.span, &message, &expected, &found, help);
        self.list(&[])
    }

    /// A text with the span of a node.
    pub(super) fn text_at(&self, text: &str, of: &Node<'a>) -> Node<'a> {
        Node::of_text(self.arena.alloc_str(text), of.span)
    }

    /// A record with the span of a node.
    pub(super) fn record_at(&self, list: &[Entry<'a>], of: &Node<'a>) -> Node<'a> {
        Node { kind: NodeKind::Record(self.arena.alloc_slice_copy(list)), span: of.span }
    }
}

pub(super) type EntryList<'a> = &'a [Entry<'a>];

pub(super) type Fields<'a> = Vec<(&'a str, Node<'a>)>;

/// The first entry with one of these names, in the order of the names.
pub(super) fn get<'a>(list: EntryList<'a>, names: &[&str]) -> Option<&'a Entry<'a>> {
    names.iter().find_map(|&name| list.iter().find(|entry| entry.name() == Some(name)))
}

/// An unchanged entry.
pub(super) fn kept<'a>(entry: &Entry<'a>) -> Option<(&'a str, Node<'a>)> {
    Some((entry.name()?, entry.value))
}

/// The entries of a list without some of them.
pub(super) fn others<'a>(list: EntryList<'a>, without: &[&str]) -> Fields<'a> {
    list.iter().filter(|entry| !entry.is(|name| without.contains(&name))).filter_map(kept).collect()
}

/// The entry `let`, with which a step begins.
pub(super) fn bound(list: EntryList<'_>) -> Fields<'_> {
    get(list, &["let"]).and_then(kept).into_iter().collect()
}
