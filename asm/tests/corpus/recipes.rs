//! The page of recipes, generated from the programs in `spec/programs`, which the corpus tests run.
//!
//! `UPDATE=1 cargo test -p ilo-asm --test corpus` rewrites it.

use crate::case::{self, File};
use crate::constructs::{NOTATIONS, anchor, hold};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The kinds of programs, in the order of the page.
const KINDS: [&str; 9] = [
    "Reading from many places",
    "Searching, then acting",
    "Checks before acting",
    "Decisions and people",
    "Failure and rollback",
    "Grouping and counting",
    "Joining lists",
    "Texts",
    "Dates and waiting",
];

/// The kind of programs that apply the same steps to many items.
const BULK: &str = "Many items at once";

const HEAD: &str = "\
# Recipes

This page shows complete programs for tasks that agents are given, each in a notation that suits it. The page is
generated from the cases in [`../programs`](../programs). Each case also has the tools, the input, the outcome and the
calls. A test runs each program, converts it to every notation, and runs it again. `ilo-vm test spec/programs` runs
the programs too.

";

/// Most characters of a line of input or outcome that the page shows.
const SHOWN: usize = 300;

fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.into_iter().chain([BULK])
}

fn about(case: &File) -> &str {
    case.header("about").unwrap()
}

/// A JSON value on one line.
fn line(json: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(json).unwrap();
    let line = value.to_string();
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The tools that a trace calls, with the number of calls if there are several in a row.
fn calls(trace: &str) -> String {
    let mut calls: Vec<(String, u64)> = Vec::new();
    for call in trace.lines().filter(|line| !line.trim().is_empty()) {
        let call: serde_json::Value = serde_json::from_str(call).unwrap();
        let tool = call["tool"].as_str().unwrap();
        match calls.last_mut() {
            Some((last, count)) if last == tool => *count += 1,
            _ => calls.push((tool.to_owned(), 1)),
        }
    }
    let times = |count: u64| if count > 1 { format!(" ({count} times)") } else { String::new() };
    let calls: Vec<String> = calls.iter().map(|(tool, count)| format!("`{tool}`{}", times(*count))).collect();
    if calls.is_empty() { "none".to_owned() } else { calls.join(", ") }
}

fn recipe(case: &File, page: &mut String) {
    let source = case.sources()[0];
    let language = NOTATIONS.iter().find(|(notation, _)| *notation == source.notation).unwrap().1;
    let name = case.path.file_stem().unwrap().to_string_lossy().into_owned();
    let part = |title| case.section_for(title, source.notation);
    write!(
        page,
        "\n### {}\n[{}](../programs/{name}.case). Rules: {}.\n```{language}\n{}\n```\n",
        about(case),
        source.notation,
        case.header("rule").unwrap(),
        source.text.trim_end(),
    )
    .unwrap();
    writeln!(page, "- Input: `{}`", line(part("input").unwrap_or("{}"))).unwrap();
    writeln!(page, "- Calls: {}", calls(part("trace").unwrap())).unwrap();
    writeln!(page, "- Outcome: `{}`", line(part("outcome").unwrap())).unwrap();
}

fn page() -> String {
    let mut by_kind: BTreeMap<String, Vec<File>> = BTreeMap::new();
    for case in case::all(&case::folder("programs")) {
        let kind = case.header("kind").unwrap_or_else(|| panic!("{} has no kind", case.path.display()));
        assert!(kinds().any(|known| known == kind), "{}: the kind {kind}", case.path.display());
        by_kind.entry(kind.to_owned()).or_default().push(case);
    }
    let mut page = HEAD.to_owned();
    for kind in kinds() {
        writeln!(page, "- {kind}").unwrap();
        for case in by_kind.get(kind).into_iter().flatten() {
            let about = about(case);
            writeln!(page, "  - [{about}](#{}) ({})", anchor(about), case.sources()[0].notation).unwrap();
        }
    }
    for kind in kinds() {
        write!(page, "\n## {kind}\n").unwrap();
        by_kind.get(kind).into_iter().flatten().for_each(|case| recipe(case, &mut page));
    }
    page
}

#[test]
fn the_page_is_current() {
    hold("recipes.md", &page());
}
