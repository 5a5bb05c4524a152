//! Processes that work on the same journal are killed at random; a person decides calls in doubt. In the end
//! every run has the outcome of an uninterrupted run, and each of its effects once.
//!
//! `ILO_ROUNDS` and `ILO_SEED` choose how many rounds there are and where they begin. With the argument
//! `power` or `calls`, processes lose their power or are killed at system calls instead. `journal/crash.sh`
//! runs all.
#![allow(clippy::unwrap_used, missing_docs, unreachable_pub, reason = "a test")]

mod power;
mod programs;
#[cfg(feature = "postgres")]
mod servers;
mod system_calls;
mod worker;
mod world;

use ilo_journal::{At, Decision, ErrorCode, Listed, State, Store};
use programs::{Log, Random, answer, expected};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use world::policy;

/// Runs in a round.
const RUNS: u64 = 8;
/// Processes at once.
const WORKERS: u64 = 3;
/// The time limit of a round.
const LONGEST: Duration = Duration::from_mins(2);

#[derive(Default)]
struct Counts {
    kills: u64,
    doubts: u64,
    approvals: u64,
    answers: u64,
    again: u64,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, folder, seed, runs] = arguments.as_slice()
        && command == "worker"
    {
        return worker::run(Path::new(folder), runs.parse().unwrap(), seed.parse().unwrap());
    }
    if arguments.iter().any(|argument| argument == "--list") {
        return;
    }
    let number = |name, default| std::env::var(name).map_or(default, |text| text.parse().unwrap());
    let (rounds, first): (u64, u64) = (number("ILO_ROUNDS", 4), number("ILO_SEED", 1));
    match arguments.first().map(String::as_str) {
        Some("power") => return power::run(first, rounds),
        Some("calls") => return system_calls::run(first, rounds),
        #[cfg(feature = "postgres")]
        Some("postgres") => return servers::run(first, rounds),
        _ => {}
    }
    let (begun, mut counts) = (Instant::now(), Counts::default());
    for seed in first..first + rounds {
        round(seed, &mut counts);
    }
    let Counts { kills, doubts, approvals, answers, again } = counts;
    println!(
        "{rounds} rounds from seed {first}: {kills} kills, {doubts} doubts, {approvals} approvals, {answers} \
         deferred answers, {again} idempotent calls made again; 0 violations, {} s",
        begun.elapsed().as_secs()
    );
    println!("test result: ok. {rounds} passed; 0 failed");
}

fn round(seed: u64, counts: &mut Counts) {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(seed);
    let mut workers: Vec<Child> = Vec::new();
    let begun = Instant::now();
    let store = create(folder.path());
    store.keep_calls(true).unwrap();
    loop {
        assert!(begun.elapsed() < LONGEST, "seed {seed}: the runs do not end");
        while (workers.len() as u64) < WORKERS {
            workers.push(spawn(folder.path(), random.below(u64::MAX), None, &[]));
        }
        std::thread::sleep(Duration::from_micros(random.below(40_000)));
        let killed = usize::try_from(random.below(WORKERS)).unwrap();
        let mut child = workers.swap_remove(killed);
        match child.try_wait().unwrap() {
            Some(status) => assert!(status.success(), "seed {seed}: a worker failed"),
            None => {
                // SIGKILL.
                child.kill().unwrap();
                child.wait().unwrap();
                counts.kills += 1;
            }
        }
        if decide(&store, folder.path(), RUNS, counts) {
            break;
        }
    }
    for mut child in workers {
        drop(child.kill());
        child.wait().unwrap();
    }
    check(&store, folder.path(), RUNS, seed, counts);
}

/// Opens the journal in a folder, or creates it.
fn create(folder: &Path) -> Store {
    worker::opened(&worker::place(folder))
}

/// Continues runs in this process until all have ended.
fn settle(folder: &Path, runs: u64, seed: u64, counts: &mut Counts) -> Store {
    let store = create(folder);
    let begun = Instant::now();
    loop {
        worker::run(folder, runs, seed);
        if decide(&store, folder, runs, counts) {
            return store;
        }
        assert!(begun.elapsed() < LONGEST, "seed {seed}: the runs do not end");
    }
}

fn spawn(folder: &Path, seed: u64, journal: Option<&Path>, environment: &[(&str, String)]) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.envs(environment.iter().map(|(name, value)| (name, value)));
    if let Some(journal) = journal {
        command.env(worker::JOURNAL, journal);
    }
    command
        .arg("worker")
        .arg(folder)
        .args([seed.to_string(), RUNS.to_string()])
        .stdin(Stdio::null())
        .spawn()
        .unwrap()
}

