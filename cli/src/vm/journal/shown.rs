//! Formats runs, times and texts for display.

use super::super::output;
pub(super) use ilo_host::data::write::quote as quoted;
use ilo_journal::{At, Store, Summary, WaitingRun};
pub(super) use ilo_vm::calendar::to_second as time;
use ilo_vm::{Limits, Program, Run};
use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long ago a time was, for people.
pub(super) fn age(milliseconds: i64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let then = u64::try_from(milliseconds / 1000).unwrap_or(0);
    match now.saturating_sub(then) {
        seconds @ ..60 => format!("{seconds} s ago"),
        seconds @ ..3_600 => format!("{} min ago", seconds / 60),
        seconds @ ..172_800 => format!("{} h ago", seconds / 3_600),
        seconds => format!("{} days ago", seconds / 86_400),
    }
}

/// How long it is until a time; nothing if it is past the end of all clocks.
pub(super) fn until(milliseconds: i64) -> Option<Duration> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let wake = Duration::from_millis(u64::try_from(milliseconds).ok()?);
    Some(wake.saturating_sub(now))
}

/// Programs that were loaded, by their hash.
#[derive(Default)]
pub(super) struct Programs(HashMap<[u8; 32], Option<Program>>);

impl Programs {
    /// The arguments of the call at which a run waits, as JSON; nothing if this build cannot read the run.
    pub(super) fn arguments(
        &mut self,
        store: &Store,
        summary: &Summary,
        live: &WaitingRun,
    ) -> Option<String> {
        let load = || Program::load(&store.program(&summary.program).ok()?).ok();
        let program = self.0.entry(summary.program).or_insert_with(load).as_ref()?;
        let mut run = run_of(program, summary, live).ok()?;
        let mut json = String::new();
        run.pending()?.write_json(&mut json).ok()?;
        Some(json)
    }
}

fn run_of(program: &Program, summary: &Summary, live: &WaitingRun) -> Result<Run, String> {
    let limits = Limits { fuel: u64::MAX, ..summary.limits.machine.clone() };
    let run = Run::from_snapshot(program, &live.snapshot, limits).map_err(|error| error.to_string())?;
    // People decide about the call of the record, and the run makes the call of the snapshot.
    match run.waiting() {
        Some(call) if call.number() == live.call && call.tool() == live.tool => Ok(run),
        Some(call) => {
            let (number, tool) = (call.number(), output::plain(call.tool()));
            Err(format!("its record names call {}, and its snapshot call {number} of `{tool}`", live.call))
        }
        None => Err("its snapshot waits at no call".to_owned()),
    }
}

/// A run as it is stored, or why this release cannot read it.
pub(super) fn restored(program: &[u8], summary: &Summary, live: &WaitingRun) -> Result<Run, String> {
    run_of(&Program::load(program).map_err(|error| error.to_string())?, summary, live)
}

/// A run as one line of JSON, without its end, so that more can follow.
pub(super) fn line(store: &Store, programs: &mut Programs, summary: &Summary) -> String {
    let mut line = format!("{{\"run\":{}", summary.run);
    if let Some(name) = &summary.name {
        line.extend([format!(",\"name\":{}", quoted(name))]);
    }
    match &summary.at {
        At::Ended { ended, outcome } => {
            let outcome = String::from_utf8_lossy(outcome);
            line.extend([format!(
                ",\"state\":\"ended\",\"since\":\"{}\",\"outcome\":{outcome}",
                time(*ended)
            )]);
        }
        At::Live(live) => {
            let arguments = programs.arguments(store, summary, live);
            line.extend([format!(
                ",\"state\":\"{}\",\"since\":\"{}\",\"call\":{{\"number\":{},\"tool\":{},\"args\":{}}}",
                live.status().name(),
                time(live.since),
                live.call,
                quoted(&live.tool),
                arguments.as_deref().unwrap_or("null")
            )]);
            if let Some(used) = summary.used_up() {
                line.extend([format!(",\"limit\":\"{}\"", used.name())]);
            }
            if live.cancel {
                line.push_str(",\"cancelled\":true");
            }
            if let Some(why) = &live.blocked {
                line.extend([format!(",\"blocked\":{}", quoted(why))]);
            }
            if let Some(wake) = live.wake {
                line.extend([format!(",\"wake\":\"{}\"", time(wake))]);
            }
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::{Programs, restored};
    use ilo_journal::{
        At, Effect, FirstRecord, NewRun, Options, Record, RecordedPolicy, RunLimits, Store, To,
    };
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
        (arguments, restored(&bytes, &summary, live).map(drop))
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
