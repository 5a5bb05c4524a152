//! The fields of a tool's answer, by its schema.
//!
//! Answers are not checked against schemas, so this is used for warnings only. If a schema may allow fields
//! that it does not list (an unresolved `$ref`, an `anyOf` of several schemas and the like), the fields are
//! unknown.

use super::ELSEWHERE;
use serde_json::{Map, Value};

/// How deep records and lists are followed.
const DEEPEST: usize = 16;

/// The fields of a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Fields {
    /// Unknown.
    #[default]
    Unknown,
    /// It is a record.
    Record {
        /// The fields that are listed, sorted by name.
        listed: Vec<(String, Fields)>,
        /// Whether it may have fields that are not listed.
        open: bool,
    },
    /// It is a list of these.
    List(Box<Fields>),
}

const UNKNOWN: &Fields = &Fields::Unknown;

impl Fields {
    /// The fields of a schema's values.
    pub(super) fn of(schema: &Value) -> Fields {
        below(schema, DEEPEST)
    }

    /// The fields inside the field with this name; `None` if there is no such field.
    pub fn field(&self, name: &str) -> Option<&Fields> {
        let Fields::Record { listed, open } = self else { return Some(UNKNOWN) };
        match listed.binary_search_by(|(own, _)| own.as_str().cmp(name)) {
            Ok(at) => listed.get(at).map(|(_, fields)| fields),
            Err(_) => open.then_some(UNKNOWN),
        }
    }

    /// The fields of each item.
    pub fn item(&self) -> &Fields {
        if let Fields::List(item) = self { item } else { UNKNOWN }
    }

    /// The names that are listed.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        let listed = if let Fields::Record { listed, .. } = self { listed.as_slice() } else { &[] };
        listed.iter().map(|(name, _)| name.as_str())
    }
}

fn below(schema: &Value, depth: usize) -> Fields {
    let schema = one_or_nil(schema);
    let Some(schema) = schema.as_object().filter(|schema| depth > 0 && !has_more_elsewhere(schema)) else {
        return Fields::Unknown;
    };
    match kind(schema) {
        Some("object") => record(schema, depth),
        Some("array") if !schema.contains_key("prefixItems") => match schema.get("items") {
            Some(items) => match below(items, depth - 1) {
                Fields::Unknown => Fields::Unknown,
                item => Fields::List(Box::new(item)),
            },
            None => Fields::Unknown,
        },
        _ => Fields::Unknown,
    }
}

/// The schema of an optional field: if a schema is `anyOf` of one schema and null, that one schema; otherwise
/// the schema itself.
fn one_or_nil(schema: &Value) -> &Value {
    const BESIDE: [&str; 4] = ["anyOf", "title", "description", "default"];
    let alone = |entries: &&Map<String, Value>| entries.keys().all(|key| BESIDE.contains(&key.as_str()));
    let choice = schema.as_object().filter(alone).and_then(|entries| entries.get("anyOf"));
    let is_nil = |one: &Value| one.get("type").and_then(Value::as_str) == Some("null");
    match choice.and_then(Value::as_array).map(Vec::as_slice) {
        Some([one, nil] | [nil, one]) if is_nil(nil) => one,
        _ => schema,
    }
}

/// A record's fields; unknown where none are listed.
fn record(schema: &Map<String, Value>, depth: usize) -> Fields {
    let properties = schema.get("properties").and_then(Value::as_object).filter(|all| !all.is_empty());
    let Some(properties) = properties else { return Fields::Unknown };
    let mut listed: Vec<(String, Fields)> =
        properties.iter().map(|(name, schema)| (name.clone(), below(schema, depth - 1))).collect();
    listed.sort_by(|(a, _), (b, _)| a.cmp(b));
    let open = !matches!(schema.get("additionalProperties"), None | Some(Value::Bool(false)));
    Fields::Record { listed, open }
}

fn has_more_elsewhere(schema: &Map<String, Value>) -> bool {
    /// Keywords of older and newer versions of JSON Schema than most servers use.
    const RARE: [&str; 4] = ["$dynamicRef", "$recursiveRef", "dependencies", "unevaluatedProperties"];
    ELSEWHERE.iter().chain(&RARE).any(|&key| schema.contains_key(key))
}

