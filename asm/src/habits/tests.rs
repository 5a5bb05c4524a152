//! Runs the example of each habit: the rewritten program must be the expected one.

use super::context::At;
use super::rewrite;
use super::table::HABITS;
use crate::diagnostic::Diagnostics;
use crate::document::print::documents;
use crate::document::{Node, entries, items_of, json};
use crate::notation::Notation;
use crate::source::Limits;
use bumpalo::Bump;

/// A program in JSON with an example in it: as a step, or as a value that a step binds.
fn program(notation: Notation, at: At, fragment: &str) -> String {
    let step = match at {
        At::Step | At::NoStep => fragment.to_owned(),
        At::Value => format!("{{\"let\": \"v\", \"call\": \"t\", \"ARGS\": {{\"v\": {fragment}}}}}"),
        At::Condition => format!("{{\"if\": {fragment}, \"then\": []}}"),
        At::Formula => format!("{{\"let\": \"v\", \"expr\": {fragment}}}"),
    };
    let (input, args) = (r#"{"n": "number", "xs": "list any"}"#, r#""args""#);
    match notation {
        Notation::Constrained => {
            format!(r#"{{"fn": "f", "in": {input}, "out": "any", "body": [{step}]}}"#)
        }
        Notation::Mcp => format!(r#"{{"meta": {{"input": {input}, "output": "any"}}, "steps": [{step}]}}"#)
            .replace("\"ARGS\"", r#""with""#),
        Notation::Workflow => {
            format!(r#"{{"name": "f", "input": {input}, "output": "any", "steps": [{step}]}}"#)
        }
        _ => format!(r#"{{"function": "f", "input": {input}, "output": "any", "steps": [{step}]}}"#),
    }
    .replace("\"ARGS\"", args)
}

fn read<'a>(source: &'a str, arena: &'a Bump) -> &'a [Node<'a>] {
    let mut diagnostics = Diagnostics::default();
    let read = json::read(source, arena, &Limits::default(), &mut diagnostics);
    assert!(diagnostics.as_slice().is_empty(), "{source}: {diagnostics:?}");
    read
}

#[test]
fn every_habit_rewrites_its_example() {
    for habit in HABITS {
        let (arena, example) = (Bump::new(), &habit.example);
        let written = arena.alloc_str(&program(example.notation, habit.at, example.written));
        let expected = example.read.trim();
        let expected =
            expected.strip_prefix('[').and_then(|steps| steps.strip_suffix(']')).unwrap_or(expected);
        let expected = arena.alloc_str(&program(example.notation, habit.at, expected));
        let mut diagnostics = Diagnostics::default();
        let found = rewrite(read(written, &arena), written, example.notation, &arena, &mut diagnostics);
        let found = found.unwrap_or_else(|| panic!("{}: no habit applies", habit.name));
        let shown = |nodes: &[Node<'_>]| documents(nodes, Notation::Mcp);
        assert_eq!(shown(&items_of(found.documents)), shown(read(expected, &arena)), "{}", habit.name);
        assert!(diagnostics.as_slice().len() <= 1, "{}: {diagnostics:?}", habit.name);
        assert!(
            rewrite(read(expected, &arena), expected, example.notation, &arena, &mut diagnostics).is_none()
        );
        assert!(entries(&items_of(found.documents)[0]).iter().all(|entry| entry.name().is_some()));
    }
}
