//! The tokens of an expression.

use super::parser::Parser;
use crate::ast::Literal;
use crate::diagnostic::Diagnostic;
use crate::document::bad_number;
use crate::text::name_end;
use ilo_spec::error::Code;
use ilo_spec::number;

/// A token.
#[derive(Clone, Copy, Debug)]
pub(super) enum Token<'a> {
    /// The end of the text.
    End,
    /// A number.
    Number(Literal<'a>),
    /// A text in quotes: the byte range of what is between them.
    Text(usize, usize),
    /// A name or a key word.
    Word(&'a str),
    /// A sign.
    Symbol(&'a str),
    /// An error that is reported already.
    Bad,
}

/// Signs of more than one byte. A sign comes before any sign that is a prefix of it.
const SYMBOLS: [&str; 27] = [
    "${", "...", "!==", "===", "==", "!=", ">=", "<=", "=>", "=<", "=!", "<>", "~=", "&&", "||", "**", "//",
    "++", "+=", "-=", "*=", "/=", "??", "?.", "->", "..", ":=",
];

impl<'a> Parser<'_, '_, 'a> {
    /// Advances to the next token.
    pub(super) fn bump(&mut self) {
        self.before = self.to;
        let text = self.words.text;
        let rest = text.get(self.to..).unwrap_or("");
        self.from = text.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
        let rest = text.get(self.from..).unwrap_or("");
        let (token, to) = match rest.chars().next() {
            None => (Token::End, self.from),
            Some(quote @ ('"' | '\'')) => self.quoted(quote as u8),
            Some('0'..='9') => self.number(self.from),
            Some(c) => match name_end(text, self.from) {
                Some(end) => (Token::Word(self.words.get(self.from, end)), end),
                None => {
                    let symbol = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol));
                    let end = self.from + symbol.map_or(c.len_utf8(), |symbol| symbol.len());
                    (Token::Symbol(self.words.get(self.from, end)), end)
                }
            },
        };
        self.token = token;
        self.to = to;
    }

    /// Continues reading at a byte.
    pub(super) fn go_to(&mut self, at: usize) {
        self.to = at;
        self.bump();
        self.before = at;
    }

    /// Whether the token is a sign.
    pub(super) fn is(&self, symbol: &str) -> bool {
        matches!(self.token, Token::Symbol(found) if found == symbol)
    }

    /// Whether the token is a key word.
    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.token, Token::Word(found) if found == word)
    }

    /// Whether no blank is before the token.
    pub(super) fn joined(&self) -> bool {
        self.before == self.from
    }

    /// The number that begins at a byte, which may be a minus sign before the token.
    pub(super) fn number(&mut self, from: usize) -> (Token<'a>, usize) {
        let bytes = self.words.text.as_bytes();
        let digits = |from: usize| {
            from + bytes.get(from..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count()
        };
        let at = |at: usize| bytes.get(at).copied();
        let mut end = digits(from + usize::from(at(from) == Some(b'-')));
        if at(end) == Some(b'.') && !matches!(at(end + 1), Some(b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'.')) {
            end = digits(end + 1);
        }
        if matches!(at(end), Some(b'e' | b'E')) {
            end = digits(end + 1 + usize::from(matches!(at(end + 1), Some(b'+' | b'-'))));
        }
        let text = self.words.get(from, end);
        match number::parse(text) {
            Ok(number) => (Token::Number(Literal::Number(number)), end),
            Err(error) => {
                self.fail(bad_number(self.words.part(from, end), text, error));
                (Token::Bad, end)
            }
        }
    }

    /// `'text'` or `"text"`: a quote in it is doubled, or has a backslash before it.
    fn quoted(&mut self, quote: u8) -> (Token<'a>, usize) {
        let bytes = self.words.text.as_bytes();
        let start = self.from + 1;
        let mut at = start;
        loop {
            match bytes.get(at) {
                None => break,
                Some(b'\\') => at += 2,
                Some(byte) if *byte == quote && bytes.get(at + 1) == Some(&quote) => at += 2,
                Some(byte) if *byte == quote => return (Token::Text(start, at), at + 1),
                Some(_) => at += 1,
            }
        }
        let end = bytes.len();
        let expected = if quote == b'"' { "`\"`" } else { "`'`" };
        let wrong =
            Diagnostic::new(Code::BadString, self.words.part(self.from, end), "this text is not closed")
                .expected(expected, "the end of the expression");
        self.fail(wrong);
        (Token::Bad, end)
    }
}
