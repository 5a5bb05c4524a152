//! The checker, by cases in the text files beside this one, and by shapes that are too large to write down.
//!
//! A case has a title after `## `, a source, and the expected results, each after `== `: a diagnostic with
//! its place and message, below it its related places and its fix; `facts f: …` for the calls of a function;
//! `order: …`.

use super::{CallFacts, Checked, check};
use crate::arena::Arena;
use crate::ast::{File, Function, Name};
use crate::catalog::Catalog;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::id;
use crate::span::{Lines, Span};
use ilo_spec::error::Code;
use std::fmt::Write;

mod large;
mod paths;

#[test]
fn flow() {
    cases(include_str!("flow.txt"), None);
}

#[test]
fn value() {
    cases(include_str!("value.txt"), None);
}

#[test]
fn names() {
    cases(include_str!("names.txt"), Some(&catalog()));
}

#[test]
fn names_without_a_catalogue() {
    let source = "; fn f() -> thing\n; Tools: 0=gte-user\n; Fields: 0=x\nRET CALL 0 1 0 LIT 1 1\n";
    with(source, None, |_, _, diagnostics| assert_eq!(diagnostics.as_slice(), []));
}

/// Slots are numbered anew inside; a fix that names one has its number in the source.
#[test]
fn a_help_names_a_slot_as_the_source_does() {
    let source = "; fn f(x: number) -> result number, text\n; Tools: 0=t\nLET 7 CALL 0 0\nIF GT REF 0 LIT 1 1 1\n  \
                  MATCH 7 2\n    ERR 8 1\n      RET_ERR REF 8\n    OK 9 1\n      RET REF 9\nRET LIT 1 1\n";
    with(source, None, |_, _, diagnostics| {
        let dropped = diagnostics.as_slice().iter().find(|found| found.code == Code::DroppedResult);
        let help = dropped.and_then(|found| found.help.as_deref());
        assert_eq!(
            help,
            Some("handle the failure on that path too, or bind another slot"),
            "{:?}",
            diagnostics.as_slice()
        );
    });
}

/// What to do about a slot that a MATCH has taken apart is no other binding of it.
#[test]
fn a_read_after_a_match_gets_help_with_the_value() {
    let source = "; fn f() -> any\n; Tools: 0=t\nLET 3 CALL 0 0\nMATCH 3 2\n  ERR 4 1\n    RET LIT 1 0\n  OK 5 0\nRET REF 3\n";
    with(source, None, |_, _, diagnostics| {
        let [found] = diagnostics.as_slice() else { panic!("{:?}", diagnostics.as_slice()) };
        let help = found.help.as_deref().unwrap_or_default();
        assert!(help.starts_with("if its call failed, it has no value"), "{help}");
    });
}

/// Rule 3.4. Instruction text has no such list, so it is put into the tree.
#[test]
fn calls_beyond_the_list_of_what_may_be_called() {
    let source = "; fn f() -> thing\n; Tools: 0=get-user 1=sum 2=g 3=mcp://mail/send\n; Fields: 0=user-id 1=items\n\
                  UNDO CALL 1 1 1 LIST 0\nCALL 3 0\nLET 0 CALL 2 0\nRET CALL 0 1 0 LIT 0 \"u\"\n; fn g() -> nil\nLIT 2 nil\n";
    let beyond = |list: &[&str]| {
        let names: Vec<Name<'_>> = list.iter().map(|text| Name { text, span: Span::at(0) }).collect();
        with(source, None, |file, _, _| {
            let functions = [Function { allowed: Some(&names), ..file.functions[0] }, file.functions[1]];
            let mut diagnostics = Diagnostics::default();
            check(&File { functions: &functions }, Some(&catalog()), &mut diagnostics);
            assert!(diagnostics.as_slice().iter().all(|found| found.code == Code::ToolNotAllowed));
            let places = diagnostics.as_slice().iter().map(|found| &source[found.span.range()]);
            places.collect::<Vec<_>>().join(" ")
        })
    };
    assert_eq!(beyond(&["get-user", "sum", "g", "mcp://mail/send"]), "");
    assert_eq!(beyond(&["mcp://users/get-user", "sum", "mcp://self/g", "send"]), "");
    assert_eq!(beyond(&["get-user", "send"]), "1 2");
    assert_eq!(beyond(&[]), "1 3 2 0");
}

