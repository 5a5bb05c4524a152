//! What follows an answer that does not fit the schema of its tool.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// What follows an answer that does not fit the schema of its tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Validation {
    /// The call fails. So the check relies on the types of answers.
    #[default]
    Fail,
    /// The answer is accepted and reported.
    Warn,
    /// Nothing: neither arguments nor answers are compared with schemas.
    Off,
}

impl Validation {
    /// What a flag or the word `warn` means.
    pub fn of(value: &Value) -> Option<Validation> {
        match value {
            Value::Bool(true) => Some(Validation::Fail),
            Value::Bool(false) => Some(Validation::Off),
            Value::String(word) if word == "warn" => Some(Validation::Warn),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Validation {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Validation, D::Error> {
        let found = Value::deserialize(from)?;
        Validation::of(&found)
            .ok_or_else(|| serde::de::Error::custom("expected true, false or \"warn\" for `validate`"))
    }
}
