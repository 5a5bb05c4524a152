//! What a schema asks of a value beside its type, in few words for a model.

use crate::text::{is_hidden, shorten};
use serde_json::Value;

/// The longest pattern or default that is shown, in characters.
const LONGEST: usize = 60;

/// That a number is whole, the bounds, the format, the pattern and the default of a schema: `whole, 1 to 100,
/// default 10`. Empty if it has none.
pub(super) fn of(schema: &Value) -> String {
    let mut all = Vec::new();
    let is_integer = schema.get("type").is_some_and(|found| match found {
        Value::Array(types) => types.iter().any(|ty| ty == "integer"),
        ty => ty == "integer" || ty == "INTEGER",
    });
    all.extend(is_integer.then(|| "whole".to_owned()));
    let bound = |key: &str| schema.get(key).filter(|value| value.is_number()).map(Value::to_string);
    all.extend(range(bound("minimum"), bound("maximum"), ""));
    all.extend(bound("exclusiveMinimum").map(|least| format!("more than {least}")));
    all.extend(bound("exclusiveMaximum").map(|most| format!("less than {most}")));
    all.extend(bound("multipleOf").map(|step| format!("a multiple of {step}")));
    all.extend(range(bound("minLength").filter(|least| least != "0"), bound("maxLength"), " characters"));
    all.extend(range(bound("minItems").filter(|least| least != "0"), bound("maxItems"), " items"));
    if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
        all.push("no item twice".to_owned());
    }
    all.extend(schema.get("format").and_then(Value::as_str).and_then(plain));
    let pattern = schema.get("pattern").and_then(Value::as_str).and_then(plain);
    all.extend(pattern.map(|pattern| format!("pattern {pattern}")));
    let default = schema.get("default").filter(|value| !value.is_null()).map(Value::to_string);
    all.extend(default.as_deref().and_then(plain).map(|default| format!("default {default}")));
    all.join(", ")
}

fn range(least: Option<String>, most: Option<String>, unit: &str) -> Option<String> {
    match (least, most) {
        (Some(least), Some(most)) if least == most => Some(format!("exactly {least}{unit}")),
        (Some(least), Some(most)) => Some(format!("{least} to {most}{unit}")),
        (Some(least), None) => Some(format!("at least {least}{unit}")),
        (None, Some(most)) => Some(format!("at most {most}{unit}")),
        (None, None) => None,
    }
}

/// A text of a schema as it may be shown: on one line, without invisible characters, and not too long.
fn plain(text: &str) -> Option<String> {
    let shown = !text.is_empty() && !text.contains(|c: char| c.is_control() || is_hidden(c));
    shown.then(|| if text.chars().count() > LONGEST { shorten(text) } else { text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_schema_asks_is_said_in_few_words() {
        for (schema, expected) in [
            (json!({"type": "string"}), ""),
            (json!({"minimum": 1, "maximum": 100, "default": 10}), "1 to 100, default 10"),
            (json!({"type": "integer", "minimum": 1}), "whole, at least 1"),
            (json!({"type": ["integer", "null"]}), "whole"),
            (json!({"exclusiveMinimum": 0, "multipleOf": 0.5}), "more than 0, a multiple of 0.5"),
            (json!({"minLength": 1, "maxLength": 50, "format": "email"}), "1 to 50 characters, email"),
            (
                json!({"minLength": 0, "pattern": "^[a-z]+$", "default": "a"}),
                "pattern ^[a-z]+$, default \"a\"",
            ),
            (json!({"minItems": 2, "maxItems": 2, "uniqueItems": true}), "exactly 2 items, no item twice"),
            (json!({"format": "a\nb", "default": null, "minimum": "1"}), ""),
            (json!(true), ""),
        ] {
            assert_eq!(of(&schema), expected, "{schema}");
        }
        assert!(of(&json!({"pattern": "x".repeat(500)})).len() < 250);
    }
}
