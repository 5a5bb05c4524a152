//! A JSON reader: a text as a sequence of events.
//!
//! Integers are exact, nesting has a limit, and strings are decoded straight to where they go, so the reader
//! allocates nothing. Whether a record has a name twice is for the consumer to check, which keeps the names.
//! The reader does not recurse.

use alloc::string::String;
use core::fmt;
use ilo_spec::limits;
use ilo_spec::number::{self, NumberError};
use ilo_spec::program::Number;

/// Words of the stack that distinguishes records from lists.
const WORDS: usize = limits::VALUE_DEPTH / 64;

/// Reads a JSON document event by event.
#[derive(Clone, Debug)]
pub struct JsonReader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    limit: usize,
    /// A bit for each open container, set for records.
    records: [u64; WORDS],
    state: Awaited,
}

#[derive(Clone, Copy, Debug)]
enum Awaited {
    /// A value must follow.
    Value,
    /// A value or the end of the list.
    ListStart,
    /// A key or the end of the record.
    RecordStart,
    /// After a value: a comma or the end of the container.
    After,
}

/// A part of a JSON document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JsonEvent<'t> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    Text(JsonText<'t>),
    /// The name of the field whose value follows.
    Key(JsonText<'t>),
    /// A list begins.
    BeginList,
    /// A record begins.
    BeginRecord,
    /// The innermost list or record ends.
    End,
}

/// A JSON string between its quotes; its escapes are valid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JsonText<'t> {
    raw: &'t str,
}

/// Why a text is not JSON, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// The byte at which reading stopped.
    pub offset: usize,
    /// The reason.
    pub kind: JsonErrorKind,
}

/// Why a text is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonErrorKind {
    /// Something else was expected.
    Expected(&'static str),
    /// An integer beyond 64 bits.
    Beyond64Bits,
    /// A number that is not finite.
    NotFinite,
    /// Lists and records nested deeper than the limit.
    TooDeep,
}

impl fmt::Display for JsonErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JsonErrorKind::Expected(what) => write!(f, "expected {what}"),
            JsonErrorKind::Beyond64Bits => f.write_str("an integer beyond 64 bits"),
            JsonErrorKind::NotFinite => f.write_str("a number that is not finite"),
            JsonErrorKind::TooDeep => f.write_str("nested too deeply"),
        }
    }
}

type Scanned<T> = core::result::Result<T, JsonError>;

impl<'t> JsonReader<'t> {
    /// A reader of one document that nests at most `limit` lists and records, and never more than
    /// [`limits::VALUE_DEPTH`].
    pub fn new(text: &'t str, limit: usize) -> JsonReader<'t> {
        let limit = limit.min(limits::VALUE_DEPTH);
        JsonReader { text, at: 0, depth: 0, limit, records: [0; WORDS], state: Awaited::Value }
    }

    /// The next event, or `None` after the document.
    ///
    /// # Errors
    /// The first position at which the text is not JSON; after that, the reader must not be used.
    pub fn next_event(&mut self) -> Scanned<Option<JsonEvent<'t>>> {
        self.skip_space();
        let state = self.state;
        match state {
            Awaited::ListStart if self.eat(b']') => Ok(Some(self.end())),
            Awaited::Value | Awaited::ListStart => self.value().map(Some),
            Awaited::RecordStart if self.eat(b'}') => Ok(Some(self.end())),
            Awaited::RecordStart => self.key("a name or `}`").map(Some),
            Awaited::After if self.depth == 0 => {
                if self.at == self.text.len() {
                    Ok(None)
                } else {
                    self.expected("the end")
                }
            }
            Awaited::After if self.in_record() => {
                if self.eat(b'}') {
                    return Ok(Some(self.end()));
                }
                if !self.eat(b',') {
                    return self.expected("`,` or `}`");
                }
                self.skip_space();
                self.key("a name").map(Some)
            }
            Awaited::After => {
                if self.eat(b']') {
                    return Ok(Some(self.end()));
                }
                if !self.eat(b',') {
                    return self.expected("`,` or `]`");
                }
                self.skip_space();
                self.value().map(Some)
            }
        }
    }

    fn expected<T>(&self, what: &'static str) -> Scanned<T> {
        self.error(self.at, JsonErrorKind::Expected(what))
    }

    #[allow(clippy::unused_self, reason = "ends each path of its callers")]
    fn error<T>(&self, offset: usize, kind: JsonErrorKind) -> Scanned<T> {
        Err(JsonError { offset, kind })
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn in_record(&self) -> bool {
        let open = self.depth.saturating_sub(1);
        self.records.get(open / 64).is_some_and(|word| word >> (open % 64) & 1 != 0)
    }

    fn begin(&mut self, record: bool) -> Scanned<JsonEvent<'t>> {
        if self.depth >= self.limit {
            return self.error(self.at, JsonErrorKind::TooDeep);
        }
        self.at += 1;
        if let Some(word) = self.records.get_mut(self.depth / 64) {
            let bit = 1 << (self.depth % 64);
            *word = if record { *word | bit } else { *word & !bit };
        }
        self.depth += 1;
        self.state = if record { Awaited::RecordStart } else { Awaited::ListStart };
        Ok(if record { JsonEvent::BeginRecord } else { JsonEvent::BeginList })
    }

