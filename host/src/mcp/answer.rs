//! Converts the answer of a server from its text to a value.
//!
//! Structured content is used unchanged; text is a text; binary content becomes a record of its type and
//! size. If a server marks its structured content as a wrapper of one plain value, the wrapper is removed.
//! Parts that are not needed are skipped, so that only the value itself takes memory, within its limits.

use super::members::{Picked, error_message, items, members, text_of, unreadable};
use crate::json::kind;
use crate::tool::limits::{self, too_many_bytes};
use crate::tool::{Failure, numbers};
use ilo_asm::text::replace_lone_surrogates;
use ilo_drive::data::Data;
use ilo_drive::data::read::{Bounds, ReadError, ReadErrorKind};
use ilo_spec::program::Number;

/// The mark of a wrapper in the output schema of a tool.
pub(super) const WRAPPED: &str = "x-fastmcp-wrap-result";

/// How an answer is read.
#[derive(Clone, Copy)]
pub(super) struct ReadAs<'b> {
    pub(super) bounds: &'b Bounds,
    /// Whether the bytes of binary content are included.
    pub(super) bytes: bool,
    /// Whether the tool's schema says that its structured content is a wrapper.
    pub(super) wrapped: bool,
    /// Whether every integer becomes a text.
    pub(super) integers_as_text: bool,
}

/// Reads the result of a call in a message, for a tool without a schema, including the bytes of binary
/// content.
///
/// # Errors
/// The failure of the tool, a limit that the answer exceeds, or a malformed answer.
pub fn read_text(result: &[u8], bounds: &Bounds) -> Result<Data, Failure> {
    let mut result = result.to_vec();
    prepare(&mut result)?;
    read_result(&result, ReadAs { bounds, bytes: true, wrapped: false, integers_as_text: false })
}

/// Reads a whole message that answers a call. Also returns whether lone surrogates were replaced in it.
pub(super) fn read(message: &mut [u8], reading: ReadAs<'_>) -> (Result<Data, Failure>, bool) {
    let replaced = match prepare(message) {
        Ok(replaced) => replaced,
        Err(failure) => return (Err(failure), false),
    };
    (read_message(message, reading), replaced)
}

fn read_message(message: &[u8], reading: ReadAs<'_>) -> Result<Data, Failure> {
    read_result(result_of(message)?, reading)
}

/// Checks that a message is UTF-8, and replaces lone surrogates.
pub(super) fn prepare(message: &mut [u8]) -> Result<bool, Failure> {
    if let Err(error) = std::str::from_utf8(message) {
        return Err(unreadable(&format!("{} at byte {}", ReadErrorKind::NotUtf8, error.valid_up_to())));
    }
    Ok(replace_lone_surrogates(message))
}

/// The result in a message, or its failure.
pub(super) fn result_of(message: &[u8]) -> Result<&[u8], Failure> {
    let found = Picked::of(message, &["id", "result", "error"])?;
    match (found.get("result"), found.get("error")) {
        (Some(result), None) => Ok(result),
        (None, Some(error)) => Err(Failure::text(error_message(error)?)),
        _ => Err(unreadable("expected either a result or an error")),
    }
}

/// The relevant members of a result; `toolResult` is the result in the form of the first protocol.
const RESULT: &[&str] =
    &["content", "structuredContent", "toolResult", "isError", "resultType", "task", "_meta"];

const TASK: &str = "the server made a task of the call, which a program cannot wait for";

fn read_result(result: &[u8], reading: ReadAs<'_>) -> Result<Data, Failure> {
    let found = Picked::of(result, RESULT)?;
    if !found.is_object && result != b"null" {
        let message = format!("unexpected response type: expected a record, found {}", kind(result));
        return Err(Failure::text(message));
    }
    match found.get("resultType").and_then(text_of).as_deref() {
        None | Some("complete") => {}
        Some("input_required") => {
            return Err(Failure::text("the server asks for input, which a program cannot give"));
        }
        Some("task") => return Err(Failure::text(TASK)),
        Some(_) => return Err(Failure::text("unexpected response type: the result is not complete")),
    }
    let failed = found.get("isError") == Some(b"true");
    let given = |name: &str| found.get(name).filter(|text| *text != b"null");
    let content = given("content");
    let old = found.get("toolResult").filter(|_| content.is_none());
    match (given("structuredContent").or(old), content) {
        (Some(structured), content) => {
            let text = content.filter(|_| failed).and_then(|content| only_text(content, reading).ok()?);
            if let Some(text) = text {
                return Err(Failure::text(text));
            }
            let wrapped =
                reading.wrapped || found.get("_meta").is_some_and(|meta| is_flagged(meta).unwrap_or(false));
            let value = numbers::read_answer(structured, reading.bounds, reading.integers_as_text);
            let value = value.map_err(|error| unfit(&error))?;
            let value = if wrapped { unwrapped(value) } else { value };
            if failed { Err(Failure::Failed(value)) } else { Ok(value) }
        }
        (None, Some(content)) => {
            let value = read_content(content, reading)?;
            match value {
                Data::Nil if failed => Err(silent()),
                Data::Text(ref text) if failed && text.trim().is_empty() => Err(silent()),
                value if failed => Err(Failure::Failed(value)),
                value => Ok(value),
            }
        }
        (None, None) if failed => Err(silent()),
        // The tool has done its work, and says nothing.
        (None, None) if found.get("task").is_none() => Ok(Data::Nil),
        (None, None) => Err(Failure::text(TASK)),
    }
}

