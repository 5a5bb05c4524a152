//! Reading inside one comment: a cursor over its characters, and what a name is.

use super::text;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::span::Span;
use bumpalo::Bump;
use ilo_spec::error::Code;

/// Whether a character may stand in a name without quotes: letters and digits of any script, and what tools and servers
/// put into theirs (`mcp://mail/send`, `First.Name`, `user_id`).
pub(super) fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || (!c.is_ascii() && c.is_alphanumeric())
        || matches!(c, '_' | '-' | '.' | '/' | ':' | '@' | '#' | '$' | '+' | '~')
}

/// A place in a comment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    source: &'a str,
    at: usize,
    end: usize,
}

impl<'a> Cursor<'a> {
    /// At the start of what stands in a comment, after its `;`.
    pub(super) fn new(source: &'a str, comment: Span) -> Cursor<'a> {
        let mut cursor = Cursor { source, at: comment.start as usize, end: comment.end as usize };
        while cursor.eat(';') {}
        cursor.skip_blanks();
        cursor
    }

    pub(super) fn rest(&self) -> &'a str {
        self.source.get(self.at..self.end).unwrap_or("")
    }

    pub(super) fn offset(&self) -> u32 {
        u32::try_from(self.at).unwrap_or(u32::MAX)
    }

    /// From `start` to here.
    pub(super) fn since(&self, start: u32) -> Span {
        Span::new(start, self.offset())
    }

    /// The source at a span.
    pub(super) fn text(&self, span: Span) -> &'a str {
        self.source.get(span.range()).unwrap_or("")
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn skip(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes).min(self.end);
    }

    pub(super) fn skip_blanks(&mut self) {
        self.take(|c| matches!(c, ' ' | '\t') || (!c.is_ascii() && c.is_whitespace()));
    }

    pub(super) fn eat(&mut self, wanted: char) -> bool {
        let found = self.rest().starts_with(wanted);
        if found {
            self.skip(wanted.len_utf8());
        }
        found
    }

    /// Takes characters as long as they are wanted.
    pub(super) fn take(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let ascii = rest.bytes().take_while(|byte| byte.is_ascii() && wanted(char::from(*byte))).count();
        let tail = rest.get(ascii..).unwrap_or("");
        let length = if tail.bytes().next().is_none_or(|byte| byte.is_ascii()) {
            ascii
        } else {
            ascii + tail.find(|c| !wanted(c)).unwrap_or(tail.len())
        };
        self.skip(length);
        rest.get(..length).unwrap_or("")
    }

    /// Takes a name, bare or as a JSON string; `None` where none stands here.
    pub(super) fn name(
        &mut self,
        bare: impl Fn(char) -> bool,
        arena: &'a Bump,
        diagnostics: &mut Diagnostics,
    ) -> Option<&'a str> {
        if self.peek() != Some('"') {
            return Some(self.take(bare)).filter(|name| !name.is_empty());
        }
        let start = self.offset();
        let inside = self.rest().get(1..).unwrap_or("");
        let mut escaped = false;
        let close = inside.bytes().position(|byte| {
            let closes = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            closes
        });
        let Some(close) = close else {
            self.skip(inside.len() + 1);
            let message = "this quoted name is not closed";
            diagnostics.push(
                Diagnostic::new(Code::BadString, self.since(start), message)
                    .expected("`\"`", "the end of the line"),
            );
            return Some("");
        };
        self.skip(close + 2);
        match text::decode(inside.get(..close).unwrap_or(""), arena) {
            Ok(name) => Some(name),
            Err(bad) => {
                diagnostics.push(bad_text(bad, start + 1));
                Some("")
            }
        }
    }
}

/// The diagnostic of a string whose inside begins at `base`.
pub(super) fn bad_text(bad: text::BadText, base: u32) -> Diagnostic {
    let offset = |n: usize| base.saturating_add(u32::try_from(n).unwrap_or(u32::MAX));
    let span = Span::new(offset(bad.at), offset(bad.at + bad.length));
    Diagnostic::new(Code::BadString, span, bad.what).help("write the string as JSON does")
}
