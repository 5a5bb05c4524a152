//! Diagnostics as objects of Python. Offsets count characters, as indexes of a `str` do.

use ilo_asm::diagnostic::Diagnostics;
use ilo_bindings::finding::{Finding, findings};
use pyo3::prelude::*;

/// A diagnostic: an error or a warning, its place, and the fix.
#[pyclass(frozen, get_all, module = "ilo", name = "Diagnostic")]
#[derive(Debug)]
pub(crate) struct Diagnostic {
    /// The stable code.
    code: String,
    /// `error` or `warning`.
    severity: String,
    /// The line, from 1.
    line: u32,
    /// The column in characters, from 1.
    column: u32,
    /// Where it begins, in characters.
    start: usize,
    /// One past where it ends, in characters.
    end: usize,
    /// The message.
    message: String,
    /// What was expected.
    expected: Option<String>,
    /// What was found.
    found: Option<String>,
    /// The nearest valid name.
    nearest: Option<String>,
    /// What to write instead, in words.
    help: Option<String>,
    /// The description of the fix.
    fix_title: Option<String>,
    /// The edits of the fix: start, end and new text of each.
    edits: Vec<(usize, usize, String)>,
    /// Other places that matter: line, column and message.
    related: Vec<(u32, u32, String)>,
    text: String,
}

/// The code, the severity, the line, the column, and where it begins and ends.
type Place = (String, String, u32, u32, usize, usize);
/// What is said of it.
type Texts = (String, Option<String>, Option<String>, Option<String>, Option<String>, Option<String>, String);
/// Edits, and other places.
type Parts = (Vec<(usize, usize, String)>, Vec<(u32, u32, String)>);

#[pymethods]
impl Diagnostic {
    /// One that was pickled.
    #[new]
    fn new(place: Place, texts: Texts, parts: Parts) -> Diagnostic {
        let (code, severity, line, column, start, end) = place;
        let (message, expected, found, nearest, help, fix_title, text) = texts;
        let (edits, related) = parts;
        Diagnostic {
            code,
            severity,
            line,
            column,
            start,
            end,
            message,
            expected,
            found,
            nearest,
            help,
            fix_title,
            edits,
            related,
            text,
        }
    }

    fn __reduce__(&self, py: Python<'_>) -> (Py<PyAny>, (Place, Texts, Parts)) {
        let place = (self.code.clone(), self.severity.clone(), self.line, self.column, self.start, self.end);
        let texts = (
            self.message.clone(),
            self.expected.clone(),
            self.found.clone(),
            self.nearest.clone(),
            self.help.clone(),
            self.fix_title.clone(),
            self.text.clone(),
        );
        let make = py.get_type::<Diagnostic>().into_any().unbind();
        (make, (place, texts, (self.edits.clone(), self.related.clone())))
    }

    /// Whether it is an error.
    #[getter]
    fn is_error(&self) -> bool {
        self.severity == "error"
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("<ilo.Diagnostic {}>", self.text)
    }
}

impl From<Finding> for Diagnostic {
    fn from(found: Finding) -> Diagnostic {
        let (fix_title, edits) = found.fix.map(|fix| (fix.title, fix.edits)).unzip();
        let edits = edits.unwrap_or_default().into_iter().map(|edit| (edit.start, edit.end, edit.text));
        let related = found.related.into_iter().map(|place| (place.line, place.column, place.message));
        Diagnostic {
            code: found.code.to_owned(),
            severity: found.severity.to_owned(),
            line: found.line,
            column: found.column,
            start: found.start,
            end: found.end,
            message: found.message,
            expected: found.expected,
            found: found.found,
            nearest: found.nearest,
            help: found.help,
            fix_title,
            edits: edits.collect(),
            related: related.collect(),
            text: found.text,
        }
    }
}

/// All diagnostics of a source.
pub(crate) fn all(source: &str, diagnostics: &Diagnostics) -> Vec<Diagnostic> {
    let found = findings(source, diagnostics, |text| text.chars().count());
    found.into_iter().map(Diagnostic::from).collect()
}
