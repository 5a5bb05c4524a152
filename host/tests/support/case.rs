//! Conformance cases as they lie in `spec/corpus`: what a file says, and nothing of how it is run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A case.
#[derive(Debug)]
pub struct Case {
    /// Its file.
    pub path: PathBuf,
    /// `key: value` lines before the first section.
    pub headers: BTreeMap<String, String>,
    /// Sections by title.
    pub sections: BTreeMap<String, String>,
}

impl Case {
    fn read(path: PathBuf) -> Case {
        let text = String::from_utf8(fs::read(&path).unwrap()).unwrap();
        let (head, rest) = text.split_once("=== ").unwrap_or((&text, ""));
        let headers = head
            .lines()
            .filter_map(|line| line.split_once(':'))
            .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()));
        let sections = rest.split("\n=== ").filter_map(|part| part.split_once('\n'));
        Case {
            headers: headers.collect(),
            sections: sections.map(|(title, body)| (title.trim().to_owned(), body.to_owned())).collect(),
            path,
        }
    }

    /// A section's text.
    pub fn section(&self, title: &str) -> Option<&str> {
        self.sections.get(title).map(String::as_str)
    }

    /// Words of the `options:` line.
    pub fn options(&self) -> Vec<&str> {
        self.headers.get("options").map_or_else(Vec::new, |line| line.split_whitespace().collect())
    }
}

/// Every case below a folder, in the order of their paths.
pub fn all(folder: &Path) -> Vec<Case> {
    let mut found = Vec::new();
    let mut rest = vec![folder.to_path_buf()];
    while let Some(folder) = rest.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                rest.push(path);
            } else if path.extension().is_some_and(|ending| ending == "case") {
                found.push(path);
            }
        }
    }
    found.sort();
    found.into_iter().map(Case::read).collect()
}
