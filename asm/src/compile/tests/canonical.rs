//! Leaves all habits out: no valid program of the corpus changes, and what habits rewrite is refused.

use crate::arena::Arena;
use crate::case::{Case, Source};
use crate::catalog::Catalog;
use crate::compile::{Options, compile, compile_file};
use crate::diagnostic::Diagnostics;
use crate::document::{json, yaml};
use crate::notation::Notation;
use crate::source::SourceLimits;
use crate::{id, steps};
use core::cell::Cell;
use ilo_spec::program::Program;
use std::fs;
use std::path::{Path, PathBuf};

/// The cases below the folders of the specification.
pub(super) fn cases() -> Vec<(PathBuf, Case)> {
    if crate::is_package() {
        return Vec::new();
    }
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec");
    let mut folders = vec![spec.join("corpus"), spec.join("programs")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "case") {
                let text = String::from_utf8(fs::read(&path).unwrap()).unwrap();
                found.push((path, Case::read(&text).unwrap()));
            }
        }
    }
    assert!(found.len() > 500, "the corpus was found");
    found
}

/// Builds a source without habits for documents; also whether these would have changed something.
fn canonical(source: &str, options: &Options<'_>) -> (Option<Program>, Diagnostics, bool) {
    let (arena, mut diagnostics, limits) = (Arena::new(), Diagnostics::default(), SourceLimits::default());
    let left_out = Cell::new(false);
    let file = match options.from.unwrap() {
        Notation::Id => id::parse(source, &arena, &limits, &mut diagnostics),
        notation => {
            let parse = if notation == Notation::Workflow { yaml::read } else { json::read };
            let documents = parse(source, &arena, &limits, &mut diagnostics);
            steps::read(documents, Some(&left_out), source, notation, &arena, &limits, &mut diagnostics)
        }
    };
    let program = compile_file(source, &file, options, &mut diagnostics);
    (program, diagnostics, left_out.get())
}

/// Sources that habits rewrite and that are valid without them, as something else.
const AMBIGUOUS: [(&str, &str); 8] = [
    ("5-shared/break-text", "a text is a value"),
    ("5-shared/continue-last", "a pass may yield any value"),
    ("5-shared/continue-only", "a pass may yield any value"),
    ("5-shared/op-at-name", "a record is data"),
    ("first-try/tool-calling/other-set", "a record is data"),
    ("first-try/shared/handler-skip-text", "a text fails"),
    ("first-try/mcp/call-self", "a tool may have any name"),
    ("first-try/shared/assignment-in-expr", "`=` compares, and a text is a value"),
];

/// What is wrong with a source: that it is another program without habits, or that it is one at all.
fn problem(source: &Source<'_>, options: &Options<'_>) -> Option<String> {
    let (with, found) = compile(source.text, options);
    let (without, errors, changed) = canonical(source.text, options);
    if changed {
        return without.map(|_| format!("accepted without habits: {:?}", messages(&found)));
    }
    let needs_no_fix = found.as_slice().iter().all(|diagnostic| diagnostic.fix.is_none());
    let differs = with.is_some() && needs_no_fix && with != without;
    differs.then(|| format!("another program without habits: {:?}", messages(&errors)))
}

fn messages(found: &Diagnostics) -> Vec<String> {
    found.as_slice().iter().map(|found| format!("{}: {}", found.code, found.message)).collect()
}

#[test]
fn without_habits_valid_programs_are_the_same_and_what_habits_rewrite_is_refused() {
    let mut failures = Vec::new();
    for (path, case) in cases() {
        let path = path.to_string_lossy();
        let catalog = case.section("catalog").map(|text| Catalog::from_json(text).unwrap());
        for source in case.sources() {
            let options =
                Options { from: Some(source.notation), catalog: catalog.as_ref(), ..Options::default() };
            if !AMBIGUOUS.iter().any(|(known, _)| path.contains(known))
                && let Some(problem) = problem(&source, &options)
            {
                failures.push(format!("{path} ({}): {problem}", source.notation));
            }
        }
    }
    assert!(failures.is_empty(), "{} sources\n{}", failures.len(), failures.join("\n"));
}
