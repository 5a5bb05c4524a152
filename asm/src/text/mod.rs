//! Texts: quoting and unquoting of JSON strings, names, shortening for messages, the nearest name.

mod nearest;

pub(crate) use nearest::same_spelling;
pub use nearest::{Near, near, nearest, nearly_meets};

use crate::arena::Arena;
use bumpalo::collections::String;
pub(crate) use ilo_spec::json::{push as quote, quoted};
use std::fmt::Write as _;

/// A text cut to a length that a message can show.
pub(crate) fn shorten(text: &str) -> std::string::String {
    shortened(text, 40)
}

/// The first characters of a text that may be long, on one line, for messages.
pub fn shortened(text: &str, most: usize) -> std::string::String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let mut shown: std::string::String = text.chars().take(most).map(plain).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// How many names a message lists.
pub(crate) const SHOWN: usize = 8;

/// The first few of some names.
pub(crate) fn some_of<'n>(names: impl Iterator<Item = &'n str>) -> std::string::String {
    let mut shown: Vec<std::string::String> = names.take(SHOWN + 1).map(|name| format!("`{name}`")).collect();
    if shown.len() > SHOWN {
        shown.truncate(SHOWN);
        shown.push("…".to_owned());
    }
    shown.join(", ")
}

/// A text in which every character that is obeyed, invisible or turns the direction of others is written as
/// an escape. Line breaks stay: in JSON they are between values only.
pub fn visible(text: &str) -> std::string::String {
    let mut shown = std::string::String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\n' || !is_hidden(c) {
            shown.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string does not fail.
            let _ = write!(shown, "\\u{unit:04x}");
        }
    }
    shown
}

/// Whether a character is a control, or of those that format and show nothing themselves.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}')
        || matches!(c, '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}')
        || matches!(c, '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}')
        || matches!(c, '\u{e0000}'..='\u{e0fff}')
}

/// What is meant by a character that looks like a blank or a sign of ASCII, or like nothing.
pub(crate) fn look_alike(c: char) -> Option<&'static str> {
    Some(match c {
        '\0'..='\u{7f}' => return None,
        '“' | '”' | '„' | '‟' | '＂' => "\"",
        '‘' | '’' | '‚' | '‛' | '＇' => "'",
        '：' => ":",
        '，' | '、' => ",",
        '；' => ";",
        '＝' => "=",
        _ if c.is_whitespace() => " ",
        _ if is_hidden(c) => "",
        _ => return None,
    })
}

/// Whether a text is a name that needs no quotes in a reference: it starts with a letter or `_`, and
/// continues with those, digits, and hyphens followed by one of these.
pub fn is_name(text: &str) -> bool {
    name_end(text, 0) == Some(text.len())
}

/// Where the name that begins at `at` ends.
pub(crate) fn name_end(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let mut characters = rest.char_indices().peekable();
    let (_, first) = characters.next()?;
    if !(first.is_alphabetic() || first == '_') {
        return None;
    }
    let goes_on = |c: char| c.is_alphanumeric() || c == '_';
    while let Some((place, c)) = characters.next() {
        let hyphen = c == '-' && characters.peek().is_some_and(|&(_, next)| goes_on(next));
        if !goes_on(c) && !hyphen {
            return Some(at + place);
        }
    }
    Some(text.len())
}

/// Why a text is not a JSON string: where in it, how many bytes, and what is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadText {
    pub(crate) at: usize,
    pub(crate) length: usize,
    pub(crate) what: &'static str,
}

/// Decodes the text between the quotes; borrows it where nothing needs decoding. The first error ends it.
pub(crate) fn decode<'a>(raw: &'a str, arena: &'a Arena) -> Result<&'a str, BadText> {
    let mut wrong = None;
    let text = decode_all(raw, arena, |bad| _ = wrong.get_or_insert(bad));
    wrong.map_or(Ok(text), Err)
}

/// Decodes the text between the quotes and reports every error: bad escapes are left out, and control
/// characters are kept.
pub(crate) fn decode_all<'a>(raw: &'a str, arena: &'a Arena, mut report: impl FnMut(BadText)) -> &'a str {
    let special = |byte: u8| byte == b'\\' || byte < b' ';
    if !raw.bytes().any(special) {
        return raw;
    }
    let mut text = String::with_capacity_in(raw.len(), &arena.0);
    let mut at = 0;
    while let Some(rest) = raw.get(at..).filter(|rest| !rest.is_empty()) {
        let plain = rest.bytes().position(special).unwrap_or(rest.len());
        text.push_str(rest.get(..plain).unwrap_or(""));
        at += plain;
        match raw.as_bytes().get(at) {
            Some(b'\\') => match escape(raw, at) {
                Ok((decoded, length)) => {
                    text.push(decoded);
                    at += length;
                }
                Err(bad) => {
                    at += bad.length.max(1);
                    report(bad);
                }
            },
            Some(&byte) => {
                report(BadText { at, length: 1, what: "a control character must be escaped" });
                text.push(char::from(byte));
                at += 1;
            }
            None => {}
        }
    }
    text.into_bump_str()
}

