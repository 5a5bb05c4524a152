//! Parses a tools file in JSON into values, without the content of schemas.

use super::{DEPTH, FILE, Parsed, UnreadSchemas, VALUES, Wrong};
use ilo_drive::data::read::{Bounds, ReadErrorKind, read, repeated};
use ilo_drive::data::{Data, Fields};
use jiter::{Jiter, JiterError, JiterErrorType, JsonErrorType, Peek};
use std::ops::Range;

/// Reads a text.
pub(super) fn parse(text: &str) -> Result<Parsed, Wrong> {
    if text.len() > FILE {
        return Err((Some(FILE), ReadErrorKind::Bytes(FILE).to_string()));
    }
    let mut reader =
        Reader { json: Jiter::new(text.as_bytes()), text, schemas: Vec::new(), unread: UnreadSchemas::new() };
    let data = match reader.json.peek().map_err(wrong)? {
        Peek::Object => reader.record(Record::Root)?,
        peek => reader.value(peek)?,
    };
    let end = reader.json.current_index();
    reader.json.finish().map_err(|_| (Some(end), ReadErrorKind::Trailing.to_string()))?;
    Ok(Parsed { data, unread: reader.unread })
}

struct Reader<'t> {
    json: Jiter<'t>,
    text: &'t str,
    /// The schemas of the current tool.
    schemas: Vec<(&'static str, Range<usize>)>,
    unread: UnreadSchemas,
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

#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
fn wrong(error: JiterError) -> Wrong {
    const DEEP: JiterErrorType = JiterErrorType::JsonError(JsonErrorType::RecursionLimitExceeded);
    let is_deep = error.error_type == DEEP;
    let why = if is_deep { ReadErrorKind::Depth(DEPTH).to_string() } else { error.error_type.to_string() };
    (Some(error.index), why)
}

impl Reader<'_> {
    /// Reads a record. Only records that enclose schemas recurse, so the depth is at most three.
    fn record(&mut self, record: Record) -> Result<Data, Wrong> {
        let start = self.json.current_index();
        let mut fields = Vec::new();
        let mut key = self.json.known_object().map_err(wrong)?.map(str::to_owned);
        while let Some(name) = key {
            let peek = self.json.peek().map_err(wrong)?;
            let schema = SCHEMAS.into_iter().find(|&schema| schema == name);
            let value = match (record, schema, peek) {
                (Record::Root, _, Peek::Object) if name == "tools" => self.record(Record::Tools)?,
                (Record::Tools, _, Peek::Object) => {
                    let tool = self.record(Record::Tool)?;
                    if !self.schemas.is_empty() {
                        self.unread.insert(name.clone(), std::mem::take(&mut self.schemas));
                    }
                    tool
                }
                (Record::Tool, Some(schema), Peek::Object) => {
                    let range = self.skipped(peek)?;
                    self.schemas.push((schema, range));
                    Data::Record(Fields::new())
                }
                (_, _, Peek::String) => Data::from(self.json.known_str().map_err(wrong)?),
                _ => self.value(peek)?,
            };
            fields.push((name, value));
            key = self.json.next_key().map_err(wrong)?.map(str::to_owned);
        }
        match repeated(&fields) {
            Some(key) => Err((Some(start), ReadErrorKind::DuplicateKey(key.to_owned()).to_string())),
            None => Ok(Data::Record(fields.into())),
        }
    }

    /// Skips a value.
    fn skipped(&mut self, peek: Peek) -> Result<Range<usize>, Wrong> {
        let start = self.json.current_index();
        self.json.known_skip(peek).map_err(wrong)?;
        Ok(start..self.json.current_index())
    }

    fn value(&mut self, peek: Peek) -> Result<Data, Wrong> {
        let range = self.skipped(peek)?;
        let bounds = Bounds { bytes: FILE, depth: DEPTH, values: VALUES };
        let text = self.text.get(range.clone()).unwrap_or_default();
        read(text.as_bytes(), &bounds)
            .map_err(|error| (Some(range.start + error.offset), error.kind.to_string()))
    }
}
