//! What may be written at a place: words, tools, arguments, fields, slots and types.
//!
//! [`Analysis::complete`] is the one entry, for ID text (`id`, on top of `need`) and for documents
//! (`document`). What is offered follows the grammar and the names that are known; that a whole program of it
//! passes the checker is not promised here.

mod document;
mod id;
mod need;

use super::Analysis;
use crate::diagnostic::Edit;
use crate::span::Span;

/// What a completion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// A text that may be written at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// What a list shows.
    pub label: String,
    /// What it is.
    pub kind: CompletionKind,
    /// What is written over `span`.
    pub text: String,
    /// What it takes the place of: what is written of the word.
    pub span: Span,
    /// By what the typed text is compared: the text that is written, or the name behind its number.
    pub filter: String,
    /// A type or signature; may be empty.
    pub detail: String,
    /// What it is for; may be empty.
    pub about: String,
    /// An edit elsewhere that belongs to it: the entry of a registry.
    pub also: Option<Edit>,
}

/// The most completions that are given.
const MOST: usize = 1_000;

impl Analysis<'_> {
    /// What may be written at an offset, the likeliest first.
    pub fn complete(&self, offset: u32) -> Vec<Completion> {
        let in_source = self.source.is_char_boundary(offset as usize);
        let mut found = match &self.text {
            _ if !in_source => Vec::new(),
            Some(text) => id::complete(self, text, offset),
            None => document::complete(self, offset),
        };
        found.truncate(MOST);
        found
    }
}

/// Completions over one span.
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

    /// Adds the types; `result` where the type is that of what a function gives.
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
