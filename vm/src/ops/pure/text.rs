//! Functions of texts.

use super::operand::{position, want, whole};
use crate::fault::Trap;
use crate::heap::{Heap, narrow};
use crate::program::ProgramData;
use crate::render;
use crate::value::{Tag, Value, at};

/// Burns fuel for bytes of text.
fn burn(heap: &mut Heap, bytes: usize) -> Result<(), Trap> {
    heap.budget.burn_bulk(0, bytes)
}

/// A part of a text as a text of its own.
fn part(
    heap: &mut Heap,
    program: &ProgramData,
    text: Value,
    part: core::ops::Range<usize>,
) -> Result<Value, Trap> {
    if part.len() == at(text.high()) {
        return Ok(text);
    }
    burn(heap, part.len())?;
    heap.reserve_text(part.len())?;
    let start = heap.text.len();
    heap.push_part(program, text, part);
    Ok(heap.text_since(start))
}

/// The items rendered as in text, with the separator between them.
pub(super) fn join(
    heap: &mut Heap,
    program: &ProgramData,
    list: Value,
    separator: Value,
) -> Result<Value, Trap> {
    want(list, Tag::List, "a list to join")?;
    want(separator, Tag::Text, "a text to join with")?;
    heap.budget.burn_bulk(at(list.aux), 0)?;
    let start = heap.text.len();
    let mut sink = render::Arena::new(heap, program, start);
    // Text is copied; a rendered number or container takes far longer per byte.
    let mut written = 0;
    for place in 0..at(list.aux) {
        let item = render::Sink::heap(&sink).value(at(list.low()) + place);
        if place > 0 {
            render::plain(&mut sink, separator)?;
        }
        let before = sink.len();
        render::plain(&mut sink, item)?;
        if item.tag != Tag::Text {
            written += sink.len() - before;
        }
    }
    let bytes = heap.text.len() - start;
    heap.budget.burn_bulk(written, bytes - written)?;
    Ok(heap.text_since(start))
}

/// The value as compact JSON.
pub(super) fn json(heap: &mut Heap, program: &ProgramData, value: Value) -> Result<Value, Trap> {
    let start = heap.text.len();
    render::json(&mut render::Arena::new(heap, program, start), value)?;
    let bytes = heap.text.len() - start;
    heap.budget.burn_bulk(bytes, 0)?;
    Ok(heap.text_since(start))
}

/// Finds a pattern, which is not empty, in a text at or after a position.
fn find(heap: &Heap, program: &ProgramData, text: Value, pattern: Value, from: usize) -> Option<usize> {
    let text = heap.text_of(program, text).get(from..)?;
    text.find(heap.text_of(program, pattern)).map(|found| from + found)
}

/// How often a pattern is found, from left to right.
fn occurrences(heap: &Heap, program: &ProgramData, text: Value, pattern: Value) -> usize {
    heap.text_of(program, text).matches(heap.text_of(program, pattern)).count()
}

pub(super) fn split(
    heap: &mut Heap,
    program: &ProgramData,
    text: Value,
    separator: Value,
) -> Result<Value, Trap> {
    want(text, Tag::Text, "a text to split")?;
    want(separator, Tag::Text, "a text to split at")?;
    let (length, width) = (at(text.high()), at(separator.high()));
    burn(heap, length)?;
    let parts = match width {
        0 => heap.text_of(program, text).chars().count(),
        _ => 1 + occurrences(heap, program, text, separator),
    };
    heap.budget.check_items(parts)?;
    // The text between the separators.
    let bytes = length - width * parts.saturating_sub(1);
    heap.budget.burn_bulk(parts, bytes)?;
    let items = heap.take(parts)?;
    heap.reserve_text(bytes)?;
    let mut from = 0;
    for place in items..items + parts {
        let end = match width {
            0 => from + heap.text_of(program, text)[from..].chars().next().map_or(0, char::len_utf8),
            _ => find(heap, program, text, separator, from).unwrap_or(length),
        };
        let start = heap.text.len();
        heap.push_part(program, text, from..end);
        heap.values[place] = heap.text_since(start);
        from = end + width;
    }
    Ok(Value::list(narrow(items), narrow(parts), 1))
}

pub(super) fn replace(
    heap: &mut Heap,
    program: &ProgramData,
    text: Value,
    old: Value,
    new: Value,
) -> Result<Value, Trap> {
    want(text, Tag::Text, "a text to replace in")?;
    want(old, Tag::Text, "a text to replace")?;
    want(new, Tag::Text, "a text to put in its place")?;
    let (length, width) = (at(text.high()), at(old.high()));
    burn(heap, length)?;
    let found = if width == 0 { 0 } else { occurrences(heap, program, text, old) };
    if found == 0 {
        return Ok(text);
    }
    let bytes = (length - found * width).saturating_add(found.saturating_mul(at(new.high())));
    heap.budget.check_text(bytes)?;
    burn(heap, bytes)?;
    heap.reserve_text(bytes)?;
    let (start, mut from) = (heap.text.len(), 0);
    while let Some(place) = find(heap, program, text, old, from) {
        heap.push_part(program, text, from..place);
        heap.push_part(program, new, 0..at(new.high()));
        from = place + width;
    }
    heap.push_part(program, text, from..length);
    Ok(heap.text_since(start))
}

pub(super) fn trim(heap: &mut Heap, program: &ProgramData, text: Value) -> Result<Value, Trap> {
    want(text, Tag::Text, "a text to trim")?;
    burn(heap, at(text.high()))?;
    let whole = heap.text_of(program, text);
    let from = whole.len() - whole.trim_start().len();
    let trimmed = whole.trim().len();
    part(heap, program, text, from..from + trimmed)
}

