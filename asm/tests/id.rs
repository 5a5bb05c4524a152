//! The integer-ID notation: each `id/*.ilo` is read, and its diagnostics are beside it in `.txt`.
//!
//! With `ILO_BLESS=1` the expected files are rewritten; read them before keeping them.

use crate::common::read;
use ilo_asm::diagnostic::Diagnostic;
use ilo_asm::span::Lines;
use std::fmt::Write as _;
use std::path::PathBuf;

/// A diagnostic as the expected files show it.
fn show(lines: &Lines<'_>, source: &str, diagnostic: &Diagnostic, out: &mut String) {
    let place = |offset| {
        let place = lines.place(offset);
        format!("{}:{}", place.line, place.column)
    };
    let (start, end) = (diagnostic.span.start, diagnostic.span.end);
    let code = diagnostic.code.as_str();
    writeln!(out, "{}-{} {code}: {}", place(start), place(end), diagnostic.message)
        .expect("a string takes it");
    let mut line = |name: &str, text: Option<&str>| {
        if let Some(text) = text {
            writeln!(out, "  {name}: {text}").expect("a string takes it");
        }
    };
    line("expected", diagnostic.expected.as_deref());
    line("found", diagnostic.found.as_deref());
    line("nearest", diagnostic.nearest.as_deref());
    line("help", diagnostic.help.as_deref());
    for (span, what) in &diagnostic.related {
        line("related", Some(&format!("{} {what}", place(span.start))));
    }
    for edit in diagnostic.fix.iter().flat_map(|fix| &fix.edits) {
        let before = &source[edit.span.range()];
        line("fix", Some(&format!("{} {before:?} to {:?}", place(edit.span.start), edit.text)));
    }
}

/// All diagnostics of a source.
fn diagnose(source: &str) -> String {
    read(source, |_, diagnostics| {
        let lines = Lines::new(source);
        let mut out = String::new();
        for diagnostic in diagnostics.as_slice() {
            show(&lines, source, diagnostic, &mut out);
        }
        out
    })
}

#[test]
fn each_source_gets_its_diagnostics() {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/id"));
    let bless = std::env::var_os("ILO_BLESS").is_some();
    let mut wrong = String::new();
    let mut cases = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "ilo") {
            continue;
        }
        cases += 1;
        let found = diagnose(&std::fs::read_to_string(&path).unwrap());
        let beside = path.with_extension("txt");
        if bless {
            std::fs::write(&beside, &found).unwrap();
        }
        let expected = std::fs::read_to_string(&beside).unwrap_or_default();
        if expected != found {
            writeln!(wrong, "{}\nexpected:\n{expected}\nfound:\n{found}", path.display()).unwrap();
        }
    }
    assert!(cases > 0, "there are cases");
    assert!(wrong.is_empty(), "{wrong}");
}
