//! The bytes of a quoted text: which may follow which, regardless of the content.

/// A position in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inside {
    Plain,
    Escape,
    /// In `\u`, after this number of digits; the first was `d`.
    Unicode(u8, bool),
    /// In a character of several bytes: the number of bytes left, and the range of the next one.
    Character(u8, u8, u8),
}

/// The effect of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Refused,
    /// It ends the text.
    Closes,
    On(Inside),
}

/// All positions, for tables.
pub(crate) const PLACES: [Inside; 14] = [
    Inside::Plain,
    Inside::Escape,
    Inside::Unicode(0, false),
    Inside::Unicode(1, false),
    Inside::Unicode(1, true),
    Inside::Unicode(2, false),
    Inside::Unicode(3, false),
    Inside::Character(1, 0x80, 0xbf),
    Inside::Character(2, 0xa0, 0xbf),
    Inside::Character(2, 0x80, 0x9f),
    Inside::Character(2, 0x80, 0xbf),
    Inside::Character(3, 0x90, 0xbf),
    Inside::Character(3, 0x80, 0x8f),
    Inside::Character(3, 0x80, 0xbf),
];

/// The index of a position in [`PLACES`].
pub(crate) fn place(inside: Inside) -> usize {
    PLACES.iter().position(|&one| one == inside).unwrap_or_default()
}

pub(crate) fn step(inside: Inside, byte: u8) -> Step {
    let next = match (inside, byte) {
        (Inside::Plain, b'"') => return Step::Closes,
        (Inside::Plain, b'\\') => Some(Inside::Escape),
        (Inside::Plain, 0x20..=0x7f)
        | (Inside::Escape, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Some(Inside::Plain),
        (Inside::Plain, 0xc2..=0xdf) => Some(Inside::Character(1, 0x80, 0xbf)),
        (Inside::Plain, 0xe0) => Some(Inside::Character(2, 0xa0, 0xbf)),
        (Inside::Plain, 0xed) => Some(Inside::Character(2, 0x80, 0x9f)),
        (Inside::Plain, 0xe1..=0xef) => Some(Inside::Character(2, 0x80, 0xbf)),
        (Inside::Plain, 0xf0) => Some(Inside::Character(3, 0x90, 0xbf)),
        (Inside::Plain, 0xf4) => Some(Inside::Character(3, 0x80, 0x8f)),
        (Inside::Plain, 0xf1..=0xf3) => Some(Inside::Character(3, 0x80, 0xbf)),
        (Inside::Escape, b'u') => Some(Inside::Unicode(0, false)),
        // Half of a pair is not a character.
        (Inside::Unicode(1, true), b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => None,
        (Inside::Unicode(0, _), b'd' | b'D') => Some(Inside::Unicode(1, true)),
        (Inside::Unicode(3, _), _) if byte.is_ascii_hexdigit() => Some(Inside::Plain),
        (Inside::Unicode(digits, _), _) if byte.is_ascii_hexdigit() => {
            Some(Inside::Unicode(digits + 1, false))
        }
        (Inside::Character(left, low, high), _) if low <= byte && byte <= high => {
            Some(if left == 1 { Inside::Plain } else { Inside::Character(left - 1, 0x80, 0xbf) })
        }
        _ => None,
    };
    next.map_or(Step::Refused, Step::On)
}

/// The position after some bytes, or the number of bytes at which the text ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Led {
    Refused,
    /// The text ends with this many of the bytes.
    Closed(usize),
    On(Inside),
}

pub(crate) fn run(start: Inside, bytes: &[u8]) -> Led {
    let mut inside = start;
    for (at, &byte) in bytes.iter().enumerate() {
        // The common case.
        if inside == Inside::Plain && matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\') {
            continue;
        }
        match step(inside, byte) {
            Step::Refused => return Led::Refused,
            Step::Closes => return Led::Closed(at + 1),
            Step::On(next) => inside = next,
        }
    }
    Led::On(inside)
}

/// Whether a text of `constrained`, in JSON, is not a reference, whatever follows it.
pub(crate) fn is_text(written: &[u8]) -> bool {
    if written.first().is_some_and(|first| matches!(first, b'0'..=b'9' | b'-' | b'.')) {
        return true;
    }
    let end = written.iter().position(|&byte| byte == b'}');
    let is_whole = written.starts_with(b"${") && end.is_some_and(|end| end + 1 == written.len());
    let mut rest = written;
    while let Some((&byte, behind)) = rest.split_first() {
        match byte {
            b'\\' if behind.first() == Some(&b'u') => {}
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' | 0x80.. => {}
            _ => return !is_whole,
        }
        rest = behind;
    }
    false
}
