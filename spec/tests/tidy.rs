//! The rules of the house, checked over the tree and the manifests.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};

/// Lines past which a file holds two things.
const LONGEST_FILE: usize = 800;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// Every file below a folder with one of these endings, but for what is built or was found by a fuzzer.
fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut rest = vec![folder.to_path_buf()];
    while let Some(folder) = rest.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            // What git leaves out is not ours: what is built, and what `host/real/run.sh` installs.
            let others = [".git", "artifacts", "node_modules", "venv"].contains(&name.as_str());
            if path.is_dir() && !name.starts_with("target") && !others {
                rest.push(path);
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn complain(problems: &[String]) {
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn every_source_file_says_what_it_is_for_and_stays_short() {
    let mut problems = Vec::new();
    let sources = files(&root(), &[".rs"]);
    assert!(sources.len() > 20, "the tree was found");
    for path in sources {
        let text = fs::read_to_string(&path).unwrap();
        if !text.starts_with("//!") {
            problems.push(format!("{} does not open with what it is for", path.display()));
        }
        let lines = text.lines().count();
        if lines > LONGEST_FILE {
            problems
                .push(format!("{} has {lines} lines; split it where two things live in it", path.display()));
        }
        for word in [
            concat!("TO", "DO"),
            concat!("FIX", "ME"),
            concat!("unimplement", "ed!"),
            concat!("#[ign", "ore"),
        ] {
            if text.contains(word) {
                problems.push(format!("{} contains {word}", path.display()));
            }
        }
    }
    complain(&problems);
}

/// The names of a crate's dependencies, without those of its tests.
fn dependencies(name: &str) -> Vec<String> {
    let manifest = fs::read_to_string(root().join(name).join("Cargo.toml")).unwrap();
    let mut section = "";
    let mut names = Vec::new();
    for line in manifest.lines() {
        if let Some(title) = line.strip_prefix('[') {
            section = title;
        } else if section.starts_with("dependencies") || section.ends_with(".dependencies]") {
            names.extend(
                line.split(['=', '.', ' ']).next().filter(|name| !name.is_empty()).map(str::to_owned),
            );
        }
    }
    names
}

#[test]
fn crates_know_only_whom_they_may() {
    let ours = |name: &str| -> Vec<String> {
        dependencies(name).into_iter().filter(|name| name.starts_with("ilo-")).collect()
    };
    assert!(dependencies("spec").is_empty(), "spec needs nothing");
    assert_eq!(ours("asm"), ["ilo-spec"]);
    assert_eq!(ours("vm"), ["ilo-spec"]);
    for name in ["spec", "asm", "vm"] {
        assert!(!dependencies(name).iter().any(|name| name == "ilo-host"), "{name} knows host");
    }
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    let manifests = files(&root(), &["Cargo.toml"]);
    let mut problems = Vec::new();
    // Workers for other engines call C and are packages of their own.
    let peers = root().join("benches/peers");
    for path in manifests.into_iter().filter(|path| !path.starts_with(&peers)) {
        let text = fs::read_to_string(&path).unwrap();
        if !text.contains("[lints]\nworkspace = true") && !text.contains("[workspace.lints.rust]") {
            problems.push(format!("{} does not take the lints of the workspace", path.display()));
        }
    }
    let workspace = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(
        workspace.contains("unsafe_code = \"forbid\""),
        "unsafe code is forbidden in one place for all crates"
    );
    complain(&problems);
}

#[test]
fn what_the_core_must_not_touch_stays_out_of_it() {
    let mut problems = Vec::new();
    let mut deny = |folder: &str, words: &[&str], except: &[&str]| {
        for path in files(&root().join(folder), &[".rs"]) {
            let text = fs::read_to_string(&path).unwrap();
            let name = path.to_string_lossy();
            if !except.iter().any(|except| name.ends_with(except)) {
                let found = words.iter().filter(|word| text.contains(**word));
                problems.extend(found.map(|word| format!("{name} mentions {word}")));
            }
        }
    };
    // The VM is a pure function of program, input and answers.
    deny("vm/src", &["std::fs", "std::time", "std::thread", "std::env", "std::net", "std::io"], &[]);
    deny("spec/src", &["std::"], &[]);
    // JSON is known to the renderer, the catalogue and the command line; readers are held against serde.
    let tests = ["document/json/tests.rs", "document/yaml/tests.rs", "document/tests.rs"];
    let known =
        ["diagnostic/json.rs", "catalog.rs", "catalog/fields.rs", "catalog/refer.rs", "catalog/shape.rs"];
    deny("asm/src", &["serde"], &[&known[..], &tests[..]].concat());
    // Lowering never sees a notation, and readers never see bytes.
    deny("asm/src/lower", &["crate::id", "crate::print"], &[]);
    deny("asm/src/id", &["crate::lower", "ilo_spec::isa", "ilo_spec::encode"], &[]);
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
    let mut problems = Vec::new();
    for path in files(&root(), &[".rs", ".md", ".toml", ".sh", ".json", ".ilo", ".case", "run"]) {
        if path.file_name().is_some_and(|name| name == "tidy.rs") {
            continue;
        }
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let found = words.iter().filter(|word| text.contains(**word));
        problems.extend(found.map(|word| format!("{} mentions {word}", path.display())));
    }
    complain(&problems);
}
