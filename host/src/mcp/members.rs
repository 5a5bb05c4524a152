//! Finds the members of a JSON text one at a time, without parsing the others.

use crate::tool::Failure;
use ilo_drive::data::parts::{self, PartError, text_of};
use ilo_drive::problem::shortened;

/// The failure of an answer that cannot be read.
pub(super) fn unreadable(why: &str) -> Failure {
    Failure::text(format!("the tool's answer cannot be read: {why}"))
}

#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
fn syntax(PartError { kind, offset }: PartError) -> Failure {
    unreadable(&format!("{kind} at byte {offset}"))
}

/// Calls `each` with each member of an object and the text of its value; false if the text is not an object.
pub(super) fn members<'m>(
    text: &'m [u8],
    mut each: impl FnMut(&str, &'m [u8]) -> Result<(), Failure>,
) -> Result<bool, Failure> {
    parts::members(text, syntax, |name, place| each(name, text.get(place).unwrap_or_default()))
}

/// Calls `each` with the text of each item of a list; false if the text is not a list.
pub(super) fn items<'m>(
    text: &'m [u8],
    mut each: impl FnMut(&'m [u8]) -> Result<(), Failure>,
) -> Result<bool, Failure> {
    parts::items(text, syntax, |place| each(text.get(place).unwrap_or_default()))
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
