//! Parses the text of a tools file, JSON, TOML or YAML, into values, and finds the position of a path in the
//! text.
//!
//! Positions are looked up only for errors, so values have none.

mod json;
mod values;

use ilo_drive::data::Data;
use ilo_drive::data::read::line_column;
use ilo_spec::limits;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

/// A step from a value to one inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// A path in the form for messages.
pub(super) struct Shown<'p>(pub(super) &'p [Step]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if at == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// The syntax of a tools file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Json,
    Toml,
    Yaml,
}

/// The maximum size of a tools file in bytes: long mocks fit, and a wrong file is rejected at once.
pub(super) const FILE: usize = 16 << 20;
/// The maximum number of values in a tools file.
const VALUES: usize = 1_000_000;
/// The maximum nesting of a tools file: a value of the greatest depth inside an entry of a mock.
const DEPTH: usize = limits::DEFAULT_VALUE_DEPTH + 5;

/// Why a text is not a tools file, and the offset if it is known.
pub(super) type Wrong = (Option<usize>, String);

/// The ranges of the schemas of a JSON file, by tool, each with its key.
pub(super) type UnreadSchemas = HashMap<String, Vec<(&'static str, Range<usize>)>>;

/// A parsed text.
pub(super) struct Parsed {
    /// Its values, with an empty record in place of each schema that was not read.
    pub(super) data: Data,
    /// These schemas.
    pub(super) unread: UnreadSchemas,
}

/// Reads the text. JSON is read as other programs write it only where it is no JSON.
pub(super) fn parse(text: &str, form: Form) -> Result<Parsed, Wrong> {
    match form {
        Form::Json => json::parse(text).or_else(|wrong| {
            // The first error may be a comment.
            values::parse(text, form).map_err(|other| if other.0 > wrong.0 { other } else { wrong })
        }),
        Form::Toml | Form::Yaml => values::parse(text, form),
    }
}

/// Line and column of the value at a path, or of its nearest enclosing value in the text.
pub(super) fn locate(text: &str, form: Form, path: &[Step]) -> (usize, usize) {
    line_column(text.as_bytes(), values::locate(text, form, path))
}
