//! A program that was written as a JSON text, alone, in a list, or in a record around it. It is
//! refused with a fix that writes the program itself, in which everything has its own position.

use crate::arena::Arena;
use crate::diagnostic::{Diagnostic, Diagnostics, Edit, Fix};
use crate::document::{NodeKind, first_of, json};
use crate::notation::Notation;
use crate::source::{SourceLimits, envelope, trimmed};
use ilo_spec::error::Code;

/// The error of a source that is nothing but the text of a program; `None` for any other source.
pub(super) fn refused(source: &str, limits: &SourceLimits) -> Option<Diagnostic> {
    if !may_be(source) {
        return None;
    }
    let arena = Arena::new();
    let mut diagnostics = Diagnostics::default();
    let documents = json::read(source, &arena, limits, &mut diagnostics);
    let [document] = documents else { return None };
    if diagnostics.has_errors() {
        return None;
    }
    let text = match &document.kind {
        NodeKind::Record([only]) => only.value.text(),
        NodeKind::Record(list) => list.iter().find(|entry| entry.is(holds_source))?.value.text(),
        NodeKind::List([only]) => only.text(),
        _ => document.text(),
    }?;
    Notation::detect(text).filter(|_| !text.trim().is_empty())?;
    let fix =
        Fix { title: "write the program itself".to_owned(), edits: vec![Edit::new(document.span, text)] };
    Some(
        Diagnostic::new(Code::BadShape, first_of(document), "this is a text that holds a program")
            .expected("the program itself", "its text in quotes")
            .fix(fix),
    )
}

/// Whether a key holds the text of a program, beside which other keys may be those of a call.
fn holds_source(key: &str) -> bool {
    matches!(key, "source" | "program" | "code")
}

/// Whether a source begins as such a text. It reads no more than the first text.
fn may_be(source: &str) -> bool {
    let start = match envelope(source) {
        Some(found) => source.get(found.before.end as usize..).unwrap_or(""),
        None => source,
    };
    let start = trimmed(start);
    let list = start.strip_prefix('[').map(str::trim_start);
    let Some(rest) = start.strip_prefix('{') else { return list.unwrap_or(start).starts_with('"') };
    let after = rest.trim_start().strip_prefix('"').and_then(|key| key.split_once('"'));
    if after.is_some_and(|(key, _)| holds_source(key)) {
        return true;
    }
    let value = after.and_then(|(_, after)| after.trim_start().strip_prefix(':')).unwrap_or("");
    let text = value.trim_start().strip_prefix('"').unwrap_or("");
    let end = text.match_indices('"').find(|(at, _)| !text.get(..*at).unwrap_or("").ends_with('\\'));
    end.and_then(|(end, _)| text.get(end + 1..)).is_some_and(|rest| rest.trim_start().starts_with('}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_text_of_a_program_is_refused() {
        let found = |source: &str| {
            let wrong = refused(source, &SourceLimits::default())?;
            Some(crate::diagnostic::fix::apply(source, &[wrong]).0)
        };
        let program = r#"{"function": "f"}"#;
        assert_eq!(found(r#""{\"function\": \"f\"}""#).as_deref(), Some(program));
        assert_eq!(found(r#"{ "source" : "{\"function\": \"f\"}" }"#).as_deref(), Some(program));
        assert_eq!(
            found("```json\n\"; fn f() -> nil\"\n```").as_deref(),
            Some("```json\n; fn f() -> nil\n```")
        );
        assert_eq!(
            found(r#"{"source": "; fn f() -> nil", "inputs": {}}"#).as_deref(),
            Some("; fn f() -> nil")
        );
        assert_eq!(found(r#"["; fn f() -> nil"]"#).as_deref(), Some("; fn f() -> nil"));
        assert_eq!(found(r#"{"other": "; fn f() -> nil", "inputs": {}}"#), None);
        assert_eq!(found(r#"["; fn f() -> nil", "; fn g() -> nil"]"#), None);
        assert_eq!(found(r#""some words""#), None);
        assert_eq!(found(r#""""#), None);
        assert_eq!(found(r#""name": f"#), None);
        assert_eq!(found(r#"{"source": "{\"function\": "f"}"}"#), None);
    }
}
