//! A program that was written as a JSON text, alone, in a list, or in a record around it, such as a call. It
//! is refused with a fix that writes the program itself, in which everything has its own position.

use crate::arena::Arena;
use crate::diagnostic::{Diagnostic, Diagnostics, Edit, Fix};
use crate::document::{Node, NodeKind, first_of, json};
use crate::foreign::{self, Place};
use crate::notation::Notation;
use crate::source::{SourceLimits, enclosed, trimmed};
use crate::span::Span;
use ilo_spec::error::Code;

/// The error of a source that is nothing but the text of a program; `None` for any other source. It was read
/// as these documents.
pub(super) fn refused<'a>(
    source: &str,
    documents: &[Node<'a>],
    arena: &'a Arena,
    limits: &SourceLimits,
) -> Option<Diagnostic> {
    let [document] = documents else { return None };
    let held = held(document, arena, limits, 3)?;
    let text = match held {
        Held::Text(text) => text,
        Held::Program(span) => source.get(span.range())?,
    };
    Notation::detect(text).filter(|_| !text.trim().is_empty())?;
    let fix =
        Fix { title: "write the program itself".to_owned(), edits: vec![Edit::new(document.span, text)] };
    let (message, found) = match held {
        Held::Text(_) => ("this is a text that holds a program", "its text in quotes"),
        Held::Program(_) => ("this is a record around a program", "the call that would run it"),
    };
    Some(
        Diagnostic::new(Code::BadShape, first_of(document), message)
            .expected("the program itself", found)
            .fix(fix),
    )
}

/// A program in something else.
#[derive(Clone, Copy)]
enum Held<'a> {
    /// As a text.
    Text(&'a str),
    /// As it is, here in the source.
    Program(Span),
}

/// The program that a document holds: alone, in a list or record, or as an argument of a call, whose
/// arguments may be a JSON text too.
fn held<'a>(node: &Node<'a>, arena: &'a Arena, limits: &SourceLimits, depth: usize) -> Option<Held<'a>> {
    let inner = |node: &Node<'a>| held(node, arena, limits, depth.checked_sub(1)?);
    match node.kind {
        NodeKind::List([only]) => inner(only),
        NodeKind::Record([only]) if only.value.text().is_some() => only.value.text().map(Held::Text),
        NodeKind::Record(list) => {
            let named =
                |is: fn(&str) -> bool| list.iter().find(|entry| entry.is(is)).map(|entry| &entry.value);
            if named(|name| matches!(name, "steps" | "body" | "meta")).is_some() {
                return None;
            }
            match named(holds_source) {
                Some(of) if of.text().is_some() => of.text().map(Held::Text),
                // Alone it is read as the program.
                Some(of) if list.len() > 1 && matches!(of.kind, NodeKind::Record(_)) => {
                    Some(Held::Program(of.span))
                }
                Some(_) => None,
                None => match named(|key| foreign::is(Place::Calling, key))? {
                    of if of.text().is_some() => {
                        let read = json::read(of.text()?, arena, limits, &mut Diagnostics::default());
                        read.first().filter(|of| matches!(of.kind, NodeKind::Record(_))).and_then(inner)
                    }
                    of => inner(of),
                },
            }
        }
        _ => node.text().map(Held::Text),
    }
}

/// Whether a key holds the text of a program, beside which other keys may be those of a call.
fn holds_source(key: &str) -> bool {
    matches!(key, "source" | "program" | "code")
}

/// Whether a source begins as JSON does, so that it may be such a text.
pub(super) fn may_be(source: &str) -> bool {
    let inside = enclosed(source).and_then(|inside| source.get(inside)).unwrap_or(source);
    trimmed(inside).starts_with(['"', '{', '['])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_text_of_a_program_is_refused() {
        let found = |source: &str| {
            let (arena, limits, mut read) = (Arena::new(), SourceLimits::default(), Diagnostics::default());
            let documents = json::read(source, &arena, &limits, &mut read);
            let is_read = may_be(source) && !read.has_errors();
            let wrong = refused(source, documents, &arena, &limits).filter(|_| is_read)?;
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
        for call in [
            r#"{"name": "run_program", "arguments": {"inputs": {}, "source": "; fn f() -> nil"}}"#,
            r#"{"type": "tool_use", "id": "a", "name": "run_program", "input": {"source": "; fn f() -> nil"}}"#,
            r#"{"arguments": {"source": "; fn f() -> nil"}}"#,
            r#"{"function": {"name": "run_program", "arguments": "{\"source\": \"; fn f() -> nil\"}"}}"#,
            r#"{"method": "tools/call", "params": {"arguments": {"source": "; fn f() -> nil"}}}"#,
            r#"[{"source": "; fn f() -> nil", "inputs": {}}]"#,
        ] {
            assert_eq!(found(call).as_deref(), Some("; fn f() -> nil"), "{call}");
        }
        assert_eq!(found(r#"{"source": {"function": "f"}, "inputs": {}}"#).as_deref(), Some(program));
        assert_eq!(found(r#"{"name": "f", "input": {"source": "; fn f() -> nil"}, "steps": {}}"#), None);
        assert_eq!(found(r#"{"name": "f", "input": {"source": "text"}}"#), None);
        assert_eq!(found(r#"{"other": "; fn f() -> nil", "inputs": {}}"#), None);
        assert_eq!(found(r#"["; fn f() -> nil", "; fn g() -> nil"]"#), None);
        assert_eq!(found(r#""some words""#), None);
        assert_eq!(found(r#""""#), None);
        assert_eq!(found(r#""name": f"#), None);
        assert_eq!(found(r#"{"source": "{\"function\": "f"}"}"#), None);
    }
}
