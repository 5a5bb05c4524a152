//! Prints measurements for a terminal, as JSON and for RESULTS.md. It decides nothing.

use crate::measure::{Figures, Spread};
use crate::peers::Absent;
use crate::row::{Target, Unit};
use crate::rows::{ITEMS, Result};
use serde_json::{Value, json};
use std::fmt::Write;
use std::fs;
use std::thread::available_parallelism;

/// The load of the machine, if the system reports it.
pub(crate) fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().unwrap_or("").to_owned()
}

/// Where and how the figures were measured.
pub(crate) fn head(rounds: u32, load: &str) -> String {
    let cores = available_parallelism().map_or(0, std::num::NonZero::get);
    let mut out = format!(
        "{}, profile `{}`, a {cores}-core {} machine running {}, shared with other jobs",
        ilo_benches::results::today(),
        profile(),
        std::env::consts::ARCH,
        std::env::consts::OS
    );
    if !load.is_empty() {
        let _ = write!(out, " (load average {load} before)");
    }
    let _ = writeln!(
        out,
        ". Thread CPU time, medians of {rounds} batches of about 20 ms each, alternating between engines.\n"
    );
    out
}

/// The profile of this build, which is the name of the program's folder.
fn profile() -> String {
    let program = std::env::current_exe().unwrap_or_default();
    program.parent().and_then(|folder| folder.file_name()).unwrap_or_default().to_string_lossy().into_owned()
}

/// A figure with about three significant digits.
fn digits(value: f64) -> String {
    match value.abs() {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn target(target: Option<Target>) -> String {
    match target {
        Some(Target::Most(most)) => format!("at most {most}"),
        Some(Target::Least(least)) => format!("at least {least}"),
        Some(Target::Alone(most)) => format!("at most {most} alone"),
        None => String::new(),
    }
}

fn verdict(met: Option<bool>) -> &'static str {
    match met {
        Some(true) => "yes",
        Some(false) => "NO",
        None => "",
    }
}

/// The rows: name, figure of ilo, figure of the other engine, ratio, target, and whether it is met.
pub(crate) fn json(rows: &[Result]) -> Value {
    let rounded = |value: f64| digits(value).parse::<f64>().unwrap_or(value);
    rows.iter()
        .map(|row| {
            json!({
                "name": format!("{}, {}, against {}", row.what, row.unit.name(), row.peer.0),
                "ilo": rounded(row.ours),
                "peer": row.theirs.map(rounded),
                "ratio": row.ratio.map(rounded),
                "target": row.target.map(|value| target(Some(value))),
                "ok": row.met,
            })
        })
        .collect()
}

fn cells(rows: &[Result]) -> Vec<[String; 7]> {
    let head = ["what", "unit", "ilo", "against", "theirs", "ratio", "target, and whether it is met"]
        .map(str::to_owned);
    let mut cells = vec![head];
    cells.extend(rows.iter().map(|row| {
        let unknown = || "not available".to_owned();
        [
            row.what.to_owned(),
            row.unit.name().to_owned(),
            digits(row.ours),
            row.peer.1.clone(),
            row.theirs.map_or_else(unknown, digits),
            row.ratio.map_or_else(unknown, |ratio| format!("{ratio:.2}")),
            match row.target {
                Some(_) => format!("{}: {}", target(row.target), verdict(row.met)),
                None => String::new(),
            },
        ]
    }));
    cells
}

/// The least and the quartiles of all figures, a row for each engine.
fn spreads(figures: &Figures, names: &[(&'static str, &str)]) -> Vec<Vec<String>> {
    let items: Vec<_> = ITEMS.iter().filter(|(item, _, _)| *item != "assemble-notify").collect();
    let mut head = vec!["median (least, quartiles)".to_owned()];
    head.extend(items.iter().map(|(_, what, unit)| format!("{what}, {}", unit.name())));
    let mut table = vec![head];
    for &(key, name) in names {
        let mut line = vec![name.to_owned()];
        line.extend(items.iter().map(|(item, _, unit)| {
            figures.get(item, key).map_or(String::new(), |spread| shown(spread, *unit))
        }));
        if line.iter().skip(1).any(|cell| !cell.is_empty()) {
            table.push(line);
        }
    }
    table
}

fn shown(spread: Spread, unit: Unit) -> String {
    let Spread { least, lower, median, upper } = spread;
    let of = |value| digits(unit.of(value));
    format!("{} ({}, {}–{})", of(median), of(least), of(lower), of(upper))
}

fn missing(absent: &[Absent]) -> String {
    absent.iter().fold(String::new(), |mut out, (key, reason)| {
        let _ = writeln!(out, "absent: {key}: {reason}");
        out
    })
}

/// Prints columns.
pub(crate) fn text(
    rows: &[Result],
    figures: &Figures,
    names: &[(&'static str, &str)],
    absent: &[Absent],
) -> String {
    let cells: Vec<Vec<String>> = cells(rows).into_iter().map(Vec::from).collect();
    format!("{}\n{}\n{}", aligned(&cells), aligned(&spreads(figures, names)), missing(absent))
}

fn aligned(cells: &[Vec<String>]) -> String {
    let columns = cells.first().map_or(0, Vec::len);
    let width = |column: usize| {
        cells.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for line in cells {
        let mut text = String::new();
        for (cell, width) in line.iter().zip(&widths) {
            let _ = write!(text, "{cell:width$}  ");
        }
        let _ = writeln!(out, "{}", text.trim_end());
    }
    out
}

/// The same figures as tables in Markdown.
pub(crate) fn markdown(
    rows: &[Result],
    figures: &Figures,
    names: &[(&'static str, &str)],
    absent: &[Absent],
) -> String {
    let cells: Vec<Vec<String>> = cells(rows).into_iter().map(Vec::from).collect();
    let mut out = ilo_benches::results::table(&cells);
    out.push('\n');
    out.push_str(&ilo_benches::results::table(&spreads(figures, names)));
    if !absent.is_empty() {
        let _ = write!(out, "\n{}", missing(absent));
    }
    out
}
