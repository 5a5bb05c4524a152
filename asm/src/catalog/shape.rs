//! A tool as a model reads it: `get-user(user-id: text) -> {email: text, verified: bool}`.
//!
//! It shows the parts of a JSON Schema that help to write a call and to read its result, no deeper than
//! [`DEEPEST`].

use super::{arguments, is_open};
use serde_json::{Map, Value};

/// How deep records and lists are shown.
const DEEPEST: usize = 4;
/// How many fields of a record inside are shown, and how many words of a choice.
const FIELDS: usize = 12;
/// How many choices are shown.
const CHOICES: usize = 6;

/// Writes the signature of a tool.
pub(super) fn signature(name: &str, input: Option<&Map<String, Value>>, output: Option<&Value>) -> String {
    let mut out = String::new();
    word(name, &mut out);
    out.push('(');
    let given = input.map(arguments).unwrap_or_default();
    let properties = input.and_then(|input| input.get("properties"));
    for (at, argument) in given.iter().enumerate() {
        out.push_str(if at == 0 { "" } else { ", " });
        let schema = properties.and_then(|properties| properties.get(&argument.name)).unwrap_or(&Value::Null);
        field(&argument.name, argument.required, schema, 1, &mut out);
    }
    if input.is_none_or(is_open) {
        out.push_str(if given.is_empty() { "…" } else { ", …" });
    }
    out.push_str(") -> ");
    shape(output.unwrap_or(&Value::Null), 0, &mut out);
    out
}

fn field(name: &str, required: bool, schema: &Value, depth: usize, out: &mut String) {
    word(name, out);
    out.push_str(if required { ": " } else { "?: " });
    shape(schema, depth, out);
}

/// A name, in quotes where it could be taken for more than one.
fn word(name: &str, out: &mut String) {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | ':' | '.');
    if !name.is_empty() && name.chars().all(plain) {
        out.push_str(name);
    } else {
        crate::text::quote(name, out);
    }
}

/// A schema's values in the words of ilo's types; `any` beyond the depth.
fn shape(schema: &Value, depth: usize, out: &mut String) {
    if depth >= DEEPEST {
        return out.push_str("any");
    }
    let list = |key: &str| schema.get(key).and_then(Value::as_array).filter(|list| list.len() <= CHOICES);
    if let Some(words) = list("enum").filter(|words| words.iter().all(Value::is_string)) {
        return choices(words, out, |word, out| crate::text::quote(word.as_str().unwrap_or(""), out));
    }
    if let Some(several) = list("anyOf").or_else(|| list("oneOf")) {
        return choices(several, out, |one, out| shape(one, depth + 1, out));
    }
    match schema.get("type") {
        Some(Value::Array(names)) if names.len() <= CHOICES => {
            choices(names, out, |name, out| plain(name.as_str().unwrap_or(""), schema, depth, out));
        }
        Some(Value::String(name)) => plain(name, schema, depth, out),
        _ => out.push_str("any"),
    }
}

fn choices<'s>(all: &'s [Value], out: &mut String, write: impl Fn(&'s Value, &mut String)) {
    if all.is_empty() {
        out.push_str("any");
    }
    for (at, one) in all.iter().enumerate() {
        out.push_str(if at == 0 { "" } else { "|" });
        write(one, out);
    }
}

/// A type by its name in a schema.
fn plain(name: &str, schema: &Value, depth: usize, out: &mut String) {
    match name {
        "string" => out.push_str("text"),
        "number" | "integer" => out.push_str("number"),
        "boolean" => out.push_str("bool"),
        "null" => out.push_str("nil"),
        "array" => {
            out.push_str("list ");
            shape(schema.get("items").unwrap_or(&Value::Null), depth + 1, out);
        }
        "object" => record(schema, depth, out),
        _ => out.push_str("any"),
    }
}

fn record(schema: &Value, depth: usize, out: &mut String) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|all| !all.is_empty())
    else {
        return out.push_str("record");
    };
    let required = schema.get("required").and_then(Value::as_array);
    // By name: the order of the map depends on features of the build.
    let mut properties: Vec<_> = properties.iter().collect();
    properties.sort_unstable_by_key(|(name, _)| *name);
    out.push('{');
    for (at, (name, property)) in properties.into_iter().enumerate() {
        out.push_str(if at == 0 { "" } else { ", " });
        if at == FIELDS {
            out.push('…');
            break;
        }
        let needed = required.is_some_and(|all| all.iter().any(|one| one.as_str() == Some(name)));
        field(name, needed, property, depth + 1, out);
    }
    out.push('}');
}
