//! Parses the text of a tools file, JSON, TOML or YAML, into values, and finds the position of a path in the
//! text.
//!
//! Positions are looked up only for errors, so values have none.

mod json;
mod values;

use ilo_drive::data::Data;
use ilo_drive::data::read::line_column;
use ilo_spec::limits;
use ilo_spec::number;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

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
        Form::Toml => toml(text),
        Form::Yaml => values::parse(text, form),
    }
}

fn toml(text: &str) -> Result<Parsed, Wrong> {
    let table = DeTable::parse(text)
        .map_err(|error| (error.span().map(|span| span.start), error.message().to_owned()))?;
    Ok(Parsed { data: from_table(table.get_ref())?, unread: UnreadSchemas::new() })
}

/// The values of a table. The TOML parser limits the nesting and thereby this recursion.
fn from_table(table: &DeTable<'_>) -> Result<Data, Wrong> {
    let fields = table.iter().map(|(key, value)| {
        let start = value.span().start;
        Ok((key.get_ref().to_string(), from_value(value.get_ref(), start)?))
    });
    Ok(Data::Record(fields.collect::<Result<_, Wrong>>()?))
}

fn from_value(value: &DeValue<'_>, start: usize) -> Result<Data, Wrong> {
    let wrong = |why: &str| (Some(start), why.to_owned());
    Ok(match value {
        DeValue::String(text) => Data::from(text.as_ref()),
        DeValue::Boolean(value) => Data::Bool(*value),
        DeValue::Integer(int) => i64::from_str_radix(int.as_str(), int.radix())
            .map(|int| Data::Number(ilo_spec::program::Number::Int(int)))
            .map_err(|_| wrong("an integer beyond 64 bits"))?,
        DeValue::Float(float) => {
            let text = float.as_str().replace('_', "");
            let text = text.strip_prefix('+').unwrap_or(&text);
            number::parse(text).map(Data::Number).map_err(|_| wrong("a number that is not finite"))?
        }
        DeValue::Datetime(date) => Data::Text(date.to_string()),
        DeValue::Array(items) => {
            let items = items.iter().map(|item| from_value(item.get_ref(), item.span().start));
            Data::List(items.collect::<Result<_, Wrong>>()?)
        }
        DeValue::Table(table) => from_table(table)?,
    })
}

/// Line and column of the value at a path, or of its nearest enclosing value in the text.
pub(super) fn locate(text: &str, form: Form, path: &[Step]) -> (usize, usize) {
    let mut offset = 0;
    match form {
        Form::Toml => drop(locate_toml(text, path, &mut offset)),
        Form::Json | Form::Yaml => offset = values::locate(text, form, path),
    }
    line_column(text.as_bytes(), offset)
}

fn locate_toml(text: &str, path: &[Step], offset: &mut usize) -> Option<()> {
    let table = DeTable::parse(text).ok()?;
    let mut steps = path.iter();
    let Some(Step::Key(first)) = steps.next() else { return None };
    let (key, mut value) = table.get_ref().iter().find(|(key, _)| key.get_ref() == first)?;
    *offset = key.span().start;
    for step in steps {
        match (step, value.get_ref()) {
            (Step::Key(wanted), DeValue::Table(table)) => {
                let (key, next) = table.iter().find(|(key, _)| key.get_ref() == wanted)?;
                (*offset, value) = (key.span().start, next);
            }
            (Step::Index(wanted), DeValue::Array(items)) => {
                let next = items.get(*wanted)?;
                (*offset, value) = (next.span().start, next);
            }
            _ => return None,
        }
    }
    Some(())
}
