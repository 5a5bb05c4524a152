//! Errors on their way to JavaScript: texts with JSON, which `src/errors.ts` makes errors of.

use ilo_bindings::guide::Refusal;
use serde_json::json;

/// `Refused`: what may not come next.
pub(crate) fn refused(refusal: Refusal) -> String {
    json!({"name": "Refused", "message": refusal.message, "at": refusal.at}).to_string()
}

/// `CannotEnd`: no token may come, or none within the tokens left.
pub(crate) fn cannot_end(message: &str) -> String {
    json!({"name": "CannotEnd", "message": message}).to_string()
}

/// `RangeError`, for what is out of bounds.
pub(crate) fn range(message: &str) -> String {
    json!({"name": "RangeError", "message": message}).to_string()
}
