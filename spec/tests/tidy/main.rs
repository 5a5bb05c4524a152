//! The rules of the project, checked over the tree and the manifests.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test may panic")]

mod budget;
mod crates;
mod foreign;
mod imports;
mod layers;
mod layers_tests;
mod lists;
mod modules;
mod names;
mod parts;
mod prose;
mod root;
mod source;
mod tree;

use tree::{below, complain, read};

/// The longest file in lines. A longer one usually has two subjects.
const LONGEST_FILE: usize = 800;

/// If the tests of a crate are one binary, a file that it does not declare never runs.
#[test]
fn every_test_file_is_in_the_binary_of_all_tests() {
    let mut problems = Vec::new();
    for all in below("", &["/tests/all.rs"]) {
        let (folder, text) = (all.trim_end_matches("/all.rs"), read(all));
        for path in below(folder, &[".rs"]).filter(|path| *path != all) {
            let file = path.trim_start_matches(folder).trim_start_matches('/').trim_end_matches(".rs");
            let declared = text.contains(&format!("mod {file};"));
            if !file.contains('/') && !declared {
                problems.push(format!("{all} does not declare {file}"));
            }
        }
    }
    complain(&problems);
}

#[test]
fn every_source_file_says_what_it_is_for_and_stays_short() {
    let mut problems = Vec::new();
    for path in below("", &[".rs"]) {
        let text = read(path);
        if !text.starts_with("//!") {
            problems.push(format!("{path} does not open with what it is for"));
        }
        let lines = text.lines().count();
        if lines > LONGEST_FILE {
            problems.push(format!("{path} has {lines} lines; split it where two things live in it"));
        }
        let unfinished = [
            concat!("TO", "DO"),
            concat!("FIX", "ME"),
            concat!("unimplement", "ed!"),
            concat!("#[ign", "ore"),
        ];
        let found = unfinished.iter().filter(|word| text.contains(**word));
        problems.extend(found.map(|word| format!("{path} contains {word}")));
    }
    complain(&problems);
}

#[test]
fn no_path_of_a_machine_and_no_address_of_a_registry_is_in_the_tree() {
    let words = [
        concat!("/ro", "ot/"),
        concat!("/ho", "me/"),
        concat!("/wo", "rk/"),
        concat!("index.crates", ".io"),
        concat!("../sha", "red"),
    ];
    let endings = [".rs", ".md", ".toml", ".sh", ".json", ".yml", ".yaml", ".ilo", ".case", ".txt", "run"];
    let mut problems = Vec::new();
    for path in below("", &endings) {
        let text = read(path);
        let found = words.iter().filter(|word| text.contains(**word));
        problems.extend(found.map(|word| format!("{path} mentions {word}")));
    }
    complain(&problems);
}
