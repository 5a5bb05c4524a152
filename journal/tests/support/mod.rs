//! A journal in a folder that is removed, and runs in it. Snapshots are any bytes: the store does not read
//! them.
#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]
#![allow(clippy::unwrap_used, clippy::missing_panics_doc, missing_docs, reason = "a test's own helpers")]

use ilo_journal::{
    Claim, Claimed, Effect, Error, FirstRecord, Lease, NewRun, Options, Record, RecordedPolicy, RunId,
    RunLimits, Store, To,
};
use std::path::PathBuf;
use tempfile::TempDir;

pub const CHANGES: RecordedPolicy = RecordedPolicy::of(Effect::Changes);

pub struct Place {
    pub folder: TempDir,
}

impl Place {
    pub fn new() -> Place {
        Place { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("j")
    }

    pub fn open(&self) -> Store {
        self.try_open(&Options::default()).unwrap()
    }

    pub fn try_open(&self, options: &Options) -> Result<Store, Error> {
        Store::open(&self.path(), options)
    }
}

pub fn record(to: To, call: u64) -> Record<'static> {
    Record {
        to,
        call,
        tool: "pay",
        policy: CHANGES,
        arguments: b"{\"amount\":5}",
        active_ms: 7,
        snapshot: b"snapshot",
        answer: None,
        expects: None,
    }
}

pub fn new_run<'a>(name: Option<&'a str>, limits: &'a RunLimits) -> NewRun<'a> {
    NewRun { name, input: b"{\"x\":1}", program: b"program", function: "f", limits, subject: None }
}

/// Starts a run at its first call.
pub fn start(store: &Store, name: Option<&str>, to: To) -> (RunId, Lease) {
    let limits = RunLimits::default();
    let started =
        store.start(&new_run(name, &limits), &FirstRecord::Call(record(to, 1))).unwrap().wait().unwrap();
    (started.run, started.lease.unwrap())
}

/// Takes a run over.
pub fn mine(store: &Store, run: RunId) -> Box<Claimed> {
    match store.claim(run).wait().unwrap() {
        Claim::Mine(claimed) => claimed,
        other => panic!("{other:?}"),
    }
}
