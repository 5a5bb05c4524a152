//! The stored answer to a call, and how it is given to a run.

use crate::error::{Error, ErrorCode, Result};
use bumpalo::Bump;
use ilo_drive::data::Data;
use ilo_drive::data::read::{Bounds, read};
use ilo_spec::limits;
use ilo_spec::program::Number;
use ilo_vm::{BuildError, Call, Datum, JsonError, JsonEvent, JsonReader, JsonRefused, JsonText};

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
        Answer::Failed(quoted(message))
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

    /// Gives the answer to the pending call. An answer that exceeds a limit of the run ends the run with that
    /// fault, as it would have done on arrival.
    ///
    /// # Errors
    /// If the stored text is not JSON.
    pub fn give(&self, call: Call<'_>) -> Result<()> {
        match self {
            Answer::Ok(json) => match call.answer_json(json) {
                // An answer that exceeds a limit has ended the run, which says so itself.
                Ok(()) | Err(JsonRefused::Build(BuildError::Limit { .. })) => Ok(()),
                Err(JsonRefused::Json(error)) => Err(not_json(error)),
                Err(error) => Err(Error::damaged(error)),
            },
            Answer::FailedInDoubt(message) => {
                // An answer that exceeds a limit has ended the run.
                drop(call.fail_in_doubt(message));
                Ok(())
            }
            Answer::Failed(json) => {
                let arena = Bump::new();
                let failure = datum(&arena, json)?;
                // An answer that exceeds a limit has ended the run.
                drop(call.fail_with(failure));
                Ok(())
            }
        }
    }
}

/// A value that was stored.
pub(crate) fn data(json: &str) -> Result<Data> {
    let bounds = Bounds { bytes: usize::MAX, depth: limits::VALUE_DEPTH + 1, values: usize::MAX };
    read(json.as_bytes(), &bounds).map_err(|error| Error::damaged(format!("a stored answer: {error}")))
}

/// A text as JSON.
pub(crate) fn quoted(text: &str) -> String {
    use std::fmt::Write as _;
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            control if control < ' ' => {
                // Writing to a string does not fail.
                let _ = write!(json, "\\u{:04x}", u32::from(control));
            }
            other => json.push(other),
        }
    }
    json.push('"');
    json
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

/// A list or record that is being read.
enum Open<'a> {
    List(Vec<Datum<'a>>),
    Record(Vec<(&'a str, Datum<'a>)>, &'a str),
}

/// A value of the host from JSON, without recursion.
fn datum<'a>(arena: &'a Bump, json: &str) -> Result<Datum<'a>> {
    let mut reader = JsonReader::new(json, limits::VALUE_DEPTH);
    let (mut open, mut found): (Vec<Open<'a>>, _) = (Vec::new(), Datum::Nil);
    let text = |text: JsonText<'_>| -> &'a str {
        let mut decoded = String::new();
        text.push_to(&mut decoded);
        arena.alloc_str(&decoded)
    };
    while let Some(event) = reader.next_event().map_err(not_json)? {
        let value = match event {
            JsonEvent::Null => Datum::Nil,
            JsonEvent::Bool(value) => Datum::Bool(value),
            JsonEvent::Number(Number::Int(value)) => Datum::Int(value),
            JsonEvent::Number(Number::Double(value)) => Datum::Double(value),
            JsonEvent::Text(value) => Datum::Text(text(value)),
            JsonEvent::Key(name) => {
                if let Some(Open::Record(_, key)) = open.last_mut() {
                    *key = text(name);
                }
                continue;
            }
            JsonEvent::BeginList => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            JsonEvent::BeginRecord => {
                open.push(Open::Record(Vec::new(), ""));
                continue;
            }
            JsonEvent::End => match open.pop() {
                Some(Open::List(items)) => Datum::List(arena.alloc_slice_copy(&items)),
                Some(Open::Record(fields, _)) => Datum::Record(arena.alloc_slice_copy(&fields)),
                None => Datum::Nil,
            },
        };
        match open.last_mut() {
            Some(Open::List(items)) => items.push(value),
            Some(Open::Record(fields, key)) => fields.push((key, value)),
            None => found = value,
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{Answer, datum, quoted};
    use bumpalo::Bump;
    use ilo_vm::Datum;

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

    #[test]
    fn a_quoted_text_is_that_text() {
        for text in ["", "a \"b\" \\ \u{1} \n é 🙂"] {
            assert_eq!(datum(&Bump::new(), &quoted(text)), Ok(Datum::Text(text)));
        }
    }

    #[test]
    fn a_failure_keeps_its_structure() {
        let arena = Bump::new();
        let inner = [Datum::Int(1), Datum::Nil];
        let fields = [("a", Datum::List(&inner)), ("b", Datum::Record(&[])), ("a", Datum::Bool(true))];
        let json = r#"{"a":[1,null],"b":{},"a":true}"#;
        assert_eq!(datum(&arena, json), Ok(Datum::Record(&fields)));
        let deep = format!("{}1{}", "[".repeat(1024), "]".repeat(1024));
        assert!(datum(&arena, &deep).is_ok() && datum(&arena, &format!("[{deep}]")).is_err());
    }
}
