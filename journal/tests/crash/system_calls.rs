//! Kills a process at each of its system calls, one after the other: `strace` counts them and sends the
//! signal. The runs are continued from the remaining files, and in the end the promise must hold.

use crate::{Counts, check, create, settle};
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs of the process: one of each program.
const RUNS: u64 = 4;
/// Calls that touch files, or wait for the thread that writes.
const CALLS: [&str; 10] =
    ["openat", "pread64", "write", "pwrite64", "ftruncate", "fsync", "fcntl", "flock", "unlink", "close"];
/// The most kills for each kind of system call. Further calls are left out evenly.
const MOST: u64 = 400;

/// Kills at every `every`th call, beginning with the `first`.
pub fn run(seed: u64, every: u64) {
    let (mut counts, mut total) = (Counts::default(), 0);
    for call in CALLS {
        let mut kills = 0;
        for number in (0..MOST).map(|step| 1 + seed % every + step * every) {
            let folder = tempfile::tempdir().unwrap();
            drop(create(folder.path()));
            let killed = one(folder.path(), seed, call, number);
            let store = settle(folder.path(), RUNS, seed, &mut counts);
            check(&store, folder.path(), RUNS, seed, &mut counts);
            if !killed {
                break;
            }
            kills += 1;
        }
        total += kills;
        println!("killed at {kills} calls of {call}: 0 violations");
    }
    let Counts { doubts, again, .. } = counts;
    println!(
        "{total} kills at system calls, {doubts} doubts, {again} idempotent calls made again; 0 violations"
    );
}

/// Runs a process until this call. Returns whether it was killed there.
fn one(folder: &Path, seed: u64, call: &str, number: u64) -> bool {
    let status = Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}"), "-e"])
        .arg(format!("inject={call}:signal=SIGKILL:when={number}"))
        .arg(std::env::current_exe().unwrap())
        .arg("worker")
        .arg(folder)
        .args([seed.to_string(), RUNS.to_string()])
        .stdin(Stdio::null())
        .status()
        .expect("strace is needed: apt-get install strace");
    !status.success()
}
