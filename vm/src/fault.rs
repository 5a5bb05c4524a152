//! Faults of a run, and errors of its start.
//!
//! Faults are built in cold code: a [`Trap`] carries the code and message to the run, which adds the
//! position.

use crate::value::Tag;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::fmt;
use ilo_spec::error::Code;
use ilo_spec::types::Type;

/// A fault without its position.
#[derive(Debug)]
pub(crate) struct Trap(Box<(Code, String)>);

impl Trap {
    #[cold]
    #[inline(never)]
    pub(crate) fn new(code: Code, message: fmt::Arguments<'_>) -> Trap {
        Trap(Box::new((code, message.to_string())))
    }

    pub(crate) fn code(&self) -> Code {
        self.0.0
    }

    pub(crate) fn message(&self) -> &str {
        &self.0.1
    }

    pub(crate) fn into_parts(self) -> (Code, String) {
        *self.0
    }
}

/// The fault for an operand of the wrong type.
#[cold]
#[inline(never)]
pub(crate) fn mismatch(expected: &str, found: Tag) -> Trap {
    Trap::new(Code::FaultTypeMismatch, format_args!("expected {expected}, found {}", found.name()))
}

/// A fault: it ends the run, and the program cannot catch it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// Its stable code.
    pub code: Code,
    /// What went wrong, in lower case.
    pub message: String,
    /// The function in which it happened.
    pub function: String,
    /// Line and column in the source, if the program was not stripped.
    pub position: Option<(u32, u32)>,
    /// The instruction, counted over the whole program.
    pub pc: u32,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", self.code, self.function)?;
        match self.position {
            Some((line, column)) => write!(f, " at {line}:{column}")?,
            None => write!(f, " at instruction {}", self.pc)?,
        }
        write!(f, ": {}", self.message)
    }
}

impl core::error::Error for Fault {}

/// Why a function could not be started.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartError {
    /// The program has no such function.
    UnknownFunction,
    /// A parameter has no argument.
    MissingInput {
        /// The parameter.
        parameter: String,
    },
    /// An argument has no parameter.
    UnknownInput {
        /// The argument's name, or its position from 1 if it has none.
        argument: String,
        /// The names of the parameters.
        parameters: String,
    },
    /// A name is given twice.
    DuplicateInput {
        /// The name.
        argument: String,
    },
    /// An argument has the wrong type.
    InputType {
        /// The parameter.
        parameter: String,
        /// Its type.
        expected: Type,
        /// What the argument is.
        found: &'static str,
    },
    /// The arguments are not one record.
    NotARecord {
        /// What they are instead.
        found: &'static str,
    },
    /// A number is not finite.
    NotFinite,
    /// The memory limit is less than the registers take, whatever the arguments.
    Registers {
        /// What they take, and the limit.
        message: String,
    },
    /// The arguments exceed a limit of the run.
    Limit {
        /// The limit's code.
        code: Code,
        /// What was given, and the limit.
        message: String,
    },
}

impl StartError {
    /// The stable code.
    pub fn code(&self) -> Code {
        match self {
            StartError::UnknownFunction => Code::UnknownFunction,
            StartError::MissingInput { .. } => Code::MissingInput,
            StartError::UnknownInput { .. } => Code::UnknownInput,
            StartError::DuplicateInput { .. } => Code::DuplicateField,
            StartError::InputType { .. } => Code::InputType,
            StartError::NotARecord { .. } => Code::BadInput,
            StartError::NotFinite => Code::NumberRange,
            StartError::Registers { .. } => Code::FaultMemory,
            StartError::Limit { code, .. } => *code,
        }
    }
}

impl From<Trap> for StartError {
    fn from(trap: Trap) -> StartError {
        let (code, message) = trap.into_parts();
        StartError::Limit { code, message }
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::UnknownFunction => f.write_str("the program has no such function"),
            StartError::MissingInput { parameter } => write!(f, "no value for the parameter {parameter}"),
            StartError::UnknownInput { argument, parameters } if parameters.is_empty() => {
                write!(f, "an input {argument}, but the function has no parameters")
            }
            StartError::UnknownInput { argument, parameters } => {
                write!(f, "no parameter is named {argument}; there are {parameters}")
            }
            StartError::DuplicateInput { argument } => write!(f, "{argument} is given twice in the input"),
            StartError::InputType { parameter, expected, found } => {
                write!(f, "the parameter {parameter} is {expected}, found {found}")
            }
            StartError::NotARecord { found } => write!(f, "expected a record of arguments, found {found}"),
            StartError::NotFinite => f.write_str("a number that is not finite"),
            StartError::Registers { message } => write!(f, "no room for the run's registers: {message}"),
            StartError::Limit { message, .. } => f.write_str(message),
        }
    }
}

impl core::error::Error for StartError {}
