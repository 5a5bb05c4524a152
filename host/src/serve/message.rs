//! Splits a message of a client before the protocol library reads it.
//!
//! The library reads a message into trees, several times, and a tree takes up to a hundred times the bytes of
//! its text. So the arguments of a call are cut out first. They stay bytes, and the code that answers the
//! call reads them within bounds (`arguments`). The rest of the message must be small.

use crate::json::{self, kind as kind_of};
use axum::body::Bytes;
use ilo_asm::text::shortened;
use jiter::JiterError;
use rmcp::model::{ErrorCode, ErrorData, RequestId};
use std::convert::identity;
use std::ops::Range;

/// The maximum size of a message without the arguments of its call.
const REST: usize = 1 << 20;
/// The most values of a message without the arguments of its call: some 10 MB after the library has read
/// them.
const VALUES: usize = 10_000;

/// The maximum size of an ID in bytes as it is written: IDs are kept until their requests are answered, and
/// repeated in errors.
const LONGEST_ID: usize = 256;

/// The most characters of a method that are shown.
const SHOWN: usize = 80;

/// The arguments of a call as the client wrote them: an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Arguments(pub(super) Bytes);

/// A message with empty arguments, the arguments if they are an object, and the ID if it can be read.
type Split = (Bytes, Option<Arguments>, Option<RequestId>);

/// A rejected message, with the ID of the request if it could be read.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) id: Option<RequestId>,
    pub(super) error: Box<ErrorData>,
}

impl Refused {
    pub(super) fn new(id: Option<RequestId>, code: ErrorCode, message: impl Into<String>) -> Refused {
        Refused { id, error: Box::new(ErrorData::new(code, message.into(), None)) }
    }

    /// A request with the ID of one that waits: only one of the two could be answered. This error has no ID,
    /// since it would end the other.
    pub(super) fn same_id(id: &RequestId) -> Refused {
        let why = format!("request {id} waits for its answer; this one has its ID and was not looked at");
        Refused::new(None, ErrorCode::INVALID_REQUEST, why)
    }
}

/// The ranges of the relevant parts of a message.
#[derive(Default)]
struct Places {
    id: Option<Range<usize>>,
    arguments: Option<Range<usize>>,
    /// Whether the arguments are duplicate.
    twice: bool,
    /// What the arguments are, if they are neither an object nor null.
    other: Option<&'static str>,
}

/// Splits a message.
///
/// # Errors
/// If the text is not JSON, or if its ID or the part without the arguments exceeds a bound.
pub(super) fn split(text: Bytes) -> Result<Split, Refused> {
    let places = places(&text).map_err(|error| unreadable(&text, &error))?;
    let id = places.id.clone().and_then(|place| request_id(text.get(place)?));
    let refused = |message: &str| Refused::new(id.clone(), ErrorCode::INVALID_REQUEST, message);
    if let Some(length) = places.id.as_ref().map(ExactSizeIterator::len).filter(|&length| length > LONGEST_ID)
    {
        return Err(refused(&format!(
            "expected an `id` of at most {LONGEST_ID} bytes, found {length} bytes"
        )));
    }
    if let Some(other) = places.other {
        let message = format!("`arguments` must be an object with a field for each argument, but is {other}");
        return Err(Refused::new(id, ErrorCode::INVALID_PARAMS, message));
    }
    if places.twice {
        return Err(refused("the arguments are there twice"));
    }
    let length = places.arguments.as_ref().map_or(0, ExactSizeIterator::len);
    if text.len() - length > REST {
        return Err(refused(&format!("more than {REST} bytes outside the arguments of a call")));
    }
    let (rest, arguments) = match places.arguments {
        None => (text, None),
        Some(place) => {
            let mut rest = Vec::with_capacity(text.len() - length + 2);
            rest.extend_from_slice(text.get(..place.start).unwrap_or_default());
            rest.extend_from_slice(b"{}");
            rest.extend_from_slice(text.get(place.end..).unwrap_or_default());
            (rest.into(), Some(Arguments(text.slice(place))))
        }
    };
    if values(&rest) > VALUES {
        return Err(refused(&format!("more than {VALUES} values outside the arguments of a call")));
    }
    Ok((rest, arguments, id))
}

