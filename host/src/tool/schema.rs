//! The JSON Schema of a tool. In a tools file it stays text until it is needed, because a file may have
//! thousands of schemas and a program names a few.

mod well_formed;

use ilo_drive::data::read::{Bounds, line_column, read};
use ilo_drive::data::{Data, Fields};
use ilo_drive::problem::Problem;
use ilo_spec::error::Code;
use ilo_spec::limits;
use std::ops::{Deref, Range};
use std::sync::{Arc, OnceLock};

pub(crate) use well_formed::problem;

/// A schema, which is a record. An unusable one counts as empty, which allows anything.
#[derive(Clone, Debug)]
pub struct Schema(Arc<Whole>);

#[derive(Debug)]
struct Whole {
    text: Option<Part>,
    value: OnceLock<Result<Arc<Data>, SchemaFault>>,
}

/// Why it cannot be used, and the offset in the file if the reason is inside the schema.
type SchemaFault = (Option<usize>, String);

/// A part of the text of a tools file in JSON.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The file's name.
    pub(crate) name: Arc<str>,
    /// The file's text.
    pub(crate) text: Arc<str>,
    /// The range of the part.
    pub(crate) range: Range<usize>,
}

/// A schema that cannot be used.
static ANYTHING: Data = Data::Record(Fields::new());

impl From<Arc<Data>> for Schema {
    /// A schema whose form has been checked.
    fn from(value: Arc<Data>) -> Schema {
        Schema(Arc::new(Whole { text: None, value: OnceLock::from(Ok(value)) }))
    }
}

impl From<Part> for Schema {
    fn from(part: Part) -> Schema {
        Schema(Arc::new(Whole { text: Some(part), value: OnceLock::new() }))
    }
}

impl Deref for Schema {
    type Target = Data;

    fn deref(&self) -> &Data {
        self.0.value().as_ref().map_or(&ANYTHING, |value| value)
    }
}

/// A schema that the host gives as a value.
///
/// # Errors
/// Why it cannot be used.
#[cfg(feature = "schemars")]
pub(crate) fn of_value(value: &serde_json::Value) -> Result<Schema, String> {
    let schema = Data::try_from(value).map_err(|error| error.to_string())?;
    match problem(&schema) {
        Some(why) => Err(format!("no JSON Schema that can be used: {why}")),
        None => Ok(Schema::from(Arc::new(schema))),
    }
}

impl Schema {
    /// Why it cannot be used as the value of this key of a tool, with its position in the tools file.
    pub(crate) fn problem(&self, tool: &str, key: &str) -> Option<Problem> {
        let (offset, why) = self.0.value().as_ref().err()?;
        let Part { name, text, range } = self.0.text.as_ref()?;
        let before = text.get(..range.start).unwrap_or_default();
        let of_key = || before.rfind(&format!("\"{key}\"")).unwrap_or(range.start);
        let (line, column) = line_column(text.as_bytes(), offset.unwrap_or_else(of_key));
        let place = format!("{name}:{line}:{column}");
        Some(Problem::new(Code::BadToolsFile, place, format!("tools.{tool}.{key}: {why}")))
    }
}

impl Whole {
    fn value(&self) -> &Result<Arc<Data>, SchemaFault> {
        self.value.get_or_init(|| {
            let Some(Part { text, range, .. }) = &self.text else { return Ok(Arc::new(ANYTHING.clone())) };
            let bounds =
                Bounds { bytes: range.len(), depth: limits::DEFAULT_VALUE_DEPTH, values: range.len() };
            let part = text.get(range.clone()).unwrap_or_default();
            let schema = read(part.as_bytes(), &bounds)
                .map_err(|error| (Some(range.start + error.offset), error.kind.to_string()))?;
            match problem(&schema) {
                Some(why) => Err((None, format!("no JSON Schema that can be used: {why}"))),
                None => Ok(Arc::new(schema)),
            }
        })
    }
}
