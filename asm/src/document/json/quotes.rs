//! Quotes inside a text of JSON that are not escaped: the text goes on behind what looks like its end. Where
//! it ends is not known, so that what is behind it in its line is read as the text.

use super::habits::word_meant;
use super::scalar::word_byte;
use super::{Reader, offset};
use crate::diagnostic::Diagnostic;
use crate::document::Node;
use crate::span::Span;
use ilo_spec::error::Code;

impl<'a> Reader<'a, '_> {
    /// Whether the text that ends here goes on behind its quote: with a letter, or directly with another
    /// sign.
    pub(crate) fn goes_on(&self) -> bool {
        let next = self.source.as_bytes().get(self.at);
        if matches!(next, Some(b',' | b':' | b'}' | b']' | b')')) || self.at_top() || self.lost {
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
            Some(c) => adjacent && !c.is_whitespace() && !",:}]\"{[+=;/#，：；＝”“".contains(c),
            None => false,
        }
    }

    /// Reads a text with quotes inside it that are not escaped, and reports them.
    pub(crate) fn quote_inside(&mut self, start: usize) -> Node<'a> {
        let place = Span::new(offset(self.at.saturating_sub(1)), offset(self.at));
        let to = self.before_brackets();
        let text = self.decode(Span::new(offset(start + 1), offset(to)));
        self.at = to;
        self.lost = true;
        self.vague = Some(offset(to));
        self.report(Code::BadString, || {
            Diagnostic::new(Code::BadString, place, "a quote inside a text is escaped")
                .expected("`\\\"`", "`\"`")
                .help("write `\\\"` for each quote inside a text")
        });
        Node::of_text(text, Span::new(offset(start), offset(to)))
    }

    /// The end of the line without the brackets and commas at its end.
    fn before_brackets(&self) -> usize {
        let rest = self.source.get(self.at..self.end).unwrap_or("");
        let line = rest.split(['\n', '\r']).next().unwrap_or("");
        self.at + line.trim_end_matches(['}', ']', ',', ' ', '\t']).len()
    }
}
