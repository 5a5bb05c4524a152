//! The table of all comparisons and targets.

use crate::measure::{Figures, Spread};
use crate::row::{Row, Target, Unit};
use crate::suspended;

const fn row(
    what: &'static str,
    items: &'static [&'static str],
    unit: Unit,
    peer: &'static str,
    target: Target,
) -> Row {
    Row { what, items, peer, unit, target: Some(target) }
}

use Target::{Alone, Least, Most};
use Unit::{Bytes, Nanoseconds, Speed};

const ALL_SIZES: &[&str] = &["size-notify", "size-summaries", "size-checkout", "size-total"];

const ROWS: &[Row] = &[
    row("P1, a call", &["p1"], Nanoseconds, "lua54", Most(0.38)),
    row("P1, a call", &["p1"], Nanoseconds, "plain", Most(2.0)),
    row("P2, an element", &["p2"], Nanoseconds, "luajit", Most(0.25)),
    row("P2, an element", &["p2"], Nanoseconds, "luajit-compiling", Most(0.4)),
    row("P3, result objects, a call", &["p3"], Nanoseconds, "luajit", Most(0.1)),
    row("P3, result objects, a call", &["p3"], Nanoseconds, "plain", Most(2.5)),
    row("P4, an element", &["p4"], Nanoseconds, "luajit", Most(0.5)),
    row("fresh state and P1", &["start"], Nanoseconds, "wasm", Most(0.5)),
    row("assemble 1 MB", &["assemble"], Speed, "wasm", Least(3.0)),
    row("assemble 1 MB", &["assemble"], Speed, "lua54", Least(2.0)),
    row("lex 1 MB, a byte", &["lex"], Nanoseconds, "logos", Most(1.5)),
    row(
        "assemble 1 MB of tool-calling, a byte",
        &["assemble-tool-calling"],
        Nanoseconds,
        "documents",
        Most(3.0),
    ),
    row(
        "assemble 1 MB of constrained, a byte",
        &["assemble-constrained"],
        Nanoseconds,
        "documents",
        Most(3.0),
    ),
    row("assemble 1 MB of workflow, a byte", &["assemble-workflow"], Nanoseconds, "documents", Most(3.0)),
    row("assemble 1 MB of mcp, a byte", &["assemble-mcp"], Nanoseconds, "documents", Most(3.0)),
    row("assemble and verify notify", &["assemble-notify"], Nanoseconds, "lua54", Most(2.0)),
    row("verify, an instruction", &["verify"], Nanoseconds, "wasm", Most(0.5)),
    row("bytecode of notify, stripped", &["size-notify"], Bytes, "lua54", Alone(240.0)),
    row("bytecode of four programs, stripped", ALL_SIZES, Bytes, "lua54", Most(0.75)),
];

/// The name of an item in rows without a target.
pub(crate) const ITEMS: &[(&str, &str, Unit)] = &[
    ("p1", "P1, a call", Nanoseconds),
    ("p2", "P2, an element", Nanoseconds),
    ("p3", "P3, result objects, a call", Nanoseconds),
    ("p3-own-manner", "P3, in their own manner, a call", Nanoseconds),
    ("p4", "P4, an element", Nanoseconds),
    ("start", "fresh state and P1", Nanoseconds),
    ("assemble", "assemble 1 MB", Speed),
    ("assemble-notify", "assemble and verify notify", Nanoseconds),
];

/// A row with its figures.
pub(crate) struct Result {
    pub(crate) what: &'static str,
    /// The engine's key and its name.
    pub(crate) peer: (&'static str, String),
    pub(crate) unit: Unit,
    pub(crate) ours: f64,
    pub(crate) theirs: Option<f64>,
    pub(crate) ratio: Option<f64>,
    pub(crate) target: Option<Target>,
    /// Whether the target is met; `None` without a target, or without the other engine.
    pub(crate) met: Option<bool>,
}

fn sum(figures: &Figures, items: &[&str], engine: &'static str) -> Option<f64> {
    items.iter().map(|item| figures.get(item, engine).map(|spread: Spread| spread.median)).sum()
}

/// Every row that has a target, then every other pair that was measured.
pub(crate) fn evaluate(figures: &Figures, names: &[(&'static str, &str)]) -> Vec<Result> {
    let targets = ROWS.iter().chain(suspended::ROWS);
    let mut results: Vec<Result> = targets
        .filter_map(|row| result(figures, names, row.what, row.items, row.peer, row.unit, row.target))
        .collect();
    for (item, what, unit) in ITEMS {
        for &(peer, _) in names.iter().skip(1) {
            let known = results.iter().any(|row| row.what == *what && row.peer.0 == peer);
            if !known && figures.get(item, peer).is_some() {
                results.extend(result(figures, names, what, &[item], peer, *unit, None));
            }
        }
    }
    results
}

fn result(
    figures: &Figures,
    names: &[(&'static str, &str)],
    what: &'static str,
    items: &[&str],
    peer: &'static str,
    unit: Unit,
    target: Option<Target>,
) -> Option<Result> {
    let ours = unit.of(sum(figures, items, "ilo")?);
    let theirs = sum(figures, items, peer).map(|measured| unit.of(measured));
    let ratio = theirs.map(|theirs| ours / theirs);
    let name = names.iter().find(|(key, _)| *key == peer).map_or(peer, |(_, name)| name);
    let met = target.and_then(|target| target.met(ours, ratio));
    Some(Result { what, peer: (peer, name.to_owned()), unit, ours, theirs, ratio, target, met })
}
