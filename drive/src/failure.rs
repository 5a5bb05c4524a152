//! Why a call of a tool has no value.

use crate::data::Data;
use ilo_spec::error::Code;

/// The first words of the failure of a call whose arguments do not fit, which was not sent.
pub const ARGUMENTS: &str = "the arguments do not fit: ";
/// The first words of the failure of a call whose answer does not fit, which was made.
pub const ANSWER: &str = "the answer does not fit: ";

/// Why a call has no value.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// The tool failed. The program can handle it. The value is normally a text.
    Failed(Data),
    /// The call may have been made: no answer came in time, the connection was lost, or a command was killed.
    /// The program can handle it; the message says what happened.
    InDoubt(String),
    /// The call was made, and its answer does not fit its schema or is not a value; the program can handle
    /// it. The text says what does not fit.
    Misfit(String),
    /// The call was not made: its arguments do not fit. The program can handle it; the message says what does
    /// not fit.
    Unsent(String),
    /// The deadline passed.
    TimedOut,
    /// The run was interrupted from outside.
    Interrupted,
    /// The answer exceeded a limit, which is a fault that no program can handle.
    Limit(Code, String),
}

impl Failure {
    /// A failure with a message.
    pub fn text(message: impl Into<String>) -> Failure {
        Failure::Failed(Data::Text(message.into()))
    }

    /// The value with which the call fails, if the program can handle it.
    pub fn value(&self) -> Option<Data> {
        match self {
            Failure::Failed(value) => Some(value.clone()),
            Failure::InDoubt(message) => Some(Data::from(message.as_str())),
            Failure::Misfit(why) => Some(Data::Text(format!("{ANSWER}{why}"))),
            Failure::Unsent(why) => Some(Data::Text(format!("{ARGUMENTS}{why}"))),
            Failure::TimedOut | Failure::Interrupted | Failure::Limit(..) => None,
        }
    }

    /// The value that those who watch a run get for it.
    pub fn shown(&self) -> Data {
        match self {
            Failure::Limit(_, message) => Data::from(message.as_str()),
            Failure::TimedOut => Data::from("the time of the run is over"),
            Failure::Interrupted => Data::from("interrupted"),
            failure => failure.value().unwrap_or(Data::Nil),
        }
    }
}
