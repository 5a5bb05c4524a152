//! Resolves YAML scalars by the core schema of YAML 1.2 (section 10.3.2), and converts positions of the
//! scanner.
//!
//! The scanner counts characters of the source with fixes applied; spans are in bytes of the original source.

use super::{Reader, recovery};
use crate::diagnostic::Edit;
use crate::document::{Node, NodeKind, Style, Text};
use crate::span::Span;
use core::ops::Range;
use ilo_spec::error::Code;
use ilo_spec::number;
use ilo_spec::number::NumberError;
use ilo_spec::program::Number;
use saphyr_parser::{ScalarStyle, Span as Marks};
use std::borrow::Cow;
use std::cell::RefCell;

/// The distance in characters between two noted positions.
const STEP: usize = 32;

/// The part of a source that the scanner sees.
pub(crate) struct ScannedPart<'s> {
    /// The part of the source, with fixes applied.
    pub(crate) text: Cow<'s, str>,
    /// Its start in the source.
    base: usize,
    /// Whether it is ASCII.
    ascii: bool,
    /// The byte offset of each character whose number is a multiple of [`STEP`], as far as they were needed.
    noted: RefCell<Vec<u32>>,
    /// The range of each fix in `text`, and the range that it replaces in the source.
    fixes: Vec<AppliedFix>,
}

#[derive(Clone, Copy)]
struct AppliedFix {
    seen: (usize, usize),
    source: (usize, usize),
}

impl<'s> ScannedPart<'s> {
    /// The part of a source in a range, with the edits that lie in it; edits are sorted and do not overlap.
    /// The part is copied only if there are edits.
    pub(crate) fn new(source: &'s str, part: Range<usize>, edits: &[Edit], ascii: bool) -> ScannedPart<'s> {
        let mut fixes = Vec::new();
        let mut text = Cow::Borrowed(source.get(part.clone()).unwrap_or(""));
        let edits = edits.iter().filter(|edit| part.start <= edit.span.range().start);
        let edits: Vec<_> = edits.filter(|edit| edit.span.range().end <= part.end).collect();
        if !edits.is_empty() {
            let mut out = String::with_capacity(part.len());
            let mut at = part.start;
            for edit in edits {
                let range = edit.span.range();
                out.push_str(source.get(at..range.start).unwrap_or(""));
                let start = out.len();
                out.push_str(&edit.text);
                fixes.push(AppliedFix { seen: (start, out.len()), source: (range.start, range.end) });
                at = range.end;
            }
            out.push_str(source.get(at..part.end).unwrap_or(""));
            text = Cow::Owned(out);
        }
        ScannedPart { text, base: part.start, ascii, noted: RefCell::new(vec![0]), fixes }
    }

    /// The byte offset in the source of a character by its number. The cost is at most the distance from the
    /// furthest earlier query, plus the logarithm of the number of fixes.
    pub(crate) fn offset(&self, character: usize) -> u32 {
        let byte = self.byte(character);
        let next = self.fixes.partition_point(|fixed| fixed.seen.0 <= byte);
        let at = match next.checked_sub(1).and_then(|last| self.fixes.get(last)) {
            None => self.base + byte,
            // Inside a fix, only its ends have positions.
            Some(fixed) if byte < fixed.seen.1 => fixed.source.0,
            Some(fixed) => fixed.source.1 + (byte - fixed.seen.1),
        };
        u32::try_from(at).unwrap_or(u32::MAX)
    }

    fn byte(&self, character: usize) -> usize {
        if self.ascii {
            return character.min(self.text.len());
        }
        let after = |from: usize, count: usize| {
            let rest = self.text.get(from..).unwrap_or("");
            from + rest.char_indices().nth(count).map_or(rest.len(), |(at, _)| at)
        };
        let mut noted = self.noted.borrow_mut();
        let mut last = noted.last().map_or(0, |&at| at as usize);
        while noted.len() <= character / STEP && last < self.text.len() {
            last = after(last, STEP);
            noted.push(u32::try_from(last).unwrap_or(u32::MAX));
        }
        noted.get(character / STEP).map_or(self.text.len(), |&from| after(from as usize, character % STEP))
    }

    pub(crate) fn span(&self, marks: Marks) -> Span {
        Span::new(self.offset(marks.start.index()), self.offset(marks.end.index()))
    }
}

/// The value of a plain scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Plain {
    Null,
    Bool(bool),
    Number(Result<Number, NumberError>),
    Text,
}

