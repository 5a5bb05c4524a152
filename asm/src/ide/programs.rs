//! Detects which JSON and YAML files are ilo programs: an editor shows nothing about others.

use crate::diagnostic::Diagnostics;
use crate::dialect::{Dialect, Key, META};
use crate::document::{Node, entries, items_of, json, yaml};
use crate::notation::Notation;
use crate::source::Limits;
use bumpalo::Bump;

/// The notation of a JSON or YAML source that has the steps of a program and, beside them, a key that no
/// other format has; otherwise `None`.
pub fn program_notation(source: &str) -> Option<Notation> {
    let notation = Notation::detect(source).filter(|&notation| notation != Notation::Id)?;
    let arena = Bump::new();
    let read = if notation == Notation::Workflow { yaml::read } else { json::read };
    let documents = read(source, &arena, &Limits::default(), &mut Diagnostics::default());
    items_of(documents).iter().any(|document| is_program(document, notation)).then_some(notation)
}

fn is_program(document: &Node<'_>, notation: Notation) -> bool {
    let dialect = Dialect::of(notation);
    let has = |key: Key| {
        dialect.top().contains(&key)
            && entries(document).iter().any(|entry| entry.name() == Some(dialect.word(key)))
    };
    let of_meta = |entry: &crate::document::Entry<'_>| {
        let meta = |inner: &crate::document::Entry<'_>| {
            inner.name().is_some_and(|name| META.iter().any(|&key| dialect.word(key) == name))
        };
        entry.name() == Some(dialect.word(Key::Meta)) && entries(&entry.value).iter().any(meta)
    };
    let named = notation != Notation::Workflow && notation != Notation::Mcp && has(Key::Name);
    has(Key::Steps) && (has(Key::Output) || named || entries(document).iter().any(of_meta))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_formats_are_not_taken_for_programs() {
        for (source, expected) in [
            (
                "name: f\ninput:\n  a: text\noutput: text\nsteps:\n  a:\n    return: 1\n",
                Some(Notation::Workflow),
            ),
            (r#"{"fn":"f","in":{},"out":"text","body":[]}"#, Some(Notation::Constrained)),
            (r#"{"function": "f", "steps": []}"#, Some(Notation::ToolCalling)),
            (r#"{"meta": {"name": "f"}, "steps": []}"#, Some(Notation::Mcp)),
            // Jobs and pipelines of other tools, packages, server settings.
            ("name: build\non: push\njobs:\n  a:\n    steps:\n      - run: make\n", None),
            ("name: build\ntrigger: main\nsteps:\n  - script: make\n", None),
            (r#"{"name": "package", "version": "1.0.0", "dependencies": {}}"#, None),
            (r#"{"mcpServers": {"a": {"command": "b"}}}"#, None),
            (r#"{"$schema": "x", "steps": [{"name": "a"}]}"#, None),
            ("; fn f() -> nil\n", None),
            ("", None),
            ("{}", None),
        ] {
            assert_eq!(program_notation(source), expected, "{source}");
        }
    }
}
