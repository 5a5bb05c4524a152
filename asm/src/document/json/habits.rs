//! Recovery from syntax of other languages in JSON: comments, other quotes, other literals, texts without
//! quotes.
//!
//! [`super::recovery`] handles errors in the structure of JSON.

use super::{Awaited, Reader, offset};
use crate::document::{Node, NodeKind, Style, Text};
use crate::foreign::{self, Place};
use crate::span::Span;
use crate::text::{self, shorten};
use ilo_spec::error::Code;

fn is_invisible(first: char) -> bool {
    matches!(first, '\0' | '\u{feff}' | '\u{200b}' | '\u{2028}' | '\u{2029}') || first.is_whitespace()
}

/// Reads what JSON does not have, and continues as if it were fixed; `word` are the letters and digits
/// with which it begins.
pub(crate) fn recover<'a>(reader: &mut Reader<'a, '_>, word: &'a str) {
    let rest = reader.source.get(reader.at..reader.end).unwrap_or("");
    let Some(first) = rest.chars().next() else { return };
    let is_key = matches!(reader.want, Awaited::Key | Awaited::FirstKey);
    match first {
        _ if ["//", "/*", "#"].iter().any(|start| rest.starts_with(start)) => comment(reader, rest),
        // No more than a blank.
        _ if is_invisible(first) => reader.at += first.len_utf8(),
        _ if reader.at_top() => reader.prose(),
        '\'' | '`' | '‘' | '“' | '’' | '”' => other_quotes(reader, rest, first),
        _ if !is_key && word_meant(word).is_some() => word_for(reader, word),
        _ if first.is_alphanumeric() || matches!(first, '_' | '$') => unquoted(reader, rest),
        _ => odd(reader, rest, first),
    }
}

/// `True`, `None`, `undefined` and the like.
fn word_for<'a>(reader: &mut Reader<'a, '_>, word: &'a str) {
    let meant = word_meant(word).unwrap_or("");
    let span = Span::new(offset(reader.at), offset(reader.at + word.len()));
    reader.ready();
    reader.at += word.len();
    if meant.is_empty() {
        reader.bad(Code::NumberRange, span, &format!("JSON has no `{word}`"), |wrong| {
            wrong.expected("a finite number", format!("`{word}`"))
        });
    }
    let kind = match meant {
        "true" => NodeKind::Bool(true),
        "false" => NodeKind::Bool(false),
        _ => NodeKind::Null,
    };
    reader.value(Node { kind, span });
}

/// A text or key without quotes.
fn unquoted<'a>(reader: &mut Reader<'a, '_>, rest: &'a str) {
    let key = matches!(reader.want, Awaited::Key | Awaited::FirstKey)
        || (reader.want == Awaited::Next && reader.in_record());
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
    reader.ready();
    let span = Span::new(offset(reader.at), offset(reader.at + text.len()));
    reader.at += text.len().max(1);
    bare_text(reader, span);
}

/// A key or text that lacks its quotes; of a text the end is a guess, which is reported.
pub(crate) fn bare_text(reader: &mut Reader<'_, '_>, span: Span) {
    let text = reader.source.get(span.range()).unwrap_or("");
    if !matches!(reader.want, Awaited::Key | Awaited::FirstKey) {
        reader.bad(Code::BadJson, span, "a text must be in double quotes", |wrong| {
            let quoted = text::quoted(text);
            let expected = shorten(&format!("`{quoted}`"));
            wrong.expected(expected, format!("`{}`", shorten(text))).replace(span, quoted)
        });
    }
    let kind = NodeKind::Text(Text { text, style: Style::Double, start: Some(span.start) });
    reader.text(Node { kind, span });
}

