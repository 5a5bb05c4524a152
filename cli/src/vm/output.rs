//! Writes to standard output and standard error. A closed pipe is not an error.

#[cfg(feature = "serve")]
use super::log::Log;
use super::{Exit, Refused};
use ilo_asm::text::is_hidden;
use ilo_host::problem::Problem;
use ilo_host::tools::without_secrets;
use std::io::{self, Write};
#[cfg(feature = "serve")]
use std::sync::OnceLock;

/// The most problems that are shown; the rest are counted.
const SHOWN: usize = 100;

/// Prints to standard output.
pub(super) fn print(text: &str, exit: Exit) -> Result<Exit, Refused> {
    bytes(text.as_bytes(), exit)
}

/// Prints bytes to standard output.
pub(super) fn bytes(bytes: &[u8], exit: Exit) -> Result<Exit, Refused> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(failure) if failure.kind() != io::ErrorKind::BrokenPipe => {
            error(&format!("error: standard output cannot be written: {failure}\n"));
            Err(Refused::Unwritten)
        }
        _ => Ok(exit),
    }
}

/// From now on, sends output for standard error through the log of `serve`, which never waits.
#[cfg(feature = "serve")]
pub(super) fn log_errors() {
    // The first log stays.
    let _ = LOG.set(Log::of_process());
}

#[cfg(feature = "serve")]
static LOG: OnceLock<&'static Log> = OnceLock::new();

/// From now on, the message of a panic has no secret of the tools file.
pub(super) fn hide_in_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let text = info.to_string();
        if without_secrets(&text) == text { usual(info) } else { error(&format!("{text}\n")) }
    }));
}

/// Prints a text to standard error, without the secrets of the tools file.
pub(super) fn error(text: &str) {
    let text = without_secrets(text);
    #[cfg(feature = "serve")]
    if let Some(log) = LOG.get() {
        return log.line(text.as_bytes());
    }
    // There is nowhere to report that this failed.
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

/// A text with control characters, invisible characters and direction marks escaped, because names come from
/// files and servers and a terminal would obey them.
pub(super) fn plain(text: &str) -> String {
    text.chars().map(|c| if is_hidden(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// A text of several lines without other control characters.
#[cfg(feature = "journal")]
pub(super) fn plain_lines(text: &str) -> String {
    text.split('\n').map(plain).collect::<Vec<_>>().join("\n")
}

/// The widest column that is aligned, in characters. A longer name is shown whole and shifts the rest of its
/// row.
const WIDEST: usize = 100;

/// Rows with aligned columns; the first row is the header.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| plain(cell)).collect()).collect();
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).filter(|&width| width <= WIDEST).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn a_name_of_any_length_is_shown_and_the_other_rows_stay_aligned() {
        let long = "x".repeat(70_000);
        let rows = [["NAME", "STATE"], [&long, "a"], ["one", "b"]];
        let shown = table(&rows.map(|row| row.map(str::to_owned).to_vec()));
        assert_eq!(shown, format!("NAME  STATE\n{long}  a\none   b\n"));
    }
}
