//! A journal in PostgreSQL: processes are killed, or paused for longer than a lease, their connections are
//! cut, and the server is killed or stopped at once. In the end the promise must hold: no call is lost, and
//! none that changes something is made twice unless a person had it made again. The clocks of the processes
//! are days apart.

#[path = "../support/server.rs"]
mod server;

use crate::programs::Random;
use crate::worker::{DAYS, opened};
use crate::{Counts, RUNS, check, decide, spawn};
use server::Server;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Processes at once.
const WORKERS: usize = 5;
/// The lease of owners in the test, and pauses that are longer.
const LEASE: &str = "&lease=1.5";
const PAUSE: Duration = Duration::from_millis(2600);

/// The time limit of a round: beside other work a process that has little of the processor is taken for dead
/// often.
const LONGEST: Duration = Duration::from_mins(10);

/// The time of day is wrong; that since the start of the machine is not.
const CLOCK: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    int (*real)(clockid_t, struct timespec *) =
        (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int done = real(clock, time);
    const char *days = getenv("DAYS");
    if (clock == CLOCK_REALTIME && days) time->tv_sec += atol(days) * 86400;
    return done;
}
"#;

/// What was done to processes and to the server.
#[derive(Default)]
struct Blows {
    kills: u64,
    pauses: u64,
    server_kills: u64,
    server_stops: u64,
    cuts: u64,
}

/// Runs rounds from a seed.
pub fn run(first: u64, rounds: u64) {
    let Some(server) = Server::start() else { return };
    let (begun, mut counts, mut blows) = (Instant::now(), Counts::default(), Blows::default());
    let place = tempfile::tempdir().unwrap();
    let clock = clock(&place);
    for seed in first..first + rounds {
        round(&server, &clock, seed, &mut counts, &mut blows);
    }
    let Blows { kills, pauses, server_kills, server_stops, cuts } = blows;
    let Counts { doubts, approvals, answers, again, .. } = counts;
    println!(
        "{rounds} rounds from seed {first}, {WORKERS} processes with clocks days apart, {} runs: {kills} kills, {pauses} pauses, \
         {server_kills} kills and {server_stops} immediate stops of the server, {cuts} cuts; {doubts} looks at \
         doubts, {approvals} approvals, {answers} deferred answers, {again} idempotent calls made again; \
         0 lost, 0 doubled, {} s",
        rounds * RUNS,
        begun.elapsed().as_secs()
    );
    println!("test result: ok. {rounds} passed; 0 failed");
}

/// A library that sets the clock of a process that loads it wrong by days.
fn clock(place: &TempDir) -> PathBuf {
    let (source, library) = (place.path().join("clock.c"), place.path().join("clock.so"));
    std::fs::write(&source, CLOCK.replace("DAYS", DAYS)).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).arg("-ldl");
    assert!(compiler.status().unwrap().success(), "cc");
    library
}

/// What its environment sets for a worker: the library, and how many days its clock is ahead or behind.
fn skewed(clock: &Path, random: &mut Random) -> [(&'static str, String); 2] {
    let days = i64::try_from(random.below(19)).unwrap() - 9;
    [("LD_PRELOAD", clock.display().to_string()), (DAYS, days.to_string())]
}

fn round(server: &Server, clock: &Path, seed: u64, counts: &mut Counts, blows: &mut Blows) {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(seed);
    // In every second round the statements have names.
    let named = if seed % 2 == 1 { "&prepare=1" } else { "" };
    let address = server.address(&format!("{LEASE}{named}"));
    let child = |random: &mut Random| {
        let environment = skewed(clock, random);
        spawn(folder.path(), random.below(u64::MAX), Some(&address), &environment)
    };
    let store = opened(&address);
    store.keep_calls(true).unwrap();
    let mut workers: Vec<Child> = Vec::new();
    let begun = Instant::now();
    loop {
        assert!(begun.elapsed() < LONGEST, "seed {seed}: the runs do not end");
        while workers.len() < WORKERS {
            workers.push(child(&mut random));
        }
        std::thread::sleep(Duration::from_micros(random.below(120_000)));
        workers.retain_mut(|worker| match worker.try_wait().unwrap() {
            Some(status) => {
                assert!(status.success(), "seed {seed}: a worker failed");
                false
            }
            None => true,
        });
        // The blows end, so that the runs do.
        if begun.elapsed() < Duration::from_secs(8) && !workers.is_empty() {
            blow(server, &mut random, &mut workers, blows);
        }
        if decide(&store, folder.path(), RUNS, counts) {
            break;
        }
    }
    for mut worker in workers {
        drop(worker.kill());
        worker.wait().unwrap();
    }
    check(&store, folder.path(), RUNS, seed, counts);
}

fn blow(server: &Server, random: &mut Random, workers: &mut Vec<Child>, blows: &mut Blows) {
    let at = usize::try_from(random.below(workers.len() as u64)).unwrap();
    match random.below(20) {
        0..=5 => {
            let mut killed = workers.swap_remove(at);
            // SIGKILL.
            killed.kill().unwrap();
            killed.wait().unwrap();
            blows.kills += 1;
        }
        6..=8 => {
            let id = workers[at].id().to_string();
            let signal = |signal: &str| drop(Command::new("kill").args([signal, &id]).status());
            signal("-STOP");
            std::thread::sleep(PAUSE);
            signal("-CONT");
            blows.pauses += 1;
        }
        9 => {
            server.kill();
            server.up();
            blows.server_kills += 1;
        }
        10 => {
            server.down("immediate");
            server.up();
            blows.server_stops += 1;
        }
        11..=14 => {
            server.sql(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'ilo' \
                 AND random() < 0.5",
            );
            blows.cuts += 1;
        }
        _ => {}
    }
}
