//! Shared code of the example tools: a tool reads one JSON object, and answers one JSON value or fails with a
//! message.
//!
//! The tools have lasting effects: mails and reservations are files.

use serde_json::{Map, Value};
use std::io::{self, Read};
use std::process::ExitCode;

/// The longest arguments that a tool reads, in bytes.
const LONGEST: u64 = 1 << 20;

/// Serves one call. Arguments come on standard input, the answer goes to standard output, the message of a
/// failure to standard error.
pub fn serve(answer: impl FnOnce(&Map<String, Value>) -> Result<Value, String>) -> ExitCode {
    match read().and_then(|arguments| answer(&arguments)) {
        Ok(value) => {
            println!("{value}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn read() -> Result<Map<String, Value>, String> {
    let mut text = String::new();
    io::stdin()
        .take(LONGEST)
        .read_to_string(&mut text)
        .map_err(|e| format!("cannot read the arguments: {e}"))?;
    serde_json::from_str(&text).map_err(|e| format!("the arguments are not a JSON object: {e}"))
}

/// A text among the arguments.
///
/// # Errors
/// A message that names the argument.
pub fn text<'a>(arguments: &'a Map<String, Value>, name: &str) -> Result<&'a str, String> {
    arguments.get(name).and_then(Value::as_str).ok_or_else(|| format!("`{name}` has to be a text"))
}

/// The README's embedding example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// The loop of the host's README.
#[cfg(doctest)]
#[doc = include_str!("../../host/README.md")]
struct HostReadme;
