//! Finds the parts of a JSON value one at a time, without reading their values.

#[cfg(any(feature = "mcp", feature = "serve"))]
use jiter::{Jiter, JiterError, Peek};
#[cfg(any(feature = "mcp", feature = "serve"))]
use std::ops::Range;

/// Calls `each` with the name of each member of an object and the place of its value; false if the text is
/// another value.
#[cfg(any(feature = "mcp", feature = "serve"))]
pub(crate) fn members<E>(
    text: &[u8],
    wrong: impl Fn(JiterError) -> E,
    mut each: impl FnMut(&str, Range<usize>) -> Result<(), E>,
) -> Result<bool, E> {
    let mut json = Jiter::new(text);
    let first = json.peek().map_err(&wrong)?;
    if first != Peek::Object {
        json.known_skip(first).map_err(&wrong)?;
        return json.finish().map(|()| false).map_err(&wrong);
    }
    let mut name = json.known_object().map_err(&wrong)?.map(str::to_owned);
    while let Some(this) = name {
        let value = json.peek().map_err(&wrong)?;
        let start = json.current_index();
        json.known_skip(value).map_err(&wrong)?;
        each(&this, start..json.current_index())?;
        name = json.next_key().map_err(&wrong)?.map(str::to_owned);
    }
    json.finish().map(|()| true).map_err(&wrong)
}

/// Calls `each` with the place of each item of a list; false if the text is another value.
#[cfg(feature = "mcp")]
pub(crate) fn items<E>(
    text: &[u8],
    wrong: impl Fn(JiterError) -> E,
    mut each: impl FnMut(Range<usize>) -> Result<(), E>,
) -> Result<bool, E> {
    let mut json = Jiter::new(text);
    if json.peek().map_err(&wrong)? != Peek::Array {
        return Ok(false);
    }
    let mut next = json.known_array().map_err(&wrong)?;
    while let Some(peek) = next {
        let start = json.current_index();
        json.known_skip(peek).map_err(&wrong)?;
        each(start..json.current_index())?;
        next = json.array_step().map_err(&wrong)?;
    }
    json.finish().map(|()| true).map_err(&wrong)
}

/// A place in a JSON text: in a string or not, and behind a backslash there.
#[derive(Default)]
pub(crate) struct InString {
    pub(crate) is_inside: bool,
    is_escaped: bool,
}

impl InString {
    /// Takes a byte. Returns whether it is outside of strings, or begins one.
    pub(crate) fn is_outside(&mut self, byte: u8) -> bool {
        let was_outside = !self.is_inside;
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' => self.is_escaped = self.is_inside,
            b'"' => self.is_inside = !self.is_inside,
            _ => {}
        }
        was_outside
    }
}

/// The bytes of a JSON text outside of strings, and the quotation mark that begins each, with their places.
pub(crate) fn outside(json: &[u8]) -> impl Iterator<Item = (usize, u8)> {
    let mut place = InString::default();
    json.iter().copied().enumerate().filter(move |&(_, byte)| place.is_outside(byte))
}

/// The kind of a JSON value, in the words of the language.
#[cfg(any(feature = "mcp", feature = "serve"))]
pub(crate) fn kind(json: &[u8]) -> &'static str {
    match json.trim_ascii_start().first() {
        Some(b'"') => "a text",
        Some(b'{') => "a record",
        Some(b'[') => "a list",
        Some(b't' | b'f') => "a bool",
        Some(b'n') => "nil",
        _ => "a number",
    }
}
