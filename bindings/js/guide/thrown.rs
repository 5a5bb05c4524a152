//! Errors for JavaScript: texts with JSON, which `src/errors.ts` turns into errors.

use ilo_bindings::guide::Refusal;
use serde_json::json;

/// `Refused`, for bytes or a token that may not come next.
pub(crate) fn refused(refusal: Refusal) -> String {
    json!({"name": "Refused", "message": refusal.message, "at": refusal.at}).to_string()
}

/// `CannotEnd`: no token may come next, or none that leaves an end within the tokens left.
pub(crate) fn cannot_end(message: &str) -> String {
    json!({"name": "CannotEnd", "message": message}).to_string()
}

/// `RangeError`, for a value out of bounds.
pub(crate) fn range(message: &str) -> String {
    json!({"name": "RangeError", "message": message}).to_string()
}
