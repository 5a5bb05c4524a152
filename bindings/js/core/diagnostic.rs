//! Diagnostics as JSON. Offsets are indexes of a JavaScript string, which count units of UTF-16.

use ilo_asm::diagnostic::Diagnostics;
use ilo_bindings::finding::{Finding, findings};
use ilo_js_vm::thrown::json;
use serde::Serialize;

/// `CompileError` with the diagnostics.
#[derive(Serialize)]
struct CompileError {
    name: &'static str,
    diagnostics: Vec<Finding>,
}

/// The units of a JavaScript text.
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

/// The error for a source that has some.
pub(crate) fn compile_error(source: &str, diagnostics: &Diagnostics) -> String {
    json(&CompileError { name: "CompileError", diagnostics: listed(source, diagnostics) })
}
