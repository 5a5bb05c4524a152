//! The cost of keeping a run that waits for an answer: memory, size of the snapshot, time to take and restore
//! it.

use crate::measure::Figures;
use crate::row::{Row, Target, Unit};
use ilo_benches::{Answers, NOTIFY, program};
use ilo_vm::{Datum, Limits, Program, Run, Step};
use ilo_worker::{Worker, mixed, resident};
use std::hint::black_box;

/// Runs that are suspended at once.
const RUNS: u32 = 1_000_000;

/// Monty does not build with this Rust, so its row has figures of version 1.4 from another machine: the least
/// of several times, in ns.
const QUOTED: [(&str, f64); 2] = [("snapshot-take", 3_400.0), ("snapshot-load", 7_000.0)];
const QUOTED_KEY: &str = "monty";

/// A run of notify at its first call.
fn waiting(run: &mut Run, program: &Program) -> bool {
    let Some(entry) = program.function("notify") else { return false };
    run.start(entry, &[Datum::Text("u1"), Datum::Text("Hello")]).is_ok()
        && matches!(run.step(), Step::Call(_))
}

/// The items of ilo.
pub(crate) fn add(worker: &mut Worker) {
    let program = program(NOTIFY);
    let mut run = Run::new(&program, Limits::default());
    let mut bytes = Vec::new();
    if !waiting(&mut run, &program) || run.snapshot(&mut bytes).is_err() {
        return;
    }
    worker.figure("size-snapshot", u64::try_from(bytes.len()).unwrap_or(0));
    let mut out = Vec::new();
    worker.work("snapshot-take", move |count| {
        for _ in 0..count {
            black_box(black_box(&run).snapshot(&mut out).is_ok());
        }
        count
    });
    let mut run = Run::new(&program, Limits::default());
    worker.work("snapshot-load", move |count| {
        for _ in 0..count {
            black_box(run.restore(black_box(&bytes)).is_ok());
        }
        count
    });
    worker.finding("size-suspended", move || suspend(&program).unwrap_or(0));
}

/// Suspends many runs at their first call, keeps only their snapshots, and continues all of them to their end
/// in another order. Returns the resident bytes of each, or nothing if one of them does not end well.
fn suspend(program: &Program) -> Option<u64> {
    let mut run = Run::new(program, Limits::default());
    let mut bytes = Vec::new();
    let before = resident();
    let mut suspended: Vec<Box<[u8]>> = Vec::new();
    for _ in 0..RUNS {
        if !waiting(&mut run, program) {
            return None;
        }
        run.snapshot(&mut bytes).ok()?;
        suspended.push(bytes.as_slice().into());
    }
    let each = resident().saturating_sub(before) / u64::from(RUNS);
    let answers = Answers::new(program);
    for place in mixed(RUNS) {
        run.restore(suspended.get(usize::try_from(place).ok()?)?).ok()?;
        loop {
            match run.step() {
                Step::Call(call) => answers.give(call),
                Step::Done(outcome) => {
                    outcome.ok()?;
                    break;
                }
            }
        }
    }
    Some(each)
}

/// Adds known figures of an engine that cannot be measured here. Returns its key and its name in rows.
pub(crate) fn quote(figures: &mut Figures) -> (&'static str, &'static str) {
    for (item, value) in QUOTED {
        figures.put_one(item, QUOTED_KEY, value);
    }
    (QUOTED_KEY, "Monty 1.4, quoted from another machine")
}

const fn row(
    what: &'static str,
    item: &'static [&'static str],
    peer: &'static str,
    target: Option<Target>,
) -> Row {
    Row { what, items: item, peer, unit: Unit::Bytes, target }
}

const fn time(what: &'static str, item: &'static [&'static str]) -> Row {
    Row { what, items: item, peer: QUOTED_KEY, unit: Unit::Nanoseconds, target: Some(Target::Most(0.02)) }
}

const EACH: &str = "a suspended run of notify, resident";

/// The rows.
pub(crate) const ROWS: &[Row] = &[
    row(EACH, &["size-suspended"], "luajit", Some(Target::Alone(160.0))),
    row(EACH, &["size-suspended"], "lua54", None),
    row(EACH, &["size-suspended"], "luau", None),
    row("snapshot of notify at its first call", &["size-snapshot"], QUOTED_KEY, Some(Target::Alone(128.0))),
    time("taking that snapshot", &["snapshot-take"]),
    time("verifying and loading it", &["snapshot-load"]),
];
