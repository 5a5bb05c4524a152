//! Writing to standard output and standard error. A reader that has gone away is no error.

use super::{Exit, Refused};
use ilo_host::problem::Problem;
use ilo_spec::error::Code;
use std::io::{self, Write};

/// Problems shown; the rest are counted.
const SHOWN: usize = 100;

/// Prints to standard output.
pub(super) fn print(text: &str, exit: Exit) -> Result<Exit, Refused> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let message = format!("cannot be written: {error}");
            Err(vec![Problem::new(Code::BadUsage, "standard output", message)])
        }
        _ => Ok(exit),
    }
}

/// Prints problems to standard error, a line each.
pub(super) fn problems(problems: &[Problem]) {
    let mut text: String = problems.iter().take(SHOWN).map(|problem| format!("{problem}\n")).collect();
    if problems.len() > SHOWN {
        text.push_str(&format!("and {} more\n", problems.len() - SHOWN));
    }
    // There is nowhere left to say that this failed.
    drop(io::stderr().lock().write_all(text.as_bytes()));
}

/// Rows with aligned columns, the first row being the head.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&format!("{cell:width$}  "));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