/// The only type in `type` other than null.
fn kind(schema: &Map<String, Value>) -> Option<&str> {
    match schema.get("type") {
        Some(Value::Array(names)) => {
            let mut names = names.iter().filter(|&name| name != "null");
            names.next().filter(|_| names.next().is_none()).and_then(Value::as_str)
        }
        Some(name) => name.as_str(),
        None => schema.contains_key("properties").then_some("object"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Shown as `{a b{c} …}` and `[…]`, `?` being unknown.
    fn shown(fields: &Fields) -> String {
        match fields {
            Fields::Unknown => "?".to_owned(),
            Fields::List(item) => format!("[{}]", shown(item)),
            Fields::Record { listed, open } => {
                let mut all: Vec<String> =
                    listed.iter().map(|(name, fields)| format!("{name}{}", shown(fields))).collect();
                all.extend(open.then(|| "…".to_owned()));
                format!("{{{}}}", all.join(" ").replace('?', ""))
            }
        }
    }

    #[test]
    fn what_is_listed_is_known_and_what_may_be_more_is_not() {
        let a = json!({"a": {"type": "string"}});
        for (schema, expected) in [
            (json!({"type": "object", "properties": {"b": {}, "a": {"type": "string"}}}), "{a b}"),
            (json!({"properties": a}), "{a}"),
            (json!({"type": ["object", "null"], "properties": a}), "{a}"),
            (json!({"type": "object", "properties": a, "additionalProperties": false}), "{a}"),
            (json!({"type": "object", "properties": a, "additionalProperties": true}), "{a …}"),
            (json!({"type": "object", "properties": a, "additionalProperties": {"type": "string"}}), "{a …}"),
            (json!({"type": "array", "items": {"type": "object", "properties": a}}), "[{a}]"),
            (json!({"properties": {"n": {"properties": a}, "x": true}}), "{n{a} x}"),
            (json!({"properties": {"l": {"type": "array", "items": {"properties": a}}}}), "{l[{a}]}"),
            (json!({"properties": {"n": {"$ref": "#/x", "properties": a}}}), "{n}"),
            (json!({"type": "object"}), "?"),
            (json!({"type": "object", "properties": {}}), "?"),
            (json!({"type": "object", "properties": a, "anyOf": [{"properties": {"b": {}}}]}), "?"),
            (json!({"type": "object", "properties": a, "patternProperties": {"^x": {}}}), "?"),
            (json!({"type": "object", "properties": a, "unevaluatedProperties": true}), "?"),
            (json!({"type": ["object", "string"], "properties": a}), "?"),
            (json!({"type": "string", "properties": a}), "?"),
            (json!({"type": "array", "items": [{"properties": a}]}), "?"),
            (json!({"type": "array", "prefixItems": [{}], "items": {"properties": a}}), "?"),
            (json!({"type": "array", "items": {"type": "string"}}), "?"),
            (json!({"anyOf": [{"properties": a}]}), "?"),
            (json!({"anyOf": [{"properties": a}, {"type": "null"}], "default": null}), "{a}"),
            (json!({"anyOf": [{"type": "null"}, {"properties": a}]}), "{a}"),
            (json!({"anyOf": [{"properties": a}, {"type": "string"}]}), "?"),
            (json!({"anyOf": [{"properties": a}, {"type": "null"}], "properties": {"b": {}}}), "?"),
            (json!(true), "?"),
        ] {
            assert_eq!(shown(&Fields::of(&schema)), expected, "{schema}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let mut schema = json!({"type": "string"});
        for _ in 0..100 {
            schema = json!({"properties": {"a": schema}});
        }
        let levels = |fields: &Fields| shown(fields).matches('{').count();
        assert_eq!(levels(&Fields::of(&schema)), DEEPEST);
    }

    #[test]
    fn a_field_that_is_not_listed_is_none_where_the_list_is_whole() {
        let of = |open: bool| {
            Fields::of(
                &json!({"properties": {"b": {"properties": {"c": {}}}, "a": {}}, "additionalProperties": open}),
            )
        };
        for open in [false, true] {
            assert_eq!(of(open).field("a"), Some(&Fields::Unknown));
            assert_eq!(of(open).field("b").map(|b| b.names().collect()), Some(vec!["c"]));
            assert_eq!(of(open).field("x"), open.then_some(&Fields::Unknown));
        }
        assert_eq!(Fields::Unknown.field("x"), Some(&Fields::Unknown));
        assert_eq!(of(false).names().collect::<Vec<_>>(), ["a", "b"]);
    }
}
