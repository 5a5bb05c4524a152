//! Numbers of JSON that another library has read, and may have rounded.
//!
//! The library turns an integer beyond 64 bits into the nearest double. So a double of that size may have
//! been such an integer, and it is rejected: an error is better than a number that was changed silently.

use serde_json::Value;

/// The library reads integers from -2^63 to 2^64 - 1 exactly. These are the doubles nearest to the next ones
/// beyond: -2^63 - 1 and 2^64.
const LEAST: f64 = -9_223_372_036_854_775_808.0;
const GREATEST: f64 = 18_446_744_073_709_551_616.0;

/// Finds a double in a value that may have been an integer beyond 64 bits.
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
