//! Why a value could not be built.

use crate::fault::StartError;
use core::fmt;
use ilo_spec::error::Code;

/// Builder methods called in a wrong order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misuse {
    /// A value in a record, without a key.
    ValueWithoutKey,
    /// A key outside a record, or after another key.
    KeyOutOfPlace,
    /// An end without a begin, or after a key.
    EndOutOfPlace,
    /// A second value after the first was complete.
    SecondValue,
    /// The end before the value was complete.
    Unfinished,
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Misuse::ValueWithoutKey => "expected a key in a record, found a value",
            Misuse::KeyOutOfPlace => "a key outside a record, or after another key",
            Misuse::EndOutOfPlace => "an end with nothing open, or after a key",
            Misuse::SecondValue => "a second value after the first was complete",
            Misuse::Unfinished => "finished before the value was complete",
        })
    }
}

/// Why a value could not be built.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// The methods were called in a wrong order.
    Misuse(Misuse),
    /// The value exceeds a limit; if it was an answer, the run has ended with this fault.
    Limit {
        /// The limit's code.
        code: Code,
    },
    /// The value cannot start the function.
    Start(StartError),
}

impl BuildError {
    /// The stable code.
    pub fn code(&self) -> Code {
        match self {
            BuildError::Misuse(_) => Code::BadUsage,
            BuildError::Limit { code } => *code,
            BuildError::Start(error) => error.code(),
        }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Misuse(misuse) => misuse.fmt(f),
            BuildError::Limit { code } => f.write_str(code.meaning()),
            BuildError::Start(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for BuildError {}
