//! Reads texts: plain ones, in quotes, and as blocks; and resolves plain ones by the core schema of YAML 1.2
//! (section 10.3.2).

use super::{BlockReader, recovery};
use crate::document::json::offset;
use crate::document::{Node, NodeKind, Style, Text};
use crate::span::Span;
use crate::text;
use core::ops::Range;
use ilo_spec::error::Code;
use ilo_spec::number;
use ilo_spec::number::NumberError;
use ilo_spec::program::Number;

/// The line on which a text goes on: its first character that is no blank, and the line breaks before it.
struct Continued {
    at: usize,
    breaks: usize,
}

impl<'a> BlockReader<'a, '_> {
    /// What is written here, as a text.
    pub(super) fn text(&self, range: Range<usize>) -> Node<'a> {
        let span = Span::new(offset(range.start), offset(range.end));
        let text = self.source.get(range).unwrap_or("");
        Node { kind: NodeKind::Text(Text { text, style: Style::Plain, start: Some(span.start) }), span }
    }

    /// What is written here, without the blanks at its end, as the value that it is in the core schema.
    pub(super) fn plain(&mut self, range: Range<usize>) -> Node<'a> {
        let text = self.source.get(range.clone()).unwrap_or("").trim_end();
        let node = self.text(range.start..range.start + text.len());
        let kind = plain(text).unwrap_or_else(|error| {
            let wrong = || crate::document::bad_number(node.span, text, error);
            self.diagnostics.push_with(Code::NumberRange, wrong);
            Some(NodeKind::Number(Number::Int(0)))
        });
        kind.map_or(node, |kind| Node { kind, ..node })
    }

    /// The colon that ends a plain key on this line.
    pub(super) fn key_end(&self, start: usize) -> Option<usize> {
        let line = self.source.as_bytes().get(start..self.line_end(start))?;
        let (mut before, mut is_reference) = (b' ', false);
        let closed = memchr::memrchr(b'}', line).unwrap_or(0);
        for (at, &byte) in line.iter().enumerate() {
            match byte {
                b'{' if before == b'$' => is_reference = at < closed,
                b'}' => is_reference = false,
                b':' if !is_reference && self.is_blank(start + at + 1) => return Some(start + at),
                b'#' if at > 0 && matches!(before, b' ' | b'\t') => return None,
                _ => {}
            }
            before = byte;
        }
        None
    }

    /// The end of a plain value: that of its line, or a comment. Whether something like a key is in it.
    pub(super) fn plain_end(&self, start: usize) -> (usize, bool) {
        let end = self.line_end(start);
        let line = self.source.as_bytes().get(start..end).unwrap_or_default();
        let mut keys = false;
        for at in memchr::memchr2_iter(b'#', b':', line) {
            match line.get(at) {
                Some(b':') => keys |= self.is_blank(start + at + 1),
                _ if at > 0 && self.is_blank(start + at - 1) => return (start + at, keys),
                _ => {}
            }
        }
        (end, keys)
    }

    /// A value without quotes. What YAML takes for a key in it is part of it.
    pub(super) fn plain_value(&mut self) -> Result<Node<'a>, super::Fatal> {
        let start = self.at;
        let (mut end, keys) = self.plain_end(start);
        let mark = self.byte(end + 1);
        let is_number = self.byte(end) == b'#' && (mark.is_ascii_digit() || mark == b'$');
        if is_number {
            end = self.line_end(end);
        }
        let text = self.source.get(start..end).unwrap_or("").trim_end();
        let span = Span::new(offset(start), offset(start + text.len()));
        self.at = end;
        let first = text.chars().next().unwrap_or(' ');
        if is_number {
            self.diagnostics.push_with(Code::QuoteIt, || recovery::comment(span, text));
        } else if matches!(first, ',' | ']' | '}') {
            self.diagnostics.push(recovery::begins_with(first, span, text));
        } else if keys {
            return Ok(self.text(recovery::without_curled_quotes(text, start)));
        } else {
            let first = self.plain(start..end);
            return self.folded(first, false);
        }
        Ok(self.text(start..start + text.len()))
    }

    /// A plain text, with the lines on which it goes on.
    pub(super) fn folded(&mut self, first: Node<'a>, in_brackets: bool) -> Result<Node<'a>, super::Fatal> {
        let mut whole: Option<String> = None;
        let mut last = first.span.end;
        while !self.more_in_line()
            && self.at == self.line_end(self.at)
            && let Some(next) = self.continued(self.at, self.parent())
        {
            let sign = self.byte(next.at);
            if sign == b'#' || in_brackets && b",[]{}:\"'".contains(&sign) {
                break;
            }
            let line = self.source.get(next.at..self.line_end(next.at)).unwrap_or("");
            let end = if in_brackets {
                next.at + self.plain_length(line, false)
            } else {
                self.plain_end(next.at).0
            };
            if let Some(colon) = self.key_end(next.at).filter(|&colon| colon <= end) {
                self.value(first);
                return Err(recovery::second_key(colon));
            }
            let whole =
                whole.get_or_insert_with(|| self.source.get(first.span.range()).unwrap_or("").to_owned());
            fold(next.breaks, whole);
            let text = self.source.get(next.at..end).unwrap_or("").trim_end();
            whole.push_str(text);
            last = offset(next.at + text.len());
            (self.at, self.line) = (end, self.line_of(next.at));
        }
        let Some(whole) = whole else { return Ok(first) };
        let kind =
            NodeKind::Text(Text { text: self.arena.alloc_str(&whole), style: Style::Plain, start: None });
        Ok(Node { kind, span: Span::new(first.span.start, last) })
    }

    /// The start of the line of a position.
    fn line_of(&self, at: usize) -> usize {
        let before = self.source.get(..at).unwrap_or("");
        before.rfind(['\n', '\r']).map_or(0, |at| at + 1)
    }

    /// The start of the line behind a line end.
    fn next_line(&self, end: usize) -> Option<usize> {
        let is_pair = self.byte(end) == b'\r' && self.byte(end + 1) == b'\n';
        let next = end + if is_pair { 2 } else { 1 };
        (next < self.source.len()).then_some(next)
    }

    /// Where a text goes on behind the end of its line: on a line that is indented more than its parent.
    fn continued(&self, mut end: usize, parent: Option<usize>) -> Option<Continued> {
        let mut breaks = 0;
        loop {
            let line = self.next_line(end)?;
            breaks += 1;
            let rest = self.source.as_bytes().get(line..)?;
            let column = rest.iter().take_while(|&&byte| byte == b' ').count();
            let at = line + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            if matches!(self.byte(at), b'\n' | b'\r') {
                end = at;
                continue;
            }
            let is_inside = parent.is_none_or(|parent| column > parent) && !self.is_marker(line);
            return is_inside.then_some(Continued { at, breaks });
        }
    }

    /// The end of a text in quotes that ends on its line, without reading it.
    pub(super) fn quote_end(&self, start: usize) -> Option<usize> {
        let quote = self.byte(start);
        let mut at = start + 1;
        loop {
            match *self.source.as_bytes().get(at)? {
                b'\n' | b'\r' => return None,
                b'\\' if quote == b'"' && !matches!(self.byte(at + 1), b'\n' | b'\r') => at += 2,
                byte if byte == quote => {
                    if quote == b'"' || self.byte(at + 1) != quote {
                        return Some(at + 1);
                    }
                    at += 2;
                }
                _ => at += 1,
            }
        }
    }

    /// A value in quotes, with what follows it on its line.
    pub(super) fn quoted_value(&mut self) -> Result<Node<'a>, super::Fatal> {
        let (start, line) = (self.at, self.line);
        let read = self.quoted(self.parent());
        if read.is_some() && !self.more_in_line() {
            return Ok(read.unwrap_or_else(|| super::null(0)));
        }
        if read.is_some() && self.line != line {
            return Err(recovery::no_key(self.at, self.byte(self.at)));
        }
        let end = self.line_end(start);
        let value = self.source.get(start..end).unwrap_or("").trim_end();
        let span = Span::new(offset(start), offset(start + value.len()));
        let key = self.built.frames().last().and_then(|frame| frame.key?.text());
        let is_infix = matches!(key, Some("expr" | "if" | "not"));
        let (text, wrong) = recovery::behind_quotes(value, read.is_some(), is_infix, span);
        wrong.into_iter().for_each(|wrong| self.diagnostics.push(wrong));
        self.at = end;
        Ok(Node::of_text(self.arena.alloc_str(&text), span))
    }

    /// The text in quotes here; `None` if it is not closed before a line that is not indented more than its
    /// parent.
    pub(super) fn quoted(&mut self, parent: Option<usize>) -> Option<Node<'a>> {
        let start = self.at;
        let quote = self.byte(start);
        let style = if quote == b'"' { Style::Double } else { Style::Single };
        let bytes = self.source.as_bytes();
        let stops =
            |&byte: &u8| byte == quote || matches!(byte, b'\n' | b'\r') || byte == b'\\' && quote == b'"';
        let (mut at, mut line) = (start + 1, self.line);
        let mut decoded: Option<String> = None;
        // What is before this is not removed at the end of a line.
        let mut kept = 0;
        loop {
            let stop = at + bytes.get(at..)?.iter().position(stops)?;
            let piece = self.source.get(at..stop).unwrap_or("");
            let is_double = quote == b'\'' && self.byte(stop + 1) == b'\'';
            if self.byte(stop) == quote && !is_double {
                self.at = stop + 1;
                self.line = line;
                let span = Span::new(offset(start), offset(self.at));
                let (text, start) = match decoded {
                    Some(text) => (self.arena.alloc_str(&(text + piece)), None),
                    None => (piece, Some(span.start + 1)),
                };
                return Some(Node { kind: NodeKind::Text(Text { text, style, start }), span });
            }
            let out = decoded.get_or_insert_default();
            out.push_str(piece);
            let is_escape = self.byte(stop) == b'\\';
            let breaks = matches!(self.byte(stop + usize::from(is_escape)), b'\n' | b'\r');
            if is_double {
                out.push('\'');
                at = stop + 2;
            } else if breaks {
                let next = self.continued(stop + usize::from(is_escape), parent)?;
                if is_escape {
                    out.extend(std::iter::repeat_n('\n', next.breaks - 1));
                } else {
                    out.truncate(out.trim_end_matches([' ', '\t']).len().max(kept));
                    fold(next.breaks, out);
                }
                (at, line) = (next.at, self.line_of(next.at));
            } else {
                match escaped(self.source.get(stop..)?) {
                    Some((c, length)) => {
                        out.push(c);
                        at = stop + length;
                    }
                    None => {
                        self.diagnostics.push_with(Code::BadYaml, || recovery::bad_escape(start));
                        at = stop + 1 + self.source.get(stop + 1..)?.chars().next()?.len_utf8();
                    }
                }
            }
            kept = out.len();
        }
    }

    /// A text as a block, `|` or `>`; `None` if the sign is not alone with its indicators.
    pub(super) fn block_text(&mut self) -> Option<Node<'a>> {
        let folds = self.byte(self.at) == b'>';
        let header_end = self.line_end(self.at);
        let header = self.source.get(self.at + 1..header_end)?;
        let signs = header.split([' ', '\t']).next()?;
        let behind = header.get(signs.len()..)?.trim_start();
        let digits: Vec<usize> =
            signs.bytes().filter(u8::is_ascii_digit).map(|it| usize::from(it - b'0')).collect();
        if !(behind.is_empty() || behind.starts_with('#'))
            || !signs.bytes().all(|sign| sign.is_ascii_digit() || matches!(sign, b'+' | b'-'))
            || signs.len() > 2
            || digits.len() > 1
        {
            return None;
        }
        let least = self.parent().map_or(0, |parent| parent + 1);
        let mut indent = digits.first().map(|digit| self.parent().unwrap_or(0) + digit);
        let (mut out, mut breaks, mut more) = (String::new(), 0, false);
        let (mut first, mut last, mut end) = (None, header_end, header_end);
        while let Some(line) = self.next_line(end) {
            let line_end = self.line_end(line);
            let text = self.source.get(line..line_end).unwrap_or("");
            let blanks = text.len() - text.trim_start_matches(' ').len();
            let is_empty = blanks == text.len();
            let column = indent.unwrap_or(blanks.max(least));
            if !is_empty && (blanks < column || self.is_marker(line)) {
                break;
            }
            end = line_end;
            let content = text.get(column..).unwrap_or("");
            if is_empty && content.is_empty() {
                breaks += 1;
                continue;
            }
            indent = Some(column);
            let is_more = content.starts_with([' ', '\t']);
            if first.is_none() || !folds || is_more || more {
                out.extend(std::iter::repeat_n('\n', breaks));
            } else {
                fold(breaks, &mut out);
            }
            first = first.or(Some(line + column));
            out.push_str(content);
            (breaks, more, last) = (1, is_more, line_end);
        }
        let keeps = signs.contains('+');
        if !signs.contains('-') && (first.is_some() || keeps) {
            let breaks = if keeps { breaks } else { 1 };
            out.extend(std::iter::repeat_n('\n', breaks));
        }
        self.at = end;
        self.line = self.line_of(end);
        let start = first.unwrap_or(header_end);
        let text = self.source.get(start..last).unwrap_or("").trim_end();
        let span = Span::new(offset(start), offset(start + text.len()));
        let kind =
            NodeKind::Text(Text { text: self.arena.alloc_str(&out), style: Style::Block, start: None });
        Some(Node { kind, span })
    }
}

