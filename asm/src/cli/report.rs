//! How the command line shows what it found: diagnostics on standard error, or as JSON.

use super::input::Input;
use crate::diagnostic::{Diagnostic, Diagnostics, json, terminal};
use crate::span::Span;
use ilo_spec::error::Code;

/// One line for a person.
pub(super) fn complain(message: &str) {
    anstream::eprintln!("ilo-asm: {message}");
}

/// The source that a file holds; shows why where it holds none.
pub(super) fn source(input: &Input) -> Option<&str> {
    match std::str::from_utf8(input.bytes()) {
        Ok(source) => Some(source),
        Err(error) => {
            let valid = input.bytes().get(..error.valid_up_to()).unwrap_or_default();
            let valid = std::str::from_utf8(valid).unwrap_or_default();
            let at = u32::try_from(error.valid_up_to()).unwrap_or(u32::MAX);
            let mut diagnostics = Diagnostics::default();
            diagnostics.push(
                Diagnostic::new(Code::NotUtf8, Span::at(at), format!("byte {at} is not UTF-8"))
                    .help("save the file as UTF-8"),
            );
            show(input, valid, &diagnostics);
            None
        }
    }
}

/// Shows diagnostics for a person.
pub(super) fn show(input: &Input, source: &str, diagnostics: &Diagnostics) {
    if !diagnostics.as_slice().is_empty() {
        anstream::eprintln!("{}", terminal::render(&input.name, source, diagnostics));
    }
}

/// Diagnostics as lines of JSON.
pub(super) fn json(input: &Input, source: &str, diagnostics: &Diagnostics) -> String {
    json::lines(&input.name, source, diagnostics)
}