/// A text in other quotes.
fn other_quotes<'a>(reader: &mut Reader<'a, '_>, rest: &'a str, first: char) {
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
            // A single quote inside single quotes may be doubled.
            '\'' if first == c && rest.get(at + 1..).is_some_and(|rest| rest.starts_with(c)) => {
                escaped = true;
            }
            _ if ends(c) => {
                close = Some(at + c.len_utf8());
                break;
            }
            _ => inner.push(c),
        }
    }
    reader.ready();
    // A quote inside the text is not its end.
    close = close.filter(|&at| !rest.get(at..).is_some_and(|rest| rest.starts_with(char::is_alphanumeric)));
    let length = close.unwrap_or_else(|| rest.lines().next().unwrap_or("").trim_end().len().max(1));
    let span = Span::new(offset(reader.at), offset(reader.at + length));
    reader.at += length;
    reader.lost |= close.is_none();
    reader.vague = Some(span.end).filter(|_| close.is_none()).or(reader.vague);
    if close.is_none() {
        reader.bad(Code::BadString, span, "a text must be in double quotes", |wrong| {
            wrong.expected("`\"`", format!("`{first}`")).help("write the text in double quotes")
        });
    }
    let text = text::decode(&inner, reader.arena).unwrap_or("");
    reader.text(Node::of_text(reader.arena.alloc_str(text), span));
}

/// A comment, which JSON does not have.
fn comment<'a>(reader: &mut Reader<'a, '_>, rest: &'a str) {
    let line = rest.lines().next().unwrap_or("").trim_end().len();
    let block = rest.starts_with("/*");
    let end = if block { rest.find("*/").map(|at| at + 2) } else { Some(line) };
    let span = Span::new(offset(reader.at), offset(reader.at + end.unwrap_or(rest.len())));
    reader.at += end.unwrap_or(rest.len());
    reader.comments |= end.is_some();
    reader.lost |= end.is_none();
    if end.is_none() {
        reader.bad(Code::BadJson, span, "this comment is never closed", |wrong| {
            wrong.expected("`*/` at its end", "the end").help("remove it, or close it with `*/`")
        });
    }
}

/// A run of characters that begin no token; `;` counts as a comma and `=` as a colon.
fn odd<'a>(reader: &mut Reader<'a, '_>, rest: &'a str, first: char) {
    let known = |c: char| c.is_alphanumeric() || c.is_whitespace() || "\"'`{}[],:#/_$-\0".contains(c);
    let run = rest.char_indices().skip(1).find(|&(_, c)| known(c)).map_or(rest.len(), |(at, _)| at);
    let text = rest.get(..run).unwrap_or("");
    let (span, want) = (Span::new(offset(reader.at), offset(reader.at + run)), reader.want);
    reader.at += run;
    let meant = match (want, text::look_alike(first).unwrap_or(text)) {
        (Awaited::Next, "," | ";") => ",",
        (Awaited::Colon, ":" | "=") => ":",
        _ => "",
    };
    match meant {
        "," => reader.want = if reader.in_record() { Awaited::Key } else { Awaited::Value },
        ":" => reader.want = Awaited::Value,
        _ => {
            let shown = format!("`{}`", shorten(text));
            reader.bad(Code::BadCharacter, span, &format!("{shown} is not part of JSON"), |wrong| {
                wrong.expected("JSON", shown).help("put quotes around a text")
            });
        }
    }
}

/// The JSON value that a word of another language means; empty if there is none.
pub(crate) fn word_meant(word: &str) -> Option<&'static str> {
    foreign::word(Place::Literal, word)
}

#[cfg(test)]
mod tests {
    use crate::arena::Arena;
    use crate::diagnostic::{Diagnostics, fix};
    use crate::source::SourceLimits;

    #[test]
    fn every_habit_reads_its_example_as_if_it_were_fixed() {
        let examples = [
            ["[1, /* one */ 2]", "[1,  2]"],
            ["[1,\u{a0}2]", "[1, 2]"],
            ["Here it is:\n[1]", "[1]"],
            ["['a', 1]", "[\"a\", 1]"],
            ["[True, None]", "[true, null]"],
            ["{a: 1}", "{\"a\": 1}"],
            ["{\"a\" = 1}", "{\"a\" : 1}"],
        ];
        for [written, fixed] in examples {
            let arena = Arena::new();
            let mut found = Diagnostics::default();
            let read = super::super::read(written, &arena, &SourceLimits::default(), &mut found);
            let reported = found.as_slice();
            assert!(
                reported.is_empty() || fix::apply(written, reported).0 == fixed,
                "{written}: {reported:?}"
            );
            let mut none = Diagnostics::default();
            let expected = super::super::read(fixed, &arena, &SourceLimits::default(), &mut none);
            assert!(crate::document::same(read, expected) && none.as_slice().is_empty(), "{written}");
        }
    }
}
