//! Builds values from JSON text directly in the run, with its limits and exact integers.

use crate::json::{JsonError, JsonErrorKind, JsonEvent, JsonReader, JsonText};
use crate::run::build_error::BuildError;
use crate::run::value_builder::Builder;
use alloc::string::String;
use core::fmt;
use ilo_spec::limits;
use ilo_spec::program::Number;

/// Why a JSON text cannot become a value of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonRefused {
    /// It is not JSON, or has an integer beyond 64 bits.
    Json(JsonError),
    /// The value cannot be built.
    Build(BuildError),
}

impl fmt::Display for JsonRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JsonRefused::Json(JsonError { offset, kind }) => write!(f, "{kind} at byte {offset}"),
            JsonRefused::Build(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for JsonRefused {}

impl From<BuildError> for JsonRefused {
    fn from(error: BuildError) -> JsonRefused {
        JsonRefused::Build(error)
    }
}

/// A text of the document, decoded if it has escapes.
fn with_text<T>(text: JsonText<'_>, then: impl FnOnce(&str) -> T) -> T {
    match text.as_plain() {
        Some(plain) => then(plain),
        None => {
            let mut decoded = String::with_capacity(text.decoded_len());
            text.push_to(&mut decoded);
            then(&decoded)
        }
    }
}

impl Builder<'_> {
    /// The value of a JSON document, as PARSE reads it. The limits on a tool's answer hold while it is read.
    ///
    /// # Errors
    /// The first position at which the text is not JSON; the builder cannot be used after that. Also the
    /// errors of the other methods. [`Builder::finish`] rejects a duplicate field.
    pub fn json(&mut self, text: &str) -> Result<(), JsonRefused> {
        let mut reader = JsonReader::new(text, limits::VALUE_DEPTH);
        loop {
            let built = match reader.next_event() {
                Ok(None) => return Ok(()),
                Ok(Some(event)) => self.json_event(event),
                // The limit of the run is not larger, and the error is that of the limit.
                Err(error @ JsonError { kind: JsonErrorKind::TooDeep, .. }) => {
                    self.begin_list()?;
                    return Err(JsonRefused::Json(error));
                }
                Err(error) => return Err(JsonRefused::Json(error)),
            };
            built?;
        }
    }

    fn json_event(&mut self, event: JsonEvent<'_>) -> Result<(), BuildError> {
        match event {
            JsonEvent::Null => self.nil(),
            JsonEvent::Bool(value) => self.bool(value),
            JsonEvent::Number(Number::Int(value)) => self.int(value),
            JsonEvent::Number(Number::Double(value)) => self.double(value),
            JsonEvent::Text(text) => with_text(text, |text| self.text(text)),
            JsonEvent::Key(name) => with_text(name, |name| self.key(name)),
            JsonEvent::BeginList => self.begin_list(),
            JsonEvent::BeginRecord => self.begin_record(),
            JsonEvent::End => self.end(),
        }
    }
}
