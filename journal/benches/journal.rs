//! The speed of the journal: durable steps per second, runs that are taken over, and the size of waiting
//! runs.
//!
//! `cargo bench -p ilo-journal` prints a table, with the time of an 8 kB `fdatasync` on the same disk beside
//! it: a commit costs at least that. `ILO_RUNS` is the number of waiting runs (0 for none), `ILO_SECONDS` the
//! time of each row of steps, `ILO_FOLDER` the folder. With `ILO_JOURNAL` and the feature `postgres` the
//! journal is at that address. With `ILO_STEPS` it makes that many steps, in runs of 500 by 64 at once,
//! and nothing else.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss, missing_docs, reason = "a benchmark")]

use ilo_asm::compile::{Options as Build, compile};
use ilo_drive::data::Data;
use ilo_drive::give;
use ilo_drive::policy::Policy;
use ilo_journal::{
    Beginning, Claim, Claimed, Due, Listed, Options, Permit, RunId, RunLimits, Session, State, Status, Store,
    Ticket,
};
use ilo_vm::{Limits, Program, Run, Step};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Runs that are taken over at once.
const PART: usize = 100_000;

const SOURCE: &str = "
; fn f(n: number) -> nil
; Vars: 0=n 1=i 2=paid
; Tools: 0=pay
; Fields: 0=amount
FOR 1 RANGE REF 0 1
  LET 2 CALL 0 1 0 REF 1
RET LIT 2 nil
";

fn program() -> Program {
    let (program, found) = compile(SOURCE, &Build::default());
    Program::new(program.unwrap_or_else(|| panic!("{found:?}"))).unwrap()
}

/// Drives a run to its end, or until it waits.
fn drive(session: &mut Session, run: &mut Run, confirm: bool) {
    let policy = Policy { confirm, ..Policy::default() };
    loop {
        let (number, arguments): (_, Data) = match run.step() {
            Step::Done(_) => return session.end(run).unwrap(),
            Step::Call(call) => {
                let mut arguments = String::new();
                call.write_json(&mut arguments).unwrap();
                (call.number(), arguments.parse().unwrap())
            }
        };
        let due = Due {
            run,
            tool: "pay",
            policy: Some(&policy),
            arguments: &arguments,
            number,
            rollback: false,
            expects: None,
        };
        let result = match session.before(&due).unwrap() {
            Permit::Suspend => return,
            Permit::Settled(result) => result,
            Permit::Call | Permit::CallWithKey { .. } => {
                session.after(&due, &Ok(Data::Nil)).unwrap();
                Ok(Data::Nil)
            }
        };
        give(run.pending().unwrap(), &result);
    }
}

fn start(store: &Arc<Store>, program: &Program, bytes: &[u8], steps: i64, confirm: bool) {
    let beginning = Beginning {
        name: None,
        input: steps.to_string().into_bytes(),
        program: bytes.to_vec(),
        function: "f".to_owned(),
        limits: RunLimits::default(),
    };
    let mut run = Run::new(program, Limits::default());
    run.start(program.function("f").unwrap(), &[steps.into()]).unwrap();
    drive(&mut Session::new(store.clone(), beginning), &mut run, confirm);
}

/// What this process has used: seconds of processor time, bytes written to disks. Linux only.
fn used() -> (f64, f64) {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let stat = read("/proc/self/stat");
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or_default();
    let io = read("/proc/self/io");
    let written = io.lines().find_map(|line| line.strip_prefix("write_bytes: ")?.parse().ok());
    // A tick is 10 ms.
    ((ticks(11) + ticks(12)) / 100.0, written.unwrap_or_default())
}

