//! Diagnostics as JSON. Offsets are indexes of a JavaScript string, which count units of UTF-16.

use ilo_asm::diagnostic::Diagnostics;
use ilo_bindings::finding::{Finding, findings};
use ilo_js_vm::thrown::json;
use serde::Serialize;

/// The error `CompileError` with the diagnostics.
#[derive(Serialize)]
struct CompileError {
    name: &'static str,
    diagnostics: Vec<Finding>,
}

/// The number of UTF-16 units of a text.
pub(crate) fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

fn listed(source: &str, diagnostics: &Diagnostics) -> Vec<Finding> {
    findings(source, diagnostics, units)
}

/// All diagnostics of a source, as a list.
pub(crate) fn all(source: &str, diagnostics: &Diagnostics) -> String {
    json(&listed(source, diagnostics))
}

/// The error for a source that has errors.
pub(crate) fn compile_error(source: &str, diagnostics: &Diagnostics) -> String {
    json(&CompileError { name: "CompileError", diagnostics: listed(source, diagnostics) })
}
