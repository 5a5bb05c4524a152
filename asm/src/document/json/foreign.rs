//! Words, quotes, comments and characters that JSON does not have, and what they stand for.

use super::{Reader, Want, offset};
use crate::diagnostic::Diagnostic;
use crate::document::{Kind, Node, Style, Text};
use crate::span::Span;
use crate::text;
use crate::text::shorten;
use ilo_spec::error::Code;

impl Reader<'_, '_> {
    /// A word, or a character, that JSON does not have.
    pub(crate) fn foreign(&mut self, word: &str) {
        let rest = self.source.get(self.at..self.end).unwrap_or("");
        let Some(first) = rest.chars().next() else { return };
        if rest.starts_with("//") || rest.starts_with("/*") || first == '#' {
            return self.comment(rest);
        }
        if matches!(first, '\0' | '\u{feff}' | '\u{200b}' | '\u{a0}' | '\u{2028}' | '\u{2029}')
            || first.is_whitespace()
        {
            return self.invisible(first);
        }
        if self.at_top() {
            return self.prose();
        }
        if matches!(first, '\'' | '`' | '‘' | '“' | '’' | '”') {
            return self.other_quotes(rest, first);
        }
        if let Some(meant) = word_meant(word).filter(|_| !matches!(self.want, Want::Key | Want::FirstKey)) {
            return self.word_for(word, meant);
        }
        if first.is_alphanumeric() || matches!(first, '_' | '$') {
            return self.unquoted(rest);
        }
        self.odd(rest, first);
    }

    /// `True`, `None`, `undefined` and the like.
    fn word_for(&mut self, word: &str, meant: &'static str) {
        let span = Span::new(offset(self.at), offset(self.at + word.len()));
        self.ready();
        self.at += word.len();
        let nan = meant.is_empty();
        let code = if nan { Code::NumberRange } else { Code::BadJson };
        self.report(code, || {
            let wrong = Diagnostic::new(code, span, format!("JSON has no `{word}`"));
            if nan {
                wrong.expected("a finite number", format!("`{word}`"))
            } else {
                wrong.expected(format!("`{meant}`"), format!("`{word}`")).replace(span, meant)
            }
        });
        let kind = match meant {
            "true" => Kind::Bool(true),
            "false" => Kind::Bool(false),
            _ => Kind::Null,
        };
        self.value(Node { kind, span });
    }

    /// A text or key without quotes.
    fn unquoted(&mut self, rest: &str) {
        let key =
            matches!(self.want, Want::Key | Want::FirstKey) || (self.want == Want::Next && self.in_record());
        let mut length = 0;
        let mut braces = 0_usize;
        for (at, c) in rest.char_indices() {
            match c {
                '{' if rest.get(..at).is_some_and(|before| before.ends_with('$')) => braces += 1,
                '}' if braces > 0 => braces -= 1,
                ',' | '{' | '}' | '[' | ']' | '"' | '\n' | '\r' => break,
                ':' if key => break,
                '/' | '#' if rest.get(..at).is_some_and(|before| before.ends_with([' ', '\t'])) => break,
                _ => {}
            }
            length = at + c.len_utf8();
        }
        let text = rest.get(..length).unwrap_or("").trim_end();
        self.ready();
        let span = Span::new(offset(self.at), offset(self.at + text.len()));
        self.at += text.len().max(1);
        self.bare_text(span);
    }

    /// A key or text that lacks its quotes.
    pub(crate) fn bare_text(&mut self, span: Span) {
        let text = self.source.get(span.range()).unwrap_or("");
        let what = if matches!(self.want, Want::Key | Want::FirstKey) { "a key" } else { "a text" };
        self.report(Code::BadJson, || {
            let mut quoted = String::new();
            text::quote(text, &mut quoted);
            Diagnostic::new(Code::BadJson, span, format!("{what} stands in double quotes"))
                .expected(shorten(&format!("`{quoted}`")), format!("`{}`", shorten(text)))
                .replace(span, quoted)
        });
        let kind = Kind::Text(Text { text, style: Style::Double, start: Some(span.start) });
        self.text(Node { kind, span });
    }

