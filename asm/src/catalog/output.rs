//! The value that a host expects of a program, as a JSON Schema.

use super::{Shape, Tool};
use serde_json::Value;

/// The value that a host expects of the function that it will run.
#[derive(Clone, Debug)]
pub struct OutputSchema(Tool);

impl OutputSchema {
    /// The value that a JSON Schema describes.
    pub fn new(schema: &Value) -> OutputSchema {
        OutputSchema(Tool::new("output", None, None, Some(schema)))
    }

    /// What the schema says.
    pub fn shape(&self) -> Shape<'_> {
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
