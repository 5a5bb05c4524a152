//! Writes RESULTS.md: each measuring program owns one section of it and rewrites that.

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
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    date(seconds / 86_400)
}

/// The date of a day after 1970-01-01. Years are counted from March, so that the leap day comes last.
fn date(days: u64) -> String {
    let days = days + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = 400 * era + year_of_era + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::{date, replaced};

    #[test]
    fn a_day_has_its_date() {
        let cases = [
            (0, "1970-01-01"),
            (58, "1970-02-28"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (20_454, "2026-01-01"),
        ];
        for (days, expected) in cases {
            assert_eq!(date(days), expected);
        }
    }

    #[test]
    fn a_section_takes_the_place_of_its_predecessor_alone() {
        let first = replaced("# Results\n", "A", "one");
        assert_eq!(first, "# Results\n\n## A\n\none\n");
        let both = replaced(&first, "B", "two");
        assert_eq!(both, "# Results\n\n## A\n\none\n\n## B\n\ntwo\n");
        assert_eq!(replaced(&both, "A", "three"), "# Results\n\n## A\n\nthree\n\n## B\n\ntwo\n");
    }
}
