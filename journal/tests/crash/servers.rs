//! A journal in PostgreSQL: processes are killed, or paused for longer than a lease, their connections are
//! cut, and the server is killed or stopped at once. In the end the promise must hold: no call is lost, and
//! none that changes something is made twice unless a person had it made again.

#[path = "../support/server.rs"]
mod server;

use crate::programs::Random;
use crate::worker::opened;
use crate::{Counts, RUNS, check, decide, spawn};
use server::Server;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Processes at once.
const WORKERS: usize = 5;
/// The lease of owners in the test, and pauses that are longer.
const LEASE: &str = "&lease=1.5";
const PAUSE: Duration = Duration::from_millis(2600);

/// The time limit of a round: beside other work a process that has little of the processor is taken for dead
/// often.
const LONGEST: Duration = Duration::from_mins(10);

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
    for seed in first..first + rounds {
        round(&server, seed, &mut counts, &mut blows);
    }
    let Blows { kills, pauses, server_kills, server_stops, cuts } = blows;
    let Counts { doubts, approvals, answers, again, .. } = counts;
    println!(
        "{rounds} rounds from seed {first}, {WORKERS} processes, {} runs: {kills} kills, {pauses} pauses, \
         {server_kills} kills and {server_stops} immediate stops of the server, {cuts} cuts; {doubts} looks at \
         doubts, {approvals} approvals, {answers} deferred answers, {again} idempotent calls made again; \
         0 lost, 0 doubled, {} s",
        rounds * RUNS,
        begun.elapsed().as_secs()
    );
    println!("test result: ok. {rounds} passed; 0 failed");
}

fn round(server: &Server, seed: u64, counts: &mut Counts, blows: &mut Blows) {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(seed);
    let address = server.address(LEASE);
    let child = |random: &mut Random| spawn(folder.path(), random.below(u64::MAX), Some(&address));
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
