//! A cursor over the characters of one comment, and the syntax of names.

use crate::arena::Arena;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::span::Span;
use crate::text;
use ilo_spec::error::Code;

/// Classes of characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum CharClass {
    /// ASCII letters.
    Letters = 1,
    /// Characters of an unquoted name: letters and digits of any script, and the signs that occur in names of
    /// tools and servers (`mcp://mail/send`, `First.Name`, `user_id`).
    Name = 1 << 1,
    /// The same without the colon, which ends the name of a parameter.
    Parameter = 1 << 2,
    /// The name of a type.
    Type = 1 << 3,
    /// Blanks and commas.
    Gap = 1 << 4,
}

/// The classes of each ASCII character.
const RUNS: [u8; 256] = {
    let mut table = [0; 256];
    let mut at: u8 = 0;
    while at < 128 {
        let (letter, digit) = (at.is_ascii_alphabetic(), at.is_ascii_digit());
        let mark = matches!(at, b'_' | b'-' | b'.' | b'/' | b'@' | b'#' | b'$' | b'+' | b'~');
        let mut runs = 0;
        if letter {
            runs |= CharClass::Letters as u8;
        }
        if letter || digit || mark {
            runs |= CharClass::Name as u8 | CharClass::Parameter as u8;
        }
        if at == b':' {
            runs |= CharClass::Name as u8;
        }
        if letter || digit || matches!(at, b'_' | b'-' | b'.') {
            runs |= CharClass::Type as u8;
        }
        if matches!(at, b'\t'..=b'\r' | b' ' | b',') {
            runs |= CharClass::Gap as u8;
        }
        table[at as usize] = runs;
        at += 1;
    }
    table
};

impl CharClass {
    /// Whether an ASCII character is in this class.
    #[inline]
    pub(crate) fn has_byte(self, byte: u8) -> bool {
        RUNS[usize::from(byte)] & self as u8 != 0
    }

    /// Whether a character is in this class.
    #[inline]
    fn has(self, c: char) -> bool {
        u8::try_from(c).is_ok_and(|byte| self.has_byte(byte)) || (!c.is_ascii() && self.has_beyond_ascii(c))
    }

    /// Whether a non-ASCII character is in this class.
    #[cold]
    fn has_beyond_ascii(self, c: char) -> bool {
        match self {
            CharClass::Letters => false,
            CharClass::Name | CharClass::Parameter | CharClass::Type => c.is_alphanumeric(),
            CharClass::Gap => c.is_whitespace(),
        }
    }
}

/// Whether an unquoted name may have a character.
pub(crate) fn is_name_char(c: char) -> bool {
    CharClass::Name.has(c)
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
        let bytes = source.as_bytes().get(comment.range()).unwrap_or_default();
        let marks = bytes.iter().take_while(|&&byte| byte == b';').count();
        let blanks = bytes.iter().skip(marks).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let start = comment.start as usize + marks + blanks;
        let rest = source.get(start..comment.end as usize).unwrap_or("");
        let mut cursor = Cursor { source, rest, end: comment.end };
        cursor.skip_other_blanks();
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
        self.skip_other_blanks();
    }

    /// Skips blanks; the first one is not ASCII.
    #[inline]
    fn skip_other_blanks(&mut self) {
        if self.rest.bytes().next().is_some_and(|byte| !byte.is_ascii()) {
            self.skip_all_blanks();
        }
    }

    /// Skips blanks, including non-ASCII ones.
    #[cold]
    fn skip_all_blanks(&mut self) {
        self.take(|c| matches!(c, ' ' | '\t') || (!c.is_ascii() && c.is_whitespace()));
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

    /// Takes the characters of a class.
    #[inline]
    pub(crate) fn run(&mut self, of: CharClass) -> &'a str {
        let length = self.rest.bytes().take_while(|&byte| of.has_byte(byte)).count();
        if self.rest.as_bytes().get(length).is_some_and(|byte| !byte.is_ascii()) {
            return self.take(|c| of.has(c));
        }
        let (taken, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    /// Takes characters while a predicate is true.
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
        bare: CharClass,
        arena: &'a Arena,
        diagnostics: &mut Diagnostics,
    ) -> Option<&'a str> {
        if self.peek() != Some('"') {
            return Some(self.run(bare)).filter(|name| !name.is_empty());
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
