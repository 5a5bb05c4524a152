//! Why a value of Rust has no value of a program, or the reverse.

use crate::problem::shortened;
use std::fmt;

/// Characters of a name that are shown.
const SHOWN: usize = 60;
/// Steps of a path that are shown.
const STEPS: usize = 12;

/// Why a conversion is not possible: what was expected and found, and where in the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConvertError {
    /// What does not convert, and the reason.
    message: String,
    /// The steps to that place, the last one first.
    path: Vec<String>,
}

impl ConvertError {
    pub(super) fn new(message: impl Into<String>) -> ConvertError {
        ConvertError { message: message.into(), path: Vec::new() }
    }

    /// The value with the error is an item of a list.
    pub(super) fn in_item(mut self, at: usize) -> ConvertError {
        self.path.push(format!("[{at}]"));
        self
    }

    /// The value with the error is a field of a record.
    pub(super) fn in_field(mut self, name: &str) -> ConvertError {
        self.path.push(format!(".{}", shortened(name, SHOWN)));
        self
    }

    pub(super) fn too_deep(most: usize) -> ConvertError {
        ConvertError::new(format!("nested deeper than {most}"))
    }

    pub(super) fn integer(found: impl fmt::Display) -> ConvertError {
        ConvertError::new(format!("the integer {found} does not fit 64 bits with a sign; write it as text"))
    }

    pub(super) fn not_finite(found: f64) -> ConvertError {
        ConvertError::new(format!("{found} is not a number that a program can have; numbers are finite"))
    }

    /// The path to the value that does not convert, such as `items[2].price`; empty for the whole value.
    pub fn path(&self) -> String {
        let shown: String = self.path.iter().take(STEPS).rev().map(String::as_str).collect();
        let shown = shown.trim_start_matches('.');
        if self.path.len() > STEPS { format!("…{shown}") } else { shown.to_owned() }
    }
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "`{}`: ", self.path())?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for ConvertError {}

impl serde_core::ser::Error for ConvertError {
    fn custom<T: fmt::Display>(message: T) -> ConvertError {
        ConvertError::new(message.to_string())
    }
}

impl serde_core::de::Error for ConvertError {
    fn custom<T: fmt::Display>(message: T) -> ConvertError {
        ConvertError::new(message.to_string())
    }
}
