//! Stored runs as this build reads them.

use crate::model::{Claimed, Summary, WaitingRun};
use crate::store::Store;
use ilo_vm::{Limits, Program, Run};
use std::collections::HashMap;
use std::time::Duration;

/// The least time of a run that continues: enough to come to its call.
const LEAST: Duration = Duration::from_secs(1);

/// Programs that were loaded, by their hash.
#[derive(Debug, Default)]
pub struct Programs(HashMap<[u8; 32], Option<Program>>);

impl Programs {
    /// The arguments of the call at which a run waits, as JSON; nothing if this build cannot read the run.
    pub fn arguments(&mut self, store: &Store, summary: &Summary, live: &WaitingRun) -> Option<String> {
        let load = || Program::load(&store.program(&summary.program).ok()?).ok();
        let program = self.0.entry(summary.program).or_insert_with(load).as_ref()?;
        let mut json = String::new();
        summary.run_of(program, live).ok()?.waiting()?.write_json(&mut json).ok()?;
        Some(json)
    }
}

impl Summary {
    /// The run at its call, to be looked at.
    ///
    /// # Errors
    /// Why this build cannot read it.
    pub fn restored(&self, program: &[u8], live: &WaitingRun) -> Result<Run, String> {
        self.run_of(&Program::load(program).map_err(|error| error.to_string())?, live)
    }

    fn run_of(&self, program: &Program, live: &WaitingRun) -> Result<Run, String> {
        let limits = Limits { fuel: u64::MAX, ..self.limits.machine.clone() };
        let run = Run::from_snapshot(program, &live.snapshot, limits).map_err(|error| error.to_string())?;
        // People decide about the call of the record, and the run makes the call of the snapshot.
        match run.waiting() {
            Some(call) if call.number() == live.call && call.tool() == live.tool => Ok(run),
            Some(call) => {
                let (number, tool) = (call.number(), call.tool());
                Err(format!(
                    "its record names call {}, and its snapshot call {number} of `{tool}`",
                    live.call
                ))
            }
            None => Err("its snapshot waits at no call".to_owned()),
        }
    }
}

impl Claimed {
    /// The run at its call, and the time that it has left.
    ///
    /// # Errors
    /// Why this build cannot read it.
    pub fn restored(&self) -> Result<(Run, Duration), String> {
        let program = Program::load(&self.program).map_err(|error| error.to_string())?;
        let run = Run::from_snapshot(&program, &self.snapshot, self.limits.machine.clone());
        let left = Duration::from_millis(self.limits.time_ms.saturating_sub(self.active_ms));
        Ok((run.map_err(|error| error.to_string())?, left.max(LEAST)))
    }
}

#[cfg(test)]
mod tests {
    use super::Programs;
    use crate::{At, Effect, FirstRecord, NewRun, Options, Record, RecordedPolicy, RunLimits, Store, To};
    use ilo_vm::{Limits, Program, Run};

    /// Stores a run that waits at call 1 of `pay` in a record of this call, and says what is read of it.
    fn stored(call: u64, tool: &str) -> (Option<String>, Result<(), String>) {
        let source = "; fn f() -> any\n; Tools: 0=pay\nRET CALL 0 0\n";
        let built = ilo_asm::compile::compile(source, &ilo_asm::compile::Options::default()).0.unwrap();
        let program = Program::new(built).unwrap();
        let bytes = program.to_bytes();
        let mut run = Run::new(&program, Limits::default());
        run.start(program.entry().unwrap(), &[]).unwrap();
        run.step();
        let mut snapshot = Vec::new();
        run.snapshot(&mut snapshot).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("j"), &Options::default()).unwrap();
        let limits = RunLimits::default();
        let new = NewRun {
            name: None,
            input: b"{}",
            program: &bytes,
            function: "f",
            limits: &limits,
            subject: None,
        };
        let record = Record {
            to: To::Asking,
            call,
            tool,
            policy: RecordedPolicy::of(Effect::Changes),
            arguments: b"{}",
            active_ms: 0,
            snapshot: &snapshot,
            answer: None,
            expects: None,
        };
        let started = store.start(&new, &FirstRecord::Call(record)).unwrap().wait().unwrap();
        let summary = store.show(started.run).unwrap();
        let At::Live(live) = &summary.at else { panic!("it has not ended") };
        let arguments = Programs::default().arguments(&store, &summary, live);
        (arguments, summary.restored(&bytes, live).map(drop))
    }

    #[test]
    fn a_record_of_another_call_than_that_of_the_snapshot_is_not_continued() {
        assert_eq!(stored(1, "pay"), (Some("{}".to_owned()), Ok(())));
        for (call, tool) in [(2, "pay"), (u64::MAX >> 1, "pay"), (1, "look")] {
            let (arguments, read) = stored(call, tool);
            assert_eq!(arguments, None, "the arguments are not those of the record's call");
            assert!(read.unwrap_err().ends_with("its snapshot call 1 of `pay`"));
        }
    }
}
