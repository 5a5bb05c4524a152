//! Replaces references inside a schema, which generators of schemas write for every named type, by their
//! targets.
//!
//! Only references into the schema itself (`#/$defs/Item`) are replaced, up to limits on depth and size.
//! Other references stay as `$ref`, and their type is unknown. The limits also stop a schema that refers to
//! itself.

use serde_json::{Map, Value};
use std::borrow::Cow;

/// How deep a schema is searched, replaced references included.
const DEEPEST: usize = 24;
/// How much is written for references, in values and in 64 bytes of text.
const LARGEST: usize = 4096;
/// How many references may lead to one another.
const CHAIN: usize = 8;
/// Keywords beside a `$ref` that do not describe the value.
const REMARKS: [&str; 11] = [
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
    "$schema",
    "$defs",
    "definitions",
];

/// The schema with the targets of its references in their places.
pub(super) fn followed(schema: &Value) -> Cow<'_, Value> {
    let refers = |key: &str| schema.get(key).is_some_and(|part| has_reference(part, DEEPEST));
    let anywhere = schema.as_object().is_some_and(|entries| entries.keys().any(|key| refers(key)));
    if !anywhere && reference(schema).is_none() {
        return Cow::Borrowed(schema);
    }
    let mut copy = Copy { root: schema, left: LARGEST };
    Cow::Owned(copy.of(schema, DEEPEST, false))
}

fn has_reference(schema: &Value, depth: usize) -> bool {
    let below = |part: &Value| depth > 0 && has_reference(part, depth - 1);
    match schema {
        Value::Object(entries) => entries.contains_key("$ref") || entries.values().any(below),
        Value::Array(items) => items.iter().any(below),
        _ => false,
    }
}

/// The target of a schema that is nothing but a reference.
fn reference(schema: &Value) -> Option<&str> {
    let entries = schema.as_object()?;
    let alone = entries.keys().all(|key| key == "$ref" || REMARKS.contains(&key.as_str()));
    entries.get("$ref").filter(|_| alone)?.as_str()?.strip_prefix('#')
}

struct Copy<'s> {
    root: &'s Value,
    /// How many more values references may add.
    left: usize,
}

impl Copy<'_> {
    /// A copy of a schema; `counted` where it is in the place of a reference.
    fn of(&mut self, schema: &Value, depth: usize, counted: bool) -> Value {
        let mut target = schema;
        for _ in 0..CHAIN {
            let Some(next) = reference(target).and_then(|place| self.root.pointer(place)) else { break };
            target = next;
        }
        let counted = counted || !core::ptr::eq(target, schema);
        if counted {
            let size = 1 + match target {
                Value::Object(entries) => entries.len(),
                Value::Array(items) => items.len(),
                Value::String(text) => text.len() / 64,
                _ => 0,
            };
            let Some(left) = self.left.checked_sub(size) else { return Self::anything() };
            self.left = left;
        }
        match target {
            Value::Object(_) | Value::Array(_) if depth == 0 && counted => Self::anything(),
            Value::Object(entries) if depth > 0 => {
                // Definitions are left out, and remarks within a replaced reference. Both are possible names
                // of properties, too, whose schemas are no texts.
                let root = core::ptr::eq(target, self.root);
                let kept = entries.iter().filter(|(key, part)| match key.as_str() {
                    "$defs" | "definitions" => !root,
                    key => !(counted && part.is_string() && REMARKS.contains(&key)),
                });
                let copied = kept.map(|(key, part)| (key.clone(), self.of(part, depth - 1, counted)));
                Value::Object(copied.collect::<Map<_, _>>())
            }
            Value::Array(items) if depth > 0 => {
                Value::Array(items.iter().map(|item| self.of(item, depth - 1, counted)).collect())
            }
            plain => plain.clone(),
        }
    }

    /// The schema of any value.
    fn anything() -> Value {
        Value::Bool(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_are_replaced_by_their_targets() {
        let schema = json!({
            "type": "object",
            "properties": {
                "order": {"$ref": "#/$defs/Order", "description": "the order"},
                "other": {"$ref": "#/properties/order"},
                "far": {"$ref": "https://example.org/x"},
                "none": {"$ref": "#/$defs/Nothing"},
                "more": {"$ref": "#/$defs/Item", "minProperties": 2},
                "$ref": {"type": "string"}
            },
            "$defs": {
                "Order": {"type": "object", "properties": {"items": {"type": "array", "items": {"$ref": "#/$defs/Item"}}}},
                "Item": {"type": "object", "title": "Item", "properties": {"title": {"type": "string"}, "definitions": {}}}
            }
        });
        let item = json!({"type": "object", "properties": {"title": {"type": "string"}, "definitions": {}}});
        let order = json!({"type": "object", "properties": {"items": {"type": "array", "items": item}}});
        let expected = json!({
            "type": "object",
            "properties": {
                "order": order, "other": order,
                "far": {"$ref": "https://example.org/x"},
                "none": {"$ref": "#/$defs/Nothing"},
                "more": {"$ref": "#/$defs/Item", "minProperties": 2},
                "$ref": {"type": "string"}
            }
        });
        assert_eq!(*followed(&schema), expected);
    }

    #[test]
    fn a_schema_without_references_is_left_alone() {
        let schema = json!({"type": "object", "properties": {"a": {"enum": [{"x": 1}]}}, "$defs": {"A": {}}});
        assert!(matches!(followed(&schema), Cow::Borrowed(_)));
    }

    #[test]
    fn a_root_may_refer_and_what_refers_to_itself_ends() {
        let root = json!({"$ref": "#/$defs/A", "$defs": {"A": {"type": "string", "title": "A"}}});
        assert_eq!(*followed(&root), json!({"type": "string"}));
        let circle = json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}});
        assert!(followed(&circle).is_object());
        let names = || (0..50).map(|n| (format!("f{n}"), json!({"$ref": "#"})));
        let wide = json!({"type": "object", "properties": names().collect::<Map<_, _>>()});
        assert!(followed(&wide).to_string().len() < 100 * LARGEST);
        let long = json!({"type": "object", "properties": names().map(|(name, _)| (name, json!({"$ref": "#/$defs/L"})))
            .collect::<Map<_, _>>(), "$defs": {"L": {"enum": ["x".repeat(100_000)], "description": "y".repeat(100_000)}}});
        assert!(followed(&long).to_string().len() < 100 * LARGEST);
        let tree = json!({"properties": {"left": {"$ref": "#/$defs/T"}}, "$defs": {"T": {"properties": {
            "left": {"$ref": "#/$defs/T"}, "right": {"$ref": "#/$defs/T"}}}}});
        assert!(followed(&tree).to_string().len() < 100 * LARGEST);
    }

    #[test]
    fn depth_is_bounded() {
        let mut deep = json!({"$ref": "#/$defs/A"});
        for _ in 0..120 {
            deep = json!({"items": deep});
        }
        assert!(followed(&deep).is_object());
    }
}
