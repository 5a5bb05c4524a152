//! Runs random programs both ways: `oracle [COUNT] [FIRST]`, from seed FIRST on. Prints how it goes, what the programs
//! came to, and for each disagreement the shortest program that shows it; then it exits with 1.

use ilo_fuzz::differential::{Verdict, compare};
use ilo_fuzz::generate::{bytes, case};
use ilo_fuzz::shrink::shrink;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// Programs between two looks at how it goes.
const BATCH: u64 = 1_000;
/// Batches between two lines.
const LINE: u64 = 100;
/// Disagreements after which it stops.
const ENOUGH: u64 = 1_000;

#[derive(Default)]
struct Totals {
    verdicts: BTreeMap<Verdict, u64>,
    /// Disagreements by their first line: how many, and a seed.
    found: BTreeMap<String, (u64, u64)>,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>());
    let (Ok(count), Ok(first)) = (arguments.next().unwrap_or(Ok(100_000)), arguments.next().unwrap_or(Ok(0)))
    else {
        eprintln!("usage: oracle [COUNT] [FIRST]");
        return ExitCode::from(2);
    };
    let totals = Mutex::new(Totals::default());
    let (batch, stop, begun) = (AtomicU64::new(0), AtomicBool::new(false), Instant::now());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let at = batch.fetch_add(1, Ordering::Relaxed);
                    if at * BATCH >= count {
                        break;
                    }
                    let seeds = first + at * BATCH..first + ((at + 1) * BATCH).min(count);
                    work(seeds, &totals, &stop);
                    if (at + 1).is_multiple_of(LINE) {
                        eprintln!("{} programs, {:.0} s", (at + 1) * BATCH, begun.elapsed().as_secs_f64());
                    }
                }
            });
        }
    });
    let Ok(totals) = totals.into_inner() else { return ExitCode::FAILURE };
    tell(&totals, begun)
}

fn work(seeds: std::ops::Range<u64>, totals: &Mutex<Totals>, stop: &AtomicBool) {
    let mut verdicts: BTreeMap<Verdict, u64> = BTreeMap::new();
    for seed in seeds {
        match compare(&case(&bytes(seed))) {
            Ok(verdict) => *verdicts.entry(verdict).or_default() += 1,
            Err(what) => {
                if let Ok(mut totals) = totals.lock() {
                    totals.found.entry(first_line(&what)).or_insert((0, seed)).0 += 1;
                    stop.fetch_or(disagreements(&totals) >= ENOUGH, Ordering::Relaxed);
                }
            }
        }
    }
    if let Ok(mut totals) = totals.lock() {
        for (verdict, count) in verdicts {
            *totals.verdicts.entry(verdict).or_default() += count;
        }
    }
}

fn first_line(what: &str) -> String {
    what.lines().next().unwrap_or_default().to_owned()
}

fn disagreements(totals: &Totals) -> u64 {
    totals.found.values().map(|(count, _)| count).sum()
}

fn tell(totals: &Totals, begun: Instant) -> ExitCode {
    for (what, &(count, seed)) in &totals.found {
        let same = |bytes: &[u8]| compare(&case(bytes)).is_err_and(|found| first_line(&found) == *what);
        let shortest = case(&shrink(&bytes(seed), same));
        println!(
            "# {count} of these, seed {seed}: {}\n{shortest}",
            compare(&shortest).err().unwrap_or_default()
        );
    }
    let all: u64 = totals.verdicts.values().sum();
    let shares: Vec<String> =
        totals.verdicts.iter().map(|(verdict, count)| format!("{verdict:?} {count}")).collect();
    println!(
        "{all} programs agree ({}), {} disagree, {:.0} s",
        shares.join(", "),
        disagreements(totals),
        begun.elapsed().as_secs_f64()
    );
    if totals.found.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
