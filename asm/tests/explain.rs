//! Every code is explained; the wrong example of its page has the error, the right one builds without it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use ilo_asm::build::{Options, build};
use ilo_asm::catalog::Catalog;
use ilo_asm::explain::{examples, explain};
use ilo_spec::error::Code;

/// Codes that no short program shows, or that are not of a program's text: each is tested where its limit or option is.
const WITHOUT_EXAMPLE: [&str; 11] = [
    "not-utf8",
    "tool-not-allowed",
    "unknown-function",
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
fn wrong_examples_are_wrong_and_right_ones_right() {
    let catalog = catalog();
    let options = Options { catalog: Some(&catalog), ..Options::default() };
    let mut problems = Vec::new();
    for &code in Code::ALL {
        let Some(page) = explain(code.as_str()) else { continue };
        let found = |source: &str| -> Vec<String> {
            let (_, diagnostics) = build(source, &options);
            diagnostics.as_slice().iter().map(|d| format!("{}: {}", d.code, d.message)).collect()
        };
        let has = |found: &[String]| found.iter().any(|found| found.starts_with(&format!("{code}: ")));
        // A fault is met when the program runs; its wrong example builds. What a code shares with a fault is shown as an
        // error of the text.
        let is_fault = code as u16 >= 800;
        let shared =
            is_fault && Code::ALL.iter().any(|&other| other != code && other.as_str() == code.as_str());
        for example in examples(page, "Wrong").into_iter().filter(|_| !shared) {
            let found = found(example);
            if has(&found) == is_fault || (is_fault && !found.is_empty()) {
                problems.push(format!("{code}, wrong:\n{example}{found:?}"));
            }
        }
        for example in examples(page, "Right") {
            let found = found(example);
            if !found.is_empty() {
                problems.push(format!("{code}, right:\n{example}{found:?}"));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}
