//! Integers beyond 64 bits in answers: they make a call fail, or, where the policy of the tool says so, every
//! integer of its answers becomes a text. A program then meets no text where it had a number the call before.

#[cfg(feature = "mcp")]
use super::Failure;
use crate::json::outside;
use ilo_drive::data::Data;
use ilo_drive::data::read::{Bounds, ReadError, ReadErrorKind, read};
use ilo_spec::number::NumberError;
use std::sync::Arc;

/// Reads the answer of a tool; if `as_text` is set, integers become texts.
pub(crate) fn read_answer(json: &[u8], bounds: &Bounds, as_text: bool) -> Result<Data, ReadError> {
    if !as_text || json.len() > bounds.bytes {
        return read(json, bounds);
    }
    read(&quoted(json), &Bounds { bytes: usize::MAX, ..*bounds })
}

/// What to do about an integer that does not fit; empty for other errors.
pub(crate) fn advice(kind: &ReadErrorKind) -> &'static str {
    match kind {
        ReadErrorKind::Number(_, NumberError::Beyond64Bits) => {
            "; `\"big_numbers\": \"text\"` in the policy of the tool makes every integer of its answers a text"
        }
        _ => "",
    }
}

/// The failure for an answer with something that cannot be read.
#[cfg(feature = "mcp")]
pub(crate) fn unreadable(kind: &ReadErrorKind) -> Failure {
    match kind {
        ReadErrorKind::Number(text, NumberError::Beyond64Bits) => {
            let shown = ilo_drive::problem::shortened(text, 80);
            Failure::text(format!(
                "the tool's answer: the integer {shown} does not fit 64 bits{}",
                advice(kind)
            ))
        }
        kind => Failure::text(format!("the tool's answer: {kind}")),
    }
}

/// Reads a schema, in which an integer beyond 64 bits is the bound of a range: the nearest double bounds the
/// same numbers that a program has.
#[cfg(feature = "mcp")]
pub(crate) fn read_schema(json: &[u8], bounds: &Bounds) -> Result<Data, ReadError> {
    match read(json, bounds) {
        Err(ReadError { kind: ReadErrorKind::Number(_, NumberError::Beyond64Bits), .. }) => {
            let wide =
                |number: &[u8]| std::str::from_utf8(number).is_ok_and(|text| text.parse::<i64>().is_err());
            read(&marked(json, |number| if wide(number) { ("", ".0") } else { ("", "") }), bounds)
        }
        result => result,
    }
}

/// A JSON text with quotation marks around its integers.
fn quoted(json: &[u8]) -> Vec<u8> {
    marked(json, |_| ("\"", "\""))
}

/// A JSON text with marks before and behind its integers. What is no JSON stays none.
fn marked(json: &[u8], marks: impl Fn(&[u8]) -> (&'static str, &'static str)) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len() + json.len() / 8);
    let mut from = 0;
    for (at, _) in outside(json).filter(|(_, byte)| *byte == b'-' || byte.is_ascii_digit()) {
        if at < from {
            continue;
        }
        let rest = json.get(at..).unwrap_or_default();
        let part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
        let length = rest.iter().position(|byte| !part(byte)).unwrap_or(rest.len());
        let number = rest.get(..length).unwrap_or_default();
        let (before, behind) = if is_integer(number) { marks(number) } else { ("", "") };
        out.extend_from_slice(json.get(from..at).unwrap_or_default());
        out.extend([before.as_bytes(), number, behind.as_bytes()].concat());
        from = at + length;
    }
    out.extend_from_slice(json.get(from..).unwrap_or_default());
    out
}

