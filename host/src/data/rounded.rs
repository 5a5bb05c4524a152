//! Numbers of JSON that another library has read, and may have rounded.
//!
//! Of an integer beyond 64 bits only the nearest double is left, and a double that large may have been one.
//! It is taken for one: a number that is another in silence is worse than one that is refused.

use serde_json::Value;

/// The doubles nearest to the integers just beyond those that are read exactly: -2^63 - 1 and 2^64.
const LEAST: f64 = -9_223_372_036_854_775_808.0;
const GREATEST: f64 = 18_446_744_073_709_551_616.0;

/// A double in a value that an integer beyond 64 bits can have become.
pub(crate) fn perhaps_rounded(value: &Value) -> Option<f64> {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => open.extend(fields.values()),
            Value::Number(number) if number.is_f64() => {
                let large = number.as_f64().filter(|&double| double <= LEAST || double >= GREATEST);
                if large.is_some() {
                    return large;
                }
            }
            _ => {}
        }
    }
    None
}
