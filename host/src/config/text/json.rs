//! Parses a tools file in JSON into values, without the content of schemas.

use super::{DEPTH, FILE, Parsed, Unread, VALUES, Wrong};
use ilo_drive::data::parts::{PartError, members};
use ilo_drive::data::read::{Bounds, ReadErrorKind, read, repeated};
use ilo_drive::data::{Data, Fields};
use std::ops::Range;

/// Reads a text.
pub(super) fn parse(text: &str) -> Result<Parsed, Wrong> {
    if text.len() > FILE {
        return Err((Some(FILE), ReadErrorKind::Bytes(FILE).to_string()));
    }
    let mut reader = Reader { text, schemas: Vec::new(), unread: Unread::new() };
    let start = text.len() - text.trim_start_matches([' ', '\t', '\r', '\n']).len();
    let data = reader.record(start..text.len(), Record::Root)?;
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

impl Reader<'_> {
    /// Reads a record. Only records that enclose schemas recurse, so the depth is at most three.
    fn record(&mut self, place: Range<usize>, record: Record) -> Result<Data, Wrong> {
        let (start, text) = (place.start, self.text.get(place.clone()).unwrap_or_default());
        let wrong = |PartError { offset, kind }| {
            let is_deep = matches!(kind, ReadErrorKind::Depth(_));
            (Some(start + offset), if is_deep { ReadErrorKind::Depth(DEPTH) } else { kind }.to_string())
        };
        let mut fields = Vec::new();
        let is_record = members(text.as_bytes(), wrong, |name, inner| {
            let is_record = text.as_bytes().get(inner.start) == Some(&b'{');
            let place = start + inner.start..start + inner.end;
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
        })?;
        match repeated(&fields) {
            _ if !is_record => self.value(place),
            Some(key) => Err((Some(start), ReadErrorKind::DuplicateKey(key.to_owned()).to_string())),
            None => Ok(Data::Record(fields.into())),
        }
    }

    fn value(&self, place: Range<usize>) -> Result<Data, Wrong> {
        let bounds = Bounds { bytes: FILE, depth: DEPTH, values: VALUES };
        let text = self.text.get(place.clone()).unwrap_or_default();
        read(text.as_bytes(), &bounds)
            .map_err(|error| (Some(place.start + error.offset), error.kind.to_string()))
    }
}