impl<'a> Reader<'a, '_> {
    pub(crate) fn scalar(&mut self, text: &str, style: ScalarStyle, span: Span) -> Node<'a> {
        let style = match style {
            ScalarStyle::Plain => match plain(text) {
                Plain::Text => Style::Plain,
                other => return self.plain(other, text, span),
            },
            ScalarStyle::SingleQuoted => Style::Single,
            ScalarStyle::DoubleQuoted => Style::Double,
            ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
        };
        // If a fix added the quotes, the text begins at the position of the quote.
        let inside = u32::from(matches!(style, Style::Single | Style::Double)) + span.start;
        let text_is_at = |start: u32| {
            let range = start as usize..start as usize + text.len();
            let written = self.source.get(range.clone()).filter(|written| *written == text)?;
            (style != Style::Block && range.end <= span.end as usize).then_some((written, start))
        };
        let found = text_is_at(inside).or_else(|| text_is_at(span.start));
        let (written, start) = (found.map(|(written, _)| written), found.map(|(_, start)| start));
        let text = written.unwrap_or_else(|| self.arena.alloc_str(text));
        let span = match style {
            Style::Plain | Style::Block => self.trimmed(span),
            _ => span,
        };
        let node = Node { kind: NodeKind::Text(Text { text, style, start }), span };
        if style == Style::Plain && start.is_some() { self.whole(node) } else { node }
    }

    /// Reports a plain text that ends before something like `#5`, which was probably not meant as a comment.
    fn whole(&mut self, node: Node<'a>) -> Node<'a> {
        let rest = self.source.get(node.span.end as usize..).unwrap_or("");
        let mark = rest.trim_start_matches([' ', '\t']);
        let number = mark
            .strip_prefix('#')
            .is_some_and(|after| after.starts_with(|c: char| c.is_ascii_digit() || c == '$'));
        if mark.len() == rest.len() || !number {
            return node;
        }
        let length = rest.lines().next().unwrap_or("").trim_end().len();
        let span = Span::new(node.span.start, node.span.end + u32::try_from(length).unwrap_or(0));
        let text = self.source.get(span.range()).unwrap_or("");
        self.diagnostics.push_with(Code::QuoteIt, || {
            recovery::quote_it(span, recovery::COMMENT, text, recovery::quoted(text))
        });
        Node { kind: NodeKind::Text(Text { text, style: Style::Plain, start: Some(span.start) }), span }
    }

    /// A span without trailing blanks.
    fn trimmed(&self, span: Span) -> Span {
        let text = self.source.get(span.range()).unwrap_or("").trim_end();
        Span::new(span.start, span.start + u32::try_from(text.len()).unwrap_or(0))
    }

    fn plain(&mut self, plain: Plain, text: &str, span: Span) -> Node<'a> {
        let kind = match plain {
            Plain::Bool(bool) => NodeKind::Bool(bool),
            Plain::Number(Ok(number)) => NodeKind::Number(number),
            Plain::Number(Err(error)) => {
                self.diagnostics
                    .push_with(Code::NumberRange, || crate::document::bad_number(span, text, error));
                NodeKind::Number(Number::Int(0))
            }
            Plain::Null | Plain::Text => NodeKind::Null,
        };
        // An omitted value is positioned directly after the text before it.
        let span = if text.is_empty() { Span::at(self.last) } else { span };
        Node { kind, span }
    }
}

/// The value of a plain scalar.
pub(crate) fn plain(text: &str) -> Plain {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Plain::Null,
        "true" | "True" | "TRUE" => return Plain::Bool(true),
        "false" | "False" | "FALSE" => return Plain::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Plain::Number(Err(NumberError::NotFinite)),
        _ => {}
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    match unsigned {
        ".inf" | ".Inf" | ".INF" => Plain::Number(Err(NumberError::NotFinite)),
        _ if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') => Plain::Text,
        _ => based(text).or_else(|| decimal(text, unsigned)).map_or(Plain::Text, Plain::Number),
    }
}

/// `0o17` and `0x1f`, which have no sign.
fn based(text: &str) -> Option<Result<Number, NumberError>> {
    let (digits, radix) = match text.get(..2)? {
        "0o" => (text.get(2..)?, 8),
        "0x" => (text.get(2..)?, 16),
        _ => return None,
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    Some(i64::from_str_radix(digits, radix).map(Number::Int).map_err(|_| NumberError::Beyond64Bits))
}

/// `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`, read as the JSON number it says.
fn decimal(text: &str, unsigned: &str) -> Option<Result<Number, NumberError>> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, rest) = unsigned.split_at_checked(digits(unsigned))?;
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(after) => {
            let (fraction, rest) = after.split_at_checked(digits(after))?;
            (Some(fraction), rest)
        }
        None => (None, rest),
    };
    if whole.is_empty() && fraction.is_none_or(str::is_empty) {
        return None;
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        if exponent.is_empty() || digits(exponent) != exponent.len() {
            return None;
        }
    } else if !rest.is_empty() {
        return None;
    }
    if let Ok(number) = number::parse(text) {
        return Some(Ok(number));
    }
    let sign = if text.starts_with('-') { "-" } else { "" };
    let trimmed = whole.trim_start_matches('0');
    let whole = if trimmed.is_empty() { "0" } else { trimmed };
    let fraction = match fraction {
        Some("") => ".0".to_owned(),
        Some(fraction) => format!(".{fraction}"),
        None => String::new(),
    };
    Some(number::parse(&format!("{sign}{whole}{fraction}{rest}")))
}
