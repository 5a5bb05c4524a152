//! The lexer of infix expressions: its tokens are references, literals, words and symbols.

use super::{Reader, Token};
use crate::ast::Literal;
use crate::diagnostic::Diagnostic;
use crate::dialect::reference::{Words, quoted};
use crate::dialect::template::{Sigil, template_of};
use crate::document::{Kind, Node, Text};
use crate::text::name_end;
use crate::text::{decode, shorten};
use ilo_spec::error::Code;
use ilo_spec::number::{self, NumberError};

/// Symbols of more than one byte, including those of other languages. A symbol comes before any symbol that
/// is a prefix of it.
const SYMBOLS: [&str; 19] = [
    "+=", "-=", "!==", "===", "==", "!=", ">=", "<=", "=>", "=<", "=!", "<>", "~=", "&&", "||", "**", "//",
    "++", "??",
];

impl<'a> Reader<'_, '_, 'a> {
    /// Advances to the next token. `value` says whether a value may begin here; only then can `-` begin a
    /// number.
    pub(crate) fn bump(&mut self, value: bool) {
        self.before = self.to;
        let text = self.words.text;
        let rest = text.get(self.to..).unwrap_or("");
        self.from = text.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
        let rest = text.get(self.from..).unwrap_or("");
        let digit = |at: usize| rest.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
        let (token, to) = match rest.chars().next() {
            None => (Token::End, self.from),
            Some('$') => self.dollar(),
            Some('"' | '\'') => self.text(),
            Some('-') if value && digit(1) => self.number(),
            Some('0'..='9') => self.number(),
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

    /// Reports the text from the cursor to `to`.
    fn bad(&mut self, wrong: Diagnostic, to: usize) -> (Token<'a>, usize) {
        self.diagnostics.push(wrong);
        (Token::Bad, to)
    }

    fn dollar(&mut self) -> (Token<'a>, usize) {
        let at = self.from;
        if self.words.byte(at + 1) == Some(b'{') {
            return match self.words.braced(at) {
                Ok((reference, end)) => (Token::Reference(reference), end),
                Err(read) => {
                    let (broken, end) = self.words.bad_braced(at, read);
                    let wrong = match broken.meant {
                        Some(_) => broken.diagnostic,
                        None => self.unwrapped(broken.diagnostic, at, end),
                    };
                    self.bad(wrong, end)
                }
            };
        }
        let Some((reference, end)) = self.words.dollar(at, true) else {
            let wrong =
                Diagnostic::new(Code::BadExpression, self.words.part(at, at + 1), "a `$` without a name")
                    .expected("`$name`, `$.input` or `${name.field}`", "`$`")
                    .help("write `'$'` for a text");
            return self.bad(wrong, at + 1);
        };
        // An item from the end, a part of a list, or a field with a computed name is read as a form of
        // another language.
        let form = self.words.byte(end + 1).is_some_and(|byte| matches!(byte, b'-' | b':' | b'$'));
        if !form && let Some((broken, end)) = self.words.bracket(at, end) {
            return self.bad(broken.diagnostic, end);
        }
        (Token::Reference(reference), end)
    }

    fn number(&mut self) -> (Token<'a>, usize) {
        let bytes = self.words.text.as_bytes();
        let digits = |from: usize| {
            from + bytes.get(from..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count()
        };
        let at = |at: usize| bytes.get(at).copied();
        let mut end = digits(self.from + usize::from(at(self.from) == Some(b'-')));
        if at(end) == Some(b'.') {
            end = digits(end + 1);
        }
        if matches!(at(end), Some(b'e' | b'E')) {
            end = digits(end + 1 + usize::from(matches!(at(end + 1), Some(b'+' | b'-'))));
        }
        let text = self.words.get(self.from, end);
        let error = match number::parse(text) {
            Ok(number) => return (Token::Literal(Literal::Number(number)), end),
            Err(error) => error,
        };
        let (code, expected) = match error {
            NumberError::Form => (Code::BadNumber, "a number as in JSON: `42`, `-1`, `0.5`, `1e3`"),
            NumberError::Beyond64Bits => {
                (Code::NumberRange, "from -9223372036854775808 to 9223372036854775807")
            }
            NumberError::NotFinite => (Code::NumberRange, "at most 1.7976931348623157e308"),
        };
        let shown = shorten(text);
        let wrong =
            Diagnostic::new(code, self.words.part(self.from, end), format!("`{shown}` is not a number"));
        self.bad(wrong.expected(expected, format!("`{shown}`")), end)
    }

    /// `'text'` or `"text"`.
    fn text(&mut self) -> (Token<'a>, usize) {
        let words = self.words;
        let (start, quote) = (self.from + 1, words.byte(self.from));
        let double = quote == Some(b'"');
        let end = words.text.len();
        let closed = quote.and_then(|quote| quoted(words.get(start, end), quote));
        let Some(length) = closed else {
            let wrong =
                Diagnostic::new(Code::BadString, words.part(self.from, end), "this text is not closed")
                    .expected(if double { "`\"`" } else { "`'`" }, "the end of the expression");
            return self.bad(wrong, end);
        };
        let at = start + length;
        let raw = words.get(start, at);
        let text = if double {
            match decode(raw, words.arena) {
                Ok(text) => text,
                Err(bad) => {
                    let from = start + bad.at;
                    let wrong =
                        Diagnostic::new(Code::BadString, words.part(from, from + bad.length), bad.what);
                    return self.bad(wrong, at + 1);
                }
            }
        } else if raw.contains("''") {
            words.arena.alloc_str(&raw.replace("''", "'"))
        } else {
            raw
        };
        (self.template(text, raw, start, at), at + 1)
    }

    /// A text in the expression, which may have references.
    fn template(&mut self, text: &'a str, raw: &str, from: usize, to: usize) -> Token<'a> {
        let exact = match self.words.node.kind {
            Kind::Text(whole) if text == raw => whole.start.zip(u32::try_from(from).ok()),
            _ => None,
        };
        let Kind::Text(outer) = self.words.node.kind else { return Token::Bad };
        let start = exact.and_then(|(start, from)| start.checked_add(from));
        let kind = Kind::Text(Text { text, style: outer.style, start });
        let node = Node { kind, span: self.words.part(from, to) };
        let inner = Words { node: &node, text, arena: self.words.arena };
        let template =
            template_of(&inner, Sigil::Dollar, &mut |broken| self.diagnostics.push(broken.diagnostic));
        match template.text() {
            Some(text) => Token::Literal(Literal::Text(text)),
            None => Token::Template(template),
        }
    }
}
