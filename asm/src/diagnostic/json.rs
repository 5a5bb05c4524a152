//! Diagnostics as JSON objects, for editors and agents.

use super::{Diagnostic, Diagnostics, Fix};
use crate::span::{Lines, Span};
use serde::Serialize;

/// A diagnostic with its file and its positions in each form that a consumer may need. Offsets and lengths
/// are in bytes. Lines and columns count from 1, columns in characters.
#[derive(Clone, Debug, Serialize)]
pub struct Report<'d> {
    file: &'d str,
    code: &'static str,
    severity: &'static str,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    offset: u32,
    length: u32,
    message: &'d str,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<&'d str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<&'d str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest: Option<&'d str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'d str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<Related<'d>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<Correction<'d>>,
}

#[derive(Clone, Debug, Serialize)]
struct Related<'d> {
    line: u32,
    column: u32,
    offset: u32,
    length: u32,
    message: &'d str,
}

#[derive(Clone, Debug, Serialize)]
struct Correction<'d> {
    title: &'d str,
    edits: Vec<Replacement<'d>>,
}

#[derive(Clone, Debug, Serialize)]
struct Replacement<'d> {
    offset: u32,
    length: u32,
    line: u32,
    column: u32,
    text: &'d str,
}

/// All diagnostics of a source, one object per line.
pub fn lines(file: &str, source: &str, diagnostics: &Diagnostics) -> String {
    let lines = Lines::new(source);
    let reports = diagnostics.as_slice().iter().map(|diagnostic| Report::new(file, &lines, diagnostic));
    let mut out = String::new();
    for report in reports {
        // A report is texts and numbers, which always serialise.
        out.push_str(&serde_json::to_string(&report).unwrap_or_default());
        out.push('\n');
    }
    out
}

fn length(span: Span) -> u32 {
    span.end.saturating_sub(span.start)
}

impl<'d> Report<'d> {
    /// A diagnostic of a file with these lines.
    pub fn new(file: &'d str, lines: &Lines<'_>, diagnostic: &'d Diagnostic) -> Report<'d> {
        let start = lines.place(diagnostic.span.start);
        let end = lines.place(diagnostic.span.end);
        let related = diagnostic.related.iter().map(|(span, message)| {
            let place = lines.place(span.start);
            Related {
                line: place.line,
                column: place.column,
                offset: span.start,
                length: length(*span),
                message,
            }
        });
        Report {
            file,
            code: diagnostic.code.as_str(),
            severity: if diagnostic.is_error() { "error" } else { "warning" },
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
            offset: diagnostic.span.start,
            length: length(diagnostic.span),
            message: &diagnostic.message,
            expected: diagnostic.expected.as_deref(),
            found: diagnostic.found.as_deref(),
            nearest: diagnostic.nearest.as_deref(),
            help: diagnostic.help.as_deref(),
            related: related.collect(),
            fix: diagnostic.fix.as_ref().map(|fix| correction(lines, fix)),
        }
    }
}

fn correction<'d>(lines: &Lines<'_>, fix: &'d Fix) -> Correction<'d> {
    let edits = fix.edits.iter().map(|edit| {
        let place = lines.place(edit.span.start);
        Replacement {
            offset: edit.span.start,
            length: length(edit.span),
            line: place.line,
            column: place.column,
            text: &edit.text,
        }
    });
    Correction { title: &fix.title, edits: edits.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ilo_spec::error::Code;

    #[test]
    fn a_report_holds_every_form_of_a_place() {
        let source = "é\nab 4 c";
        let diagnostic = Diagnostic::new(Code::CountMismatch, Span::new(6, 7), "wrong count")
            .expected("`3`", "`4`")
            .related(Span::new(0, 2), "here")
            .replace(Span::new(6, 7), "3");
        let found = serde_json::to_value(Report::new("f.ilo", &Lines::new(source), &diagnostic)).unwrap();
        let expected = serde_json::json!({
            "file": "f.ilo", "code": "count-mismatch", "severity": "warning",
            "line": 2, "column": 4, "end_line": 2, "end_column": 5, "offset": 6, "length": 1,
            "message": "wrong count", "expected": "`3`", "found": "`4`",
            "related": [{"line": 1, "column": 1, "offset": 0, "length": 2, "message": "here"}],
            "fix": {"title": "write `3`", "edits": [{"offset": 6, "length": 1, "line": 2, "column": 4, "text": "3"}]}
        });
        assert_eq!(found, expected);
    }
}
