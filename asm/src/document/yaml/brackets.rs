//! Reads lists and records in brackets. Texts in them may have `${…}`, and parentheses with commas.

use super::{BlockReader, Fatal, null, recovery};
use crate::document::Node;
use crate::document::builder::Container;
use crate::document::json::offset;
use crate::span::Span;

impl<'a> BlockReader<'a, '_> {
    /// Whether the brackets here end before the last text of their line, as in `{name} is here`.
    pub(super) fn is_text_in_brackets(&self) -> bool {
        let line = self.source.get(self.at..self.line_end(self.at)).unwrap_or("");
        let (mut at, mut depth) = (0, 0_usize);
        while let Some(c) = line.as_bytes().get(at) {
            match c {
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth == 1 => {
                    let behind = line.get(at + 1..).unwrap_or("").trim_start();
                    return !behind.is_empty() && !behind.starts_with([',', '#', '}', ']', ':']);
                }
                b'}' | b']' => depth -= 1,
                b'"' | b'\'' => match self.quote_end(self.at + at) {
                    Some(end) => at = end - self.at - 1,
                    None => return false,
                },
                b'#' if at > 0 && matches!(line.as_bytes().get(at - 1), Some(b' ' | b'\t')) => return false,
                _ => {}
            }
            at += 1;
        }
        false
    }

    /// `{{ name }}` of other languages: `${name}`.
    pub(super) fn doubled(&mut self) -> Option<Node<'a>> {
        let rest = self.rest().strip_prefix("{{")?;
        let end = rest.find([',', ':', '{', '}', '[', ']', '"', '\'', '\n', '\r'])?;
        let (name, behind) = rest.split_at_checked(end)?;
        if !behind.starts_with("}}") {
            return None;
        }
        let span = Span::new(offset(self.at), offset(self.at + name.len() + 4));
        self.at = span.end as usize;
        Some(Node::of_text(self.arena.alloc_str(&format!("${{{}}}", name.trim())), span))
    }

    /// Whether a colon that ends a key is here.
    fn is_colon(&self) -> bool {
        self.byte(self.at) == b':'
            && (self.is_blank(self.at + 1)
                || matches!(self.byte(self.at + 1), b',' | b'{' | b'}' | b'[' | b']'))
    }

    /// Reads a list or record in brackets with all that is in it.
    pub(super) fn brackets(&mut self) -> Result<Node<'a>, Fatal> {
        let (around, parent) = (self.built.frames().len(), self.parent());
        // Whether a value or key has ended, so that a comma, a colon or a bracket comes.
        let mut ended = false;
        // Whether it was in quotes, so that a colon needs no blank behind it.
        let mut quoted = false;
        // Whether a value comes behind the colon of a key.
        let mut colon = false;
        loop {
            let line = self.line;
            let is_inside = self.content();
            let (start, byte) = (self.at, self.byte(self.at));
            let is_closed = matches!(byte, b'}' | b']');
            let is_left = parent.is_some_and(|parent| start - self.line <= parent) && !is_closed;
            if !is_inside || self.line != line && (is_left || start == self.line && self.is_marker(start)) {
                return Err(recovery::incomplete(start.min(self.source.len())));
            }
            let frame = self.built.frames().last().copied();
            match byte {
                b'{' | b'[' if !ended => {
                    if let Some(node) = self.doubled() {
                        self.value(node);
                        (ended, quoted) = (true, false);
                        continue;
                    }
                    self.open(byte == b'{', offset(start))?;
                    self.at += 1;
                    self.last = offset(self.at);
                    colon = false;
                }
                b'}' | b']' => {
                    self.end_pairs();
                    if self.built.frames().last().is_none_or(|frame| frame.record != (byte == b'}')) {
                        return Err(recovery::no_key(start, byte));
                    }
                    self.at += 1;
                    let Some(node) = self.closed(offset(self.at)) else { continue };
                    if self.built.frames().len() == around {
                        return Ok(node);
                    }
                    self.value(node);
                    (ended, quoted) = (true, true);
                }
                b',' => {
                    if !ended && !colon {
                        self.diagnostics.push(recovery::extra_comma(start));
                    }
                    self.end_pairs();
                    if let Some(key) = self.built.frames().last().and_then(|frame| frame.key) {
                        self.value(null(key.span.end));
                    }
                    self.at += 1;
                    (ended, colon) = (false, false);
                }
                b':' if ended && (quoted || self.is_colon()) && has_key(frame) => {
                    self.at += 1;
                    (ended, colon) = (false, true);
                }
                _ if ended => return Err(recovery::incomplete(start)),
                // The key follows.
                b'?' if !colon && self.is_blank(start + 1) => self.at += 1,
                _ => {
                    quoted = matches!(byte, b'"' | b'\'');
                    if let Some(node) = self.scalar_in_brackets(colon)? {
                        if frame.is_some_and(|frame| !frame.record) && self.is_pair(quoted) {
                            self.open(true, node.span.start)?;
                        }
                        self.value(node);
                        ended = true;
                    }
                }
            }
        }
    }

    /// Whether the colon of a key follows on this line.
    fn is_pair(&mut self, quoted: bool) -> bool {
        self.more_in_line() && (self.is_colon() || quoted && self.byte(self.at) == b':')
    }

    /// Reads a text, or another value without brackets; `None` if it is not complete.
    fn scalar_in_brackets(&mut self, colon: bool) -> Result<Option<Node<'a>>, Fatal> {
        let begun = self.at;
        match self.features() {
            (true, None) => {}
            (_, alias) => return Ok(alias),
        }
        let start = self.at;
        match self.byte(start) {
            // The brackets come next.
            b'{' | b'[' if start > begun => return Ok(None),
            b',' | b']' | b'}' => return Ok(Some(null(self.last))),
            b'"' | b'\'' => {
                return self.quoted(self.parent()).map(Some).ok_or_else(|| recovery::open_text(start));
            }
            _ => {}
        }
        let end = start + self.plain_length(self.rest(), colon);
        let value = self.source.get(start..end).unwrap_or("").trim_end();
        if !colon || !value.contains(": ") {
            self.at = end;
            let first = self.plain(start..end);
            return self.folded(first, true).map(Some);
        }
        if let Some(text) = self.nested_keys(end)? {
            return Ok(Some(text));
        }
        if self.at > start {
            return self.scalar_in_brackets(true);
        }
        self.at = end;
        Ok(Some(self.text(recovery::without_curled_quotes(value, start))))
    }

    /// The length of the plain text with which a line begins, in brackets. What is behind it is not looked
    /// at, since a line may be as long as the source.
    pub(super) fn plain_length(&mut self, rest: &str, is_value: bool) -> usize {
        let (mut reference, mut before, mut length) = (false, ' ', rest.len());
        for (at, c) in rest.char_indices() {
            let after = rest.get(at + c.len_utf8()..).unwrap_or("");
            let is_end =
                || after.is_empty() || after.starts_with([' ', '\t', '\n', '\r', ',', '{', '}', '[', ']']);
            let stops = match c {
                '\n' | '\r' => true,
                '{' if before == '$' => {
                    reference = true;
                    false
                }
                '}' if reference => {
                    reference = false;
                    false
                }
                ',' if is_value && self.looks > 0 => {
                    let goes_on = goes_on(rest.get(..at).unwrap_or(""), after);
                    self.looks -= u8::from(goes_on.is_none());
                    !reference && goes_on != Some(true)
                }
                ',' | '{' | '}' | '[' | ']' => !reference,
                '#' => before == ' ',
                ':' => !is_value && !reference && is_end(),
                _ => false,
            };
            if stops {
                length = at;
                break;
            }
            before = c;
        }
        let open = rest.get(..length).is_some_and(|text| text.contains('('))
            || rest.as_bytes().get(length) == Some(&b'[');
        if is_value && open && self.looks > 0 {
            let nested = nested_end(rest);
            self.looks -= u8::from(nested.is_none());
            length = length.max(nested.unwrap_or(0));
        }
        // At least one character, so that reading advances.
        length.max(rest.chars().next().map_or(0, char::len_utf8))
    }
}