/// The character of the escape at `at`, and the escape's length.
fn escape(raw: &str, at: usize) -> Result<(char, usize), BadText> {
    let plain = match raw.as_bytes().get(at + 1) {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode(raw, at),
        _ => {
            let length = 1 + raw.get(at + 1..).and_then(|r| r.chars().next()).map_or(0, char::len_utf8);
            return Err(BadText {
                at,
                length,
                what: "no such escape: there are \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX",
            });
        }
    };
    Ok((plain, 2))
}

/// The character of a `\uXXXX`, or of two that form a surrogate pair.
pub(crate) fn unicode(raw: &str, at: usize) -> Result<(char, usize), BadText> {
    const LONE: &str = "a lone surrogate is not a character";
    let bad = |length: usize, what| BadText { at, length: length.min(raw.len() - at), what };
    let high = unit(raw, at).ok_or_else(|| bad(2, "\\u takes four hexadecimal digits"))?;
    if let Some(c) = char::from_u32(high) {
        return Ok((c, 6));
    }
    let low = unit(raw, at + 6).filter(|low| (0xdc00..0xe000).contains(low));
    let (0xd800..0xdc00, Some(low)) = (high, low) else { return Err(bad(6, LONE)) };
    let c = char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00));
    c.map(|c| (c, 12)).ok_or_else(|| bad(12, LONE))
}

/// The number in a `\uXXXX` at `at`.
fn unit(raw: &str, at: usize) -> Option<u32> {
    let digits = raw.get(at..)?.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}

/// In JSON, replaces the escape of a lone surrogate by that of the replacement character, which is as long,
/// as clients in JavaScript do. Returns whether there were any.
pub fn replace_lone_surrogates(text: &mut [u8]) -> bool {
    let unit = |text: &[u8], at: usize| -> Option<u32> {
        let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let (mut at, mut found) = (0, false);
    while let Some(skip) = text.get(at..).and_then(|rest| rest.iter().position(|&byte| byte == b'\\')) {
        at += skip;
        let pair = (unit(text, at), unit(text, at + 6));
        at += match pair {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                if let Some(escape) = text.get_mut(at..at + 6) {
                    escape.copy_from_slice(b"\\ufffd");
                }
                found = true;
                6
            }
            (Some(_), _) => 6,
            (None, _) => 2,
        };
    }
    found
}

/// The number that a text renders: `404`, `1.5`. A number has one rendering, so `007` and `1.0` are not
/// renderings.
pub(crate) fn rendered_number(text: &str) -> Option<ilo_spec::program::Number> {
    // Most texts do not begin like a number.
    let number = ilo_spec::number::parse(text).ok().filter(|_| text.len() <= 32)?;
    (!text.ends_with(".0") && number.to_string() == text).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_surrogate_becomes_the_replacement_character() {
        for (text, expected) in [
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\\\ud83d""#, r#""\\\ufffd""#),
            (r#""\n\u0041\uD83Dx""#, r#""\n\u0041\ufffdx""#),
            (r#""\ud8"#, r#""\ud8"#),
        ] {
            let mut bytes = text.as_bytes().to_vec();
            let found = replace_lone_surrogates(&mut bytes);
            assert_eq!(std::str::from_utf8(&bytes).unwrap(), expected);
            assert_eq!(found, text != expected);
        }
    }

    #[test]
    fn decodes_as_json_does() {
        let arena = Arena::new();
        for (raw, text) in [
            ("", ""),
            ("plain é", "plain é"),
            (r#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{c}\n\r\t"),
            (r"\u0041\u00e9", "Aé"),
            (r"a\uD83D\uDE00b", "a😀b"),
            (r"\u0000", "\0"),
        ] {
            assert_eq!(decode(raw, &arena), Ok(text));
        }
    }

    #[test]
    fn what_is_quoted_reads_back() {
        let arena = Arena::new();
        for text in ["", "a \"b\" \\ c", "\0\u{1}\n\r\t\u{1f} é😀"] {
            let quoted = quoted(text);
            assert_eq!(decode(&quoted[1..quoted.len() - 1], &arena), Ok(text));
        }
    }

    #[test]
    fn refuses_what_json_refuses() {
        let arena = Arena::new();
        for (raw, at) in [
            (r"ab\x", 2),
            (r"\u12", 0),
            (r"\u12g4", 0),
            (r"\uD83D", 0),
            (r"\uDE00", 0),
            (r"x\uD83Dabcdef", 1),
            (r"\uD83D\u0041", 0),
            (r"\u+123", 0),
            ("a\tb", 1),
            ("a\0", 1),
            (r"\é", 0),
        ] {
            assert_eq!(decode(raw, &arena).unwrap_err().at, at, "{raw}");
        }
    }
}