#[test]
fn types() {
    cases(include_str!("types.txt"), Some(&catalog()));
}

#[test]
fn fields() {
    cases(include_str!("fields.txt"), Some(&catalog()));
}

fn catalog() -> Catalog {
    Catalog::from_json(include_str!("catalog.json")).unwrap()
}

/// Checks a source and looks at what was found.
fn with<R>(
    source: &str,
    catalog: Option<&Catalog>,
    look: impl FnOnce(&File<'_>, &Checked, &Diagnostics) -> R,
) -> R {
    let arena = Arena::new();
    let mut diagnostics = Diagnostics::default();
    let options =
        crate::source::SourceLimits { source: 1 << 28, line: 1 << 24, nesting: ilo_spec::limits::NESTING };
    let file = id::parse(source, &arena, &options, &mut diagnostics);
    assert_eq!(diagnostics.as_slice(), [], "the source is read without complaint");
    let checked = check(&file, catalog, &mut diagnostics);
    diagnostics.sort();
    look(&file, &checked, &diagnostics)
}

fn cases(text: &str, catalog: Option<&Catalog>) {
    let mut wrong = String::new();
    let mut count = 0;
    for case in text.split("## ").skip(1) {
        count += 1;
        let (title, rest) = case.split_once('\n').unwrap();
        let expected: String =
            rest.lines().filter_map(|line| line.strip_prefix("== ")).fold(String::new(), line);
        let source: String = rest.lines().filter(|line| !line.starts_with("== ")).fold(String::new(), line);
        let found = with(source.trim_end(), catalog, |file, checked, diagnostics| {
            show(&source, file, checked, diagnostics, &expected)
        });
        if found != expected {
            writeln!(wrong, "## {title}\n{source}expected:\n{expected}found:\n{found}").unwrap();
        }
    }
    assert!(count > 0 && wrong.is_empty(), "{wrong}");
}

fn line(mut text: String, line: &str) -> String {
    text.push_str(line);
    text.push('\n');
    text
}

/// What was found, and the facts and the order where the case asks for them.
fn show(source: &str, file: &File<'_>, checked: &Checked, diagnostics: &Diagnostics, asked: &str) -> String {
    let lines = Lines::new(source);
    let place = |span: Span| {
        let place = lines.place(span.start);
        format!("{}:{}", place.line, place.column)
    };
    let mut text = String::new();
    for diagnostic in diagnostics.as_slice() {
        let Diagnostic { code, span, message, nearest, related, fix, .. } = diagnostic;
        let severity = if diagnostic.is_error() { "error" } else { "warning" };
        writeln!(text, "{severity} {code} {}: {message}", place(*span)).unwrap();
        if let Some(nearest) = nearest {
            writeln!(text, "nearest {nearest}").unwrap();
        }
        for (span, what) in related {
            writeln!(text, "{} {what}", place(*span)).unwrap();
        }
        for edit in fix.iter().flat_map(|fix| &fix.edits) {
            let old = &source[edit.span.range()];
            writeln!(text, "fix {} {old} -> {}", place(edit.span), edit.text).unwrap();
        }
    }
    for (function, facts) in file.functions.iter().zip(&checked.functions) {
        let name = function.name.text;
        if asked.contains(&format!("facts {name}:")) {
            let calls: Vec<String> = facts.calls.iter().map(facts_of).collect();
            writeln!(text, "facts {name}: {}", calls.join(", ")).unwrap();
        }
    }
    if asked.contains("order:") {
        let names = checked.order.iter().map(|&index| file.functions[index as usize].name.text);
        writeln!(text, "order: {}", names.collect::<Vec<_>>().join(" ")).unwrap();
    }
    text
}

fn facts_of(facts: &CallFacts) -> String {
    let words = [("checked", facts.checked), ("undo", facts.undo), ("unread", facts.unread)];
    let words: Vec<&str> = words.iter().filter(|(_, is)| *is).map(|(word, _)| *word).collect();
    if words.is_empty() { "-".to_owned() } else { words.join(" ") }
}
