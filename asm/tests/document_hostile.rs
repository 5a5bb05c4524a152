//! Hostile sources of the JSON and YAML notations that are too large for a case in a file, and the prefixes
//! of good ones.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use ilo_asm::compile::{Options, compile};
use ilo_asm::explain::programs;
use ilo_asm::notation::Notation;

/// Nesting far past every limit.
const LEVELS: usize = 100_000;

/// The codes of all diagnostics of a source, whose size has no limit.
fn codes(source: &str, notation: Notation) -> Vec<&'static str> {
    let reading = ilo_asm::source::SourceLimits {
        source: usize::MAX,
        line: usize::MAX,
        ..ilo_asm::source::SourceLimits::default()
    };
    let options = Options { from: Some(notation), reading, ..Options::default() };
    let (program, diagnostics) = compile(source, &options);
    assert!(program.is_some() != diagnostics.has_errors(), "a program or an error");
    diagnostics.as_slice().iter().map(|diagnostic| diagnostic.code.as_str()).collect()
}

fn tool_calling(steps: &str) -> String {
    format!(r#"{{"function": "f", "input": {{}}, "output": "any", "steps": [{steps}]}}"#)
}

fn constrained(steps: &str) -> String {
    format!(r#"{{"fn":"f","in":{{}},"out":"any","body":[{steps}]}}"#)
}

fn mcp(steps: &str) -> String {
    format!(r#"{{"meta": {{"input": {{}}, "output": "any"}}, "steps": [{steps}]}}"#)
}

fn workflow(steps: &str) -> String {
    format!("name: f\ninput: {{}}\noutput: any\nsteps:\n{steps}\n")
}

/// A text between openings and as many closings.
fn nested(open: &str, inside: &str, close: &str) -> String {
    format!("{}{inside}{}", open.repeat(LEVELS), close.repeat(LEVELS))
}

#[test]
fn a_hundred_thousand_levels_are_one_error() {
    let sources = [
        (Notation::ToolCalling, tool_calling(&format!(r#"{{"return": {}}}"#, nested("[", "1", "]")))),
        (Notation::ToolCalling, tool_calling(&nested(r#"{"if": true, "then": ["#, r#"{"return": 1}"#, "]}"))),
        (Notation::Constrained, constrained(&format!(r#"{{"ret":{}}}"#, nested(r#"{"not":"#, "1", "}")))),
        (Notation::Mcp, mcp(&nested(r#"{"for": "x", "in": [], "yield": ["#, r#"{"ok": 1}"#, "]}"))),
        (Notation::Workflow, workflow(&format!("  done:\n    return: {}", nested("[", "1", "]")))),
        (Notation::Workflow, workflow(&format!("  done:\n    return: {}", nested("{a: ", "1", "}")))),
        (Notation::Workflow, workflow(&format!("  done:\n    return:\n      {}1", "- ".repeat(LEVELS)))),
        (Notation::Workflow, workflow(&format!("  sum:\n    expr: \"{}\"", nested("(", "1", ")")))),
        (Notation::Workflow, workflow(&format!("  sum:\n    expr: \"{}1\"", "not ".repeat(LEVELS)))),
    ];
    for (notation, source) in sources {
        let mut found = codes(&source, notation);
        found.dedup();
        assert_eq!(found, ["too-deep"], "{notation}: {}", &source[..90]);
    }
}

#[test]
fn a_text_of_four_megabytes_is_one_value() {
    let text = "lorem ipsum ".repeat(4 << 20 >> 3).split_at(4 << 20).0.to_owned();
    for (notation, source) in [
        (Notation::ToolCalling, tool_calling(&format!(r#"{{"return": "{text}"}}"#))),
        (Notation::Workflow, workflow(&format!("  done:\n    return: '{text}'"))),
    ] {
        assert_eq!(codes(&source, notation), [""; 0], "{notation}");
    }
}

#[test]
fn a_prefix_of_an_example_is_an_error_or_a_program() {
    let pages = [
        include_str!("../../spec/doc/notation-tool-calling.md"),
        include_str!("../../spec/doc/notation-constrained.md"),
        include_str!("../../spec/doc/notation-workflow.md"),
        include_str!("../../spec/doc/notation-mcp.md"),
    ];
    for example in pages.into_iter().filter_map(|page| programs(page).first().copied()) {
        let source = example.source.trim_end();
        for (end, _) in source.char_indices() {
            let found = codes(&source[..end], example.notation);
            // Every program of YAML begins with programs; one of JSON ends with its last brace.
            let whole = example.notation == Notation::Workflow || source[..end].trim_end().ends_with("]}");
            assert!(whole || !found.is_empty(), "{}", &source[..end]);
        }
    }
}
