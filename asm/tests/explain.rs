//! Every code is explained; the wrong example of its page has the error, the right one builds without it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use ilo_asm::catalog::Catalog;
use ilo_asm::compile::{Options, compile};
use ilo_asm::explain::{Example, examples, explain, programs};
use ilo_asm::notation::Notation;
use ilo_spec::error::Code;

/// Codes that no short program shows, or that are not about a program's text. Each is tested with its limit
/// or option.
const WITHOUT_EXAMPLE: [&str; 16] = [
    "bad-schema",
    "too-many-rollbacks",
    "cancelled",
    "in-doubt",
    "output-mismatch",
    "not-utf8",
    "unknown-function",
    "other-signature",
    "no-single-entry",
    "source-too-large",
    "line-too-long",
    "too-deep",
    "too-many-registers",
    "function-too-long",
    "too-many-entries",
    "timed-out",
];

/// The tools that the examples are checked against, as the page lists them.
fn catalog() -> Catalog {
    let page = include_str!("../../spec/doc/errors.md");
    let json = page.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    Catalog::from_json(json).unwrap()
}

/// The diagnostics of an example. Its notation is not given, unless the example has lost the parts that show
/// it.
fn found(example: Example<'_>, catalog: Option<&Catalog>) -> Vec<String> {
    said(example, Notation::detect(example.source).is_none().then_some(example.notation), catalog)
}

fn said(example: Example<'_>, from: Option<Notation>, catalog: Option<&Catalog>) -> Vec<String> {
    let (_, diagnostics) = compile(example.source, &Options { from, catalog, ..Options::default() });
    diagnostics.as_slice().iter().map(|d| format!("{}: {}", d.code, d.message)).collect()
}

#[test]
fn the_examples_of_the_notations_are_right() {
    let pages = [
        ("tool-calling", include_str!("../../spec/doc/notation-tool-calling.md")),
        ("constrained", include_str!("../../spec/doc/notation-constrained.md")),
        ("workflow", include_str!("../../spec/doc/notation-workflow.md")),
        ("mcp", include_str!("../../spec/doc/notation-mcp.md")),
    ];
    for (name, page) in pages {
        let examples = programs(page.split("## Errors\n").next().unwrap());
        assert!(!examples.is_empty(), "{name}");
        for example in examples {
            assert_eq!(example.notation.to_string(), name);
            assert_eq!(found(example, None), [""; 0], "{name}:\n{}", example.source);
        }
    }
}

#[test]
fn every_code_has_a_page() {
    for code in Code::ALL.iter().filter(|&&code| !matches!(code as u16, 700..800 | 900..)) {
        let page = explain(code.as_str()).unwrap_or_else(|| panic!("{code} has no page"));
        let shown = !examples(page, "Wrong").is_empty() && !examples(page, "Right").is_empty();
        assert!(shown != WITHOUT_EXAMPLE.contains(&code.as_str()), "{code}");
    }
    assert_eq!(explain("no-such-code"), None);
}

#[test]
fn each_code_is_in_the_chapter_of_its_hundred() {
    for chapter in ilo_spec::error::PAGES.split("\n# ").skip(1) {
        let (_, title) = chapter.lines().next().unwrap().split_once('(').unwrap();
        let hundred: u16 = title.split("xx)").next().unwrap().parse().unwrap();
        for name in chapter.split("\n## ").skip(1).map(|section| section.lines().next().unwrap()) {
            let mut codes = Code::ALL.iter().filter(|code| code.as_str() == name);
            assert!(codes.any(|&code| code as u16 / 100 == hundred), "{name} is not one of {hundred}xx");
        }
    }
}

#[test]
fn wrong_examples_are_wrong_and_right_ones_right() {
    let catalog = catalog();
    let mut problems = Vec::new();
    for &code in Code::ALL {
        let Some(page) = explain(code.as_str()) else { continue };
        let found = |example: Example<'_>| match code {
            Code::UnknownNotation => said(example, None, Some(&catalog)),
            _ => found(example, Some(&catalog)),
        };
        let has = |found: &[String]| found.iter().any(|found| found.starts_with(&format!("{code}: ")));
        // A fault occurs when the program runs, so its wrong example builds. A code that is also a fault is
        // shown as an error of the text.
        let is_fault = code as u16 >= 800;
        let shared =
            is_fault && Code::ALL.iter().any(|&other| other != code && other.as_str() == code.as_str());
        for example in examples(page, "Wrong").into_iter().filter(|_| !shared) {
            let found = found(example);
            if has(&found) == is_fault || (is_fault && !found.is_empty()) {
                problems.push(format!("{code}, wrong:\n{}{found:?}", example.source));
            }
        }
        for example in examples(page, "Right") {
            let found = found(example);
            if !found.is_empty() {
                problems.push(format!("{code}, right:\n{}{found:?}", example.source));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}
