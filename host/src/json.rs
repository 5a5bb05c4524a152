//! Finds the members of a JSON object one at a time, without reading their values.

use jiter::{Jiter, JiterError, Peek};
use std::ops::Range;

/// Calls `each` with the name of each member of an object and the place of its value; false if the text is
/// another value.
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

/// The kind of a JSON value, in the words of the language.
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
