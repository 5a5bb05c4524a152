//! Parses a tools file in JSON into values, without the content of schemas.

use super::{DEPTH, FILE, Parsed, Unread, VALUES, Wrong};
use crate::json::{kind, members};
use ilo_drive::data::read::{Bounds, ReadErrorKind, read, repeated};
use ilo_drive::data::{Data, Fields};
use jiter::{JiterError, JiterErrorType, JsonErrorType};
use std::ops::Range;

/// Reads a text.
pub(super) fn parse(text: &str) -> Result<Parsed, Wrong> {
    if text.len() > FILE {
        return Err((Some(FILE), ReadErrorKind::Bytes(FILE).to_string()));
    }
    let mut reader = Reader { text, schemas: Vec::new(), unread: Unread::new() };
    let (whole, is_record) = (0..text.len(), kind(text.as_bytes()) == "a record");
    let data = if is_record { reader.record(whole, Record::Root)? } else { reader.value(whole)? };
    Ok(Parsed { data, unread: reader.unread })
}

struct Reader<'t> {
    text: &'t str,
    /// The schemas of the current tool.
    schemas: Vec<(&'static str, Range<usize>)>,
    unread: Unread,
}

/// A record that encloses schemas.
#[derive(Clone, Copy)]
enum Record {
    Root,
    Tools,
    Tool,
}

/// Keys of a tool whose value is a schema.
const SCHEMAS: [&str; 2] = ["input_schema", "output_schema"];

fn wrong(error: &JiterError) -> Wrong {
    let why = match &error.error_type {
        JiterErrorType::JsonError(JsonErrorType::TrailingCharacters) => ReadErrorKind::Trailing.to_string(),
        JiterErrorType::JsonError(JsonErrorType::RecursionLimitExceeded) => {
            ReadErrorKind::Depth(DEPTH).to_string()
        }
        other => other.to_string(),
    };
    (Some(error.index), why)
}

impl Reader<'_> {
    /// Reads a record. Only records that enclose schemas recurse, so the depth is at most three.
    fn record(&mut self, at: Range<usize>, record: Record) -> Result<Data, Wrong> {
        let text = self.text.get(at.clone()).unwrap_or_default();
        let mut fields = Vec::new();
        // The outermost record has met every error of syntax.
        members(
            text.as_bytes(),
            |error| wrong(&error),
            |name, place| {
                let is_record = text.get(place.clone()).is_some_and(|value| value.starts_with('{'));
                let place = at.start + place.start..at.start + place.end;
                let schema = SCHEMAS.into_iter().find(|&schema| schema == name);
                let value = match (record, schema) {
                    (Record::Root, _) if is_record && name == "tools" => self.record(place, Record::Tools)?,
                    (Record::Tools, _) if is_record => {
                        let tool = self.record(place, Record::Tool)?;
                        if !self.schemas.is_empty() {
                            self.unread.insert(name.to_owned(), std::mem::take(&mut self.schemas));
                        }
                        tool
                    }
                    (Record::Tool, Some(schema)) if is_record => {
                        self.schemas.push((schema, place));
                        Data::Record(Fields::new())
                    }
                    _ => self.value(place)?,
                };
                fields.push((name.to_owned(), value));
                Ok(())
            },
        )?;
        match repeated(&fields) {
            Some(key) => Err((Some(at.start), ReadErrorKind::DuplicateKey(key.to_owned()).to_string())),
            None => Ok(Data::Record(fields.into())),
        }
    }

    fn value(&mut self, range: Range<usize>) -> Result<Data, Wrong> {
        let bounds = Bounds { bytes: FILE, depth: DEPTH, values: VALUES };
        let text = self.text.get(range.clone()).unwrap_or_default();
        read(text.as_bytes(), &bounds)
            .map_err(|error| (Some(range.start + error.offset), error.kind.to_string()))
    }
}
