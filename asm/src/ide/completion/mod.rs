//! Completion: words, tools, arguments, fields, slots and types that may be written at a position.
//!
//! [`Analysis::complete`] is the entry point, for ID text (`id`) and for JSON and YAML (`document`, with
//! `expression`). Completions follow the grammar and the known names; they do not guarantee that the program
//! passes the check.

mod document;
pub(super) mod expression;
mod id;

use super::Analysis;
use crate::diagnostic::Edit;
use crate::span::Span;

/// The kind of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompletionKind {
    /// A word of the notation.
    Word,
    /// A tool or function.
    Tool,
    /// An argument of a call.
    Argument,
    /// A field of a record.
    Field,
    /// A slot.
    Slot,
    /// A type.
    Type,
}

/// A text that may be written at a position.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Completion {
    /// The label in a list.
    pub label: String,
    /// Its kind.
    pub kind: CompletionKind,
    /// The text that replaces `span`.
    pub text: String,
    /// The span that it replaces: the part of the word that is already written.
    pub span: Span,
    /// The text with which the typed text is compared: the inserted text, or the name of its number.
    pub filter: String,
    /// Its type or signature; may be empty.
    pub detail: String,
    /// Its description; may be empty.
    pub about: String,
    /// An additional edit: a new entry of a registry.
    pub also: Option<Edit>,
}

/// The most completions that are returned.
const MOST: usize = 1_000;

pub(super) fn complete(of: &Analysis<'_>, offset: u32) -> Vec<Completion> {
    let in_source = of.source.is_char_boundary(offset as usize);
    let mut found = match &of.text {
        _ if !in_source => Vec::new(),
        Some(text) => id::complete(of, text, offset),
        None => document::complete(of, offset),
    };
    found.truncate(MOST);
    found
}

/// Collects completions for one span.
struct Found {
    span: Span,
    all: Vec<Completion>,
}

impl Found {
    fn add(&mut self, kind: CompletionKind, text: &str, detail: impl Into<String>, about: &str) {
        self.all.push(Completion {
            label: text.to_owned(),
            kind,
            text: text.to_owned(),
            span: self.span,
            filter: text.to_owned(),
            detail: detail.into(),
            about: about.to_owned(),
            also: None,
        });
    }

    /// Adds the types; also `result` if it is an output type.
    fn types(&mut self, result: bool) {
        for (text, about) in [
            ("text", "a text"),
            ("number", "a number: an integer of 64 bits, or a double"),
            ("bool", "true or false"),
            ("list", "a list; the type of its items follows"),
            ("any", "any value"),
            ("nil", "no value"),
        ] {
            self.add(CompletionKind::Type, text, "", about);
        }
        if result {
            self.add(CompletionKind::Type, "result", "", "success or failure; the two types follow");
        }
    }
}