    fn end(&mut self) -> JsonEvent<'t> {
        self.depth = self.depth.saturating_sub(1);
        self.state = Awaited::After;
        JsonEvent::End
    }

    fn key(&mut self, what: &'static str) -> Scanned<JsonEvent<'t>> {
        if self.peek() != Some(b'"') {
            return self.expected(what);
        }
        let key = self.string()?;
        self.skip_space();
        if !self.eat(b':') {
            return self.expected("`:`");
        }
        self.state = Awaited::Value;
        Ok(JsonEvent::Key(key))
    }

    fn value(&mut self) -> Scanned<JsonEvent<'t>> {
        let event = match self.peek() {
            Some(b'[') => return self.begin(false),
            Some(b'{') => return self.begin(true),
            Some(b'"') => JsonEvent::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => JsonEvent::Number(self.number()?),
            _ if self.word("null") => JsonEvent::Null,
            _ if self.word("true") => JsonEvent::Bool(true),
            _ if self.word("false") => JsonEvent::Bool(false),
            _ => return self.expected("a value"),
        };
        self.state = Awaited::After;
        Ok(event)
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn word(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn number(&mut self) -> Scanned<Number> {
        let rest = self.rest();
        let is_part = |b: &u8| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        let length = rest.bytes().take_while(is_part).count();
        let (start, token) = (self.at, rest.get(..length).unwrap_or_default());
        self.at += length;
        number::parse(token).or_else(|error| {
            let kind = match error {
                NumberError::Form => JsonErrorKind::Expected("a number in JSON's form"),
                NumberError::Beyond64Bits => JsonErrorKind::Beyond64Bits,
                NumberError::NotFinite => JsonErrorKind::NotFinite,
            };
            self.error(start, kind)
        })
    }

    /// Reads a string from its opening quote to its closing one.
    fn string(&mut self) -> Scanned<JsonText<'t>> {
        self.at += 1;
        let start = self.at;
        loop {
            let special = |b: u8| b < 0x20 || b == b'"' || b == b'\\';
            self.at += self.rest().bytes().take_while(|&b| !special(b)).count();
            match self.peek() {
                Some(b'"') => {
                    let raw = self.text.get(start..self.at).unwrap_or_default();
                    self.at += 1;
                    return Ok(JsonText { raw });
                }
                Some(b'\\') => match escape(self.rest()) {
                    Some((_, length)) => self.at += length,
                    None => return self.expected("a valid escape"),
                },
                Some(_) => return self.expected("no control character in a string"),
                None => return self.expected("the end of the string"),
            }
        }
    }
}

/// The character of the escape at the beginning of a text, and the length of the escape.
fn escape(text: &str) -> Option<(char, usize)> {
    let simple = match text.as_bytes().get(1)? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode_escape(text),
        _ => return None,
    };
    Some((simple, 2))
}

fn unicode_escape(text: &str) -> Option<(char, usize)> {
    let first = hex4(text)?;
    if !(0xd800..0xdc00).contains(&first) {
        // A lone low surrogate is not a character.
        return char::from_u32(first).map(|c| (c, 6));
    }
    let second = hex4(text.get(6..)?).filter(|low| (0xdc00..0xe000).contains(low))?;
    char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00)).map(|c| (c, 12))
}

/// The value of `\uXXXX`.
fn hex4(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    // `from_str_radix` takes a sign as well.
    let all_hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
    if all_hex { u32::from_str_radix(digits, 16).ok() } else { None }
}

