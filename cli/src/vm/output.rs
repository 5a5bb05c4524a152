//! Writing to standard output and standard error. A reader that has gone away is no error.

use super::{Exit, Refused};
use ilo_host::problem::Problem;
use ilo_spec::error::Code;
use std::io::{self, Write};

/// Problems shown; the rest are counted.
const SHOWN: usize = 100;

/// Prints to standard output.
pub(super) fn print(text: &str, exit: Exit) -> Result<Exit, Refused> {
    bytes(text.as_bytes(), exit)
}

/// Prints bytes to standard output.
pub(super) fn bytes(bytes: &[u8], exit: Exit) -> Result<Exit, Refused> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let message = format!("cannot be written: {error}");
            Err(Problem::new(Code::BadUsage, "standard output", message).into())
        }
        _ => Ok(exit),
    }
}

/// Prints a text to standard error.
pub(super) fn error(text: &str) {
    // There is nowhere left to say that this failed.
    drop(io::stderr().lock().write_all(text.as_bytes()));
}

/// Prints problems to standard error, a line each.
pub(super) fn problems(problems: &[Problem]) {
    let mut lines: Vec<String> =
        problems.iter().take(SHOWN).map(|problem| plain(&problem.to_string())).collect();
    if problems.len() > SHOWN {
        lines.push(format!("and {} more", problems.len() - SHOWN));
    }
    lines.push(String::new());
    error(&lines.join("\n"));
}

/// Prints, as warnings, problems of tools that none of these programs calls.
pub(super) fn lacking<'p>(problems: impl IntoIterator<Item = &'p Problem>) {
    for problem in problems.into_iter().take(SHOWN) {
        error(&plain(&problem.to_string().replacen("error[", "warning[", 1)));
        error("\n");
    }
}

/// A text without control characters: names come from files, and a terminal would execute control characters
/// in them.
pub(super) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Rows with aligned columns, the first row being the head.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| plain(cell)).collect()).collect();
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}