/// The error of a text that is not JSON. Half a surrogate pair is JSON by its grammar, so then the request
/// has an ID, and its sender waits for an answer.
fn unreadable(text: &[u8], error: &JiterError) -> Refused {
    let mut whole = text.to_vec();
    let mut halves = 0_usize;
    for at in 0..whole.len() {
        if let Some([b'\\', b'u', b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F', ..]) = whole.get(at..)
        {
            // `ff00` to `ffff` are characters.
            whole.get_mut(at + 2..at + 4).into_iter().for_each(|digits| digits.copy_from_slice(b"ff"));
            halves += 1;
        }
    }
    match places(&whole) {
        Ok(Places { id, .. }) if halves > 0 => {
            let id = id.and_then(|place| request_id(text.get(place)?));
            Refused::new(id, ErrorCode::INVALID_REQUEST, "half a surrogate pair (`\\ud800`) is no character")
        }
        _ => {
            let why = format!("expected a message as JSON on one line: {error}");
            Refused::new(None, ErrorCode::PARSE_ERROR, why)
        }
    }
}

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Request,
    Notification,
    /// The answer of the client to a request of the server.
    Answer,
}

/// The kind of a message that [`split`] has accepted, by its members alone.
///
/// # Errors
/// If it is no message of JSON-RPC, with what was expected.
pub(super) fn kind(text: &[u8], id: Option<&RequestId>) -> Result<Kind, Refused> {
    members(text).map_err(|why| Refused::new(id.cloned(), ErrorCode::INVALID_REQUEST, why))
}

fn members(text: &[u8]) -> Result<Kind, String> {
    let unreadable = |error: JiterError| format!("expected a message as JSON: {error}");
    let mut found: Vec<String> = Vec::new();
    let is_object = json::members(text, unreadable, |this, place| {
        let written = text.get(place).unwrap_or_default();
        let shown = || shortened(&String::from_utf8_lossy(written), SHOWN);
        match (this, kind_of(written)) {
            ("jsonrpc", _) if written != b"\"2.0\"" => {
                return Err(format!("expected `\"2.0\"` as `jsonrpc`, found `{}`", shown()));
            }
            ("id", _) if serde_json::from_slice::<RequestId>(written).is_err() => {
                let expected = "expected an integer of 64 bits or a text as `id`";
                return Err(format!("{expected}, found `{}`; a notification has no `id`", shown()));
            }
            ("method", kind) if kind != "a text" => {
                return Err(format!("expected a text as `method`, found {kind}"));
            }
            ("params", kind) if kind != "a record" && kind != "nil" => {
                return Err(format!("expected an object as `params`, found {kind}"));
            }
            ("jsonrpc" | "id" | "method" | "params" | "result" | "error", _) => {
                if found.iter().any(|found| found == this) {
                    return Err(format!("`{this}` is there twice"));
                }
                found.push(this.to_owned());
            }
            _ => {}
        }
        Ok(())
    })?;
    match kind_of(text) {
        "a list" => {
            return Err("expected one message as a JSON object, found a list; MCP has no batches".to_owned());
        }
        other if !is_object => return Err(format!("expected a message as a JSON object, found {other}")),
        _ => {}
    }
    let has = |name: &str| found.iter().any(|found| found == name);
    if !has("jsonrpc") {
        return Err("expected `\"jsonrpc\": \"2.0\"`, found no `jsonrpc`".to_owned());
    }
    match (has("method"), has("id")) {
        (true, true) => Ok(Kind::Request),
        (true, false) => Ok(Kind::Notification),
        (false, _) if has("result") || has("error") => Ok(Kind::Answer),
        (false, _) => {
            Err("expected `method`, or `result` or `error` of an answer; found none of them".to_owned())
        }
    }
}

/// The error of a request that the protocol library does not know: its method, or its parameters.
pub(super) fn unknown_request(method: &str) -> ErrorData {
    let expected = match method {
        "tools/call" => "`name`, a text, and `arguments`, an object",
        "initialize" => "`protocolVersion`, a text, `capabilities`, an object, and `clientInfo`, an object",
        "resources/read" => "`uri`, a text",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "`taskId`, a text",
        "tools/list" | "resources/list" | "resources/templates/list" => "no other than `cursor`, a text",
        _ => {
            let message = format!("there is no method `{}`", shortened(method, SHOWN));
            return ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None);
        }
    };
    ErrorData::invalid_params(format!("`params` of `{method}` must have {expected}"), None)
}

