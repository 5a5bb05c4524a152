//! What JSON and YAML have in common: values with places. Documents borrow from the source or the arena.
//!
//! A reader promises that no key of a record is given twice and that nesting is at most [`NESTING`], which is what lets
//! passes over documents recurse. It knows nothing of programs.

use crate::span::Span;
use ilo_spec::program::Number;

/// How deep lists and records may nest in a document. A block or an operand of a program is two or three levels of
/// JSON, so this lets [`ilo_spec::limits::NESTING`] of a program be written.
pub const NESTING: usize = 512;

/// A value and its place: from its first byte to its last, quotes and brackets included.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    /// The value.
    pub kind: Kind<'a>,
    /// Where it was written.
    pub span: Span,
}

/// A value.
#[derive(Clone, Copy, Debug)]
pub enum Kind<'a> {
    /// null.
    Null,
    /// true or false.
    Bool(bool),
    /// A number, exact.
    Number(Number),
    /// A text.
    Text(Text<'a>),
    /// A list.
    List(&'a [Node<'a>]),
    /// A record, in the order of the source.
    Record(&'a [Entry<'a>]),
}

/// A key and its value.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The key: always a text in JSON; in YAML also null, a bool or a number.
    pub key: Node<'a>,
    /// The value; null where YAML leaves it out.
    pub value: Node<'a>,
}

/// A text as it reads, escapes undone.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// What it says.
    pub text: &'a str,
    /// How it was written.
    pub style: Style,
    /// Where its first byte stood, when every byte stands in the source as it reads; `None` after escapes or folding.
    pub start: Option<u32>,
}

/// How a text was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// In double quotes; every text of JSON.
    Double,
    /// In YAML's single quotes.
    Single,
    /// Without quotes, in YAML.
    Plain,
    /// As a block of YAML, `|` or `>`.
    Block,
}

impl<'a> Node<'a> {
    /// The text, where it is one.
    pub fn text(&self) -> Option<&'a str> {
        match self.kind {
            Kind::Text(text) => Some(text.text),
            _ => None,
        }
    }

    /// The place of some bytes of its text: of the whole node where they cannot be told apart.
    pub fn part(&self, bytes: core::ops::Range<usize>) -> Span {
        let place = |start: u32| {
            let from = u32::try_from(bytes.start).ok()?.checked_add(start)?;
            let to = u32::try_from(bytes.end).ok()?.checked_add(start)?;
            Some(Span::new(from, to))
        };
        match self.kind {
            Kind::Text(Text { start: Some(start), .. }) => place(start).unwrap_or(self.span),
            _ => self.span,
        }
    }

    /// What a message calls a value of this kind.
    pub const fn kind_name(&self) -> &'static str {
        match self.kind {
            Kind::Null => "null",
            Kind::Bool(_) => "a bool",
            Kind::Number(_) => "a number",
            Kind::Text(_) => "a text",
            Kind::List(_) => "a list",
            Kind::Record(_) => "a record",
        }
    }
}

impl<'a> Entry<'a> {
    /// The key, where it is a text.
    pub fn name(&self) -> Option<&'a str> {
        self.key.text()
    }
}
