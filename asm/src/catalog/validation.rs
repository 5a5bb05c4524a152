//! What follows an answer that does not fit the schema of its tool, and the value that a host expects of a
//! program, as a JSON Schema.

use super::{SchemaShape, ToolSignature};
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

/// The value that a host expects of the function that it will run.
#[derive(Clone, Debug)]
pub struct OutputSchema(ToolSignature);

impl OutputSchema {
    /// The value that a JSON Schema describes.
    pub fn new(schema: &Value) -> OutputSchema {
        OutputSchema(ToolSignature::new("output", None, None, Some(schema)))
    }

    /// What the schema says.
    pub fn shape(&self) -> SchemaShape<'_> {
        self.0.output()
    }
}

impl std::str::FromStr for OutputSchema {
    type Err = String;

    /// Reads a JSON Schema.
    fn from_str(text: &str) -> Result<OutputSchema, String> {
        match serde_json::from_str(text) {
            Ok(schema @ (Value::Object(_) | Value::Bool(_))) => Ok(OutputSchema::new(&schema)),
            Ok(_) => Err("a JSON Schema is an object".to_owned()),
            Err(error) => Err(format!("this JSON Schema is not JSON: {error}")),
        }
    }
}