impl<'t> JsonText<'t> {
    /// The text, if it has no escapes.
    pub fn as_plain(&self) -> Option<&'t str> {
        (!self.raw.contains('\\')).then_some(self.raw)
    }

    /// Calls `each` with the parts of the decoded text, in order.
    ///
    /// # Errors
    /// Those of `each`.
    pub fn try_each<E>(
        &self,
        mut each: impl FnMut(&str) -> core::result::Result<(), E>,
    ) -> core::result::Result<(), E> {
        let mut rest = self.raw;
        while let Some((before, _)) = rest.split_once('\\') {
            each(before)?;
            let tail = rest.get(before.len()..).unwrap_or_default();
            let Some((character, length)) = escape(tail) else { return Ok(()) };
            each(character.encode_utf8(&mut [0; 4]))?;
            rest = tail.get(length..).unwrap_or_default();
        }
        each(rest)
    }

    /// The length of the decoded text in bytes.
    pub fn decoded_len(&self) -> usize {
        let mut length = 0;
        let counted: core::result::Result<(), core::convert::Infallible> = self.try_each(|part| {
            length += part.len();
            Ok(())
        });
        match counted {
            Ok(()) => length,
        }
    }

    /// Appends the decoded text.
    pub fn push_to(&self, out: &mut String) {
        let _: core::result::Result<(), core::convert::Infallible> = self.try_each(|part| {
            out.push_str(part);
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString;

    /// The events of a document, one letter or word each, or the error.
    fn read(text: &str, limit: usize) -> core::result::Result<String, String> {
        let mut reader = JsonReader::new(text, limit);
        let mut all = String::new();
        loop {
            match reader.next_event() {
                Ok(None) => return Ok(all),
                Ok(Some(event)) => {
                    let mut decoded = String::new();
                    let shown = match event {
                        JsonEvent::Text(text) => {
                            text.push_to(&mut decoded);
                            assert_eq!(decoded.len(), text.decoded_len());
                            format!("{decoded:?}")
                        }
                        JsonEvent::Key(text) => {
                            text.push_to(&mut decoded);
                            format!("{decoded:?}:")
                        }
                        JsonEvent::Null => "null".to_string(),
                        JsonEvent::Bool(value) => value.to_string(),
                        JsonEvent::Number(number) => number.to_string(),
                        JsonEvent::BeginList => "[".to_string(),
                        JsonEvent::BeginRecord => "{".to_string(),
                        JsonEvent::End => "end".to_string(),
                    };
                    all.push_str(&shown);
                    all.push(' ');
                }
                Err(JsonError { offset, kind }) => return Err(format!("{offset}: {kind}")),
            }
        }
    }

    #[test]
    fn documents_are_read_event_by_event() {
        for (text, expected) in [
            ("null", "null "),
            (" [ ] ", "[ end "),
            ("{}", "{ end "),
            ("[1,-2.5,true,false,null]", "[ 1 -2.5 true false null end "),
            (r#"{"a":{"b":[]},"c":"d"}"#, r#"{ "a": { "b": [ end end "c": "d" end "#),
            ("\t\r\n7\n", "7 "),
            ("9223372036854775807", "9223372036854775807 "),
            ("-0", "-0.0 "),
            (r#""\u0041\ud83d\ude00\n\/""#, "\"A😀\\n/\" "),
            (r#""é\"\\""#, "\"é\\\"\\\\\" "),
        ] {
            assert_eq!(read(text, 8).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_not_json_has_a_place() {
        for (text, expected) in [
            ("", "0: expected a value"),
            ("nul", "0: expected a value"),
            ("[1,]", "3: expected a value"),
            ("[1 2]", "3: expected `,` or `]`"),
            ("{1:2}", "1: expected a name or `}`"),
            (r#"{"a" 1}"#, "5: expected `:`"),
            (r#"{"a":1,}"#, "7: expected a name"),
            (r#"{"a":1 "b":2}"#, "7: expected `,` or `}`"),
            ("[1}", "2: expected `,` or `]`"),
            ("[1", "2: expected `,` or `]`"),
            ("1 2", "2: expected the end"),
            ("01", "0: expected a number in JSON's form"),
            ("1.", "0: expected a number in JSON's form"),
            ("+1", "0: expected a value"),
            ("NaN", "0: expected a value"),
            ("9223372036854775808", "0: an integer beyond 64 bits"),
            ("1e999", "0: a number that is not finite"),
            ("\"a", "2: expected the end of the string"),
            ("\"a\nb\"", "2: expected no control character in a string"),
            (r#""\x""#, "1: expected a valid escape"),
            (r#""\u12""#, "1: expected a valid escape"),
            (r#""\u+123""#, "1: expected a valid escape"),
            (r#""\ud800""#, "1: expected a valid escape"),
            (r#""\ud800\u0041""#, "1: expected a valid escape"),
            (r#""\udc00""#, "1: expected a valid escape"),
            ("'a'", "0: expected a value"),
            ("\u{feff}1", "0: expected a value"),
            ("[[[", "2: nested too deeply"),
        ] {
            assert_eq!(read(text, 2), Err(expected.to_string()), "{text}");
        }
    }

    #[test]
    fn nesting_is_followed_to_the_ceiling() {
        let mut text = String::new();
        for _ in 0..limits::VALUE_DEPTH / 2 {
            text.push_str("[{\"a\":");
        }
        text.push('1');
        for _ in 0..limits::VALUE_DEPTH / 2 {
            text.push_str("}]");
        }
        assert!(read(&text, usize::MAX).is_ok());
        assert!(read(&format!("[{text}]"), usize::MAX).is_err());
    }
}
