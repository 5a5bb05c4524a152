//! The results of calls for a run: misfits, doubt, time, cancels, recorders.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod support;

use ilo_asm::catalog::Catalog;
use ilo_drive::call_slots::CallSlots;
use ilo_drive::data::Data;
use ilo_drive::failure::Failure;
use ilo_drive::policy::OnDoubt;
use ilo_drive::recorder::{Due, NotRecorded, Permit, Recorder, Taken};
use ilo_drive::{CallKind, Drive, End, Next};
use ilo_spec::limits::CANCEL_FUEL;
use ilo_vm::Run;
use std::time::Duration;
use support::{Around, Seen, data, driven, program, run};

const HEAD: &str = "; fn main(x: thing) -> thing\n; Tools: 0=get 1=put 2=undo\n; Fields: 0=id 1=name\n";

#[allow(clippy::unnecessary_wraps, reason = "the type of an answer")]
fn fits(_tool: &str, _arguments: &Data) -> Result<Data, Failure> {
    Ok(data(r#"{"id":1,"name":"a"}"#))
}

fn seen(body: &str, input: &str, around: &Around, recorder: &mut dyn Recorder) -> Seen {
    let program = program(&format!("{HEAD}{body}\n"));
    driven(run(&program, input), around, &CallSlots::new(4), recorder, |_| 0)
}

fn with_schemas(answer: fn(&str, &Data) -> Result<Data, Failure>) -> Around {
    let mut around = Around::new(answer);
    around.catalog = Catalog::from_json(
        r#"[{"name":"get","inputSchema":{"type":"object","properties":{"id":{"type":"integer","maximum":9}},"required":["id"]}},
            {"name":"put","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}},
            {"name":"undo","inputSchema":{"type":"object","properties":{"id":{"type":"string"}}}}]"#,
    )
    .unwrap();
    around
}

#[test]
fn arguments_that_do_not_fit_are_not_sent_and_count_nowhere() {
    let around = with_schemas(fits);
    let body = "LET 1 CALL 0 1 0 REF 0\nMATCH 1 1\n  ERR 2 1\n    RET REF 2\nFIELD 1 1";
    let good = seen(body, r#"{"x":9}"#, &around, &mut ());
    assert_eq!(good.outcome.as_deref(), Some(r#"{"status":"ok","value":"a"}"#));
    for (x, why) in [
        ("10", "`id`: expected a number of at most 9, found 10"),
        ("1.5", "`id`: expected a whole number, found 1.5"),
        (r#""1""#, "`id`: expected number, found a text"),
    ] {
        let bad = seen(body, &format!("{{\"x\":{x}}}"), &around, &mut ());
        let failure = Data::from(format!("the arguments do not fit: {why}")).to_json();
        assert_eq!(bad.outcome.unwrap(), format!(r#"{{"status":"ok","value":{failure}}}"#));
        assert!(bad.started.is_empty());
        let line = format!(r#"{{"seq":0,"tool":"get","args":{{"id":{x}}},"sent":false,"failed":{failure}}}"#);
        assert_eq!(bad.calls, [line]);
    }
    // The limit on calls does not count it either.
    let two =
        "LET 1 CALL 0 1 0 LIT 0 \"a\"\nMATCH 1 1\n  ERR 2 1\n    REF 2\nLET 3 CALL 0 1 0 LIT 1 1\nFIELD 3 0";
    let program = program(&format!("{HEAD}{two}\n"));
    let mut run = Run::new(&program, ilo_vm::Limits { tool_calls: 1, ..Default::default() });
    ilo_drive::lifecycle::start(&mut run, program.entry().unwrap(), &data(r#"{"x":1}"#)).unwrap();
    let both = driven(run, &around, &CallSlots::new(1), &mut (), |_| 0);
    assert_eq!(both.outcome.as_deref(), Some(r#"{"status":"ok","value":1}"#));
}

#[test]
fn an_answer_that_does_not_fit_is_a_failure_and_the_change_is_listed() {
    let around = with_schemas(|_, _| Ok(data(r#"{"id":"x"}"#)));
    let body = "LET 1 CALL 1 1 0 REF 0\nMATCH 1 1\n  ERR 2 1\n    RET REF 2\nREF 1";
    let bad = seen(body, r#"{"x":9}"#, &around, &mut ());
    let why = "`id`: expected number, found a text";
    let expected = format!(
        r#"{{"status":"ok","value":"the answer does not fit: {why}","not_rolled_back":[{{"tool":"put","why":"its answer does not fit: {why}"}}]}}"#
    );
    assert_eq!(bad.outcome.unwrap(), expected);
    let failed = format!(r#""failed":"the answer does not fit: {why}","in_doubt":true}}"#);
    assert!(bad.calls[0].ends_with(&failed), "{:?}", bad.calls);
    // Fields that a schema does not list are allowed.
    let more = with_schemas(|_, _| Ok(data(r#"{"id":2,"more":[]}"#)));
    assert_eq!(
        seen(body, r#"{"x":9}"#, &more, &mut ()).outcome.as_deref(),
        Some(r#"{"status":"ok","value":{"id":2,"more":[]}}"#)
    );
}

#[test]
fn doubt_is_a_failure_or_ends_the_run() {
    let body = "LET 1 CALL 1 1 0 REF 0\nMATCH 1 1\n  ERR 2 1\n    RET REF 2\nREF 1";
    let mut around = Around::new(|_, _| Err(Failure::InDoubt("lost".into())));
    let failed = seen(body, r#"{"x":1}"#, &around, &mut ());
    let expected = r#"{"status":"ok","value":"lost","not_rolled_back":[{"tool":"put","why":"it may have been made: lost"}]}"#;
    assert_eq!(failed.outcome.as_deref(), Some(expected));
    around.policies.get_mut("put").unwrap().on_doubt = OnDoubt::Stop;
    let stopped = seen(body, r#"{"x":1}"#, &around, &mut ());
    assert!(stopped.outcome.unwrap().starts_with(r#"{"status":"fault","code":"in-doubt","message":"lost""#));
    assert!(stopped.calls[0].ends_with(r#""in_doubt":true,"ended":"in-doubt"}"#));
}

#[test]
fn what_a_run_has_done_is_rolled_back_when_its_time_is_over_or_it_is_cancelled() {
    let body = "LET 1 CALL 1 1 0 REF 0\nROLLBACK CALL 2 1 0 LIT 0 \"u\"\nLET 2 CALL 0 1 0 LIT 1 1\nREF 2";
    let kinds = |seen: &Seen| seen.started.iter().map(|(kind, _)| *kind).collect::<Vec<_>>();
    // The first looks are before the change and behind its record, the next one after it.
    let late = Around::new(fits);
    late.late_at.set(Some(2));
    let late = seen(body, r#"{"x":1}"#, &late, &mut ());
    assert!(
        late.outcome
            .as_ref()
            .unwrap()
            .contains(r#""code":"timed-out","message":"the run took longer than its limit of 1000 ms""#)
    );
    assert_eq!(kinds(&late)[0], CallKind::Change);
    assert_eq!(*kinds(&late).last().unwrap(), CallKind::Entry);
    let cancelled = Around::new(fits);
    cancelled.cancelled_at.set(Some(3));
    let cancelled = seen(body, r#"{"x":1}"#, &cancelled, &mut ());
    assert!(cancelled.outcome.unwrap().contains(r#""rolled_back":[{"tool":"undo","number":"#));
    let interrupted = Around::new(fits);
    interrupted.interrupted_at.set(Some(1));
    let interrupted = seen(body, r#"{"x":1}"#, &interrupted, &mut ());
    assert_eq!((interrupted.outcome, interrupted.end), (None, End::Interrupted));
}

#[test]
fn a_long_computation_gives_control_back_and_ends_when_its_time_is_over() {
    let body = "LET 1 RANGE LIT 1 1000\nFOR 2 REF 1 2\n  FOR 3 REF 1 1\n    ADD REF 2 REF 3\n  REF 2";
    let around = Around::new(fits);
    assert!(seen(body, r#"{"x":1}"#, &around, &mut ()).outcome.unwrap().starts_with(r#"{"status":"ok""#));
    around.late_at.set(Some(2));
    let late = seen(body, r#"{"x":1}"#, &around, &mut ());
    assert!(late.outcome.unwrap().contains(r#""code":"timed-out""#));
    around.late_at.set(None);
    around.interrupted_at.set(Some(1));
    assert_eq!(seen(body, r#"{"x":1}"#, &around, &mut ()).end, End::Interrupted);
}

/// Records the calls of its methods, and stops where the test asks for it.
#[derive(Debug, Default)]
struct Log {
    lines: Vec<String>,
    stops_at: Option<(&'static str, u64)>,
    fails: bool,
}

impl Log {
    fn stops(&mut self, what: &'static str, number: u64) -> Result<bool, NotRecorded> {
        self.lines.push(format!("{what} {number}"));
        if self.stops_at != Some((what, number)) {
            Ok(false)
        } else if self.fails {
            Err(NotRecorded("the disk is full".into()))
        } else {
            Ok(true)
        }
    }
}

impl Recorder for Log {
    fn before(&mut self, call: &Due<'_>) -> Result<Permit, NotRecorded> {
        let mut snapshot = Vec::new();
        call.run.snapshot(&mut snapshot).unwrap();
        let stops = self.stops("before", call.number)?;
        Ok(if stops { Permit::Suspend } else { Permit::Call })
    }

    fn after(&mut self, call: &Due<'_>, result: &Result<Data, Failure>) -> Result<Taken, NotRecorded> {
        assert!(result.is_ok() && call.run.waiting().is_some());
        let stops = self.stops("after", call.number)?;
        Ok(if stops { Taken::Suspend } else { Taken::GoOn })
    }

    fn end(&mut self, run: &Run) -> Result<(), NotRecorded> {
        assert!(run.outcome().is_some());
        self.stops("end", 0).map(|_| ())
    }
}

/// A recorder that takes its time: meanwhile the run is cancelled, or its time is over.
struct Slow<'a>(&'a Around, bool);

impl std::fmt::Debug for Slow<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Slow")
    }
}

impl Recorder for Slow<'_> {
    fn before(&mut self, call: &Due<'_>) -> Result<Permit, NotRecorded> {
        if call.tool == "put" && call.number == 2 {
            let Slow(around, cancels) = self;
            if *cancels { &around.cancelled_at } else { &around.late_at }.set(Some(0));
        }
        Ok(Permit::Call)
    }

    fn after(&mut self, call: &Due<'_>, result: &Result<Data, Failure>) -> Result<Taken, NotRecorded> {
        assert_eq!(result.is_ok(), call.number != 2, "{result:?}");
        Ok(Taken::GoOn)
    }

    fn end(&mut self, _run: &Run) -> Result<(), NotRecorded> {
        Ok(())
    }
}

#[test]
fn a_call_is_not_made_if_the_run_ended_while_it_was_recorded() {
    let body = "LET 1 CALL 1 1 0 REF 0\nROLLBACK CALL 2 1 0 REF 0\nLET 2 CALL 1 1 0 LIT 1 2\nREF 2";
    for (cancels, code) in [(true, "cancelled"), (false, "timed-out")] {
        let around = Around::new(fits);
        let over = seen(body, r#"{"x":1}"#, &around, &mut Slow(&around, cancels));
        let started: Vec<&str> = over.started.iter().map(|(_, call)| call.as_str()).collect();
        assert_eq!(started, [r#"put {"id":1}"#, r#"undo {"id":1}"#], "{cancels}");
        let outcome = over.outcome.unwrap();
        assert!(outcome.contains(&format!(r#""code":"{code}""#)), "{outcome}");
        assert!(!outcome.contains("not_rolled_back"), "{outcome}");
    }
}

#[test]
fn a_recorder_hears_of_every_call_before_it_is_made_and_behind_it() {
    let body = "LET 1 CALL 1 1 0 REF 0\nLET 2 CALL 0 1 0 LIT 1 1\nLET 3 CALL 0 1 0 LIT 1 2\nREF 3";
    let around = Around::new(fits);
    let mut log = Log::default();
    let whole = seen(body, r#"{"x":1}"#, &around, &mut log);
    let all = ["before 1", "after 1", "before 2", "after 2", "before 3", "after 3", "end 0"];
    assert_eq!((whole.end, log.lines), (End::Outcome, all.map(str::to_owned).to_vec()));
    for (stop, calls, made) in [(("before", 2), 1, 1), (("after", 2), 2, 3), (("before", 1), 0, 0)] {
        for fails in [false, true] {
            let mut log = Log { stops_at: Some(stop), fails, ..Log::default() };
            let stopped = seen(body, r#"{"x":1}"#, &around, &mut log);
            let end =
                if fails { End::NotRecorded(NotRecorded("the disk is full".into())) } else { End::Suspended };
            assert_eq!((stopped.outcome, stopped.end), (None, end));
            assert_eq!((stopped.calls.len(), stopped.started.len() <= made), (calls, true), "{stop:?}");
        }
    }
    let mut log = Log { stops_at: Some(("end", 0)), fails: true, ..Log::default() };
    assert!(matches!(seen(body, r#"{"x":1}"#, &around, &mut log).end, End::NotRecorded(_)));
}

#[test]
fn an_answer_that_has_come_is_recorded_by_a_host_that_stops_driving() {
    let program = program("; fn f(x: any) -> any\n; Tools: 0=put\n; Fields: 0=x\nRET CALL 0 1 0 REF 0\n");
    let around = Around::new(fits);
    for looks_after in [false, true] {
        let mut log = Log::default();
        let mut drive: Drive<()> =
            Drive::new(run(&program, r#"{"x":1}"#), CallSlots::new(1), Duration::from_mins(1));
        drive.record(&around, &mut log);
        let ticket = loop {
            if let Next::Start(start) = drive.next(&around, &mut log) {
                break start.ticket;
            }
        };
        // There is no answer yet.
        drive.record(&around, &mut log);
        assert_eq!(log.lines, ["before 1"]);
        drive.settle(ticket, Ok(Data::from("fine")), (), &around);
        assert!(!looks_after || matches!(drive.next(&around, &mut log), Next::Made));
        drive.record(&around, &mut log);
        assert_eq!(log.lines, ["before 1", "after 1"]);
    }
}

#[test]
fn a_cancelled_computation_ends_soon_and_keeps_the_reason_and_the_place() {
    let source = r#"{"function":"f","input":{},"output":"any","steps":[
        {"let":"id","call":"put","rollback":{"call":"undo","args":{}}},
        {"let":"x","expr":0},
        {"for":"a","in":{"range":1000},"do":[{"for":"b","in":{"range":1000},"do":[{"let":"x","expr":{"+":["$x",1]}}]}]},
        {"return":"$x"}]}"#;
    let program = program(source);
    for at in [6, 7, 9] {
        let around = Around::new(fits);
        around.cancelled_at.set(Some(at));
        let seen = driven(run(&program, "{}"), &around, &CallSlots::new(1), &mut (), |_| 0);
        let outcome = seen.outcome.unwrap();
        // A slice has 200,000 units.
        let past = seen.fuel % 200_000;
        assert!((CANCEL_FUEL..CANCEL_FUEL + 10_000).contains(&past), "{} {outcome}", seen.fuel);
        let message = r#""code":"cancelled","message":"the run was cancelled, and its rollback entries have run: the person left""#;
        assert!(outcome.contains(message) && outcome.contains(r#""line":4"#), "{outcome}");
        assert!(outcome.contains(r#""rolled_back":[{"tool":"undo""#), "{outcome}");
    }
}

/// Waits for a call that nobody settles, as often as a host would that looks every millisecond for a second.
fn forgets(tool: &str, around: &Around) {
    let id = i32::from(tool != "get");
    let program = program(&format!("{HEAD}LET 1 CALL {id} 1 0 REF 0\nREF 1\n"));
    let mut drive: Drive<()> =
        Drive::new(run(&program, r#"{"x":1}"#), CallSlots::new(1), Duration::from_mins(1));
    for _ in 0..1_000 {
        drop(drive.next(around, &mut ()));
    }
}

#[test]
#[cfg_attr(
    debug_assertions,
    should_panic(expected = "the host waits for `put` past the time of the run or a cancel")
)]
fn a_host_that_settles_nothing_when_the_time_is_over_is_stopped_in_debug_builds() {
    let around = Around::new(fits);
    around.late_at.set(Some(3));
    forgets("put", &around);
}

#[test]
#[cfg_attr(debug_assertions, should_panic(expected = "it has to settle the call, with `Failure::TimedOut`"))]
fn a_host_that_settles_no_read_after_a_cancel_is_stopped_in_debug_builds() {
    let around = Around::new(fits);
    around.cancelled_at.set(Some(4));
    forgets("get", &around);
}

#[test]
fn a_host_may_wait_for_a_change_after_a_cancel() {
    let around = Around::new(fits);
    around.cancelled_at.set(Some(4));
    forgets("put", &around);
}
