//! Texts as JSON strings: what every printer and renderer writes.

use alloc::string::String;
use core::fmt;

/// The length of the prefix that needs no escape, and the escape of the byte after it.
#[inline]
pub fn until_escape(bytes: &[u8]) -> (usize, Option<Escape>) {
    match bytes.iter().position(|&b| b < 0x20 || b == b'"' || b == b'\\') {
        None => (bytes.len(), None),
        Some(place) => (place, bytes.get(place).map(|&byte| Escape::of(byte))),
    }
}

/// A JSON escape: its characters and how many of them are used.
#[derive(Clone, Copy, Debug)]
pub struct Escape([u8; 6], usize);

impl Escape {
    fn of(byte: u8) -> Escape {
        let short = match byte {
            b'"' | b'\\' => byte,
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0x08 => b'b',
            0x0c => b'f',
            _ => {
                let digit = |half: u8| if half < 10 { b'0' + half } else { b'a' + half - 10 };
                return Escape([b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 15)], 6);
            }
        };
        Escape([b'\\', short, 0, 0, 0, 0], 2)
    }

    /// Its characters.
    pub fn as_str(&self) -> &str {
        self.0.get(..self.1).and_then(|bytes| core::str::from_utf8(bytes).ok()).unwrap_or_default()
    }
}

/// Writes a text as a JSON string, piece by piece.
///
/// # Errors
/// If `raw` fails.
#[inline]
pub fn quote(text: &str, mut raw: impl FnMut(&str) -> fmt::Result) -> fmt::Result {
    raw("\"")?;
    let mut rest = text;
    loop {
        let (plain, escape) = until_escape(rest.as_bytes());
        raw(rest.get(..plain).unwrap_or_default())?;
        let Some(escape) = escape else { break };
        raw(escape.as_str())?;
        rest = rest.get(plain + 1..).unwrap_or_default();
    }
    raw("\"")
}

/// Appends a text as a JSON string.
pub fn push(text: &str, out: &mut String) {
    // Writing to a string does not fail.
    let _ = quote(text, |part| {
        out.push_str(part);
        Ok(())
    });
}

/// A text as a JSON string.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push(text, &mut out);
    out
}

/// The bytes of a JSON text that are outside of its strings, and the quotes at their ends, with their places.
/// A text that is not JSON gives some of its bytes.
pub fn outside_texts(json: &[u8]) -> impl Iterator<Item = (usize, u8)> {
    let (mut is_inside, mut escaped) = (false, false);
    json.iter().copied().enumerate().filter(move |&(_, byte)| {
        let was_inside = is_inside;
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = is_inside,
            b'"' => is_inside = !is_inside,
            _ => {}
        }
        !(was_inside && is_inside)
    })
}

#[cfg(test)]
mod tests {
    use super::{outside_texts, quoted};
    use alloc::vec::Vec;

    #[test]
    fn what_is_in_a_string_is_not_outside_of_it() {
        let outside = |json: &[u8]| -> Vec<u8> { outside_texts(json).map(|(_, byte)| byte).collect() };
        assert_eq!(outside(br#"{"a,\\\"[": [1, "\\"], "b"}"#), br#"{"": [1, ""], ""}"#);
        assert_eq!(outside(br#"\"a\""#), br#"\""#);
        assert_eq!(outside(b"\"[{,"), b"\"");
    }

    /// RFC 8259, section 7: what must be escaped, and the short escapes.
    #[test]
    fn quotes_backslashes_and_controls_are_escaped() {
        let text = "a\"b\\c/ \u{8}\u{c}\n\r\t\u{0}\u{1f}\u{7f}é😀";
        assert_eq!(quoted(text), "\"a\\\"b\\\\c/ \\b\\f\\n\\r\\t\\u0000\\u001f\u{7f}é😀\"");
        assert_eq!(quoted(""), "\"\"");
    }
}
