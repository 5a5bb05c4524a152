//! Rollback in the host: cancelling, the time of the run, and calls in doubt.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use crate::support::Draft;
use ilo_host::data::Data;
use ilo_host::interrupt::Interrupt;
use ilo_host::run::{Ended, Observer, Options};
use ilo_host::tools::{Failure, OnDoubt, Request, Tool, Tools};
use ilo_host::trace;
use ilo_spec::isa::Op;
use ilo_spec::operand::{CallId, Entries, First, In, OnFail, Out};
use ilo_spec::types::{Output, Type};
use ilo_vm::Program;
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

const MOMENT: Duration = Duration::from_millis(200);

/// f(id): calls `do` with the ROLLBACK `undo`, then `then`.
fn program() -> Program {
    let mut d = Draft::new(&["id"]);
    let [(make, _), (undo, _), (then, _)] = ["do", "undo", "then"].map(|name| d.call(name, &["id"]));
    let tool = |call: CallId| Op::Tool { dst: Out(1), first: First(0), call, fail: OnFail(0) };
    let entries = Entries(1);
    d.function(
        "f",
        &[("id", Type::ANY)],
        Output { ok: Type::ANY, err: Some(Type::ANY) },
        &[
            Op::ToolRollback { dst: Out(1), first: First(0), call: make, fail: OnFail(0), entries },
            Op::Rollback { first: First(1), call: undo },
            tool(then),
            Op::Return { src: In(1) },
        ],
    );
    Program::new(d.0).unwrap()
}

