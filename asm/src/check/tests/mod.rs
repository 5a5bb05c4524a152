//! The checker, by cases in the text files beside this one, and by shapes that are too large to write down.
//!
//! A case is `## what it shows`, a source, and what is found, each line behind `== `: a diagnostic with its place and
//! message, below it what it points to and its mend; `facts f: …` for the calls of a function; `order: …`.

use super::{CallFacts, Checked, check};
use crate::ast::File;
use crate::catalog::Catalog;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::id;
use crate::span::{Lines, Span};
use bumpalo::Bump;
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

#[test]
fn types() {
    cases(include_str!("types.txt"), Some(&catalog()));
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
    let arena = Bump::new();
    let mut diagnostics = Diagnostics::default();
    let options = id::Options { source: 1 << 28, line: 1 << 24, nesting: ilo_spec::limits::NESTING };
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
    for Diagnostic { code, span, message, nearest, related, fix, .. } in diagnostics.as_slice() {
        let severity = format!("{:?}", code.severity()).to_lowercase();
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