/// Steps per second of `threads` that each drive runs of `steps` calls, and the cost of a step. They begin no
/// run after `time`, and stop when there are `most` steps.
fn steps(place: &Path, threads: usize, steps: i64, time: Duration, most: u64) -> [f64; 4] {
    let store = Arc::new(Store::open(place, &Options::default()).unwrap());
    let program = program();
    let bytes = program.to_bytes();
    let (begun, before) = (Instant::now(), used());
    let made = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while begun.elapsed() < time && made.load(Relaxed) < most {
                    start(&store, &program, &bytes, steps, false);
                    made.fetch_add(steps.cast_unsigned(), Relaxed);
                }
            });
        }
    });
    let seconds = begun.elapsed().as_secs_f64();
    let (made, after) = (made.into_inner() as f64, used());
    let (processor, disk) = (after.0 - before.0, after.1 - before.1);
    [made / seconds, made / steps as f64 / seconds, processor / made * 1e6, disk / made]
}

/// The median time of an 8 kB write and `fdatasync`, in microseconds.
fn fdatasync(folder: &Path) -> u128 {
    let mut file = File::create(folder.join("sync")).unwrap();
    let mut times: Vec<u128> = (0..200)
        .map(|_| {
            let begun = Instant::now();
            file.write_all(&[7; 8192]).unwrap();
            file.sync_data().unwrap();
            begun.elapsed().as_micros()
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2]
}

/// The memory of this process in megabytes: now, or the most since `forget_peak`. Linux only.
fn memory(field: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default();
    line.trim_matches([':', ' ', '\t', 'k', 'B']).parse::<f64>().unwrap_or_default() / 1024.0
}

fn forget_peak() {
    // Without it the figure is the most since the start.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Runs a closure. Returns the time and the memory that it took.
fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    forget_peak();
    let (before, begun) = (memory("VmRSS"), Instant::now());
    let done = work();
    let (seconds, peak) = (begun.elapsed().as_secs_f64(), memory("VmHWM") - before);
    println!("{what}: {seconds:.2} s; {peak:.0} MB more memory");
    done
}

/// Runs that wait for an approval, each at its first call. All are approved and continue, in random order.
fn waiting(folder: &Path, path: &Path, runs: usize) {
    let store = Arc::new(Store::open(path, &Options::default()).unwrap());
    let program = program();
    let bytes = program.to_bytes();
    let runs = runs / 64 * 64;
    timed(&format!("{runs} runs begun and suspended by 64 threads"), || {
        std::thread::scope(|scope| {
            for _ in 0..64 {
                scope.spawn(|| (0..runs / 64).for_each(|_| start(&store, &program, &bytes, 1, true)));
            }
        });
    });
    let mut ids = Vec::with_capacity(runs);
    timed("all listed", || {
        let each = |summary: ilo_journal::Summary| {
            ids.push(summary.run);
            true
        };
        // Those of the other parts have ended.
        let asking = Listed { status: Some(Status::In(State::Asking)), ..Listed::default() };
        store.list(&asking, each).unwrap();
    });
    timed("the last 100 listed", || {
        let last = Listed { newest: Some(100), ..Listed::default() };
        store.list(&last, |_| true).unwrap();
    });
    timed("all counted by their state", || store.count().unwrap());
    drop(store);
    if let Ok(file) = std::fs::metadata(path) {
        println!("the journal has {:.1} MB", file.len() as f64 / 1e6);
    }
    let store = timed("opened", || Arc::new(Store::open(path, &Options::default()).unwrap()));
    let ids = shuffled(ids);
    timed("all approved in random order by 64 threads", || {
        in_parallel(&ids, |run| {
            store.resolve(run, Some(1), &ilo_journal::Decision::Approve, "bench").unwrap();
        });
    });
    // The first of them in the order of starting, as `resume` takes them; the rest in random order.
    let (first, rest) = ids.split_at(ids.len().min(PART));
    let mut first = first.to_vec();
    first.sort_unstable();
    go_on(&store, &program, &first, "in the order of starting");
    for part in rest.chunks(PART) {
        go_on(&store, &program, part, "in random order");
    }
    println!("an 8 kB fdatasync takes {} us", fdatasync(folder));
    timed("every page and row checked", || store.check().unwrap());
}

/// Takes runs over, restores them, and lets each make its call and end. A thread uses the memory of one run
/// for all of its runs, as hosts do.
fn go_on(store: &Arc<Store>, program: &Program, chosen: &[RunId], order: &str) {
    let count = chosen.len();
    let claimed: Vec<Claimed> = timed(&format!("{count} taken over {order}"), || {
        let tickets: Vec<_> = chosen.iter().map(|&run| store.claim(run)).collect();
        let mine = |ticket: Ticket<Claim>| match ticket.wait().unwrap() {
            Claim::Mine(mine) => *mine,
            other => panic!("it was approved: {other:?}"),
        };
        tickets.into_iter().map(mine).collect()
    });
    timed(&format!("{count} restored by one thread, one after another in the same memory"), || {
        let mut run = Run::new(program, claimed.first().unwrap().limits.machine.clone());
        claimed.iter().for_each(|claimed| run.restore(&claimed.snapshot).unwrap());
    });
    let restored = timed(&format!("{count} restored by one thread, each in memory of its own"), || {
        let limits = |claimed: &Claimed| claimed.limits.machine.clone();
        let restore = |it: &Claimed| Run::from_snapshot(program, &it.snapshot, limits(it)).unwrap();
        claimed.iter().map(restore).collect::<Vec<_>>()
    });
    drop(restored);
    let left = Mutex::new(claimed);
    timed(&format!("{count} restored, stepped and ended by 64 threads"), || {
        std::thread::scope(|scope| {
            for _ in 0..64 {
                scope.spawn(|| {
                    let mut run = Run::new(program, Limits::default());
                    while let Some(claimed) = { left.lock().unwrap().pop() } {
                        run.restore(&claimed.snapshot).unwrap();
                        drive(&mut Session::resumed(store.clone(), claimed), &mut run, true);
                    }
                });
            }
        });
    });
}

fn shuffled(mut runs: Vec<RunId>) -> Vec<RunId> {
    let mut random = 1_u64;
    for at in (1..runs.len()).rev() {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        runs.swap(at, usize::try_from(random >> 33).unwrap() % (at + 1));
    }
    runs
}

fn in_parallel(runs: &[RunId], work: impl Fn(RunId) + Sync) {
    std::thread::scope(|scope| {
        for part in runs.chunks(runs.len().div_ceil(64).max(1)) {
            scope.spawn(|| part.iter().for_each(|&run| work(run)));
        }
    });
}

/// A number that the environment gives.
fn given(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

fn main() {
    let base = std::env::var("ILO_FOLDER").unwrap_or_else(|_| std::env::temp_dir().display().to_string());
    let folder = tempfile::tempdir_in(base).unwrap();
    println!("an 8 kB fdatasync takes {} us", fdatasync(folder.path()));
    let address = std::env::var_os("ILO_JOURNAL").map(PathBuf::from);
    let sizes = match (given("ILO_STEPS"), &address) {
        (Some(_), _) => vec![(64, 500)],
        (None, Some(_)) => vec![(1, 10), (8, 10), (64, 10)],
        (None, None) => vec![(1, 2), (1, 10), (64, 2), (64, 10)],
    };
    for (threads, count) in sizes {
        let place = address.clone().unwrap_or_else(|| folder.path().join(format!("s{threads}-{count}")));
        let most = given("ILO_STEPS");
        let time =
            most.map_or_else(|| Duration::from_secs(given("ILO_SECONDS").unwrap_or(3)), |_| Duration::MAX);
        let [rate, runs, processor, disk] = steps(&place, threads, count, time, most.unwrap_or(u64::MAX));
        println!(
            "c={threads}, runs of {count} steps: {rate:.0} steps/s, {runs:.0} runs/s; a step: {processor:.0} us of \
             processor time, {disk:.0} bytes written; an 8 kB fdatasync takes {} us",
            fdatasync(folder.path())
        );
    }
    let runs = usize::try_from(given("ILO_RUNS").unwrap_or(100_032)).unwrap();
    if runs > 0 {
        waiting(folder.path(), &address.unwrap_or_else(|| folder.path().join("waiting")), runs);
    }
}
