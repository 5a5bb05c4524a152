//! Finds the parts of a JSON text one at a time: the members of an object, the items of a list. What they
//! hold is passed over, not read.

use super::read::ReadErrorKind;
use jiter::{Jiter, JiterError, JiterErrorType, JsonErrorType, Peek};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// How deep what is passed over may be, which takes a level of the stack for each.
const DEPTH: usize = 200;

/// Where a text is not JSON, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartError {
    /// The offset in bytes.
    pub offset: usize,
    /// The reason.
    pub kind: ReadErrorKind,
}

impl fmt::Display for PartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at index {}", self.kind, self.offset)
    }
}

impl std::error::Error for PartError {}

impl From<JiterError> for PartError {
    fn from(JiterError { error_type, index: offset }: JiterError) -> PartError {
        let kind = match error_type {
            JiterErrorType::JsonError(JsonErrorType::RecursionLimitExceeded) => ReadErrorKind::Depth(DEPTH),
            JiterErrorType::JsonError(JsonErrorType::TrailingCharacters) => ReadErrorKind::Trailing,
            other => ReadErrorKind::Syntax(other.to_string()),
        };
        PartError { offset, kind }
    }
}

/// Calls `each` with the name of each member of an object and the place of its value; false if the text is
/// another value.
///
/// # Errors
/// The first error of `each`, or a place that is not JSON, as `wrong` makes it.
pub fn members<E>(
    text: &[u8],
    wrong: impl Fn(PartError) -> E,
    each: impl FnMut(&str, Range<usize>) -> Result<(), E>,
) -> Result<bool, E> {
    parts(text, Peek::Object, |error| wrong(error.into()), each)
}

/// Calls `each` with the place of each item of a list; false if the text is another value.
///
/// # Errors
/// As those of [`members`].
pub fn items<E>(
    text: &[u8],
    wrong: impl Fn(PartError) -> E,
    mut each: impl FnMut(Range<usize>) -> Result<(), E>,
) -> Result<bool, E> {
    parts(text, Peek::Array, |error| wrong(error.into()), |_, place| each(place))
}

/// The parts of a value of this kind; those of a list have no name.
fn parts<E>(
    text: &[u8],
    kind: Peek,
    wrong: impl Fn(JiterError) -> E,
    mut each: impl FnMut(&str, Range<usize>) -> Result<(), E>,
) -> Result<bool, E> {
    let mut json = Jiter::new(text);
    let (first, is_list) = (json.peek().map_err(&wrong)?, kind == Peek::Array);
    let mut name = match first {
        _ if first != kind => json.known_skip(first).map(|()| None),
        _ if is_list => json.known_array().map(|item| item.map(|_| String::new())),
        _ => json.known_object().map(|name| name.map(str::to_owned)),
    };
    while let Some(this) = name.map_err(&wrong)? {
        let value = json.peek().map_err(&wrong)?;
        let start = json.current_index();
        json.known_skip(value).map_err(&wrong)?;
        each(&this, start..json.current_index())?;
        name = if is_list {
            json.array_step().map(|item| item.map(|_| String::new()))
        } else {
            json.next_key().map(|name| name.map(str::to_owned))
        };
    }
    json.finish().map(|()| first == kind).map_err(&wrong)
}

/// The content of a JSON string, borrowed if it has no escapes.
pub fn text_of(json: &[u8]) -> Option<Cow<'_, str>> {
    let inside = json.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if !inside.contains(&b'\\') && !inside.contains(&b'"') {
        return std::str::from_utf8(inside).ok().map(Cow::Borrowed);
    }
    Jiter::new(json).next_str().ok().map(|text| Cow::Owned(text.to_owned()))
}

/// The kind of a JSON value by its first character, in the words of the language.
pub fn kind(json: &[u8]) -> &'static str {
    match json.trim_ascii_start().first() {
        Some(b'"') => "a text",
        Some(b'{') => "a record",
        Some(b'[') => "a list",
        Some(b't' | b'f') => "a bool",
        Some(b'n') => "nil",
        _ => "a number",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The members, or items without a name, as they are written.
    fn parts(text: &[u8]) -> Result<Option<Vec<(String, String)>>, PartError> {
        let (mut found, mut listed) = (Vec::new(), Vec::new());
        let written = |place: Range<usize>| String::from_utf8_lossy(&text[place]).into_owned();
        let is_record = members(
            text,
            |error| error,
            |name, place| {
                found.push((name.to_owned(), written(place)));
                Ok(())
            },
        )?;
        let is_list = items(
            text,
            |error| error,
            |place| {
                listed.push((String::new(), written(place)));
                Ok(())
            },
        )?;
        found.append(&mut listed);
        Ok((is_record || is_list).then_some(found))
    }

    #[test]
    fn parts_are_given_as_they_are_written() {
        let expected = |parts: &[(&str, &str)]| {
            Ok(Some(parts.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()))
        };
        let text = br#" { "a" : [1, {"b": 2}] , "\u0062":"x" } "#;
        assert_eq!(parts(text), expected(&[("a", r#"[1, {"b": 2}]"#), ("b", r#""x""#)]));
        assert_eq!(parts(b" [1 , {\"a\": [ ]}]"), expected(&[("", "1"), ("", "{\"a\": [ ]}")]));
        assert_eq!((parts(b"{}"), parts(b"[]")), (expected(&[]), expected(&[])));
        assert_eq!(parts(b" \"a\" "), Ok(None));
    }

    /// Each gives an error at once, and not a deeper stack or more memory.
    #[test]
    fn hostile_texts_are_refused_where_they_go_wrong() {
        let of = |text: &[u8]| parts(text).map_err(|error| (error.offset, error.kind)).unwrap_err();
        assert_eq!(of(b"{\"a\":1} x"), (8, ReadErrorKind::Trailing));
        assert_eq!(of(b"[1] ]"), (4, ReadErrorKind::Trailing));
        let nested = |depth: usize| {
            [b"{\"a\":", "[".repeat(depth).as_bytes(), "]".repeat(depth).as_bytes(), b"}"].concat()
        };
        assert!(parts(&nested(DEPTH)).is_ok());
        assert_eq!(of(&nested(DEPTH + 1)).1, ReadErrorKind::Depth(DEPTH));
        assert_eq!(of("[".repeat(10_000_000).as_bytes()).1, ReadErrorKind::Depth(DEPTH));
        assert_eq!(of("{\"a\":".repeat(1_000_000).as_bytes()).1, ReadErrorKind::Depth(DEPTH));
        for text in
            [&b""[..], b"{\"a\":", b"{\"a\" 1}", b"[1,]", b"[1 2]", b"{\"\xff\":1}", br#"["\ud800"]"#, b"nul"]
        {
            assert!(matches!(of(text).1, ReadErrorKind::Syntax(_)), "{text:?}");
        }
    }
}
