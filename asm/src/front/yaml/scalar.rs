//! What a scalar of YAML is, by the core schema of YAML 1.2 (section 10.3.2).

use super::Reader;
use crate::front::tree::{self, Kind, Node, Style, Text};
use crate::span::Span;
use ilo_spec::error::Code;
use ilo_spec::number::{self, NumberError};
use ilo_spec::program::Number;
use saphyr_parser::ScalarStyle;

/// What a plain scalar reads as.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Plain {
    Null,
    Bool(bool),
    Number(Result<Number, NumberError>),
    Text,
}

impl<'a> Reader<'a, '_> {
    pub(super) fn scalar(&mut self, text: &str, style: ScalarStyle, span: Span) -> Node<'a> {
        let style = match style {
            ScalarStyle::Plain => match plain(text) {
                Plain::Text => Style::Plain,
                other => return self.plain(other, text, span),
            },
            ScalarStyle::SingleQuoted => Style::Single,
            ScalarStyle::DoubleQuoted => Style::Double,
            ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
        };
        let quotes = u32::from(matches!(style, Style::Single | Style::Double));
        let from = (span.start + quotes) as usize;
        let written = self.source.get(from..from + text.len()).filter(|written| *written == text);
        let written = written.filter(|_| style != Style::Block && from + text.len() <= span.end as usize);
        let start = written.map(|_| span.start + quotes);
        let text = written.unwrap_or_else(|| &*self.arena.alloc_str(text));
        let span = match style {
            Style::Plain | Style::Block => self.trimmed(span),
            _ => span,
        };
        Node { kind: Kind::Text(Text { text, style, start }), span }
    }

    /// A place without the blanks at its end.
    fn trimmed(&self, span: Span) -> Span {
        let text = self.source.get(span.range()).unwrap_or("").trim_end();
        Span::new(span.start, span.start + u32::try_from(text.len()).unwrap_or(0))
    }

    fn plain(&mut self, plain: Plain, text: &str, span: Span) -> Node<'a> {
        let kind = match plain {
            Plain::Bool(bool) => Kind::Bool(bool),
            Plain::Number(Ok(number)) => Kind::Number(number),
            Plain::Number(Err(error)) => {
                self.diagnostics.push_with(Code::NumberRange, || tree::bad_number(span, text, error));
                Kind::Number(Number::Int(0))
            }
            Plain::Null | Plain::Text => Kind::Null,
        };
        // What is left out stands right behind what is there.
        let span = if text.is_empty() { Span::at(self.last.max(span.start.min(self.last))) } else { span };
        Node { kind, span }
    }
}

/// What a plain scalar reads as.
pub(super) fn plain(text: &str) -> Plain {
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