/// A person finds out what has happened and decides. Returns whether all runs have ended.
fn decide(store: &Store, folder: &Path, runs: u64, counts: &mut Counts) -> bool {
    let (mut waiting, mut ended) = (Vec::new(), 0);
    store
        .list(&Listed::default(), |summary| {
            match summary.at {
                At::Ended { .. } => ended += 1,
                At::Live(live) => waiting.push((summary.run, live)),
            }
            true
        })
        .unwrap();
    let effects = Log(&folder.join("effects")).read();
    for (run, live) in waiting {
        let effect = effects.iter().find(|(key, ..)| *key == live.key);
        let decision = match (live.state, effect) {
            (State::Doubt, None) => Decision::Retry,
            (State::Doubt | State::Deferred, Some((_, tool, arguments))) => match answer(tool, arguments).0 {
                Ok(json) => Decision::Answer(json),
                other => panic!("{other:?} has an effect"),
            },
            (State::Asking, None) => Decision::Approve,
            (State::Asking | State::Deferred, _) => panic!("{:?} with {effect:?}", live.state),
            _ => continue,
        };
        match live.state {
            State::Doubt => counts.doubts += 1,
            State::Asking => counts.approvals += 1,
            _ => counts.answers += 1,
        }
        match store.resolve(run, Some(live.call), &decision, "test") {
            Ok(_) if live.state == State::Asking => {
                Log(&folder.join("approved")).write(&live.key, "-", "-");
            }
            Ok(_) => {}
            Err(error) if error.code == ErrorCode::OwnerMayLive => {
                // A person looks whether the process has ended that began the call.
                if live.was.as_deref().is_some_and(has_ended) {
                    store.owner_ended(run, "test").unwrap();
                }
            }
            Err(error) => assert!([ErrorCode::NotNow, ErrorCode::OtherCall].contains(&error.code), "{error}"),
        }
    }
    ended == runs
}

/// Whether a process has ended, by the text that names it. Its number may be that of another process
/// meanwhile.
fn has_ended(shown: &str) -> bool {
    let id = shown.split(' ').nth(1).unwrap_or_default();
    // A process that was killed and not waited for has no command, and makes no calls.
    let command = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    !command.split(|byte| *byte == 0).any(|word| word == b"worker")
}

/// Compares outcomes and effects with those of uninterrupted runs.
fn check(store: &Store, folder: &Path, runs: u64, seed: u64, counts: &mut Counts) {
    store.check().unwrap();
    let mut by_key: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for (key, tool, arguments) in Log(&folder.join("effects")).read() {
        by_key.entry(key).or_default().push((tool, arguments));
    }
    let approved: BTreeSet<String> =
        Log(&folder.join("approved")).read().into_iter().map(|row| row.0).collect();
    for number in 0..runs {
        let run = store.find(&format!("r{number}")).unwrap();
        let At::Ended { outcome, .. } = store.show(run).unwrap().at else { panic!("seed {seed}: r{number}") };
        let kept: BTreeSet<u64> = store.calls(run).unwrap().into_iter().map(|called| called.call).collect();
        let (expected, effects) = expected(number);
        assert_eq!(String::from_utf8(outcome).unwrap(), expected, "seed {seed}: r{number}");
        let key_of = store.key(run).unwrap();
        for (tool, arguments, call) in effects {
            let key = key_of(call);
            let made = by_key.remove(&key).unwrap_or_default();
            assert!(
                !store.keeps_calls() || kept.contains(&call),
                "seed {seed}: r{number} call {call} is not among the calls that are kept"
            );
            let policy = policy(&tool);
            let most = if policy.idempotent { usize::MAX } else { 1 };
            assert!((1..=most).contains(&made.len()), "seed {seed}: r{number} call {call}: {made:?}");
            assert!(
                !policy.confirm || approved.contains(&key),
                "seed {seed}: r{number} call {call} was made without approval"
            );
            counts.again += made.len() as u64 - 1;
            assert!(
                made.iter().all(|found| *found == (tool.clone(), arguments.clone())),
                "seed {seed}: {made:?}"
            );
        }
    }
    assert!(by_key.is_empty(), "seed {seed}: effects of no run: {by_key:?}");
    for (name, ..) in Log(&folder.join("acknowledged")).read() {
        assert!(store.find(&name).is_ok(), "seed {seed}: {name} was acknowledged");
    }
}
