//! The value that is printed as JSON or YAML, without a layout.
//!
//! Its nesting is a small multiple of that of the syntax tree, so writers may recurse. This module does not
//! know programs.

pub(crate) mod json;
mod reprint;
pub(crate) mod yaml;

pub(crate) use reprint::documents;

use ilo_spec::program::Number;
use std::borrow::Cow;

/// A value to print.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Doc<'a> {
    /// null.
    Null,
    /// true or false.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A name, a type or a reference: YAML writes it without quotes if possible.
    Word(Cow<'a, str>),
    /// A text constant of the program: always quoted.
    Text(Cow<'a, str>),
    /// A list.
    List(Vec<Doc<'a>>),
    /// A record.
    Record(Vec<Pair<'a>>),
}

/// A key and its value.
pub(crate) type Pair<'a> = (Cow<'a, str>, Doc<'a>);

impl<'a> Doc<'a> {
    /// A name, a type or a reference.
    pub(crate) fn word(text: impl Into<Cow<'a, str>>) -> Doc<'a> {
        Doc::Word(text.into())
    }

    /// A record with one field.
    pub(crate) fn one(key: impl Into<Cow<'a, str>>, value: Doc<'a>) -> Doc<'a> {
        Doc::Record(vec![(key.into(), value)])
    }
}
