//! How the oracle renders values as text (specification: 1.6.3, 1.6.4), and outcomes and traces as JSON.

use super::number::{text_of_double, write_double};
use super::value::Value;
use std::fmt::Write;
use std::rc::Rc;

/// Bytes of text beyond which a run reaches its limits anyway.
const LONGEST: usize = 1 << 21;

/// The text of a value for CONCAT; `None` if it is too long.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.to_string()),
        Value::Nil => Some("nil".to_owned()),
        Value::Double(double) => Some(text_of_double(*double)),
        _ => json(value),
    }
}

/// Compact JSON; `None` if it is too long.
pub(super) fn json(value: &Value) -> Option<String> {
    let mut out = String::new();
    write(value, &mut out).map(|()| out)
}

/// Arguments of a call as one JSON object.
pub(super) fn arguments(fields: &[(Rc<str>, Value)]) -> Option<String> {
    json(&Value::record(fields.to_vec()))
}

fn write(value: &Value, out: &mut String) -> Option<()> {
    if out.len() > LONGEST {
        return None;
    }
    match value {
        Value::Nil => out.push_str("null"),
        Value::Bool(bool) => out.push_str(if *bool { "true" } else { "false" }),
        Value::Int(int) => out.push_str(&int.to_string()),
        Value::Double(double) => out.push_str(&write_double(*double)),
        Value::Text(text) => quote(text, out),
        Value::List(list) => {
            out.push('[');
            for (place, item) in list.items.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write(item, out)?;
            }
            out.push(']');
        }
        Value::Record(record) => {
            out.push('{');
            for (place, (name, value)) in record.fields.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                quote(name, out);
                out.push(':');
                write(value, out)?;
            }
            out.push('}');
        }
    }
    Some(())
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..'\u{20}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}
