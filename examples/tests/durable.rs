//! The durable host: a run that somebody cancels while it works, or while no process has it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use ilo_journal::{Decision, Options, Store};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

fn host(journal: &Path) -> (Child, BufReader<ChildStdout>) {
    let folder = Path::new(env!("CARGO_BIN_EXE_example-users")).parent().unwrap();
    let host = folder.join("examples/durable");
    assert!(host.exists(), "durable is built by `cargo test --workspace`");
    let mut host = Command::new(host).arg(journal).stdout(Stdio::piped()).spawn().unwrap();
    let output = BufReader::new(host.stdout.take().unwrap());
    (host, output)
}

/// The next line about a call that begins, or the outcome.
fn line(output: &mut BufReader<ChildStdout>) -> String {
    loop {
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        if !line.ends_with(" has its answer\n") {
            return line;
        }
    }
}

fn cancel(journal: &Path) {
    let store = Store::open(journal, &Options::default()).unwrap();
    let run = store.find("lamp-1").unwrap();
    store.resolve(run, None, &Decision::Cancel, "ann").unwrap();
}

/// The rest of the output is the release of the reservation, and this outcome.
fn is_rolled_back(mut host: Child, mut output: BufReader<ChildStdout>, release: &str) {
    assert!(line(&mut output).starts_with("release {\"reservation-id\":\"r1\"}"));
    let outcome = line(&mut output);
    let outcome: Value = serde_json::from_str(&outcome).unwrap();
    assert_eq!((&outcome["status"], &outcome["code"]), (&json!("fault"), &json!("cancelled")), "{outcome}");
    assert_eq!(
        outcome["rolled_back"],
        json!([{"tool": "release", "number": release.parse::<u64>().unwrap()}])
    );
    assert!(host.wait().unwrap().success());
}

#[test]
fn a_run_is_cancelled_while_it_works() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("runs.journal");
    let (host, mut output) = host(&journal);
    assert!(line(&mut output).starts_with("reserve"));
    cancel(&journal);
    is_rolled_back(host, output, "3");
}

#[test]
fn a_run_is_cancelled_after_its_host_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("runs.journal");
    let (mut killed, mut output) = host(&journal);
    assert!(line(&mut output).starts_with("reserve"));
    killed.kill().unwrap();
    killed.wait().unwrap();
    cancel(&journal);
    let (host, mut output) = host(&journal);
    // Nobody knows whether the reservation was made, so it is made again, with the same key.
    assert!(line(&mut output).starts_with("reserve"));
    is_rolled_back(host, output, "3");
}

#[test]
fn a_run_that_was_killed_between_two_calls_goes_on_with_the_second() {
    for (call, next) in [("reserve", "charge"), ("charge", "{\"status\":\"ok\"")] {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("runs.journal");
        let (mut killed, mut output) = host(&journal);
        let mut found = String::new();
        while found != format!("{call} has its answer\n") {
            found.clear();
            assert_ne!(output.read_line(&mut found).unwrap(), 0, "the host has ended");
        }
        // Without another record the answer is on disk after 5 ms and the time of a write.
        std::thread::sleep(Duration::from_millis(200));
        killed.kill().unwrap();
        killed.wait().unwrap();
        let (mut again, mut output) = host(&journal);
        let goes_on = line(&mut output);
        assert!(goes_on.starts_with(next), "after {call}: {goes_on}");
        again.kill().unwrap();
        again.wait().unwrap();
    }
}
