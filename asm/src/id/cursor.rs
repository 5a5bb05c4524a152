//! Reading inside one comment: a cursor over its characters, and what a name is.

use super::text;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::span::Span;
use bumpalo::Bump;
use ilo_spec::error::Code;

/// Whether an ASCII character may stand in a name without quotes.
const IN_NAME: [bool; 128] = {
    let mut table = [false; 128];
    let mut at: u8 = 0;
    while at < 128 {
        let punctuation = matches!(at, b'_' | b'-' | b'.' | b'/' | b':' | b'@' | b'#' | b'$' | b'+' | b'~');
        table[at as usize] = at.is_ascii_alphanumeric() || punctuation;
        at += 1;
    }
    table
};

/// Whether a character may stand in a name without quotes: letters and digits of any script, and what tools and servers
/// put into theirs (`mcp://mail/send`, `First.Name`, `user_id`).
#[inline]
pub(super) fn is_name_char(c: char) -> bool {
    IN_NAME.get(c as usize).copied().unwrap_or_else(|| c.is_alphanumeric())
}

/// Whether a byte is an ASCII character that may stand in a name without quotes.
#[inline]
pub(super) fn is_name_byte(byte: u8) -> bool {
    IN_NAME.get(usize::from(byte)).copied().unwrap_or(false)
}

/// A place in a comment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    source: &'a str,
    /// From the place to the end of the comment.
    rest: &'a str,
    end: u32,
}

impl<'a> Cursor<'a> {
    /// At the start of what stands in a comment, after its `;`.
    pub(super) fn new(source: &'a str, comment: Span) -> Cursor<'a> {
        let rest = source.get(comment.range()).unwrap_or("");
        let mut cursor = Cursor { source, rest, end: comment.end };
        cursor.skip(rest.bytes().take_while(|&byte| byte == b';').count());
        cursor.skip_blanks();
        cursor
    }

    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    pub(super) fn offset(&self) -> u32 {
        self.end.saturating_sub(u32::try_from(self.rest.len()).unwrap_or(u32::MAX))
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
        self.rest.chars().next()
    }

    #[inline]
    pub(super) fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or("");
    }

    #[inline]
    pub(super) fn skip_blanks(&mut self) {
        let blanks = self.rest.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        self.skip(blanks);
        if self.rest.bytes().next().is_some_and(|byte| !byte.is_ascii()) {
            self.skip_foreign_blanks();
        }
    }

    /// Passes blanks of other scripts too.
    #[cold]
    fn skip_foreign_blanks(&mut self) {
        self.take(|c| matches!(c, ' ' | '\t') || (!c.is_ascii() && c.is_whitespace()));
    }

    #[inline]
    pub(super) fn eat(&mut self, wanted: char) -> bool {
        let found = self.rest.starts_with(wanted);
        if found {
            self.skip(wanted.len_utf8());
        }
        found
    }

    /// Takes characters as long as they are wanted.
    #[inline]
    pub(super) fn take(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let stops = |&byte: &u8| !byte.is_ascii() || !wanted(char::from(byte));
        let mut length = self.rest.as_bytes().iter().position(stops).unwrap_or(self.rest.len());
        if self.rest.as_bytes().get(length).is_some_and(|byte| !byte.is_ascii()) {
            let tail = self.rest.get(length..).unwrap_or("");
            length += tail.find(|c| !wanted(c)).unwrap_or(tail.len());
        }
        let (taken, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
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