    /// A text in quotes of another kind.
    fn other_quotes(&mut self, rest: &str, first: char) {
        let ends = |c: char| match first {
            '“' | '”' => matches!(c, '“' | '”'),
            '‘' | '’' => matches!(c, '‘' | '’'),
            _ => c == first,
        };
        let mut escaped = false;
        let mut inner = String::new();
        let mut close = None;
        for (at, c) in rest.char_indices().skip(1) {
            match c {
                '\n' | '\r' => break,
                _ if escaped => {
                    escaped = false;
                    inner.extend((!ends(c)).then_some('\\'));
                    inner.push(c);
                }
                '\\' => escaped = true,
                '"' => inner.push_str("\\\""),
                _ if ends(c) => {
                    close = Some(at + c.len_utf8());
                    break;
                }
                _ => inner.push(c),
            }
        }
        self.ready();
        let length = close.unwrap_or_else(|| rest.lines().next().unwrap_or("").trim_end().len().max(1));
        let span = Span::new(offset(self.at), offset(self.at + length));
        self.at += length;
        self.lost |= close.is_none();
        self.vague = Some(span.end).filter(|_| close.is_none()).or(self.vague);
        self.report(Code::BadString, || {
            let wrong = Diagnostic::new(Code::BadString, span, "a text stands in double quotes")
                .expected("`\"`", format!("`{first}`"));
            match close {
                Some(_) => wrong.replace(span, format!("\"{inner}\"")),
                None => wrong.help("write the text in double quotes"),
            }
        });
        let text = text::decode(&inner, self.arena).unwrap_or("");
        let text = &*self.arena.alloc_str(text);
        let kind = Kind::Text(Text { text, style: Style::Double, start: None });
        self.text(Node { kind, span });
    }

    /// A comment, which JSON does not have.
    fn comment(&mut self, rest: &str) {
        let line = rest.lines().next().unwrap_or("").trim_end().len();
        let block = rest.starts_with("/*");
        let end = if block { rest.find("*/").map(|at| at + 2) } else { Some(line) };
        let span = Span::new(offset(self.at), offset(self.at + end.unwrap_or(rest.len())));
        self.at += end.unwrap_or(rest.len());
        self.lost |= end.is_none();
        self.report(Code::BadJson, || {
            let wrong = Diagnostic::new(Code::BadJson, span, "JSON has no comments")
                .expected("JSON without comments", "a comment");
            match end {
                Some(_) => wrong.replace(span, ""),
                None => wrong.help("remove it; it is never closed"),
            }
        });
    }

    /// A blank or mark that cannot be seen.
    fn invisible(&mut self, first: char) {
        let span = Span::new(offset(self.at), offset(self.at + first.len_utf8()));
        self.at = span.end as usize;
        self.report(Code::BadCharacter, || {
            let name = format!("U+{:04X}", u32::from(first));
            Diagnostic::new(Code::BadCharacter, span, format!("the character {name} is no part of JSON"))
                .expected("a blank, a tab or a line break", name)
                .replace(span, if first.is_whitespace() { " " } else { "" })
        });
    }

    /// Characters that begin nothing, as one; with `;` for a comma and `=` for a colon.
    fn odd(&mut self, rest: &str, first: char) {
        let known = |c: char| c.is_alphanumeric() || c.is_whitespace() || "\"'`{}[],:#/_$-\0".contains(c);
        let run = rest.char_indices().skip(1).find(|&(_, c)| known(c)).map_or(rest.len(), |(at, _)| at);
        let text = rest.get(..run).unwrap_or("");
        let (span, want) = (Span::new(offset(self.at), offset(self.at + run)), self.want);
        self.at += run;
        let meant = match (want, first) {
            (Want::Next, ';') => ",",
            (Want::Colon, '=') => ":",
            _ => "",
        };
        self.report(Code::BadCharacter, || {
            let shown = shorten(text);
            let wrong = Diagnostic::new(Code::BadCharacter, span, format!("`{shown}` is no part of JSON"));
            if meant.is_empty() {
                wrong.expected("JSON", format!("`{shown}`")).help("put quotes around a text")
            } else {
                wrong.expected(format!("`{meant}`"), format!("`{shown}`")).replace(span, meant)
            }
        });
        match meant {
            "," => self.want = if self.in_record() { Want::Key } else { Want::Value },
            ":" => self.want = Want::Value,
            _ => {}
        }
    }
}

/// What a word of another language means; an empty text where JSON has nothing for it.
fn word_meant(word: &str) -> Option<&'static str> {
    Some(match word {
        "True" | "TRUE" => "true",
        "False" | "FALSE" => "false",
        "None" | "nil" | "Null" | "NULL" | "undefined" | "Nil" | "NIL" => "null",
        "NaN" | "nan" | "Infinity" | "inf" | "Inf" => "",
        _ => return None,
    })
}
