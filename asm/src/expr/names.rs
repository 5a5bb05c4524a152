//! The names that a text may refer to, for the survey of a program before it is read.
//!
//! This is not a parser: what cannot be read as an expression has names too, so that a mistake in an
//! expression is not followed by messages that nothing reads its names. Each byte is read once.

use super::reference::INPUT;
use crate::foreign::{self, Place};
use crate::text::name_end;
use smallvec::SmallVec;

/// A word of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Used<'a> {
    /// It may be the name of a step.
    Name(&'a str),
    /// It is written as an input: `.x`, `$.x`, `input.x`; `input` for all inputs.
    Input(&'a str),
    /// It is in quotes in an expression.
    Quoted(&'a str),
}

/// Passes on the names in a text, and the words in quotes. If `whole` is set, the text itself is an
/// expression. Returns whether the end of the text is in no quotes of the expression that is open there;
/// `None` if none is.
pub(crate) fn used<'a>(text: &'a str, whole: bool, each: &mut dyn FnMut(Used<'a>)) -> Option<bool> {
    let mut at = 0;
    // For each of the braces around the position the quote that is open in them, and whether an `f` marks it.
    let mut levels: SmallVec<[Option<(u8, bool)>; 8]> = SmallVec::new();
    levels.extend(whole.then_some(None));
    let byte = |at: usize| text.as_bytes().get(at).copied();
    loop {
        if levels.is_empty() {
            // Most texts have no sign that begins a reference.
            let rest = text.as_bytes().get(at..).unwrap_or_default();
            at += memchr::memchr2(b'$', b'{', rest)?;
        }
        let Some(found) = byte(at) else { return levels.last().map(Option::is_none) };
        let open = levels.last().copied().flatten();
        let in_text = open.is_some() || levels.is_empty();
        at += match (found, byte(at + 1)) {
            (b'$', Some(b'$')) if in_text => 2,
            (b'$' | b'{', Some(b'{')) if in_text => {
                levels.push(None);
                2
            }
            (b'{', _) if !in_text || open.is_some_and(|(_, marked)| marked) => {
                levels.push(None);
                1
            }
            (b'$', _) if in_text => 1 + name(text, at + 1, each),
            (b'\\', _) if open.is_some() => 2,
            (quote, _) if in_text => {
                if open.is_some_and(|(open, _)| open == quote)
                    && let Some(level) = levels.last_mut()
                {
                    *level = None;
                }
                1
            }
            (quote @ (b'\'' | b'"'), _) => {
                let marked = matches!(at.checked_sub(1).and_then(byte), Some(b'f' | b'F'));
                if let Some(level) = levels.last_mut() {
                    *level = Some((quote, marked));
                }
                if let Some(end) = name_end(text, at + 1).filter(|end| byte(*end) == Some(quote)) {
                    each(Used::Quoted(text.get(at + 1..end).unwrap_or("")));
                }
                1
            }
            (b'}', _) => {
                // One of the text itself closes nothing.
                levels.truncate((levels.len() - 1).max(usize::from(whole)));
                1
            }
            (b'$', _) => 1,
            (b'0'..=b'9', _) => number(text, at),
            // The dots of `...x` begin no input.
            (b'.', Some(b'.')) => 2 + usize::from(byte(at + 2) == Some(b'.')),
            (b'.', _) if follows_value(text, at) => {
                1 + name_end(text, at + 1).map_or_else(|| number(text, at + 1), |end| end - at - 1)
            }
            _ => name(text, at, each).max(1),
        };
    }
}

fn number(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count()
}

/// Whether a value ends directly before a position, so that a dot begins a field.
fn follows_value(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or("").chars().next_back();
    before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | ')' | ']' | '}' | '?' | '"' | '\''))
}

/// The length of the name at a position, which is passed on; 0 if there is none.
fn name<'a>(text: &'a str, at: usize, each: &mut dyn FnMut(Used<'a>)) -> usize {
    let byte = |at: usize| text.as_bytes().get(at).copied();
    let mut input = byte(at) == Some(b'.');
    let mut start = at + usize::from(input);
    let Some(mut end) = end_of_name(text, start) else { return 0 };
    if !input && text.get(start..end) == Some(INPUT) {
        input = true;
        if matches!(byte(end), Some(b'.' | b'[')) {
            start = end + usize::from(byte(end) == Some(b'.'));
            end = end_of_name(text, start).unwrap_or(end);
        }
    }
    let found = text.get(start..end).unwrap_or("");
    let name = found.strip_prefix('[').map_or(found, |found| found.trim_matches([']', '"', '\'']));
    let name = if name.is_empty() { INPUT } else { name };
    each(if input { Used::Input(name) } else { Used::Name(name) });
    // `steps.x`, as other languages refer to a step.
    if !input
        && byte(end) == Some(b'.')
        && foreign::word(Place::Root, name) == Some("steps")
        && let Some(behind) = name_end(text, end + 1)
    {
        each(Used::Name(text.get(end + 1..behind).unwrap_or("")));
        end = behind;
    }
    end - at
}

/// The end of a name, or of `["any name"]`.
fn end_of_name(text: &str, start: usize) -> Option<usize> {
    name_end(text, start).or_else(|| {
        let rest = text.as_bytes().get(start..)?;
        let quote = *rest.get(1).filter(|byte| rest.first() == Some(&b'[') && b"'\"".contains(byte))?;
        let length = rest.iter().skip(2).take(256).position(|byte| *byte == quote)?;
        (rest.get(length + 3) == Some(&b']')).then_some(start + length + 4)
    })
}