type Answer = Box<dyn Fn(&Request<'_>) -> Result<Data, Failure> + Send + Sync>;

fn tools(of: [(&str, Answer); 3]) -> Tools {
    let mut tools = Tools::new();
    for (name, answer) in of {
        assert!(tools.add(Tool::new(name, Box::new(answer))).is_none());
    }
    tools
}

#[expect(clippy::unnecessary_wraps, reason = "a tool may fail")]
fn fine(_: &Request<'_>) -> Result<Data, Failure> {
    Ok(Data::from("fine"))
}

#[expect(clippy::unnecessary_wraps, reason = "a tool may fail")]
fn late(_: &Request<'_>) -> Result<Data, Failure> {
    sleep(2 * MOMENT);
    Ok(Data::from("late"))
}

/// The lines of a trace.
#[derive(Default)]
struct Lines(Vec<String>);

impl Observer for Lines {
    fn ended(&mut self, call: &Ended<'_>) {
        assert!(call.number > call.seq, "a call that is not made has a number too");
        self.0.push(trace::line(call));
    }
}

fn run(tools: &Tools, options: &Options) -> (Vec<String>, String) {
    let program = program();
    let input = Data::Record(vec![("id".to_owned(), Data::from("x"))].into());
    let (function, mut lines) = (program.entry().unwrap(), Lines::default());
    let finished = ilo_host::run(&program, function, &input, tools, options, &mut lines).unwrap();
    let outcome = finished.outcome().unwrap().to_string();
    (lines.0, outcome)
}

#[test]
fn an_answer_that_comes_after_the_runs_time_is_rolled_back() {
    let tools = tools([("do", Box::new(late)), ("undo", Box::new(late)), ("then", Box::new(fine))]);
    let begun = Instant::now();
    let (lines, outcome) = run(&tools, &Options { timeout: MOMENT, ..Options::default() });
    assert_eq!(
        lines,
        [
            r#"{"seq":0,"tool":"do","args":{"id":"x"},"ok":"late"}"#,
            r#"{"seq":1,"tool":"undo","args":{"id":"late"},"rollback":true,"ok":"late"}"#
        ]
    );
    assert!(outcome.starts_with(r#"{"status":"fault","code":"timed-out""#), "{outcome}");
    assert!(outcome.ends_with(r#","rolled_back":[{"tool":"undo","number":2}]}"#), "{outcome}");
    assert!(begun.elapsed() >= 4 * MOMENT, "the entry has the time of its tool");
}

#[test]
fn an_entry_has_the_time_limit_of_its_tool() {
    let never = |request: &Request<'_>| {
        sleep(request.deadline.saturating_duration_since(Instant::now()));
        Err(Failure::TimedOut)
    };
    let no = |_: &Request<'_>| Err(Failure::text("no"));
    let tools = tools([("do", Box::new(fine)), ("undo", Box::new(never)), ("then", Box::new(no))]);
    let (_, outcome) = run(&tools, &Options { call_timeout: MOMENT, ..Options::default() });
    let expected = r#"{"status":"err","error":"no","compensation_failures":[{"tool":"undo","error":"tool `undo` took longer than its limit of 200 ms"}]}"#;
    assert_eq!(outcome, expected);
}

#[test]
fn a_cancelled_run_awaits_the_call_under_way_and_makes_no_other() {
    let cancel = Interrupt::default();
    let (flag, seen) = (cancel.clone(), Arc::new(Mutex::new(Vec::new())));
    let log = Arc::clone(&seen);
    let slow = move |request: &Request<'_>| {
        flag.set();
        sleep(MOMENT);
        log.lock().unwrap().push(request.interrupt.is_set());
        Ok(Data::from("made"))
    };
    let tools = tools([("do", Box::new(slow)), ("undo", Box::new(fine)), ("then", Box::new(fine))]);
    let (lines, outcome) = run(&tools, &Options { cancel, ..Options::default() });
    assert_eq!(*seen.lock().unwrap(), [false], "no cancel ends a call that may change something");
    assert_eq!(lines.len(), 2, "{lines:?}");
    // The call that was not made has number 2.
    assert!(outcome.starts_with(r#"{"status":"fault","code":"cancelled""#), "{outcome}");
    assert!(outcome.ends_with(r#","rolled_back":[{"tool":"undo","number":3}]}"#), "{outcome}");
}

#[test]
fn a_cancel_ends_a_call_that_only_reads() {
    let cancel = Interrupt::default();
    let flag = cancel.clone();
    let reads = move |request: &Request<'_>| {
        flag.set();
        while !request.interrupt.is_set() {
            sleep(Duration::from_millis(1));
        }
        Err(Failure::Interrupted)
    };
    let mut tools = tools([("do", Box::new(fine)), ("undo", Box::new(fine)), ("then", Box::new(fine))]);
    let mut tool = Tool::new("then", Box::new(reads));
    tool.policy.read_only = true;
    tools.add(tool);
    let (_, outcome) = run(&tools, &Options { cancel, ..Options::default() });
    assert!(outcome.starts_with(r#"{"status":"fault","code":"cancelled""#), "{outcome}");
    assert!(outcome.ends_with(r#","rolled_back":[{"tool":"undo","number":3}]}"#), "{outcome}");
}

#[test]
fn a_lost_answer_is_a_failure_or_the_end_as_the_policy_says() {
    let lost = |_: &Request<'_>| Err(Failure::InDoubt("the link is lost".to_owned()));
    for (on_doubt, status, why) in [
        (OnDoubt::Fail, r#"{"status":"err","error":"the link is lost""#, "it may have been made"),
        (OnDoubt::Stop, r#"{"status":"fault","code":"in-doubt""#, "its answer never came"),
    ] {
        let mut tools = tools([("do", Box::new(fine)), ("undo", Box::new(fine)), ("then", Box::new(fine))]);
        let mut tool = Tool::new("then", Box::new(lost));
        tool.policy.on_doubt = on_doubt;
        tools.add(tool);
        let (_, outcome) = run(&tools, &Options::default());
        let end = format!(
            r#","rolled_back":[{{"tool":"undo","number":3}}],"not_rolled_back":[{{"tool":"then","why":"{why}: the link is lost"}}]}}"#
        );
        assert!(outcome.starts_with(status) && outcome.ends_with(&end), "{outcome}");
    }
}
