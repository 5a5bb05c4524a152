//! The entry of a call in the server's journal: its result, and the attempt at the run that wrote it.

use ilo_drive::data::Data;
use ilo_drive::data::read::{Bounds, read};
use ilo_drive::failure::Failure;
use ilo_spec::error::Code;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// An entry of the journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// The attempt that wrote it.
    pub(crate) by: Attempt,
    /// The result of the call.
    pub(crate) result: Stored,
}

/// An attempt at a run. Its random number is chosen when the server starts or restarts the handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Attempt(u64);

impl Attempt {
    /// A new one.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub(crate) fn new() -> Result<Attempt, getrandom::Error> {
        getrandom::u64().map(Attempt)
    }
}

/// The result of a call.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Stored {
    /// Nothing was called. The entry only says which attempt wrote it.
    Mark,
    /// The call was certainly not made.
    NotMade,
    /// An earlier attempt may have made the call.
    Unsure,
    /// Its value.
    Ok(Box<RawValue>),
    /// Its failure.
    Failed(Box<RawValue>),
    /// No answer came, and the call may have been made.
    InDoubt(String),
    /// The answer exceeds a limit.
    Limit(String, String),
}

fn raw(data: &Data) -> Stored {
    match RawValue::from_string(data.to_json()) {
        Ok(json) => Stored::Ok(json),
        // What `Data` writes is JSON.
        Err(error) => Stored::InDoubt(error.to_string()),
    }
}

/// Reads a stored value.
pub(crate) fn data(json: &RawValue) -> Option<Data> {
    let bounds = Bounds { bytes: usize::MAX, depth: ilo_spec::limits::VALUE_DEPTH + 1, values: usize::MAX };
    read(json.get().as_bytes(), &bounds).ok()
}

impl From<Result<Data, Failure>> for Stored {
    fn from(result: Result<Data, Failure>) -> Stored {
        match result {
            Ok(value) => raw(&value),
            Err(Failure::Failed(value)) => match raw(&value) {
                Stored::Ok(json) => Stored::Failed(json),
                other => other,
            },
            Err(Failure::InDoubt(message)) => Stored::InDoubt(message),
            Err(Failure::Limit(code, message)) => Stored::Limit(code.as_str().to_owned(), message),
            Err(Failure::Unsent(why) | Failure::Misfit(why)) => raw(&Data::Text(why)),
            Err(Failure::TimedOut) => Stored::InDoubt("no answer came in time".to_owned()),
            Err(Failure::Interrupted) => Stored::InDoubt("the call was interrupted".to_owned()),
        }
    }
}

impl Stored {
    /// The result for the run; nothing if a person has to decide first, or the call was not made.
    pub(crate) fn result(self) -> Option<Result<Data, Failure>> {
        let unreadable = || Failure::text("a stored answer is not JSON");
        Some(match self {
            Stored::Ok(json) => data(&json).ok_or_else(unreadable),
            Stored::Failed(json) => Err(data(&json).map_or_else(unreadable, Failure::Failed)),
            Stored::InDoubt(message) => Err(Failure::InDoubt(message)),
            Stored::Limit(code, message) => {
                let code = Code::ALL.iter().copied().find(|known| known.as_str() == code);
                Err(Failure::Limit(code.unwrap_or(Code::FaultTooLarge), message))
            }
            Stored::Mark | Stored::NotMade | Stored::Unsure => return None,
        })
    }
}
