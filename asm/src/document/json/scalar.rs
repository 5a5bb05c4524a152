//! Reads the texts, numbers and literals of JSON, valid and invalid ones.
//!
//! Quotes inside a text that are not escaped: the text goes on behind what looks like its end. A fix escapes
//! them, if they come in pairs and the text has one end; so it reads back as it is written.

use super::habits;
use super::habits::word_meant;
use super::{Awaited, Reader, offset};
use crate::diagnostic::{Edit, Fix};
use crate::document::{Node, NodeKind, Style, Text};
use crate::span::Span;
use crate::text;
use ilo_spec::error::Code;
use ilo_spec::number;
use ilo_spec::number::NumberError;
use ilo_spec::program::Number;

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
                Node { kind: NodeKind::Text(text), span: Span::new(offset(start), offset(self.at)) }
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
                Some(_) if self.line_break(&mut at) => {}
                _ => break false,
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
    fn line_break(&self, at: &mut usize) -> bool {
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
        *at = if inside { next } else { *at };
        inside
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
        let place = Span::new(offset(start), offset(start + 1));
        self.bad(Code::BadString, place, "this text is not closed", |wrong| {
            let wrong = wrong.expected("`\"` at its end", "the end of the line");
            if sure {
                wrong.replace(Span::at(offset(end)), "\"")
            } else {
                wrong.help("close the text with `\"`; a line break inside it is `\\n`")
            }
        });
        end
    }

    /// Decodes the escapes of a text; invalid ones are reported.
    fn decode(&mut self, inside: Span) -> &'a str {
        let raw = self.source.get(inside.range()).unwrap_or("");
        text::decode_all(raw, self.arena, |bad| {
            let start = inside.start + offset(bad.at);
            self.bad_text(Span::new(start, start + offset(bad.length.max(1))), bad.what);
        })
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
        if matches!(self.want, Awaited::Key | Awaited::FirstKey) {
            habits::bare_text(self, span);
            return;
        }
        let number = number.unwrap_or_else(|error| {
            let code = if error == NumberError::Form { Code::BadNumber } else { Code::NumberRange };
            self.diagnostics.push_with(code, || crate::document::bad_number(span, text, error));
            Number::Int(0)
        });
        self.value(Node { kind: NodeKind::Number(number), span });
    }

    /// `true`, `false`, `null`, or another word.
    pub(crate) fn word(&mut self) {
        let start = self.at;
        let rest = self.rest(start);
        let length = rest.iter().take_while(|byte| word_byte(**byte)).count();
        let text = self.source.get(start..start + length).unwrap_or("");
        let kind = match text {
            "true" => NodeKind::Bool(true),
            "false" => NodeKind::Bool(false),
            "null" => NodeKind::Null,
            _ => return habits::recover(self, text),
        };
        let span = Span::new(offset(start), offset(start + length));
        self.ready();
        self.at = start + length;
        if matches!(self.want, Awaited::Key | Awaited::FirstKey) {
            habits::bare_text(self, span);
        } else {
            self.value(Node { kind, span });
        }
    }

    /// Whether the text that ends here goes on behind its quote: with a letter, or with another sign.
    pub(crate) fn goes_on(&self) -> bool {
        let next = self.source.as_bytes().get(self.at);
        if matches!(next, Some(b',' | b':' | b')')) || self.at_top() || self.lost {
            return false;
        }
        let rest = self.source.get(self.at..self.end).unwrap_or("");
        let after = rest.trim_start_matches([' ', '\t']);
        let adjacent = after.len() == rest.len();
        match after.chars().next() {
            Some(c) if c.is_alphabetic() || matches!(c, '_' | '$') => {
                let length = after.bytes().take_while(|&byte| word_byte(byte)).count();
                let (word, behind) = after.split_at_checked(length).unwrap_or((after, ""));
                let literal = matches!(word, "true" | "false" | "null") || word_meant(word).is_some();
                adjacent || !literal && !behind.trim_start().starts_with(':')
            }
            Some('}' | ']') => adjacent && !may_close(rest),
            Some(c) => adjacent && !c.is_whitespace() && !",:\"{[+=;/#，：；＝”“".contains(c),
            None => false,
        }
    }

    /// Reads a text with quotes inside it that are not escaped, and reports them.
    pub(crate) fn quote_inside(&mut self, start: usize) -> Node<'a> {
        let place = Span::new(offset(self.at.saturating_sub(1)), offset(self.at));
        let (after, inner) = match self.end_of_text(start) {
            Some((at, inner)) => (at + 1, Some(inner).filter(|inner| inner.len() % 2 == 0)),
            None => (self.before_brackets(), None),
        };
        // What may not be part of the text is not read as one: errors in it would be of no use.
        let to = if inner.is_some() { after } else { self.at }.saturating_sub(1);
        let text = self.decode(Span::new(offset(start + 1), offset(to)));
        self.at = after;
        self.lost |= inner.is_none();
        self.vague = Some(offset(self.at)).filter(|_| inner.is_none()).or(self.vague);
        self.bad(Code::BadString, place, "a quote inside a text is escaped", |wrong| {
            let wrong = wrong.expected("`\\\"`", "`\"`");
            match inner {
                Some(inner) => {
                    let edits = inner.into_iter().map(|at| Edit::insert(offset(at), "\\")).collect();
                    wrong.fix(Fix { title: "write `\\\"` for each quote inside this text".to_owned(), edits })
                }
                None => wrong.help("write `\\\"` for each quote inside a text"),
            }
        });
        Node::of_text(text, Span::new(offset(start), offset(self.at)))
    }

    /// The first quote of the line that may end a text as a whole, with quotes in pairs inside it; without
    /// one, the first quote that may end it. With it, the quotes inside the text.
    fn end_of_text(&mut self, start: usize) -> Option<(usize, Vec<usize>)> {
        self.looks = self.looks.checked_sub(1)?;
        let line = self.source.get(start + 1..self.end)?.split(['\n', '\r']).next()?;
        let (mut inner, mut escaped, mut first) = (Vec::new(), false, None);
        for (at, byte) in line.bytes().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    let place = start + 1 + at;
                    if self.may_end(line.get(at + 1..).unwrap_or("")) {
                        if inner.len() % 2 == 0 {
                            return Some((place, inner));
                        }
                        first = first.or(Some(place));
                    }
                    inner.push(place);
                }
                _ => {}
            }
        }
        first.map(|at| (at, vec![at]))
    }

    /// The end of the line without the brackets and commas at its end.
    fn before_brackets(&self) -> usize {
        let rest = self.source.get(self.at..self.end).unwrap_or("");
        let line = rest.split(['\n', '\r']).next().unwrap_or("");
        self.at + line.trim_end_matches(['}', ']', ',', ' ', '\t']).len()
    }

    /// Whether a text may end before this rest of a line.
    fn may_end(&self, rest: &str) -> bool {
        let rest = rest.trim_start();
        if matches!(self.want, Awaited::Key | Awaited::FirstKey) {
            return rest.starts_with(':');
        }
        let Some(next) = rest.strip_prefix(',').map(str::trim_start) else {
            return rest.is_empty() || may_close(rest);
        };
        let literal = ["true", "false", "null"].iter().any(|word| next.starts_with(word));
        let begins = next.starts_with(|c: char| matches!(c, '{' | '[' | '-') || c.is_ascii_digit());
        next.is_empty() || next.starts_with('"') || !self.in_record() && (literal || begins)
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

/// Whether a text may end before brackets: not if a quote behind them begins no key, `"use "}" here"`.
fn may_close(rest: &str) -> bool {
    let behind = rest.trim_start_matches(['}', ']']);
    let key =
        behind.strip_prefix('"').map(|key| key.split_once('"').map_or("", |(_, rest)| rest.trim_start()));
    behind.len() < rest.len() && key.is_none_or(|rest| rest.starts_with(':'))
}
