//! The files and folders that the root may contain, and the number of files that a folder may contain.

use crate::tree::{complain, files};
use std::collections::{BTreeMap, BTreeSet};

/// Files in the root.
const FILES: &[&str] = &[
    ".gitattributes",
    ".gitignore",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "SECURITY.md",
    "clippy.toml",
    "deny.toml",
    "rust-toolchain.toml",
    "rustfmt.toml",
];

/// Folders in the root. A folder without files does not exist.
pub(crate) const FOLDERS: &[&str] = &[
    ".cargo",
    ".ci",
    ".github",
    "asm",
    "benches",
    "bindings",
    "cli",
    "drive",
    "editors",
    "examples",
    "fuzz",
    "graph",
    "guide",
    "host",
    "journal",
    "playground",
    "release",
    "spec",
    "vm",
];

/// The most files directly in a folder.
const MOST_FILES: usize = 60;

/// Folders that may contain more files, including those in their subfolders, with the reason.
const LARGER: &[(&str, usize, &str)] =
    &[("spec/corpus", 300, "a case is a file, and a chapter of the specification a folder")];

/// The problems of these files: entries of the root without a row, and folders with too many files.
fn problems(files: &[String]) -> Vec<String> {
    let mut problems = BTreeSet::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for path in files {
        match path.split_once('/') {
            Some((folder, _)) if !FOLDERS.contains(&folder) => {
                problems.insert(format!("the folder {folder} is not one that the root may hold"));
            }
            None if !FILES.contains(&path.as_str()) => {
                problems.insert(format!("{path} is not a file that the root may hold"));
            }
            _ => {}
        }
        *counts.entry(path.rsplit_once('/').map_or("", |(folder, _)| folder)).or_default() += 1;
    }
    for (folder, count) in counts {
        let larger = LARGER.iter().find(|(large, ..)| {
            folder.strip_prefix(large).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        let most = larger.map_or(MOST_FILES, |&(_, most, _)| most);
        if count > most {
            problems.insert(format!("{folder} holds {count} files, and may hold {most}"));
        }
    }
    problems.into_iter().collect()
}

#[test]
fn the_root_holds_what_the_list_names_and_no_folder_too_much() {
    complain(&problems(files()));
}

#[test]
fn a_folder_has_something_in_it() {
    let mut empty = Vec::new();
    for folder in FOLDERS {
        let mut inside =
            files().iter().filter_map(|path| path.strip_prefix(folder)?.strip_prefix('/')).peekable();
        if inside.peek().is_some() && inside.all(|path| ["Cargo.toml", "README.md"].contains(&path)) {
            empty.push(format!("{folder} holds nothing but a manifest"));
        }
    }
    for (folder, _, why) in LARGER {
        if !files().iter().any(|path| path.starts_with(&format!("{folder}/"))) {
            empty.push(format!("{folder}, where {why}, does not exist"));
        }
    }
    complain(&empty);
}

#[test]
fn a_stray_folder_a_stray_file_and_a_full_folder_are_found() {
    let mut made: Vec<String> = ["Cargo.toml", "669/input", ".idea/x", "notes.txt"].map(str::to_owned).into();
    made.extend((0..=MOST_FILES).map(|file| format!("vm/src/{file}")));
    made.extend((0..=MOST_FILES).map(|file| format!("spec/corpus/1/{file}")));
    assert_eq!(
        problems(&made),
        [
            "notes.txt is not a file that the root may hold",
            "the folder .idea is not one that the root may hold",
            "the folder 669 is not one that the root may hold",
            "vm/src holds 61 files, and may hold 60",
        ]
    );
}
