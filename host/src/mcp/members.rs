//! Finds the members of a JSON text one at a time, without parsing the others.

use crate::json;
use crate::tool::Failure;
use ilo_drive::data::read::ReadErrorKind;
use ilo_drive::problem::shortened;
use jiter::{Jiter, JiterError};
use std::borrow::Cow;

/// The failure of an answer that cannot be read.
pub(super) fn unreadable(why: &str) -> Failure {
    Failure::text(format!("the tool's answer cannot be read: {why}"))
}

fn syntax(JiterError { error_type, index }: JiterError) -> Failure {
    unreadable(&format!("{error_type} at byte {index}"))
}

/// Calls `each` with each member of an object and the text of its value; false if the text is not an object.
pub(super) fn members<'m>(
    text: &'m [u8],
    mut each: impl FnMut(&str, &'m [u8]) -> Result<(), Failure>,
) -> Result<bool, Failure> {
    json::members(text, syntax, |name, place| each(name, text.get(place).unwrap_or_default()))
}

/// The members of an object that have some names.
pub(super) struct Picked<'m> {
    names: &'static [&'static str],
    values: [Option<&'m [u8]>; MOST],
    /// Whether the text is an object.
    pub(super) is_object: bool,
}

/// The most names.
const MOST: usize = 8;

impl<'m> Picked<'m> {
    /// Finds them; each may be there once.
    pub(super) fn of(text: &'m [u8], names: &'static [&'static str]) -> Result<Picked<'m>, Failure> {
        let mut values = [None; MOST];
        let is_object = members(text, |name, value| {
            let at = names.iter().position(|&known| known == name);
            let before = at.and_then(|at| values.get_mut(at)).and_then(|slot| slot.replace(value));
            let twice = || unreadable(&ReadErrorKind::DuplicateKey(name.to_owned()).to_string());
            before.map_or(Ok(()), |_| Err(twice()))
        })?;
        Ok(Picked { names, values, is_object })
    }

    pub(super) fn get(&self, name: &str) -> Option<&'m [u8]> {
        let at = self.names.iter().position(|&known| known == name)?;
        self.values.get(at).copied().flatten()
    }
}

/// Calls `each` with the text of each item of a list; false if the text is not a list.
pub(super) fn items<'m>(
    text: &'m [u8],
    mut each: impl FnMut(&'m [u8]) -> Result<(), Failure>,
) -> Result<bool, Failure> {
    json::items(text, syntax, |place| each(text.get(place).unwrap_or_default()))
}

/// The content of a JSON string, borrowed if it has no escapes.
pub(super) fn text_of(json: &[u8]) -> Option<Cow<'_, str>> {
    let inside = json.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if !inside.contains(&b'\\') && !inside.contains(&b'"') {
        return std::str::from_utf8(inside).ok().map(Cow::Borrowed);
    }
    Jiter::new(json).next_str().ok().map(|text| Cow::Owned(text.to_owned()))
}

/// The message of an error answer; without one, the error as it is.
pub(super) fn error_message(error: &[u8]) -> Result<String, Failure> {
    let mut message = None;
    members(error, |name, value| {
        if name == "message" {
            message =
                text_of(value).filter(|text| !text.trim().is_empty()).map(|text| shortened(&text, 2_000));
        }
        Ok(())
    })?;
    let whole =
        || format!("an error without a message: {}", shortened(&String::from_utf8_lossy(error), 2_000));
    Ok(message.unwrap_or_else(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_given_as_they_are_written() {
        let mut found = Vec::new();
        let text = br#" { "a" : [1, {"b": 2}] , "\u0062":"x" } "#;
        let whole = members(text, |name, value| {
            found.push((name.to_owned(), String::from_utf8_lossy(value).into_owned()));
            Ok(())
        });
        assert_eq!(whole, Ok(true));
        let expected = [("a", r#"[1, {"b": 2}]"#), ("b", r#""x""#)];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(members(b"[1]", |_, _| Ok(())), Ok(false));
        assert!(members(b"{\"a\":1} x", |_, _| Ok(())).is_err());
        assert!(members(b"{\"a\":", |_, _| Ok(())).is_err());
    }
}
