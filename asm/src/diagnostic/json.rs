//! Diagnostics as JSON objects, for editors and agents.

use super::{Diagnostic, Diagnostics};
use crate::span::{Lines, Span};
use serde_json::{Value, json};

/// All diagnostics of a source, one object per line.
pub fn lines(file: &str, source: &str, diagnostics: &Diagnostics) -> String {
    let lines = Lines::new(source);
    let all = diagnostics.iter().map(|diagnostic| format!("{}\n", report(file, &lines, diagnostic)));
    all.collect()
}

/// A diagnostic with its file and its positions in each form that a consumer may need. Offsets and lengths
/// are in bytes. Lines and columns count from 1, columns in characters.
fn report(file: &str, lines: &Lines<'_>, diagnostic: &Diagnostic) -> Value {
    let (start, end) = (lines.place(diagnostic.span.start), lines.place(diagnostic.span.end));
    let mut report = json!({
        "file": file,
        "code": diagnostic.code.as_str(),
        "severity": if diagnostic.is_error() { "error" } else { "warning" },
        "line": start.line,
        "column": start.column,
        "end_line": end.line,
        "end_column": end.column,
        "offset": diagnostic.span.start,
        "length": diagnostic.span.range().len(),
        "message": diagnostic.message,
    });
    let Diagnostic { expected, found, nearest, help, .. } = diagnostic;
    for (key, text) in [("expected", expected), ("found", found), ("nearest", nearest), ("help", help)] {
        if let Some(text) = text {
            report[key] = json!(text);
        }
    }
    if !diagnostic.related.is_empty() {
        let related = diagnostic.related.iter().map(|(span, message)| at(lines, *span, "message", message));
        report["related"] = related.collect();
    }
    if let Some(fix) = &diagnostic.fix {
        let edits = fix.edits.iter().map(|edit| at(lines, edit.span, "text", &edit.text));
        report["fix"] = json!({"title": fix.title, "edits": edits.collect::<Value>()});
    }
    report
}

/// A place with a text.
fn at(lines: &Lines<'_>, span: Span, key: &str, text: &str) -> Value {
    let place = lines.place(span.start);
    let (line, column, offset, length) = (place.line, place.column, span.start, span.range().len());
    json!({"offset": offset, "length": length, "line": line, "column": column, key: text})
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
        let found = report("f.ilo", &Lines::new(source), &diagnostic);
        let expected = json!({
            "file": "f.ilo", "code": "count-mismatch", "severity": "warning",
            "line": 2, "column": 4, "end_line": 2, "end_column": 5, "offset": 6, "length": 1,
            "message": "wrong count", "expected": "`3`", "found": "`4`",
            "related": [{"line": 1, "column": 1, "offset": 0, "length": 2, "message": "here"}],
            "fix": {"title": "write `3`", "edits": [{"offset": 6, "length": 1, "line": 2, "column": 4, "text": "3"}]}
        });
        assert_eq!(found, expected);
    }
}
