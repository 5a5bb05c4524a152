//! Why a snapshot is rejected.

use super::format::VERSION;
use crate::fault::{StartError, Trap};
use alloc::string::String;
use core::fmt;
use ilo_spec::error::{Code, DecodeError};

/// Why bytes are not a valid snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreError {
    /// They do not begin with the magic bytes.
    Magic,
    /// A version that this build cannot read.
    Version {
        /// The version found.
        found: u8,
    },
    /// The checksum does not match: bytes were changed or lost.
    Damaged,
    /// The snapshot belongs to another program.
    OtherProgram {
        /// The hash of this program.
        expected: u64,
        /// The hash in the snapshot.
        found: u64,
    },
    /// Something does not follow the format.
    Form(DecodeError),
    /// Something breaks a rule.
    Rule {
        /// The byte at which reading stopped.
        offset: usize,
        /// What was expected.
        expected: &'static str,
        /// What was found.
        found: u64,
    },
    /// It exceeds a limit of the run.
    Limit {
        /// The limit's code.
        code: Code,
        /// What was found, and the limit.
        message: String,
    },
}

impl RestoreError {
    /// The stable code.
    pub fn code(&self) -> Code {
        match self {
            RestoreError::Limit { code, .. } => *code,
            _ => Code::BadSnapshot,
        }
    }
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RestoreError::Magic => f.write_str("expected the magic bytes of an ilo snapshot"),
            RestoreError::Version { found } => {
                write!(f, "expected a snapshot of version {VERSION}, found {found}")
            }
            RestoreError::Damaged => f.write_str("the checksum does not match: bytes were changed or lost"),
            RestoreError::OtherProgram { expected, found } => {
                write!(f, "expected a snapshot of program {expected:016x}, found one of {found:016x}")
            }
            RestoreError::Form(error) => error.fmt(f),
            RestoreError::Rule { offset, expected, found } => {
                write!(f, "at byte {offset}: expected {expected}, found {found}")
            }
            RestoreError::Limit { message, .. } => f.write_str(message),
        }
    }
}

impl core::error::Error for RestoreError {}

impl From<DecodeError> for RestoreError {
    fn from(error: DecodeError) -> RestoreError {
        RestoreError::Form(error)
    }
}

impl From<Trap> for RestoreError {
    fn from(trap: Trap) -> RestoreError {
        let (code, message) = trap.into_parts();
        RestoreError::Limit { code, message }
    }
}

impl From<StartError> for RestoreError {
    fn from(error: StartError) -> RestoreError {
        // The function exists, so the error is about the memory of its frames.
        RestoreError::Limit { code: error.code(), message: alloc::format!("{error}") }
    }
}

pub(super) type Restored<T> = core::result::Result<T, RestoreError>;
