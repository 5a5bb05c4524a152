//! The durable host: a run that somebody cancels while it works, or while no process has it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use ilo_journal::{Decision, Options, Store};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

fn host(journal: &Path) -> (Child, BufReader<ChildStdout>) {
    let folder = Path::new(env!("CARGO_BIN_EXE_example-users")).parent().unwrap();
    let host = folder.join("examples/durable");
    assert!(host.exists(), "durable is built by `cargo test --workspace`");
    let mut host = Command::new(host).arg(journal).stdout(Stdio::piped()).spawn().unwrap();
    let output = BufReader::new(host.stdout.take().unwrap());
    (host, output)
}

fn line(output: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    line
}

fn cancel(journal: &Path) {
    let store = Store::open(journal, &Options::default()).unwrap();
    let run = store.find("lamp-1").unwrap();
    store.resolve(run, None, &Decision::Cancel, "ann").unwrap();
}

/// The rest of the output is the release of the reservation, and this outcome.
fn is_rolled_back(mut host: Child, mut output: BufReader<ChildStdout>, release: &str) {
    assert!(line(&mut output).starts_with("release {\"reservation-id\":\"r1\"}"));
    let mut outcome = String::new();
    output.read_to_string(&mut outcome).unwrap();
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
