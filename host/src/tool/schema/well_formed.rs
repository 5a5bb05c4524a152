//! Checks the form of JSON Schemas in a tools file: each keyword that the checker reads, or that contains
//! schemas, must have a value of its type.

use ilo_drive::data::Data;
use ilo_drive::problem::shortened;

/// The types of JSON Schema.
const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];
/// Keywords whose value is a schema.
const ONE: [&str; 11] = [
    "additionalItems",
    "additionalProperties",
    "contains",
    "else",
    "if",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
];
/// Keywords whose value is a non-empty list of schemas.
const SEVERAL: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords whose value is a record of schemas.
const NAMED: [&str; 5] = ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

/// The first keyword with an invalid value: its path, and the reason.
///
/// A reference must refer to the schema itself: nothing is fetched.
pub(crate) fn problem(whole: &Data) -> Option<String> {
    let mut open = vec![(String::new(), whole)];
    while let Some((path, schema)) = open.pop() {
        let at = |message: String| {
            Some(if path.is_empty() { message } else { format!("`{}`: {message}", shortened(&path, 200)) })
        };
        let fields = match schema {
            Data::Record(fields) => fields,
            Data::Bool(_) => continue,
            other => {
                return at(format!("expected a schema (a record, true or false), found {}", other.kind()));
            }
        };
        let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}/{key}") };
        for (key, value) in fields.iter().rev() {
            let key = key.as_str();
            if let Some(expected) = unfit(key, value) {
                return at(format!("`{key}` is {expected}, found {}", shown(value)));
            }
            match value {
                Data::Text(target) if key == "$ref" && !leads_inside(whole, target) => {
                    let target = shortened(target, 80);
                    return at(format!(
                        "`$ref` is a place in this schema, such as `#/$defs/name`, found `{target}`"
                    ));
                }
                Data::Record(schemas) if NAMED.contains(&key) => {
                    let path = below(key);
                    open.extend(schemas.iter().rev().map(|(name, one)| (format!("{path}/{name}"), one)));
                }
                Data::List(items) if SEVERAL.contains(&key) || key == "items" => {
                    let path = below(key);
                    open.extend(items.iter().enumerate().rev().map(|(n, one)| (format!("{path}/{n}"), one)));
                }
                one if ONE.contains(&key) || key == "items" => open.push((below(key), one)),
                _ => {}
            }
        }
    }
    None
}

/// The expected value of a keyword, if it has another one.
fn unfit(key: &str, value: &Data) -> Option<String> {
    let is_text = |data: &Data| matches!(data, Data::Text(_));
    let is_schema = |data: &Data| matches!(data, Data::Record(_) | Data::Bool(_));
    let (fits, expected) = match (key, value) {
        ("type", Data::Text(name)) => return unknown_type(name),
        ("type", Data::List(names)) if names.iter().all(is_text) && !names.is_empty() => {
            return names.iter().find_map(|name| unknown_type(name.as_text()?));
        }
        ("type", _) => (false, "a type's name, or a list of them"),
        ("required", value) => {
            (value.as_list().is_some_and(|names| names.iter().all(is_text)), "a list of names")
        }
        ("enum", value) => (matches!(value, Data::List(_)), "a list of values"),
        ("$ref" | "description" | "title" | "pattern" | "format", value) => (is_text(value), "a text"),
        ("items", value) => (is_schema(value) || matches!(value, Data::List(_)), "a schema"),
        (key, value) if NAMED.contains(&key) => (matches!(value, Data::Record(_)), "a record of schemas"),
        (key, value) if ONE.contains(&key) => (is_schema(value), "a schema"),
        (key, value) if SEVERAL.contains(&key) => {
            (value.as_list().is_some_and(|items| !items.is_empty()), "a list of schemas")
        }
        _ => (true, ""),
    };
    (!fits).then(|| expected.to_owned())
}

/// Whether a reference refers to a part of the schema. An anchor (`#name`) is assumed to exist.
fn leads_inside(whole: &Data, target: &str) -> bool {
    let Some(place) = target.strip_prefix('#') else { return false };
    let Some(steps) = place.strip_prefix('/') else { return true };
    steps
        .split('/')
        .try_fold(whole, |at, step| match at {
            Data::Record(_) => at.get(&step.replace("~1", "/").replace("~0", "~")),
            Data::List(items) => items.get(step.parse::<usize>().ok()?),
            _ => None,
        })
        .is_some()
}

fn unknown_type(name: &str) -> Option<String> {
    (!TYPES.contains(&name)).then(|| format!("one of {}", TYPES.join(", ")))
}

fn shown(value: &Data) -> String {
    shortened(&value.to_json(), 80)
}

#[cfg(test)]
mod tests {
    use super::problem;
    use ilo_drive::data::read::{Bounds, read};

    #[test]
    fn a_keyword_has_a_value_that_it_can_have() {
        let found = |json: &str| problem(&read(json.as_bytes(), &Bounds::default()).unwrap());
        for good in [
            "{}",
            r#"{"type": ["object", "null"], "properties": {"required": {"type": "string"}, "$ref": true}}"#,
            r##"{"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}}"##,
            r#"{"items": [{}, true], "additionalProperties": false, "minLength": "any", "x-own": 1}"#,
        ] {
            assert_eq!(found(good), None, "{good}");
        }
        let types = "array, boolean, integer, null, number, object, string";
        for (bad, expected) in [
            (r#"{"type": "objekt"}"#, format!("`type` is one of {types}, found \"objekt\"")),
            (r#"{"type": []}"#, "`type` is a type's name, or a list of them, found []".to_owned()),
            (r#"{"required": [1]}"#, "`required` is a list of names, found [1]".to_owned()),
            (r#"{"enum": 1}"#, "`enum` is a list of values, found 1".to_owned()),
            (r#"{"anyOf": []}"#, "`anyOf` is a list of schemas, found []".to_owned()),
            (
                r#"{"properties": {"a": {"items": {"properties": []}}}}"#,
                "`properties/a/items`: `properties` is a record of schemas, found []".to_owned(),
            ),
            (
                r#"{"properties": {"a": 1}}"#,
                "`properties/a`: expected a schema (a record, true or false), found a number".to_owned(),
            ),
            (
                r##"{"$ref": "#/$defs/x"}"##,
                "`$ref` is a place in this schema, such as `#/$defs/name`, found `#/$defs/x`".to_owned(),
            ),
        ] {
            assert_eq!(found(bad), Some(expected), "{bad}");
        }
    }
}
