//! An expression in the braces of a reference, such as `${total > 3 and .n > 2}` or `{{ a.b == 5 }}`: the
//! same expression, with each reference in braces of its own.

use super::Reader;
use crate::diagnostic::Diagnostics;
use crate::dialect::operator;
use crate::dialect::reference::Words;
use crate::document::{Kind, Node, Style, Text};
use crate::span::Span;
use crate::text::name_end;
use bumpalo::Bump;
use std::fmt::Write as _;

/// The longest expression that is rewritten, in bytes.
const LONGEST: usize = 400;

/// Words that are no names.
const WORDS: [&str; 14] = [
    "true",
    "false",
    "null",
    "nil",
    "none",
    "undefined",
    "is",
    "in",
    "contains",
    "includes",
    "if",
    "else",
    "between",
    "default",
];

/// What to write for an expression in braces; `whole` says that nothing is beside it.
pub(super) fn unwrapped(written: &str, whole: bool, nesting: usize, arena: &Bump) -> Option<String> {
    let inside = written.trim_start_matches(['$', '{', ' ']).trim_end_matches(['}', ' ']);
    if inside.len() > LONGEST || inside.contains(['$', '{', '}']) {
        return None;
    }
    let text = canonical(with_references(inside)?, nesting, arena)?;
    let one = text.starts_with("${") && text.find('}') == Some(text.len() - 1);
    Some(if whole || one { text } else { format!("({text})") })
}

/// An expression with the forms of other languages replaced; `None` if it is none.
fn canonical(mut text: String, nesting: usize, arena: &Bump) -> Option<String> {
    let end = u32::try_from(text.len()).ok()?;
    let kind = Kind::Text(Text { text: arena.alloc_str(&text), style: Style::Block, start: Some(0) });
    let node = Node { kind, span: Span::new(0, end) };
    let words = Words::of(&node, arena)?;
    let mut unseen = Diagnostics::default();
    let mut reader = Reader::new(&words, nesting, &mut unseen);
    reader.whole()?;
    if reader.faulty || !reader.seen.refers {
        return None;
    }
    let mut edits = Vec::new();
    for found in unseen.as_slice() {
        edits.extend(&found.fix.as_ref()?.edits);
    }
    edits.sort_by_key(|edit| core::cmp::Reverse(edit.span.start));
    let mut before = text.len();
    for edit in edits {
        let range = edit.span.range();
        if range.end > before {
            return None;
        }
        before = range.start;
        text.replace_range(range, &edit.text);
    }
    Some(text)
}

/// The text with each name outside quotes as a reference in braces.
fn with_references(inside: &str) -> Option<String> {
    let byte = |at: usize| inside.as_bytes().get(at).copied();
    let (mut out, mut at, mut quote) = (String::with_capacity(2 * inside.len()), 0, None);
    while let Some(c) = inside.get(at..)?.chars().next() {
        match (quote, c) {
            (Some(mark), _) if mark == c => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '0'..='9') => {
                let rest = inside.get(at..)?;
                let length =
                    rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len());
                out.push_str(rest.get(..length)?);
                at += length;
                continue;
            }
            (None, _) => {
                let after_value = at > 0 && matches!(byte(at - 1), Some(b')' | b']' | b'?' | b'}'));
                let input = c == '.' && !after_value;
                if let Some(mut end) = name_end(inside, at + usize::from(input)) {
                    let first = inside.get(at..end)?;
                    let called = |end: usize| byte(end) == Some(b'(');
                    let word =
                        WORDS.contains(&&*first.to_ascii_lowercase()) || operator::find(first).is_some();
                    if !input && (word || called(end)) {
                        out.push_str(first);
                        at = end;
                        continue;
                    }
                    while byte(end) == Some(b'.') {
                        let digits = || {
                            let rest = inside.get(end + 1..)?;
                            let length = rest.bytes().take_while(u8::is_ascii_digit).count();
                            (length > 0).then_some(end + 1 + length)
                        };
                        let Some(after) = name_end(inside, end + 1).or_else(digits) else { break };
                        if called(after) {
                            break;
                        }
                        end = after;
                    }
                    let _ = write!(out, "${{{}}}", inside.get(at..end)?);
                    // The rest is a method.
                    if byte(end) == Some(b'.') {
                        let after = name_end(inside, end + 1)?;
                        out.push_str(inside.get(end..after)?);
                        end = after;
                    }
                    at = end;
                    continue;
                }
            }
            _ => {}
        }
        // The name of a field behind a value, as in `a?.b`, is copied with its dot.
        let length = if quote.is_none() && c == '.' {
            name_end(inside, at + 1).map_or(1, |end| end - at)
        } else {
            c.len_utf8()
        };
        out.push_str(inside.get(at..at + length)?);
        at += length;
    }
    Some(out)
}
