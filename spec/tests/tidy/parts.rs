//! The layering of each crate: which part may import which.
//!
//! The tables are `spec/tests/tidy/layers/CRATE.txt`. `UPDATE=1 cargo test -p ilo-spec --test tidy` writes
//! the tables that are missing or marked `today` from the present imports; a final table is written by hand.

use crate::imports::Parts;
use crate::layers::Table;
use crate::modules::Files;
use crate::tree::{below, complain, read, root};
use std::fs;

/// Crates that have a table, once they exist.
const CRATES: [&str; 8] = ["asm", "vm", "drive", "host", "graph", "guide", "cli", "journal"];

fn parts(name: &str) -> Option<Parts> {
    let source = format!("{name}/src");
    let files: Files =
        below(&source, &[".rs"]).map(|path| (path[source.len() + 1..].to_owned(), read(path))).collect();
    (!files.is_empty()).then(|| Parts::read(&files, &format!("ilo_{name}")))
}

#[test]
fn a_part_imports_only_what_its_row_allows() {
    let mut problems = Vec::new();
    for name in CRATES {
        let table = format!("spec/tests/tidy/layers/{name}.txt");
        let text = fs::read_to_string(root().join(&table)).ok();
        let Some(found) = parts(name) else {
            problems.extend(text.map(|_| format!("{table} is the table of no crate")));
            continue;
        };
        let today = text.as_deref().is_none_or(|text| text.lines().any(|line| line.trim() == "today"));
        if today && std::env::var_os("UPDATE").is_some() {
            // The comment at its top is kept.
            let text = text.unwrap_or_default();
            let head: Vec<&str> =
                text.split_inclusive('\n').take_while(|line| line.starts_with('#')).collect();
            fs::write(root().join(&table), head.concat() + &Table::of(&found)).unwrap();
            continue;
        }
        match text.as_deref().map(Table::parse) {
            Some(Ok(parsed)) => {
                problems.extend(
                    parsed.problems(&found).into_iter().map(|problem| format!("{name}/src: {problem}")),
                );
            }
            Some(Err(error)) => problems.push(format!("{table}: {error}")),
            None => problems.push(format!("{name} has no {table}; UPDATE=1 writes one")),
        }
    }
    complain(&problems);
}
