//! Compares random programs with the oracle: `oracle [COUNT] [FIRST]`, from seed FIRST on. Prints the
//! progress, the shares of outcomes, and for each kind of disagreement the shortest program that shows it;
//! exits with 1 if there is one.

use ilo_fuzz::differential::{Verdict, compare};
use ilo_fuzz::generate::{bytes, case};
use ilo_fuzz::shrink::shrink;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// The programs of a batch.
const BATCH: u64 = 1_000;
/// The batches between two lines of progress.
const LINE: u64 = 100;
/// The number of disagreements at which it stops.
const ENOUGH: u64 = 1_000;

thread_local! {
    /// The place of the last panic of this thread.
    static PANICKED: std::cell::RefCell<String> = const { std::cell::RefCell::new(String::new()) };
}

#[derive(Default)]
struct Totals {
    verdicts: BTreeMap<Verdict, u64>,
    /// Disagreements by their first line: the number of them, and one seed.
    found: BTreeMap<String, (u64, u64)>,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>());
    let (Ok(count), Ok(first)) = (arguments.next().unwrap_or(Ok(100_000)), arguments.next().unwrap_or(Ok(0)))
    else {
        eprintln!("usage: oracle [COUNT] [FIRST]");
        return ExitCode::from(2);
    };
    // The message of a panic is printed with the program that causes it.
    std::panic::set_hook(Box::new(|panic| {
        if let Some(place) = panic.location() {
            PANICKED.with(|at| at.replace(place.to_string()));
        }
    }));
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
        match tried(&bytes(seed)) {
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

/// Compares a program; a panic counts as a disagreement.
fn tried(bytes: &[u8]) -> Result<Verdict, String> {
    std::panic::catch_unwind(|| compare(&case(bytes))).unwrap_or_else(|cause| {
        let message = cause.downcast_ref::<String>().cloned();
        let message = message.or(cause.downcast_ref::<&str>().map(|&text| text.to_owned()));
        let place = PANICKED.with(std::cell::RefCell::take);
        Err(format!("it panics at {place}: {}", message.unwrap_or_default()))
    })
}

fn first_line(what: &str) -> String {
    what.lines().next().unwrap_or_default().to_owned()
}

fn disagreements(totals: &Totals) -> u64 {
    totals.found.values().map(|(count, _)| count).sum()
}

fn tell(totals: &Totals, begun: Instant) -> ExitCode {
    for (what, &(count, seed)) in &totals.found {
        let same = |bytes: &[u8]| tried(bytes).is_err_and(|found| first_line(&found) == *what);
        let shortest = shrink(&bytes(seed), same);
        let what = tried(&shortest).err().unwrap_or_default();
        let program = std::panic::catch_unwind(|| case(&shortest).to_string()).unwrap_or_default();
        println!("# {count} of these, seed {seed}: {what}\n{program}");
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