fn has_key(frame: Option<Container<'_>>) -> bool {
    frame.is_some_and(|frame| frame.record && frame.key.is_some())
}

/// Whether a text with a reference in it, in a record, goes on after a comma: no key follows. `None` if the
/// line ends before that is known.
fn goes_on(before: &str, after: &str) -> Option<bool> {
    let alone = before.starts_with("${") && before.find('}') == Some(before.len() - 1);
    if alone || !before.contains("${") || !after.starts_with(' ') {
        return Some(false);
    }
    let (mut reference, mut last) = (false, ' ');
    for c in after.chars() {
        reference |= c == '{' && last == '$';
        match c {
            '\n' | '\r' => return None,
            ':' if !reference => return Some(false),
            ',' | '}' | ']' if !reference => return Some(true),
            '}' => reference = false,
            _ => {}
        }
        last = c;
    }
    None
}

/// Where a plain text in brackets ends whose own brackets are closed, as in `min(a, b)[0]`: before the next
/// comma or bracket outside of them.
fn nested_end(text: &str) -> Option<usize> {
    let (mut open, mut quote, mut before) = (0_usize, None, ' ');
    for (at, c) in text.char_indices() {
        match c {
            '\n' | '\r' => return (open == 0).then_some(at),
            _ if quote == Some(c) => quote = None,
            _ if quote.is_some() => {}
            '\'' | '"' if open > 0 => quote = Some(c),
            '(' => open += 1,
            '[' if open > 0 || before.is_alphanumeric() || matches!(before, '_' | ')' | ']') => open += 1,
            '{' if open > 0 => open += 1,
            ')' | ']' | '}' if open > 0 => open -= 1,
            ',' | '[' | ']' | '{' | '}' if open == 0 => return Some(at),
            _ => {}
        }
        before = c;
    }
    (open == 0).then_some(text.len())
}
