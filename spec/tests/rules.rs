//! Each rule of the specification has a number of its own, and the pages and cases cite only rules that
//! exist.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn pages() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("doc");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// The cases below a folder, and their headers.
fn headers(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            headers(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "case") {
            let text = fs::read_to_string(&path).unwrap();
            let rules = text.lines().find_map(|line| line.strip_prefix("rule:")).unwrap_or_default();
            found.push((path, rules.to_owned()));
        }
    }
}

fn is_number(text: &str) -> bool {
    text.contains('.') && text.split('.').all(|part| part.parse::<u8>().is_ok_and(|part| part > 0))
}

/// The numbers that a page defines: in bold, or at the start of a heading.
fn defined(page: &str) -> Vec<&str> {
    let bold = page.split("**").skip(1).step_by(2).filter(|text| is_number(text));
    let heading = page.lines().filter_map(|line| line.strip_prefix("## ")?.split(' ').next());
    bold.chain(heading.filter(|text| is_number(text))).collect()
}

fn all() -> BTreeSet<String> {
    pages().iter().flat_map(|(_, page)| defined(page)).map(str::to_owned).collect()
}

#[test]
fn no_number_is_given_twice() {
    let pages = pages();
    let numbers: Vec<&str> = pages.iter().flat_map(|(_, page)| defined(page)).collect();
    assert!(numbers.len() > 200, "{}", numbers.len());
    let mut seen = BTreeSet::new();
    let twice: Vec<&str> = numbers.into_iter().filter(|number| !seen.insert(*number)).collect();
    assert_eq!(twice, [""; 0]);
}

#[test]
fn cited_rules_exist() {
    let known = all();
    let mut cited = Vec::new();
    headers(&Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus"), &mut cited);
    headers(&Path::new(env!("CARGO_MANIFEST_DIR")).join("programs"), &mut cited);
    assert!(cited.len() > 200, "{}", cited.len());
    cited.extend(pages());
    let mut problems = Vec::new();
    for (path, text) in &cited {
        // Three numbers are a rule, except in versions, which begin with 0.
        let words = text.split(|c: char| !c.is_ascii_digit() && c != '.').map(|word| word.trim_matches('.'));
        let rules = words.filter(|word| word.matches('.').count() == 2 && is_number(word));
        problems.extend(
            rules.filter(|rule| !known.contains(*rule)).map(|rule| format!("{}: {rule}", path.display())),
        );
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
