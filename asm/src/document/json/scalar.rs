//! Reads the texts, numbers and literals of JSON, valid and invalid ones.

use super::{Reader, Want, offset};
use crate::diagnostic::Diagnostic;
use crate::document::{Kind, Node, Style, Text};
use crate::span::Span;
use crate::text;
use ilo_spec::error::Code;
use ilo_spec::number::{self, NumberError};
use ilo_spec::program::Number;

/// A raw line break in a text, and what it shows about the text.
enum Break {
    /// The text continues after it.
    Inside,
    /// The closing quote is missing before it.
    Unclosed,
}

impl<'a> Reader<'a, '_> {
    /// Reads the text whose opening quote is here.
    pub(crate) fn string(&mut self) -> Node<'a> {
        let start = self.at;
        let node = self.closed_string(start);
        if self.goes_on() { self.quote_inside(start) } else { node }
    }

    fn closed_string(&mut self, start: usize) -> Node<'a> {
        let rest = self.rest(start + 1);
        match rest.iter().position(|&byte| byte == b'"' || byte == b'\\' || byte < b' ') {
            Some(length) if rest.get(length) == Some(&b'"') => {
                let (from, to) = (start + 1, start + 1 + length);
                self.at = to + 1;
                let text = Text {
                    text: self.source.get(from..to).unwrap_or(""),
                    style: Style::Double,
                    start: Some(offset(from)),
                };
                Node { kind: Kind::Text(text), span: Span::new(offset(start), offset(self.at)) }
            }
            _ => self.string_with_escapes(start),
        }
    }

    fn rest(&self, from: usize) -> &'a [u8] {
        self.source.as_bytes().get(from..self.end).unwrap_or_default()
    }

    /// Finds the end of a text and decodes it.
    #[cold]
    fn string_with_escapes(&mut self, start: usize) -> Node<'a> {
        let bytes = self.rest(0);
        let mut at = start + 1;
        let closed = loop {
            at += self
                .rest(at)
                .iter()
                .position(|&b| matches!(b, b'"' | b'\\' | b'\n' | b'\r'))
                .unwrap_or(self.end.saturating_sub(at));
            match bytes.get(at) {
                Some(b'"') => break true,
                Some(b'\\') if bytes.get(at + 1).is_some_and(|byte| !matches!(byte, b'\n' | b'\r')) => {
                    at += 2;
                }
                Some(b'\\') => at += 1,
                Some(_) => match self.line_break(&mut at) {
                    Break::Inside => {}
                    Break::Unclosed => break false,
                },
                None => break false,
            }
        };
        // An escape of a character of several bytes may end inside it.
        let to = if closed { at } else { self.unclosed(start, at.min(self.end)) };
        let inside = Span::new(offset(start + 1), offset(to));
        let text = self.decode(inside);
        self.at = if closed { to + 1 } else { to };
        Node::of_text(text, Span::new(offset(start), offset(self.at)))
    }

    /// Whether a text continues after white space that begins with a line break; if so, the white space is
    /// skipped.
    fn line_break(&self, at: &mut usize) -> Break {
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        let length = self.rest(*at).iter().take_while(|byte| blank(byte)).count();
        let next = *at + length;
        let inside = match self.rest(next) {
            // A quote that ends a text, or one that begins the next.
            [b'"', after @ ..] => {
                let after = after.iter().find(|byte| !matches!(byte, b' ' | b'\t'));
                after.is_none_or(|byte| matches!(byte, b',' | b'}' | b']' | b'\n' | b'\r'))
            }
            [] | [b'}' | b']' | b'{' | b'[', ..] => false,
            _ => true,
        };
        if inside {
            *at = next;
            Break::Inside
        } else {
            Break::Unclosed
        }
    }

    /// Reports a text without a closing quote before `at`. Returns its end.
    fn unclosed(&mut self, start: usize, at: usize) -> usize {
        let text = self.source.get(start..at).unwrap_or("");
        let body = text.trim_end().trim_end_matches(',').trim_end();
        // The text may have swallowed brackets, so where it should have ended is unknown.
        let swallowed = |c: char| matches!(c, '{' | '}' | '[' | ']' | '\\' | '\n' | '\r');
        let sure = at < self.end && body.len() > 1 && !body.contains(swallowed);
        self.lost |= !sure;
        let end = start + if sure { body.len() } else { text.trim_end().len().max(1) };
        self.vague = Some(offset(end)).filter(|_| !sure).or(self.vague);
        self.report(Code::BadString, || {
            let place = Span::new(offset(start), offset(start + 1));
            let wrong = Diagnostic::new(Code::BadString, place, "this text is not closed")
                .expected("`\"` at its end", "the end of the line");
            if sure {
                wrong.replace(Span::at(offset(end)), "\"")
            } else {
                wrong.help("close the text with `\"`; a line break inside it is `\\n`")
            }
        });
        end
    }

    /// Decodes the escapes of a text; invalid ones are reported.
    pub(crate) fn decode(&mut self, inside: Span) -> &'a str {
        let raw = self.source.get(inside.range()).unwrap_or("");
        let mut text = bumpalo::collections::String::with_capacity_in(raw.len(), self.arena);
        let mut at = 0;
        while let Some(rest) = raw.get(at..).filter(|rest| !rest.is_empty()) {
            let plain = rest.bytes().position(|byte| byte == b'\\' || byte < b' ').unwrap_or(rest.len());
            text.push_str(rest.get(..plain).unwrap_or(""));
            at += plain;
            let place = inside.start + offset(at);
            match raw.as_bytes().get(at) {
                None => {}
                Some(b'\\') => match text::escape(raw, at) {
                    Ok((decoded, length)) => {
                        text.push(decoded);
                        at += length;
                    }
                    Err(bad) => {
                        let span = Span::new(place, place + offset(bad.length.max(1)));
                        self.bad_escape(span, bad.what);
                        at += bad.length.max(1);
                    }
                },
                Some(&byte) => {
                    self.raw_control(Span::new(place, place + 1), byte);
                    text.push(char::from(byte));
                    at += 1;
                }
            }
        }
        text.into_bump_str()
    }

    /// A number, or something that looks like one.
    pub(crate) fn number(&mut self) {
        let start = self.at;
        let part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-' | b'_');
        let length = self.rest(start).iter().take_while(|byte| part(byte)).count();
        let text = self.source.get(start..start + length).unwrap_or("");
        let span = Span::new(offset(start), offset(start + length));
        let number = match small(text) {
            Some(int) => Ok(Number::Int(int)),
            None => number::parse(text),
        };
        if number.is_err() && self.at_top() {
            self.prose();
            return;
        }
        self.ready();
        self.at = start + length;
        if matches!(self.want, Want::Key | Want::FirstKey) {
            self.bare_text(span);
            return;
        }
        let number = number.unwrap_or_else(|error| {
            self.bad_number(span, text, error);
            Number::Int(0)
        });
        self.value(Node { kind: Kind::Number(number), span });
    }

    fn bad_number(&mut self, span: Span, text: &str, error: NumberError) {
        let code = if error == NumberError::Form { Code::BadNumber } else { Code::NumberRange };
        self.report(code, || crate::document::bad_number(span, text, error));
    }

    /// `true`, `false`, `null`, or another word.
    pub(crate) fn word(&mut self) {
        let start = self.at;
        let rest = self.rest(start);
        let length = rest.iter().take_while(|byte| word_byte(**byte)).count();
        let text = self.source.get(start..start + length).unwrap_or("");
        let kind = match text {
            "true" => Kind::Bool(true),
            "false" => Kind::Bool(false),
            "null" => Kind::Null,
            _ => return self.recover(text),
        };
        let span = Span::new(offset(start), offset(start + length));
        self.ready();
        self.at = start + length;
        if matches!(self.want, Want::Key | Want::FirstKey) {
            self.bare_text(span);
        } else {
            self.value(Node { kind, span });
        }
    }
}

/// Whether a byte may be part of a name or word.
pub(crate) fn word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-' | b'.')
}

/// An integer of at most 18 digits, which cannot overflow.
fn small(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let first = *digits.first()?;
    if digits.len() > 18 || (first == b'0' && text != "0") {
        return None;
    }
    let mut value = 0_i64;
    for &byte in digits {
        if !byte.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(byte - b'0');
    }
    Some(if digits.len() < text.len() { -value } else { value })
}
