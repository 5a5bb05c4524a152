//! A cursor over the characters of one comment, and the syntax of names.

use crate::arena::Arena;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::span::Span;
use crate::text;
use ilo_spec::error::Code;

/// Whether an unquoted name may have a character: a letter or digit of any script, or a sign that occurs in
/// names of tools and servers (`mcp://mail/send`, `First.Name`, `user_id`).
#[inline]
pub(crate) fn is_name_char(c: char) -> bool {
    c == ':' || is_parameter_char(c)
}

/// The same for the name of a parameter, which a colon ends.
#[inline]
pub(crate) fn is_parameter_char(c: char) -> bool {
    IN_NAMES.get(c as usize).copied().unwrap_or_else(|| c.is_alphanumeric())
}

/// The ASCII characters of names.
const IN_NAMES: [bool; 128] = {
    let mut table = [false; 128];
    let mut at: u8 = 0;
    while at < 128 {
        table[at as usize] = at.is_ascii_alphanumeric()
            || matches!(at, b'_' | b'-' | b'.' | b'/' | b'@' | b'#' | b'$' | b'+' | b'~');
        at += 1;
    }
    table
};

/// Whether the name of a type may have a character.
pub(crate) fn is_type_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// A position in a comment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    source: &'a str,
    /// The rest of the comment.
    rest: &'a str,
    end: u32,
}

impl<'a> Cursor<'a> {
    /// At the first character of a comment, after its `;` and blanks.
    pub(crate) fn new(source: &'a str, comment: Span) -> Cursor<'a> {
        let rest = source.get(comment.range()).unwrap_or("").trim_start_matches(';');
        let mut cursor = Cursor { source, rest, end: comment.end };
        cursor.skip_blanks();
        cursor
    }

    pub(crate) fn source(&self) -> &'a str {
        self.source
    }

    pub(crate) fn rest(&self) -> &'a str {
        self.rest
    }

    pub(crate) fn offset(&self) -> u32 {
        self.end.saturating_sub(u32::try_from(self.rest.len()).unwrap_or(u32::MAX))
    }

    /// From `start` to here.
    pub(crate) fn since(&self, start: u32) -> Span {
        Span::new(start, self.offset())
    }

    /// The source at a span.
    pub(crate) fn text(&self, span: Span) -> &'a str {
        self.source.get(span.range()).unwrap_or("")
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    #[inline]
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or("");
    }

    #[inline]
    pub(crate) fn skip_blanks(&mut self) {
        let blanks = self.rest.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        self.skip(blanks);
        if self.rest.bytes().next().is_some_and(|byte| !byte.is_ascii()) {
            self.take(|c| matches!(c, ' ' | '\t') || !c.is_ascii() && c.is_whitespace());
        }
    }

    #[inline]
    pub(crate) fn eat(&mut self, wanted: char) -> bool {
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Takes ASCII letters.
    #[inline]
    pub(crate) fn letters(&mut self) -> &'a str {
        self.take(|c| c.is_ascii_alphabetic())
    }

    /// Skips blanks and commas.
    pub(crate) fn skip_gap(&mut self) {
        self.take(|c| c.is_whitespace() || c == ',');
    }

    /// Takes characters while a predicate is true.
    #[inline]
    pub(crate) fn take(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
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

    /// Takes a name, bare or as a JSON string; `None` if there is none.
    pub(crate) fn name(
        &mut self,
        bare: impl Fn(char) -> bool,
        arena: &'a Arena,
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

/// The diagnostic of a malformed string whose content begins at `base`.
pub(crate) fn bad_text(bad: text::BadText, base: u32) -> Diagnostic {
    let offset = |n: usize| base.saturating_add(u32::try_from(n).unwrap_or(u32::MAX));
    let span = Span::new(offset(bad.at), offset(bad.at + bad.length));
    Diagnostic::new(Code::BadString, span, bad.what).help("write the string as JSON does")
}