/// Writes what line breaks within a text mean: one is a blank, each further one a line break.
fn fold(breaks: usize, out: &mut String) {
    match breaks {
        1 => out.push(' '),
        _ => out.extend(std::iter::repeat_n('\n', breaks - 1)),
    }
}

/// Letters and signs of escapes in double quotes, and what each means.
const ESCAPES: [&str; 2] =
    ["0abtnvfreN_LP\t \"/\\", "\0\u{7}\u{8}\t\n\u{b}\u{c}\r\u{1b}\u{85}\u{a0}\u{2028}\u{2029}\t \"/\\"];

/// The character that the escape at the start of a text in double quotes means, and its length.
fn escaped(text: &str) -> Option<(char, usize)> {
    let digits = match text.chars().nth(1)? {
        'u' => return text::unicode(text, 0).ok(),
        'x' => 2,
        'U' => 8,
        first => {
            let mut pairs = ESCAPES[0].chars().zip(ESCAPES[1].chars());
            return Some((pairs.find(|&(letter, _)| letter == first)?.1, 2));
        }
    };
    let code = text.get(2..2 + digits).filter(|code| code.bytes().all(|it| it.is_ascii_hexdigit()))?;
    Some((char::from_u32(u32::from_str_radix(code, 16).ok()?)?, 2 + digits))
}

/// The value of a plain scalar; `None` if it is a text.
pub(crate) fn plain(text: &str) -> Result<Option<NodeKind<'static>>, NumberError> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Some(NodeKind::Null),
        "true" | "True" | "TRUE" => Some(NodeKind::Bool(true)),
        "false" | "False" | "FALSE" => Some(NodeKind::Bool(false)),
        ".nan" | ".NaN" | ".NAN" => return Err(NumberError::NotFinite),
        _ if matches!(unsigned, ".inf" | ".Inf" | ".INF") => return Err(NumberError::NotFinite),
        _ if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') => None,
        _ => based(text).or_else(|| decimal(text, unsigned)).transpose()?.map(NodeKind::Number),
    })
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

/// `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`: more forms than JSON has.
fn decimal(text: &str, unsigned: &str) -> Option<Result<Number, NumberError>> {
    match number::parse(text.strip_prefix('+').unwrap_or(text)) {
        Err(NumberError::Form) => {}
        found => return Some(found),
    }
    if unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(text.parse().map(Number::Int).map_err(|_| NumberError::Beyond64Bits));
    }
    let double: f64 = text.parse().ok()?;
    Some(if double.is_finite() { Ok(Number::Double(double)) } else { Err(NumberError::NotFinite) })
}
