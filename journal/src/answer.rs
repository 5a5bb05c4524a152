//! The stored answer to a call.

use crate::error::{Error, ErrorCode, Result};
use ilo_drive::data::Data;
use ilo_drive::data::read::{Bounds, read};
use ilo_drive::data::write::quote;
use ilo_drive::failure::{ANSWER, Failure};
use ilo_spec::limits;
use ilo_vm::{JsonError, JsonReader};

/// The answer to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Its value, as JSON.
    Ok(String),
    /// Its failure, as JSON.
    Failed(String),
    /// It has failed with this message, and may have been made.
    FailedInDoubt(String),
}

impl Answer {
    /// The value of a call, as JSON.
    ///
    /// # Errors
    /// If the text is not one JSON value.
    pub fn from_json(json: &str) -> Result<Answer> {
        check(json)?;
        Ok(Answer::Ok(json.to_owned()))
    }

    /// A failure with a message.
    pub fn failed(message: &str) -> Answer {
        Answer::Failed(quote(message))
    }

    /// The result of the call.
    pub(crate) fn result(&self) -> Result<std::result::Result<Data, Failure>> {
        Ok(match self {
            Answer::Ok(json) => Ok(data(json)?),
            Answer::Failed(json) => Err(Failure::Failed(data(json)?)),
            Answer::FailedInDoubt(message) => Err(match message.strip_prefix(ANSWER) {
                Some(why) => Failure::Misfit(why.to_owned()),
                None => Failure::InDoubt(message.clone()),
            }),
        })
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let (tag, text) = match self {
            Answer::Ok(json) => (b'o', json),
            Answer::Failed(json) => (b'f', json),
            Answer::FailedInDoubt(message) => (b'd', message),
        };
        let mut bytes = Vec::with_capacity(1 + text.len());
        bytes.push(tag);
        bytes.extend_from_slice(text.as_bytes());
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Answer> {
        let refused = || Error::damaged("a stored answer of an unknown form");
        let (&tag, text) = bytes.split_first().ok_or_else(refused)?;
        let text = std::str::from_utf8(text).map_err(|_| refused())?.to_owned();
        match tag {
            b'o' => Ok(Answer::Ok(text)),
            b'f' => Ok(Answer::Failed(text)),
            b'd' => Ok(Answer::FailedInDoubt(text)),
            _ => Err(refused()),
        }
    }
}

/// A value that was stored.
pub(crate) fn data(json: &str) -> Result<Data> {
    let bounds = Bounds { bytes: usize::MAX, depth: limits::VALUE_DEPTH + 1, values: usize::MAX };
    read(json.as_bytes(), &bounds).map_err(|error| Error::damaged(format!("a stored answer: {error}")))
}

fn not_json(error: JsonError) -> Error {
    Error::new(ErrorCode::Value, format!("not one JSON value: at byte {}: {}", error.offset, error.kind))
        .remedy("quote a text: `\"text\"`")
}

/// Checks that a text is one JSON value.
fn check(json: &str) -> Result<()> {
    let mut reader = JsonReader::new(json, limits::VALUE_DEPTH);
    while reader.next_event().map_err(not_json)?.is_some() {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Answer;

    #[test]
    fn answers_come_back_from_their_bytes_and_nothing_else_is_one() {
        let all =
            [Answer::Ok("{\"a\":1}".into()), Answer::failed("no\n\"x\""), Answer::FailedInDoubt("?".into())];
        for answer in all {
            assert_eq!(Answer::from_bytes(&answer.to_bytes()).unwrap(), answer);
        }
        assert!([&b""[..], b"x1", b"o\xff"].into_iter().all(|bytes| Answer::from_bytes(bytes).is_err()));
    }

    #[test]
    fn a_person_gives_one_json_value() {
        assert!(Answer::from_json("{\"a\":[1,2.5,\"x\"]}").is_ok());
        for wrong in ["", "text", "1 2", "{", "99999999999999999999"] {
            assert!(Answer::from_json(wrong).is_err(), "{wrong}");
        }
    }
}
