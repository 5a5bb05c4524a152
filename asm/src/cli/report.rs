//! How the command line shows what it found: diagnostics on standard error, or as JSON.

use super::input::Input;
use crate::build;
use crate::diagnostic::{Diagnostics, json, terminal};
use std::io::Write;

/// Writes to standard error; where that is gone there is nowhere left to say so.
fn error(text: &str) {
    drop(anstream::stderr().lock().write_all(text.as_bytes()));
}

/// One line for a person.
pub(super) fn complain(message: &str) {
    error(&format!("ilo-asm: {message}\n"));
}

/// The source that a file holds; shows why where it holds none.
pub(super) fn source(input: &Input) -> Option<&str> {
    build::text(input.bytes())
        .map_err(|diagnostic| {
            let mut diagnostics = Diagnostics::default();
            diagnostics.push(*diagnostic);
            show(input, &String::from_utf8_lossy(input.bytes()), &diagnostics);
        })
        .ok()
}

/// Shows diagnostics for a person.
pub(super) fn show(input: &Input, source: &str, diagnostics: &Diagnostics) {
    error(&terminal::render_all(&input.name, source, diagnostics, true));
}

/// Diagnostics as lines of JSON.
pub(super) fn json(input: &Input, source: &str, diagnostics: &Diagnostics) -> String {
    json::lines(&input.name, source, diagnostics)
}