fn places(text: &[u8]) -> Result<Places, JiterError> {
    let mut places = Places::default();
    json::members(text, identity, |name, place| {
        let value = text.get(place.clone()).unwrap_or_default();
        match name {
            "id" => places.id = Some(place),
            "params" if value.starts_with(b"{") => return params(value, place.start, &mut places),
            _ => {}
        }
        Ok(())
    })?;
    Ok(places)
}

/// Walks over the parameters, an object that begins at a place.
fn params(text: &[u8], start: usize, places: &mut Places) -> Result<(), JiterError> {
    let walked = json::members(text, identity, |name, place| {
        if name == "arguments" {
            places.twice |= places.arguments.is_some();
            match kind_of(text.get(place.clone()).unwrap_or_default()) {
                "a record" => places.arguments = Some(start + place.start..start + place.end),
                "nil" => {}
                other => places.other = Some(other),
            }
        }
        Ok(())
    });
    walked.map(drop)
}

fn request_id(text: &[u8]) -> Option<RequestId> {
    if text.len() > LONGEST_ID { None } else { serde_json::from_slice(text).ok() }
}

/// The approximate number of values in a text: one, plus one for each comma and each opening bracket outside
/// strings.
pub(super) fn values(text: &[u8]) -> usize {
    if text.len() <= VALUES {
        return 1;
    }
    1 + json::outside(text).filter(|(_, byte)| matches!(byte, b',' | b'[' | b'{')).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (String, Option<String>) {
        let (rest, arguments, _) = split(Bytes::copy_from_slice(text.as_bytes())).unwrap();
        let text = |bytes: &Bytes| String::from_utf8(bytes.to_vec()).unwrap();
        (text(&rest), arguments.map(|Arguments(bytes)| text(&bytes)))
    }

    #[test]
    fn the_arguments_are_cut_out() {
        let (rest, arguments) =
            parts(r#"{"id":1,"params":{"name":"f", "arg\u0075ments" : {"a":[{"arguments":1}]} ,"x":2}}"#);
        assert_eq!(rest, r#"{"id":1,"params":{"name":"f", "arg\u0075ments" : {} ,"x":2}}"#);
        assert_eq!(arguments.as_deref(), Some(r#"{"a":[{"arguments":1}]}"#));
        for text in [r#"{"arguments":{"a":1}}"#, r#"{"params":{"arguments":null}}"#, r#"["params"]"#, " 1 "] {
            assert_eq!(parts(text), (text.to_owned(), None));
        }
    }

    #[test]
    fn what_cannot_be_split_is_refused_with_its_id() {
        let refused = |text: String| {
            let refused = split(text.into()).unwrap_err();
            (refused.id, refused.error.code.0)
        };
        let id = Some(RequestId::Number(7));
        assert_eq!(refused("{\"id\":7".to_owned()), (None, -32700));
        assert_eq!(refused("{} {}".to_owned()), (None, -32700));
        assert_eq!(refused("[".repeat(100_000)), (None, -32700));
        for other in ["[]", "1", "\"x\"", "true"] {
            assert_eq!(
                refused(format!(r#"{{"params":{{"arguments":{other}}},"id":7}}"#)),
                (id.clone(), -32602)
            );
        }
        // Half a surrogate pair, wherever the ID is; the last one is cut.
        for half in [r"\ud800", r"\uDfff\ud800", r"\ud800\n"] {
            let text = format!(r#"{{"params":{{"arguments":{{"a":"{half}"}}}},"id":7}}"#);
            assert_eq!(refused(text), (id.clone(), -32600));
        }
        assert_eq!(refused(r#"{"id":"\ud800"}"#.to_owned()), (None, -32600));
        assert_eq!(refused(r#"{"id":7,"a":"\ud800"#.to_owned()), (None, -32700));
        let twice = r#"{"id":7,"params":{"arguments":{},"arguments":{"a":1}}}"#;
        assert_eq!(refused(twice.to_owned()), (id.clone(), -32600));
        let named = |length: usize| format!(r#"{{"id":"{}"}}"#, "x".repeat(length - 2));
        assert_eq!(refused(named(LONGEST_ID + 1)), (None, -32600));
        assert!(split(named(LONGEST_ID).into()).unwrap().2.is_some());
        let long = format!(r#"{{"id":7,"params":{{"_meta":"{}"}}}}"#, "x".repeat(REST));
        assert_eq!(refused(long), (id.clone(), -32600));
        let many = |count: usize| format!(r#"{{"id":7,"params":{{"_meta":[0{}]}}}}"#, ",0".repeat(count));
        // The message, its parameters, the list, its items, and a comma between the members.
        assert_eq!(refused(many(VALUES - 4)), (id, -32600));
        assert!(split(many(VALUES - 5).into()).is_ok());
    }

    #[test]
    fn a_message_has_a_kind_or_says_what_was_expected() {
        let of = |text: &str| {
            let id = Some(RequestId::Number(7));
            kind(text.as_bytes(), id.as_ref()).map_err(|refused| {
                assert_eq!((refused.id, refused.error.code.0), (id, -32600));
                refused.error.message.into_owned()
            })
        };
        assert_eq!(of(r#"{"jsonrpc":"2.0","id":7,"method":"x","params":{}}"#), Ok(Kind::Request));
        assert_eq!(of(r#"{"jsonrpc":"2.0","id":"a","method":"x","params":null,"x":[]}"#), Ok(Kind::Request));
        assert_eq!(of(r#"{"jsonrpc":"2.0","method":"x"}"#), Ok(Kind::Notification));
        assert_eq!(of(r#"{"jsonrpc":"2.0","id":7,"result":null}"#), Ok(Kind::Answer));
        assert_eq!(of(r#"{"jsonrpc":"2.0","id":7,"error":{}}"#), Ok(Kind::Answer));
        for (text, expected) in [
            (r#"[{"jsonrpc":"2.0","id":7,"method":"x"}]"#, "MCP has no batches"),
            ("7", "expected a message as a JSON object, found a number"),
            ("null", "found nil"),
            (r#"{"id":7,"method":"x"}"#, "found no `jsonrpc`"),
            (r#"{"jsonrpc":"1.0","method":"x"}"#, "expected `\"2.0\"` as `jsonrpc`, found `\"1.0\"`"),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#,
                "as `id`, found `null`; a notification has no `id`",
            ),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#, "as `id`, found `1.5`"),
            (r#"{"jsonrpc":"2.0","id":99999999999999999999,"method":"x"}"#, "an integer of 64 bits"),
            (r#"{"jsonrpc":"2.0","id":7,"id":8,"method":"x"}"#, "`id` is there twice"),
            (r#"{"jsonrpc":"2.0","id":7,"method":5}"#, "expected a text as `method`, found a number"),
            (r#"{"jsonrpc":"2.0","id":7,"method":"x","params":[]}"#, "as `params`, found a list"),
            (r#"{"jsonrpc":"2.0","id":7}"#, "expected `method`, or `result` or `error` of an answer"),
        ] {
            let found = of(text).unwrap_err();
            assert!(found.contains(expected), "{text}: {found}");
        }
    }

    #[test]
    fn values_in_strings_are_not_counted() {
        let text = format!(r#"{{"a":"{}","b":0}}"#, r#",[{\","#.repeat(VALUES));
        assert_eq!(values(text.as_bytes()), 3);
    }
}