/// Whether a text begins with a part.
pub(super) fn starts(
    heap: &mut Heap,
    program: &ProgramData,
    text: Value,
    part: Value,
) -> Result<Value, Trap> {
    two_texts(heap, text, part)?;
    Ok(Value::bool(heap.text_of(program, text).starts_with(heap.text_of(program, part))))
}

/// Whether a text ends with a part.
pub(super) fn ends(heap: &mut Heap, program: &ProgramData, text: Value, part: Value) -> Result<Value, Trap> {
    two_texts(heap, text, part)?;
    Ok(Value::bool(heap.text_of(program, text).ends_with(heap.text_of(program, part))))
}

/// Checks a text and the part that is looked for at one of its ends; burns the fuel of comparing.
fn two_texts(heap: &mut Heap, text: Value, part: Value) -> Result<(), Trap> {
    want(text, Tag::Text, "a text")?;
    want(part, Tag::Text, "a text to look for")?;
    burn(heap, at(part.high()))
}

/// A text with each character mapped to one.
pub(super) fn change_case(
    heap: &mut Heap,
    program: &ProgramData,
    text: Value,
    map: fn(char) -> char,
) -> Result<Value, Trap> {
    want(text, Tag::Text, "a text to change the case of")?;
    burn(heap, at(text.high()))?;
    let source = heap.text_of(program, text);
    if source.chars().all(|c| map(c) == c) {
        return Ok(text);
    }
    let bytes = source.chars().map(|c| map(c).len_utf8()).sum();
    heap.budget.check_text(bytes)?;
    burn(heap, bytes)?;
    heap.reserve_text(bytes)?;
    let start = heap.text.len();
    let mut from = 0;
    while let Some(c) = heap.text_of(program, text)[from..].chars().next() {
        heap.text.push(map(c));
        from += c.len_utf8();
    }
    Ok(heap.text_since(start))
}

/// The simple lower-case mapping of a character, by the Unicode version of the standard library.
pub(super) fn lower(c: char) -> char {
    let mut full = c.to_lowercase();
    match (full.next(), full.next()) {
        (Some(one), None) => one,
        // The only character with a longer full mapping than its simple one.
        _ if c == 'İ' => 'i',
        _ => c,
    }
}

/// The simple upper-case mapping of a character. Characters whose full mapping is longer have none, but for
/// Greek letters with a iota subscript.
pub(super) fn upper(c: char) -> char {
    let mut full = c.to_uppercase();
    if let (Some(one), None) = (full.next(), full.next()) {
        return one;
    }
    let step = match c {
        '\u{1f80}'..='\u{1f87}' | '\u{1f90}'..='\u{1f97}' | '\u{1fa0}'..='\u{1fa7}' => 8,
        '\u{1fb3}' | '\u{1fc3}' | '\u{1ff3}' => 9,
        _ => 0,
    };
    char::from_u32(u32::from(c) + step).unwrap_or(c)
}

pub(super) fn slice(
    heap: &mut Heap,
    program: &ProgramData,
    text: Value,
    from: Value,
    to: Value,
) -> Result<Value, Trap> {
    let from = whole(from, "a whole number to slice from")?;
    let to = match to.tag {
        Tag::Nil => i64::MAX,
        _ => whole(to, "a whole number or nil to slice to")?,
    };
    burn(heap, at(text.high()))?;
    let source = heap.text_of(program, text);
    let length = source.chars().count();
    let (from, to) = (position(from, length), position(to, length));
    // The byte at which a code point begins.
    let byte = |place: usize| source.char_indices().nth(place).map_or(source.len(), |(byte, _)| byte);
    let (from, to) = (byte(from), byte(to));
    part(heap, program, text, from..to.max(from))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The specification names the Unicode version of case mapping. With a compiler of another version, check
    /// what has changed.
    #[test]
    fn the_unicode_version_is_the_stated_one() {
        assert_eq!(char::UNICODE_VERSION.0, ilo_spec::pure::UNICODE);
    }

    #[test]
    fn case_mapping_is_simple() {
        for (c, l, u) in [
            ('A', 'a', 'A'),
            ('ß', 'ß', 'ß'),
            ('İ', 'i', 'İ'),
            ('ı', 'ı', 'I'),
            ('Σ', 'σ', 'Σ'),
            ('ς', 'ς', 'Σ'),
            ('ŉ', 'ŉ', 'ŉ'),
            ('ﬁ', 'ﬁ', 'ﬁ'),
            ('ᾀ', 'ᾀ', 'ᾈ'),
            ('ᾗ', 'ᾗ', 'ᾟ'),
            ('ᾈ', 'ᾀ', 'ᾈ'),
            ('ᾳ', 'ᾳ', 'ᾼ'),
            ('ῳ', 'ῳ', 'ῼ'),
            ('ΐ', 'ΐ', 'ΐ'),
            ('ǆ', 'ǆ', 'Ǆ'),
            ('ǅ', 'ǆ', 'Ǆ'),
            ('\u{212a}', 'k', '\u{212a}'),
            ('ÿ', 'ÿ', 'Ÿ'),
            ('ẞ', 'ß', 'ẞ'),
            ('7', '7', '7'),
            ('日', '日', '日'),
        ] {
            assert_eq!((lower(c), upper(c)), (l, u), "{c}");
        }
    }
}