/// Whether a number is written as a JSON integer.
fn is_integer(number: &[u8]) -> bool {
    let digits = number.strip_prefix(b"-").unwrap_or(number);
    match digits {
        [b'0'] => true,
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// Keywords of a schema that say something about a number only.
const OF_NUMBERS: [&str; 7] =
    ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format", "const"];

/// The schema of an answer whose integers become texts: an integer is a text, and a number may be one. What a
/// schema says about the values of numbers is left out.
pub(crate) fn schema_with_texts(schema: &Data) -> Arc<Data> {
    Arc::new(with_texts(schema.clone()))
}

/// The reader bounds the depth of a schema and thereby this recursion.
fn with_texts(schema: Data) -> Data {
    let fields = match schema {
        Data::Record(ref fields) => fields.clone(),
        Data::List(ref items) => return Data::List(items.iter().cloned().map(with_texts).collect()),
        other => return other,
    };
    let kinds = |value: &Data| match value {
        Data::Text(kind) => vec![kind.clone()],
        Data::List(kinds) => kinds
            .iter()
            .filter_map(|kind| if let Data::Text(kind) = kind { Some(kind.clone()) } else { None })
            .collect(),
        _ => Vec::new(),
    };
    let named =
        fields.iter().find(|(key, _)| key == "type").map(|(_, value)| kinds(value)).unwrap_or_default();
    let is_number = named.iter().any(|kind| kind == "integer" || kind == "number");
    let has_integer = |value: &Data| match value {
        Data::List(items) => items.iter().any(|item| matches!(item, Data::Number(_))),
        value => matches!(value, Data::Number(_)),
    };
    let kept = fields.into_iter().filter(|(key, value)| {
        let about_numbers = is_number && OF_NUMBERS.contains(&key.as_str());
        !(about_numbers || (matches!(key.as_str(), "enum" | "const") && has_integer(value)))
    });
    let changed = kept.map(|(key, value)| {
        let value = match key.as_str() {
            // In a record of fields, a field of that name has a schema.
            _ if matches!(value, Data::Record(_)) => with_texts(value),
            "type" => {
                let mut kinds: Vec<String> =
                    named.iter().filter(|kind| *kind != "integer").cloned().collect();
                if is_number && !kinds.iter().any(|kind| kind == "string") {
                    kinds.push("string".to_owned());
                }
                if kinds.is_empty() { value } else { Data::List(kinds.into_iter().map(Data::Text).collect()) }
            }
            "enum" | "const" | "default" | "examples" | "required" => value,
            _ => with_texts(value),
        };
        (key, value)
    });
    Data::Record(changed.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(json: &str) -> Data {
        read(json.as_bytes(), &Bounds::default()).unwrap()
    }

    #[test]
    fn integers_become_texts_and_nothing_else_does() {
        for (json, expected) in [
            ("1000000000000000000000", "\"1000000000000000000000\""),
            (
                r#"{"1": [-0, 12, 1.5, 1e3, "2", "\"3", "\\"], "b": 4}"#,
                r#"{"1": ["-0", "12", 1.5, 1e3, "2", "\"3", "\\"], "b": "4"}"#,
            ),
            ("[true, null, {}]", "[true, null, {}]"),
        ] {
            assert_eq!(read_answer(json.as_bytes(), &Bounds::default(), true), Ok(data(expected)), "{json}");
        }
        for json in ["01", "1.", "-", "1 2", "[1", "\"1", "+1"] {
            assert!(read_answer(json.as_bytes(), &Bounds::default(), true).is_err(), "{json}");
        }
    }

    #[test]
    fn the_limits_are_those_of_the_answer_as_it_came() {
        let bounds = Bounds { bytes: 5, values: 3, ..Bounds::default() };
        assert_eq!(read_answer(b"[1,2]", &bounds, true), Ok(data("[\"1\",\"2\"]")));
        assert!(read_answer(b"[1,20]", &bounds, true).is_err());
        assert!(read_answer(b"[1,2]", &Bounds { values: 2, ..bounds }, true).is_err());
    }

    #[test]
    fn a_schema_may_bound_numbers_beyond_64_bits() {
        let schema = read_schema(
            br#"{"maximum": 18446744073709551615, "minimum": -9, "x": "99999999999999999999"}"#,
            &Bounds::default(),
        );
        assert_eq!(
            schema,
            Ok(data(r#"{"maximum": 18446744073709551615.0, "minimum": -9, "x": "99999999999999999999"}"#))
        );
    }

    #[test]
    fn a_schema_allows_the_texts() {
        let schema = r#"{"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}, "x": {"type": ["number", "null"]},
            "e": {"enum": [1, 2]}, "type": {"type": "string"}}, "required": ["n"]}"#;
        let expected = r#"{"type": ["object"], "properties": {"n": {"type": ["string"]}, "x": {"type": ["number", "null", "string"]},
            "e": {}, "type": {"type": ["string"]}}, "required": ["n"]}"#;
        assert_eq!(*schema_with_texts(&data(schema)), data(expected));
    }
}
