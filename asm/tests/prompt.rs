//! The cards for models: their examples build, the corpus runs them, and their costs in tokens are recorded.
//!
//! `UPDATE=1` rewrites the table of tokens.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test may panic")]

use ilo_asm::catalog::Catalog;
use ilo_asm::compile::{Options, compile};
use ilo_asm::notation::Notation;
use ilo_asm::prompt::{card, prompt};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// The most tokens of a card: a longer one is not read with care.
const CEILING: usize = 796;

/// The place of the table.
const PAGE: &str = "../examples/README.md";

#[test]
fn cards_cost_what_is_written_down() {
    let tokenizer = tiktoken_rs::o200k_base().unwrap();
    let count = |text: &str| tokenizer.encode_ordinary(text).len();
    let mut table = String::from("| notation | whole card | example in it |\n|---|---|---|\n");
    for (notation, name) in Notation::ALL {
        let (all, example) = (count(card(notation)), count(example(notation)));
        assert!(all <= CEILING, "the card of {name} has {all} tokens");
        writeln!(table, "| `{name}` | {all} | {example} |").unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let text = fs::read_to_string(&path).unwrap();
    let (begin, end) = ("<!-- generated: tokens -->\n", "<!-- end generated -->");
    let (before, rest) = text.split_once(begin).unwrap();
    let (old, after) = rest.split_once(end).unwrap();
    if old != table {
        assert!(
            std::env::var_os("UPDATE").is_some(),
            "the table of tokens is not current: run with UPDATE=1"
        );
        fs::write(&path, format!("{before}{begin}{table}{end}{after}")).unwrap();
    }
}

/// The program that a card ends with.
fn example(notation: Notation) -> &'static str {
    card(notation).split_once("\nExample:\n").unwrap().1
}

#[track_caller]
fn builds(source: &str, notation: Notation, catalog: Option<&Catalog>) {
    assert_eq!(Notation::detect(source), Some(notation), "{source}");
    let (_, diagnostics) = compile(source, &Options { catalog, ..Options::default() });
    assert!(diagnostics.as_slice().is_empty(), "{notation}:\n{source}\n{:#?}", diagnostics.as_slice());
}

/// The tools of the example.
fn tools() -> Catalog {
    Catalog::from_json(include_str!("prompt/catalog.json")).unwrap()
}

#[test]
fn examples_build() {
    let tools = tools();
    for (notation, _) in Notation::ALL {
        builds(example(notation), notation, Some(&tools));
    }
}

/// The corpus runs the examples. Programs that were written from the cards alone are in the same folder.
#[test]
fn the_corpus_has_the_examples() {
    for name in ["example", "example-rollback", "example-refused", "example-unknown"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../spec/corpus/cards/{name}.case"));
        let case = fs::read_to_string(&path).unwrap();
        for (notation, word) in Notation::ALL {
            let source = format!("=== source {word}\n{}=== ", example(notation));
            assert!(case.contains(&source), "{name} has another source {word} than the card");
        }
    }
}

#[test]
fn a_prompt_ends_with_the_tools() {
    let all = prompt(Notation::Id, Some(&tools()));
    assert!(all.ends_with("release(hold: text) -> nil # Gives a hold back.\n"), "{all}");
}
