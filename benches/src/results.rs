//! Writes RESULTS.md: each measuring program owns one section of it and rewrites that.

use ilo_vm::calendar::to_second;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{fs, io};

const OPENING: &str = "# Results\n\nWritten by `compare --save` and `growth` of this crate, not by hand.\n";

/// The folder of the benches.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

/// Replaces the section with the same title, or appends one.
///
/// # Errors
/// Those of the file system.
pub fn save(title: &str, body: &str) -> io::Result<()> {
    let path = folder().join("RESULTS.md");
    let old = fs::read_to_string(&path).unwrap_or_else(|_| OPENING.to_owned());
    fs::write(path, replaced(&old, title, body))
}

fn replaced(old: &str, title: &str, body: &str) -> String {
    let section = format!("\n## {title}\n\n{}\n", body.trim());
    let mark = format!("\n## {title}\n");
    match old.split_once(&mark) {
        None => format!("{}\n{section}", old.trim_end()),
        Some((before, after)) => {
            let rest = after.find("\n## ").and_then(|start| after.get(start..)).unwrap_or("");
            format!("{before}{section}{rest}")
        }
    }
}

/// A table in Markdown; the first line is its head.
pub fn table(cells: &[Vec<String>]) -> String {
    let mut out = String::new();
    for (place, line) in cells.iter().enumerate() {
        let _ = writeln!(out, "| {} |", line.join(" | "));
        if place == 0 {
            let _ = writeln!(out, "|{}", "---|".repeat(line.len()));
        }
    }
    out
}

/// The date, in UTC.
pub fn today() -> String {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let time = to_second(i64::try_from(passed.as_millis()).unwrap_or(0));
    time.split('T').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::replaced;

    #[test]
    fn a_section_takes_the_place_of_its_predecessor_alone() {
        let first = replaced("# Results\n", "A", "one");
        assert_eq!(first, "# Results\n\n## A\n\none\n");
        let both = replaced(&first, "B", "two");
        assert_eq!(both, "# Results\n\n## A\n\none\n\n## B\n\ntwo\n");
        assert_eq!(replaced(&both, "A", "three"), "# Results\n\n## A\n\nthree\n\n## B\n\ntwo\n");
    }
}
