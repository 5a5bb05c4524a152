//! Looks a user up by `user-id` in the JSON file that the first argument names.

use ilo_examples::{serve, text};
use serde_json::Value;
use std::process::ExitCode;

fn main() -> ExitCode {
    serve(|arguments| {
        let path = std::env::args().nth(1).ok_or("usage: example-users FILE")?;
        let file = std::fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
        let users: Value = serde_json::from_str(&file).map_err(|e| format!("{path}: {e}"))?;
        let id = text(arguments, "user-id")?;
        users.get(id).cloned().ok_or_else(|| format!("no such user: {id}"))
    })
}
