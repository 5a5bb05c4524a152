//! Why a call of a tool has no value.

use crate::data::{ConvertError, Data};
use ilo_spec::error::Code;
use std::error::Error;
use std::fmt;

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
    /// The answer exceeded a limit, which is a fault that no program can handle: `too-large` or `depth`. With
    /// another code it is no failure of a tool of `ilo-host`, but in doubt.
    Limit(Code, String),
}

impl Failure {
    /// A failure with a message.
    pub fn text(message: impl Into<String>) -> Failure {
        Failure::Failed(Data::Text(message.into()))
    }

    /// The failure that an error is: a `Failure` as it is, and any other by its message and those of its
    /// causes.
    pub fn of(error: impl Into<Box<dyn Error + Send + Sync>>) -> Failure {
        match error.into().downcast::<Failure>() {
            Ok(failure) => *failure,
            Err(error) => chain(error.as_ref()),
        }
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

impl fmt::Display for Failure {
    /// The message that a program gets, or that a trace shows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Failed(Data::Text(message)) | Failure::InDoubt(message) | Failure::Limit(_, message) => {
                f.write_str(message)
            }
            Failure::Failed(value) => value.fmt(f),
            Failure::Misfit(why) => write!(f, "{ANSWER}{why}"),
            Failure::Unsent(why) => write!(f, "{ARGUMENTS}{why}"),
            Failure::TimedOut => f.write_str("no answer came in time"),
            Failure::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl Error for Failure {}

/// An error and the errors that caused it, in one message.
fn chain(error: &dyn Error) -> Failure {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        message.push_str(": ");
        message.push_str(&error.to_string());
        cause = error.source();
    }
    Failure::Failed(Data::Text(message))
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::Failed(Data::Text(message))
    }
}

impl From<&str> for Failure {
    fn from(message: &str) -> Failure {
        Failure::text(message)
    }
}

impl From<Box<dyn Error>> for Failure {
    fn from(error: Box<dyn Error>) -> Failure {
        error.downcast::<Failure>().map_or_else(|error| chain(error.as_ref()), |failure| *failure)
    }
}

impl From<Box<dyn Error + Send + Sync>> for Failure {
    fn from(error: Box<dyn Error + Send + Sync>) -> Failure {
        Failure::of(error)
    }
}

/// Errors that `?` makes failures of.
macro_rules! failures {
    ($($error:ty)*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Failure {
                chain(&error)
            }
        }
    )*};
}

failures!(ConvertError fmt::Error serde_json::Error std::io::Error std::num::ParseIntError std::str::Utf8Error);

impl From<std::convert::Infallible> for Failure {
    fn from(never: std::convert::Infallible) -> Failure {
        match never {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_host_is_a_failure_with_its_causes() {
        fn reads() -> Result<(), Failure> {
            let inner = std::io::Error::other("the disk is gone");
            Err(std::io::Error::other(inner))?
        }
        fn parses() -> Result<i64, Failure> {
            Ok("x".parse::<i64>()?)
        }
        assert_eq!(reads().unwrap_err().to_string(), "the disk is gone");
        assert_eq!(parses().unwrap_err(), Failure::text("invalid digit found in string"));
        let boxed: Box<dyn Error + Send + Sync> = "no".into();
        assert_eq!(Failure::from(boxed), Failure::text("no"));
        let kept = Failure::Failed(Data::record([("code", 7)]));
        assert_eq!(Failure::of(kept.clone()), kept);
        let (sent, boxed): (Box<dyn Error + Send + Sync>, Box<dyn Error>) =
            (kept.clone().into(), kept.clone().into());
        assert_eq!((Failure::from(sent), Failure::from(boxed)), (kept.clone(), kept));
        // An error of another crate, which no `From` names.
        assert_eq!(Failure::of("1.x".parse::<f64>().unwrap_err()), Failure::text("invalid float literal"));
    }
}
