//! The keywords of a schema that restrict values but cannot be expressed by shapes.

use serde_json::Value;
use std::collections::BTreeSet;

/// Keywords that restrict values and are not checked.
const UNCHECKED: [&str; 26] = [
    "$dynamicRef",
    "$recursiveRef",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "format",
    "if",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "multipleOf",
    "not",
    "pattern",
    "patternProperties",
    "prefixItems",
    "propertyNames",
    "uniqueItems",
];
/// Keywords whose members are schemas with freely chosen names.
const NAMED: [&str; 5] = ["properties", "$defs", "definitions", "patternProperties", "dependentSchemas"];
/// Keywords whose values are data, not schemas.
const DATA: [&str; 5] = ["enum", "const", "default", "example", "examples"];
/// The most values of a schema that are examined.
const WORK: usize = 1 << 17;

/// Adds the keywords of a schema that are not checked.
pub(super) fn unchecked_keywords(schema: &Value, found: &mut BTreeSet<&'static str>) {
    let mut open = vec![schema];
    for _ in 0..WORK {
        match open.pop() {
            None => return,
            Some(Value::Array(several)) => open.extend(several),
            Some(Value::Object(keywords)) => {
                for (key, value) in keywords {
                    found.extend(UNCHECKED.iter().find(|known| *known == key));
                    match value.as_object() {
                        Some(named) if NAMED.contains(&key.as_str()) => open.extend(named.values()),
                        _ if DATA.contains(&key.as_str()) => {}
                        _ => open.push(value),
                    }
                }
            }
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keywords_are_found_where_they_are_keywords() {
        let schema = json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "format": "email"},
                "list": {"items": {"anyOf": [{"minLength": 1}, {"enum": [{"not": 1}]}]}, "maxItems": 3},
            },
            "default": {"multipleOf": 2},
            "$defs": {"if": {"const": {"contains": 1}}},
        });
        let mut found = BTreeSet::new();
        unchecked_keywords(&schema, &mut found);
        assert_eq!(Vec::from_iter(found), ["format", "maxItems", "minLength"]);
    }
}
