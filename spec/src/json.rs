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

#[cfg(test)]
mod tests {
    use super::quoted;

    /// RFC 8259, section 7: what must be escaped, and the short escapes.
    #[test]
    fn quotes_backslashes_and_controls_are_escaped() {
        let text = "a\"b\\c/ \u{8}\u{c}\n\r\t\u{0}\u{1f}\u{7f}é😀";
        assert_eq!(quoted(text), "\"a\\\"b\\\\c/ \\b\\f\\n\\r\\t\\u0000\\u001f\u{7f}é😀\"");
        assert_eq!(quoted(""), "\"\"");
    }
}
