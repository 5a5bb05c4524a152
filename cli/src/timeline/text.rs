//! Draws a timeline as text: one line for each call, with a bar at its time.

use super::{Row, Timeline, time};
use ilo_graph::{clean, columns};
use std::fmt::Write;

/// The columns of a bar, of the name of a tool, and of the text after it.
const BAR: usize = 40;
const NAME: usize = 24;
const SAID: usize = 32;

pub(super) fn write(timeline: &Timeline) -> String {
    let mut out = format!("{}\n", timeline.summary());
    let name = timeline.rows.iter().map(|row| columns(&row.tool)).max().unwrap_or(0).min(NAME);
    for row in &timeline.rows {
        let said = if row.failed { format!("failed: {}", row.result) } else { row.arguments.clone() };
        let (tool, bar, took) = (padded(&row.tool, name), bar(timeline, row), time(row.duration));
        let line = format!("{:>5}  {tool}  {bar}  {took:>8}  {}", row.seq, clean(&said, SAID));
        let _ = writeln!(out, "{}", line.trim_end());
    }
    for note in timeline.notes() {
        let _ = writeln!(out, "{note}");
    }
    out
}

/// A text that is cut or padded to a width.
fn padded(text: &str, width: usize) -> String {
    let cut = if columns(text) > width { clean(text, width) } else { text.to_owned() };
    let fill = " ".repeat(width.saturating_sub(columns(&cut)));
    cut + &fill
}

/// The bar of a call: at least one mark.
fn bar(timeline: &Timeline, row: &Row) -> String {
    let place = |moment: f64| match timeline.span() {
        span if span > 0.0 => column((moment - timeline.begin) / span),
        _ => 0,
    };
    let start = place(row.start).min(BAR - 1);
    let end = place(row.start + row.duration).clamp(start + 1, BAR);
    let mark = if row.failed { "░" } else { "█" };
    format!("{}{}{}", "·".repeat(start), mark.repeat(end - start), "·".repeat(BAR - end))
}

/// The column at a fraction of the bar.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a part of 0 to 1 of forty"
)]
fn column(part: f64) -> usize {
    (part.clamp(0.0, 1.0) * BAR as f64).round() as usize
}
