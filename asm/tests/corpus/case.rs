//! Conformance cases as they lie in `spec/corpus`: what a file says, and nothing of how it is run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// First words of the titles of sections.
#[allow(dead_code, reason = "only the assembler's tests ask")]
pub(crate) const TITLES: [&str; 8] =
    ["source", "tools", "input", "catalog", "outcome", "trace", "diagnostics", "fixed"];

/// Codes of what is wrong when a run is started, with a program that is right.
pub(crate) const AT_THE_START: [&str; 6] =
    ["bad-input", "missing-input", "unknown-input", "input-type", "unknown-function", "no-single-entry"];

/// A program of a case.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'c> {
    /// The name of its notation.
    pub(crate) notation: &'c str,
    /// The program.
    pub(crate) text: &'c str,
}

impl Source<'_> {
    /// What a file of it is called.
    #[allow(dead_code, reason = "only runs ask")]
    pub(crate) fn file(&self) -> String {
        let ending = match self.notation {
            "id" => "ilo",
            "workflow" => "yaml",
            _ => "json",
        };
        format!("case.{ending}")
    }
}

/// A case.
#[derive(Debug)]
pub(crate) struct Case {
    /// Its file.
    pub(crate) path: PathBuf,
    /// `key: value` lines before the first section.
    pub(crate) headers: BTreeMap<String, String>,
    /// Sections by title.
    pub(crate) sections: BTreeMap<String, String>,
}

impl Case {
    /// The code of the one diagnostic that a run of this case ends with as it starts; the file itself builds.
    #[allow(dead_code, reason = "only runs ask")]
    pub(crate) fn refused_at_the_start(&self, notation: &str) -> Option<&str> {
        let line =
            self.section_for("diagnostics", notation)?.lines().find(|line| line.starts_with("error "))?;
        line.split(' ').nth(1).filter(|code| AT_THE_START.contains(code))
    }

    fn read(path: PathBuf) -> Case {
        let text = String::from_utf8(fs::read(&path).unwrap()).unwrap();
        let mut sections: BTreeMap<String, String> = BTreeMap::new();
        let (mut head, mut title) = (String::new(), None);
        // The line break before a title belongs to the content above it.
        for line in text.split_inclusive('\n') {
            match (line.strip_prefix("=== "), &title) {
                (Some(next), _) => {
                    let next = next.trim().to_owned();
                    sections.insert(next.clone(), String::new());
                    title = Some(next);
                }
                (None, None) => head.push_str(line),
                (None, Some(title)) => sections.entry(title.clone()).or_default().push_str(line),
            }
        }
        let headers = head
            .lines()
            .filter_map(|line| line.split_once(':'))
            .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()));
        Case { headers: headers.collect(), sections, path }
    }

    /// A section's text.
    pub(crate) fn section(&self, title: &str) -> Option<&str> {
        self.sections.get(title).map(String::as_str)
    }

    /// A section that speaks of one notation's source, else the one that speaks of all.
    pub(crate) fn section_for(&self, title: &str, notation: &str) -> Option<&str> {
        self.section(&format!("{title} {notation}")).or_else(|| self.section(title))
    }

    /// Its programs, each in another notation.
    pub(crate) fn sources(&self) -> Vec<Source<'_>> {
        let sources = self.sections.iter();
        sources
            .filter_map(|(title, text)| Some(Source { notation: title.strip_prefix("source ")?, text }))
            .collect()
    }

    /// Words of the `options:` line.
    pub(crate) fn options(&self) -> Vec<&str> {
        self.headers.get("options").map_or_else(Vec::new, |line| line.split_whitespace().collect())
    }
}

/// Every case below a folder, in the order of their paths.
pub(crate) fn all(folder: &Path) -> Vec<Case> {
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
