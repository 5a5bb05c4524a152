//! Messages of JSON-RPC: the kind of a message, with its parameters as text, so that it takes about as much
//! memory as its bytes. Parameters are read by the function that needs them, and unknown ones are skipped.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::error::Category;
use serde_json::value::RawValue;

/// The error codes of the protocol that this server uses.
pub(super) mod code {
    pub(crate) const PARSE_ERROR: i32 = -32700;
    pub(crate) const INVALID_REQUEST: i32 = -32600;
    pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
    pub(crate) const INVALID_PARAMS: i32 = -32602;
    pub(crate) const INTERNAL_ERROR: i32 = -32603;
    pub(crate) const NOT_INITIALIZED: i32 = -32002;
    pub(crate) const REQUEST_FAILED: i32 = -32803;
    pub(crate) const REQUEST_CANCELLED: i32 = -32800;
}

/// Why there is no answer: the code of the protocol, and a message.
pub(super) type Refusal = (i32, String);

/// The ID of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub(super) enum Id {
    Number(i64),
    Text(String),
}

/// The parameters of a message, if there are any.
pub(super) type Params = Option<Box<RawValue>>;

/// A well-formed message.
#[derive(Debug)]
pub(super) enum Message {
    /// A request, which gets one answer.
    Request { id: Id, method: String, params: Params },
    /// A notification, which gets none.
    Notification { method: String, params: Params },
    /// An answer to a request of this server, which sends none.
    Response,
}

/// A malformed message: the ID for its answer, if it has a usable one, and why.
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) id: Option<Id>,
    pub(super) refusal: Refusal,
}

/// The members of a message, as text.
#[derive(Deserialize)]
struct Members<'m> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'m RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'m RawValue>,
    #[serde(borrow, default)]
    params: Option<&'m RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'m RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'m RawValue>,
}

/// Reads a member also if it is `null`, which is not the same as none.
fn present<'m, D: Deserializer<'m>>(from: D) -> Result<Option<&'m RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

impl Id {
    /// Reads an ID; `None` if it is neither an integer nor a text.
    pub(super) fn read(json: &RawValue) -> Option<Id> {
        let text = json.get();
        let number = || text.parse().map(Id::Number).ok();
        serde_json::from_str(text).map(Id::Text).ok().or_else(number)
    }
}

impl Message {
    /// Reads a message. Half a surrogate pair in it counts as U+FFFD: editors keep text as UTF-16 and may
    /// send it, and the rest of the text must not be lost.
    pub(super) fn read(mut bytes: Vec<u8>) -> Result<Message, Wrong> {
        let wrong = |id, code, text: String| Err(Wrong { id, refusal: (code, text) });
        ilo_asm::text::replace_lone_surrogates(&mut bytes);
        let Ok(text) = std::str::from_utf8(&bytes) else {
            return wrong(None, code::PARSE_ERROR, "expected JSON in UTF-8".to_owned());
        };
        if text.trim_start().starts_with('[') {
            let text = "expected one message as a JSON object, found a list; this protocol has no batches";
            return wrong(None, code::INVALID_REQUEST, text.to_owned());
        }
        let members: Members<'_> = match serde_json::from_str(text) {
            Ok(members) => members,
            Err(error) if error.classify() == Category::Data => {
                let text = format!("expected a request, a response or a notification: {error}");
                return wrong(None, code::INVALID_REQUEST, text);
            }
            Err(error) => return wrong(None, code::PARSE_ERROR, format!("expected JSON: {error}")),
        };
        let Some(method) = members.method else {
            let id = members.id.and_then(Id::read);
            return match members.result.or(members.error) {
                Some(_) => Ok(Message::Response),
                None => wrong(id, code::INVALID_REQUEST, "expected a `method`, found none".to_owned()),
            };
        };
        let id = match members.id.map(|json| (json, Id::read(json))) {
            Some((json, None)) => {
                let text = format!(
                    "expected an integer or a text as `id`, found `{}`; a notification has no `id`",
                    shown(json.get())
                );
                return wrong(None, code::INVALID_REQUEST, text);
            }
            read => read.and_then(|(_, id)| id),
        };
        let Ok(method) = serde_json::from_str(method.get()) else {
            let text = format!("expected a text as `method`, found `{}`", shown(method.get()));
            return wrong(id, code::INVALID_REQUEST, text);
        };
        let params = members.params.map(ToOwned::to_owned);
        Ok(match id {
            Some(id) => Message::Request { id, method, params },
            None => Message::Notification { method, params },
        })
    }
}

/// Reads the parameters of a message.
pub(super) fn read<T: DeserializeOwned>(params: Option<&RawValue>) -> Result<T, Refusal> {
    let Some(params) = params.filter(|params| params.get().starts_with('{')) else {
        return Err((code::INVALID_PARAMS, "expected `params` as a JSON object".to_owned()));
    };
    serde_json::from_str(params.get()).map_err(|error| (code::INVALID_PARAMS, error.to_string()))
}

/// The beginning of a text of the client, for a message.
pub(super) fn shown(text: &str) -> String {
    ilo_asm::text::shortened(text, 200)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kind of a message, or the code and the ID of its refusal.
    fn kind(text: &str) -> String {
        match Message::read(text.as_bytes().to_vec()) {
            Ok(Message::Request { id, method, .. }) => format!("request {id:?} {method}"),
            Ok(Message::Notification { method, .. }) => format!("notification {method}"),
            Ok(Message::Response) => "response".to_owned(),
            Err(Wrong { id, refusal: (code, text) }) => format!("{code} {id:?} {text}"),
        }
    }

    #[test]
    fn a_message_with_an_id_is_a_request_and_its_id_an_integer_or_a_text() {
        assert_eq!(kind(r#"{"id": 1, "method": "x"}"#), "request Number(1) x");
        assert_eq!(kind(r#"{"id": "a", "method": "x", "params": null}"#), r#"request Text("a") x"#);
        assert_eq!(kind(r#"{"id": 3000000000, "method": "x"}"#), "request Number(3000000000) x");
        assert_eq!(kind(r#"{"method": "x", "params": [[]]}"#), "notification x");
        assert_eq!(kind(r#"{"id": 1, "result": null}"#), "response");
        assert_eq!(kind(r#"{"id": null, "error": {"code": 1, "message": ""}}"#), "response");
        for id in ["null", "1.5", "[]", "{}", "true", "99999999999999999999"] {
            let expected = format!("-32600 None expected an integer or a text as `id`, found `{id}`; ");
            let found = kind(&format!(r#"{{"id": {id}, "method": "x"}}"#));
            assert!(found.starts_with(&expected), "{found}");
        }
        assert!(kind(r#"{"id": 1, "method": 2}"#).starts_with("-32600 Some(Number(1)) "));
        assert!(kind(r#"{"id": 1}"#).starts_with("-32600 Some(Number(1)) "));
        assert!(kind(r#"{"id": 1, "id": 2, "method": "x"}"#).contains("duplicate field `id`"));
    }

    #[test]
    fn a_batch_is_refused_by_its_name() {
        for batch in ["[]", r#" [{"id": 1, "method": "x"}]"#, &"[".repeat(1 << 20)] {
            assert!(kind(batch).contains("no batches"), "{}", kind(batch));
        }
    }

    #[test]
    fn half_a_surrogate_pair_is_the_replacement_character() {
        let text = r#"{"id": "\ud800", "method": "\udfffx"}"#;
        assert_eq!(kind(text), "request Text(\"\u{fffd}\") \u{fffd}x");
    }
}