/// The failure of a tool that does not say why.
fn silent() -> Failure {
    Failure::text("the tool failed and did not say why: `isError` without content")
}

/// Whether `_meta` says that the structured content is a wrapper.
fn is_flagged(meta: &[u8]) -> Result<bool, Failure> {
    let mut flagged = false;
    members(meta, |name, value| {
        if name == "fastmcp" {
            members(value, |name, value| {
                flagged |= name == "wrap_result" && value == b"true";
                Ok(())
            })?;
        }
        Ok(())
    })?;
    Ok(flagged)
}

/// Removes a wrapper; other values are unchanged.
fn unwrapped(mut value: Data) -> Data {
    match &mut value {
        Data::Record(fields) if fields.len() == 1 && fields.iter().all(|(name, _)| name == "result") => {
            fields.pop().map_or(Data::Nil, |(_, value)| value)
        }
        _ => value,
    }
}

/// The failure for a value that cannot be read or exceeds a limit.
pub(super) fn unfit(error: &ReadError) -> Failure {
    limits::exceeded(&error.kind).unwrap_or_else(|| numbers::unreadable(&error.kind))
}

/// The text of content that is only a text.
fn only_text(content: &[u8], reading: ReadAs<'_>) -> Result<Option<String>, Failure> {
    Ok(match read_content(content, reading)? {
        Data::Text(ref mut text) => Some(std::mem::take(text)),
        _ => None,
    })
}

/// Unstructured content: no content is nil, texts are joined, a single part is itself, and several parts are
/// a list.
fn read_content(content: &[u8], reading: ReadAs<'_>) -> Result<Data, Failure> {
    let Bounds { bytes: most, values, .. } = *reading.bounds;
    let mut parts: Vec<Data> = Vec::new();
    let (mut size, mut texts) = (0_usize, true);
    let whole = items(content, |item| {
        let part = block(item, reading, most.saturating_sub(size))?;
        size = size.saturating_add(part.size);
        texts &= matches!(part.value, Data::Text(_));
        if size > most || parts.len() >= values {
            return Err(too_many_bytes(most));
        }
        parts.push(part.value);
        Ok(())
    })?;
    if !whole {
        return Err(unreadable(&format!("`content` is {}, expected a list", kind(content))));
    }
    Ok(match parts.len() {
        0 => Data::Nil,
        1 => parts.remove(0),
        _ if texts => {
            let texts = parts.iter().map(|part| if let Data::Text(text) = part { text.as_str() } else { "" });
            Data::Text(texts.collect::<Vec<_>>().join("\n"))
        }
        _ => Data::List(parts.into()),
    })
}

/// A part of the content, with the size of its value.
struct ContentPart {
    value: Data,
    size: usize,
}

/// The members of a part.
const PART: &[&str] = &["type", "text", "data", "mimeType", "resource", "uri", "name", "blob"];

fn part_of(text: &[u8]) -> Result<Picked<'_>, Failure> {
    let part = Picked::of(text, PART)?;
    if part.is_object {
        return Ok(part);
    }
    Err(unreadable(&format!("a part of its content is {}, expected a record", kind(text))))
}

impl Picked<'_> {
    /// A text of it that is no longer than `most` bytes.
    fn text(&self, field: &str, most: usize) -> Result<Option<String>, Failure> {
        let Some(json) = self.get(field).filter(|&json| json != b"null") else { return Ok(None) };
        let Some(text) = text_of(json) else {
            let message = format!("`{field}` of its content is {}, expected a text", kind(json));
            return Err(unreadable(&message));
        };
        if text.len() > most { Err(too_many_bytes(most)) } else { Ok(Some(text.into_owned())) }
    }

    fn needed(&self, field: &str, most: usize) -> Result<String, Failure> {
        self.text(field, most)?
            .ok_or_else(|| unreadable(&format!("a part of its content is without `{field}`")))
    }
}

