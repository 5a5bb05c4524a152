//! A server's answer as a value of the language.
//!
//! Structured content is taken as it is; text is a text; anything binary becomes a record of its type and
//! size. A server that flags its structured content as a wrapper of one plain value has it unwrapped.

use crate::data::Data;
use crate::data::read::{Bounds, ReadErrorKind, read as read_json};
use crate::tool::Failure;
use ilo_spec::error::Code;
use ilo_spec::program::Number;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, ResourceContents, Tool};
use serde_json::Value;

/// The flag of a wrapper, in the tool's output schema or in the answer.
const WRAPPED: &str = "x-fastmcp-wrap-result";

/// Reads an answer as the message holds it, of a tool without a schema, with its bytes.
///
/// # Errors
/// The tool's failure, the limit that the answer passes, or what is no answer.
pub fn read_text(message: &[u8], bounds: &Bounds) -> Result<Data, Failure> {
    let result = serde_json::from_slice(message).map_err(|error| Failure::text(error.to_string()))?;
    read(result, &Tool::new("", "", JsonObject::new()), bounds, true)
}

/// Reads an answer; `bytes` says whether those of binary content are wanted.
pub(super) fn read(
    result: CallToolResult,
    tool: &Tool,
    bounds: &Bounds,
    bytes: bool,
) -> Result<Data, Failure> {
    let failed = result.is_error == Some(true);
    if failed && let Some(text) = text(&result.content) {
        return Err(Failure::text(text));
    }
    let value = match result.structured_content {
        Some(value) => {
            let wrapped = is_wrapped(tool) || result.meta.as_ref().is_some_and(|meta| flagged(meta));
            structured(&if wrapped { unwrapped(value) } else { value }, bounds)?
        }
        None => content(&result.content, bounds, bytes)?,
    };
    if failed { Err(Failure::Failed(value)) } else { Ok(value) }
}

fn is_wrapped(tool: &Tool) -> bool {
    let flag = tool.output_schema.as_ref().and_then(|schema| schema.get(WRAPPED));
    flag == Some(&Value::Bool(true))
}

fn flagged(meta: &rmcp::model::JsonObject) -> bool {
    meta.get("fastmcp").and_then(|own| own.get("wrap_result")) == Some(&Value::Bool(true))
}

/// The value of a wrapper; what is none stays as it is.
fn unwrapped(value: Value) -> Value {
    match value {
        Value::Object(mut fields) if fields.len() == 1 && fields.contains_key("result") => {
            fields.remove("result").unwrap_or_default()
        }
        other => other,
    }
}

fn structured(value: &Value, bounds: &Bounds) -> Result<Data, Failure> {
    let text = serde_json::to_vec(value).map_err(|error| Failure::text(error.to_string()))?;
    read_json(&text, bounds).map_err(|error| match error.kind {
        ReadErrorKind::Depth(_) => {
            Failure::Limit(Code::FaultDepth, format!("the tool's answer is {}", error.kind))
        }
        ReadErrorKind::Bytes(_) | ReadErrorKind::Values(_) => {
            Failure::Limit(Code::FaultTooLarge, format!("the tool's answer has {}", error.kind))
        }
        kind => Failure::text(format!("the tool's answer: {kind}")),
    })
}

/// The text of an answer that is nothing else.
fn text(content: &[ContentBlock]) -> Option<String> {
    let parts: Option<Vec<&str>> = content.iter().map(plain).collect();
    parts.filter(|parts| !parts.is_empty()).map(|parts| parts.join("\n"))
}

fn plain(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Text(text) => Some(&text.text),
        _ => None,
    }
}

/// Unstructured content: nothing is nil, texts are one text, one thing is itself, and several are a list.
fn content(content: &[ContentBlock], bounds: &Bounds, bytes: bool) -> Result<Data, Failure> {
    let most = bounds.bytes;
    let size: usize = content.iter().map(|block| length(block, bytes)).sum();
    if size > most || content.len() > bounds.values {
        return Err(Failure::Limit(
            Code::FaultTooLarge,
            format!("the tool's answer has more than {most} bytes"),
        ));
    }
    if let Some(text) = text(content) {
        return Ok(Data::Text(text));
    }
    let mut items = content.iter().map(|part| block(part, bytes)).collect::<Result<Vec<Data>, Failure>>()?;
    Ok(match items.len() {
        0 => Data::Nil,
        1 => items.remove(0),
        _ => Data::List(items),
    })
}

/// How long a part of an answer is as a value.
fn length(block: &ContentBlock, bytes: bool) -> usize {
    match block {
        ContentBlock::Text(text) => text.text.len(),
        ContentBlock::Image(image) if bytes => image.data.len(),
        ContentBlock::Audio(audio) if bytes => audio.data.len(),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { text, .. } => text.len(),
            ResourceContents::BlobResourceContents { blob, .. } if bytes => blob.len(),
            _ => 0,
        },
        _ => 0,
    }
}

fn block(block: &ContentBlock, bytes: bool) -> Result<Data, Failure> {
    Ok(match block {
        ContentBlock::Text(text) => Data::Text(text.text.clone()),
        ContentBlock::Image(image) => {
            binary(named("image", None, Some(&image.mime_type)), &image.data, bytes)?
        }
        ContentBlock::Audio(audio) => {
            binary(named("audio", None, Some(&audio.mime_type)), &audio.data, bytes)?
        }
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { uri, mime_type, text, .. } => {
                let mut fields = named("resource", Some(uri), mime_type.as_deref());
                fields.push(("text".to_owned(), Data::Text(text.clone())));
                Data::Record(fields)
            }
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                binary(named("resource", Some(uri), mime_type.as_deref()), blob, bytes)?
            }
            _ => Data::Record(named("resource", None, None)),
        },
        ContentBlock::ResourceLink(link) => {
            let mut fields = named("resource_link", Some(&link.uri), link.mime_type.as_deref());
            fields.push(("name".to_owned(), Data::Text(link.name.clone())));
            Data::Record(fields)
        }
        _ => Data::Record(named("unknown", None, None)),
    })
}

fn named(kind: &str, uri: Option<&str>, mime_type: Option<&str>) -> Vec<(String, Data)> {
    let mut fields = vec![("type".to_owned(), Data::from(kind))];
    fields.extend(uri.map(|uri| ("uri".to_owned(), Data::from(uri))));
    fields.extend(mime_type.map(|mime| ("mimeType".to_owned(), Data::from(mime))));
    fields
}

/// The value for binary content: its type and size, and the bytes themselves where they are wanted.
fn binary(mut fields: Vec<(String, Data)>, base64: &str, wanted: bool) -> Result<Data, Failure> {
    let digits = base64.trim_end_matches('=').len();
    let size = i64::try_from(digits / 4 * 3 + digits % 4 * 3 / 4).unwrap_or(i64::MAX);
    fields.push(("size".to_owned(), Data::Number(Number::Int(size))));
    if wanted {
        let digit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
        let whole = base64.len().is_multiple_of(4) && base64.len() - digits <= 2;
        if !whole || !base64.bytes().take(digits).all(digit) {
            return Err(Failure::text("the tool's answer has binary content that is no base64"));
        }
        fields.push(("data".to_owned(), Data::from(base64)));
    }
    Ok(Data::Record(fields))
}
