//! What is printed in JSON or YAML, before it has a layout.
//!
//! Nesting is a small multiple of the syntax tree's, which lets writers recurse. It knows nothing of programs.

use ilo_spec::program::Number;
use std::borrow::Cow;

/// A value to print.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Doc<'a> {
    /// null.
    Null,
    /// true or false.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A name, a type or a reference: YAML writes it without quotes where it can.
    Word(Cow<'a, str>),
    /// A text that the program says: always in quotes.
    Text(Cow<'a, str>),
    /// A list.
    List(Vec<Doc<'a>>),
    /// A record.
    Record(Vec<Entry<'a>>),
}

/// A key and its value.
pub(super) type Entry<'a> = (Cow<'a, str>, Doc<'a>);

impl<'a> Doc<'a> {
    /// A name, a type or a reference.
    pub(super) fn word(text: impl Into<Cow<'a, str>>) -> Doc<'a> {
        Doc::Word(text.into())
    }

    /// A record of one field.
    pub(super) fn one(key: impl Into<Cow<'a, str>>, value: Doc<'a>) -> Doc<'a> {
        Doc::Record(vec![(key.into(), value)])
    }

    /// Whether it is written on the line of its key whatever it holds.
    pub(super) fn is_flat(&self) -> bool {
        match self {
            Doc::List(items) => items.is_empty(),
            Doc::Record(entries) => entries.is_empty(),
            _ => true,
        }
    }
}