fn block(text: &[u8], reading: ReadAs<'_>, most: usize) -> Result<ContentPart, Failure> {
    let block = part_of(text)?;
    let limit = |size: usize| if size > most { Err(too_many_bytes(reading.bounds.bytes)) } else { Ok(()) };
    let whole = |value: Data, size: usize| limit(size).map(|()| ContentPart { value, size });
    let most = most.saturating_add(1);
    let kind = block.needed("type", most)?;
    match kind.as_str() {
        "text" => {
            let text = block.needed("text", most).map_err(|failure| of_whole(failure, reading))?;
            let size = text.len();
            whole(Data::Text(text), size)
        }
        "image" | "audio" => binary(named(&kind, &block, most)?, block.get("data"), reading),
        "resource" => {
            let Some(resource) = block.get("resource") else {
                return Err(unreadable("a part of its content is without `resource`"));
            };
            let inner = part_of(resource)?;
            let mut fields = named(&kind, &inner, most)?;
            if let Some(text) = inner.text("text", most).map_err(|failure| of_whole(failure, reading))? {
                let size = text.len();
                fields.push(("text".to_owned(), Data::Text(text)));
                return whole(Data::Record(fields.into()), size);
            }
            binary(fields, inner.get("blob"), reading)
        }
        "resource_link" => {
            let mut fields = named(&kind, &block, most)?;
            fields.push(("name".to_owned(), Data::Text(block.needed("name", most)?)));
            whole(Data::Record(fields.into()), 0)
        }
        _ => whole(Data::Record(vec![("type".to_owned(), Data::from("unknown"))].into()), 0),
    }
}

/// The limit on the whole, for an error in a part.
fn of_whole(failure: Failure, reading: ReadAs<'_>) -> Failure {
    match failure {
        Failure::Limit(..) => too_many_bytes(reading.bounds.bytes),
        other => other,
    }
}

fn named(kind: &str, block: &Picked<'_>, most: usize) -> Result<Vec<(String, Data)>, Failure> {
    let mut fields = vec![("type".to_owned(), Data::from(kind))];
    let has_uri = kind.starts_with("resource");
    let uri = if has_uri { block.text("uri", most)? } else { None };
    fields.extend(uri.map(|uri| ("uri".to_owned(), Data::Text(uri))));
    fields.extend(block.text("mimeType", most)?.map(|mime| ("mimeType".to_owned(), Data::Text(mime))));
    Ok(fields)
}

/// The value for binary content: its type and size, and its bytes if wanted.
fn binary(
    mut fields: Vec<(String, Data)>,
    data: Option<&[u8]>,
    reading: ReadAs<'_>,
) -> Result<ContentPart, Failure> {
    let Some(base64) = data.map(text_of) else {
        return Ok(ContentPart { value: Data::Record(fields.into()), size: 0 });
    };
    let bad = || Failure::text("the tool's answer has binary content that is not base64");
    let base64 = base64.ok_or_else(bad)?;
    let digits = base64.trim_end_matches('=').len();
    let size = i64::try_from(digits / 4 * 3 + digits % 4 * 3 / 4).unwrap_or(i64::MAX);
    fields.push(("size".to_owned(), Data::Number(Number::Int(size))));
    if !reading.bytes {
        return Ok(ContentPart { value: Data::Record(fields.into()), size: 0 });
    }
    let size = base64.len();
    if size > reading.bounds.bytes {
        return Err(too_many_bytes(reading.bounds.bytes));
    }
    let digit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    let whole = size.is_multiple_of(4) && size - digits <= 2;
    if !whole || !base64.bytes().take(digits).all(digit) {
        return Err(bad());
    }
    fields.push(("data".to_owned(), Data::Text(base64.into_owned())));
    Ok(ContentPart { value: Data::Record(fields.into()), size })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_that_says_nothing_is_nil_and_no_failure() {
        let read = |result: &str| read_text(result.as_bytes(), &Bounds::default());
        for result in ["{}", "null", r#"{"content":null}"#, r#"{"content":[]}"#, r#"{"_meta":{"a":1}}"#] {
            assert_eq!(read(result), Ok(Data::Nil), "{result}");
        }
        for result in [r#"{"isError":true,"content":null}"#, r#"{"isError":true}"#] {
            assert_eq!(read(result), Err(silent()), "{result}");
        }
        for result in [r#"{"task":{"taskId":"1"}}"#, r#"{"resultType":"task"}"#] {
            assert_eq!(read(result), Err(Failure::text(TASK)), "{result}");
        }
        for result in ["7", "\"x\"", "[1]", "true", r#"{"content":"x"}"#, r#"{"resultType":"odd"}"#] {
            assert!(read(result).is_err(), "{result}");
        }
    }
}
