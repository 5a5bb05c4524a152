//! Quotes inside a text of JSON that are not escaped: the text goes on behind what looks like its end.
//!
//! A fix escapes them, if they come in pairs and the text has one end; so it reads back as it is written.

use super::habits::word_meant;
use super::scalar::word_byte;
use super::{Reader, Want, offset};
use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::document::Node;
use crate::span::Span;
use ilo_spec::error::Code;

/// Where a text may end: its last byte, and the quotes inside it.
struct End {
    at: usize,
    inner: Vec<usize>,
}

impl<'a> Reader<'a, '_> {
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
            Some(End { at, inner }) => (at + 1, Some(inner).filter(|inner| inner.len() % 2 == 0)),
            None => (self.before_brackets(), None),
        };
        // What may not be part of the text is not read as one: errors in it would be of no use.
        let to = if inner.is_some() { after } else { self.at }.saturating_sub(1);
        let text = self.decode(Span::new(offset(start + 1), offset(to)));
        self.at = after;
        self.lost |= inner.is_none();
        self.vague = Some(offset(self.at)).filter(|_| inner.is_none()).or(self.vague);
        self.report(Code::BadString, || {
            let wrong = Diagnostic::new(Code::BadString, place, "a quote inside a text is escaped")
                .expected("`\\\"`", "`\"`");
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
    /// one, the first quote that may end it.
    fn end_of_text(&mut self, start: usize) -> Option<End> {
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
                            return Some(End { at: place, inner });
                        }
                        first = first.or(Some(place));
                    }
                    inner.push(place);
                }
                _ => {}
            }
        }
        first.map(|at| End { at, inner: vec![at] })
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
        if matches!(self.want, Want::Key | Want::FirstKey) {
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

/// Whether a text may end before brackets: not if a quote behind them begins no key, `"use "}" here"`.
fn may_close(rest: &str) -> bool {
    let behind = rest.trim_start_matches(['}', ']']);
    let key =
        behind.strip_prefix('"').map(|key| key.split_once('"').map_or("", |(_, rest)| rest.trim_start()));
    behind.len() < rest.len() && key.is_none_or(|rest| rest.starts_with(':'))
}
