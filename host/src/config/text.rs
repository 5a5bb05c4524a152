//! Parses the text of a tools file, JSON, TOML or YAML, into values, and finds the position of a path in the
//! text.
//!
//! Positions are looked up only for errors, so values have none.

mod comments;
mod json;
mod yaml;

use crate::json::{items, members};
use ilo_drive::data::Data;
use ilo_drive::data::read::line_column;
use ilo_spec::limits;
use ilo_spec::number;
use std::borrow::Cow;
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

/// Reads the text, in JSON also with comments and final commas, which are looked for only where it is no JSON
/// with them. Also returns the text without them, in which each place stays what it was.
pub(super) fn parse(text: &str, form: Form) -> (Cow<'_, str>, Result<Parsed, Wrong>) {
    match form {
        Form::Json => match json::parse(text) {
            Err(wrong) if text.len() <= FILE => match comments::blanked(text) {
                Cow::Owned(plain) => {
                    let parsed = json::parse(&plain);
                    (Cow::Owned(plain), parsed)
                }
                plain @ Cow::Borrowed(_) => (plain, Err(wrong)),
            },
            parsed => (Cow::Borrowed(text), parsed),
        },
        Form::Toml => (Cow::Borrowed(text), toml(text)),
        Form::Yaml => (Cow::Borrowed(text), yaml::parse(text)),
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
        Form::Json => offset = locate_json(text, path),
        Form::Toml => drop(locate_toml(text, path, &mut offset)),
        Form::Yaml => offset = yaml::locate(text, path),
    }
    line_column(text.as_bytes(), offset)
}

/// The offset of the value at a path: that of its key, if it has one.
fn locate_json(text: &str, path: &[Step]) -> usize {
    let (mut inside, mut offset) = (0..text.len(), 0);
    for step in path {
        let start = inside.start;
        let Some((at, place)) = part(text.get(inside).unwrap_or_default(), step) else { break };
        (offset, inside) = (start + at, start + place.start..start + place.end);
    }
    offset
}

/// The place of a part of a JSON value, and the offset of its key. The search ends where it is
/// found, or at an error.
fn part(text: &str, step: &Step) -> Option<(usize, Range<usize>)> {
    let found = match step {
        Step::Key(wanted) => {
            let mut from = 1;
            members(
                text.as_bytes(),
                |_| None,
                |key, place| {
                    if key == wanted {
                        let before = text.get(from..place.start).unwrap_or_default();
                        return Err(Some((from + before.find('"').unwrap_or(0), place)));
                    }
                    from = place.end;
                    Ok(())
                },
            )
        }
        Step::Index(wanted) => {
            let mut left = *wanted;
            items(
                text.as_bytes(),
                |_| None,
                |place| {
                    left = left.checked_sub(1).ok_or(Some((place.start, place)))?;
                    Ok(())
                },
            )
        }
    };
    found.err().flatten()
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
