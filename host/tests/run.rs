//! Runs in an embedding host: its own tools, the events of an observer, and the time limits.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use crate::support::Draft;
use ilo_host::data::Data;
use ilo_host::interrupt::Interrupt;
use ilo_host::run::{Ended, Observer, Options};
use ilo_host::tools::consent::{Ask, Consent, Question};
use ilo_host::tools::{Failure, Provider, Request, Tool, Tools};
use ilo_host::trace::Trace;
use ilo_spec::error::Code;
use ilo_spec::isa::Op;
use ilo_spec::operand::{First, In, OnFail, Out, To};
use ilo_spec::types::{Output, Type};
use ilo_vm::Program;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A tool of the test's own.
struct Own<F>(F);

impl<F: Fn(&Request<'_>) -> Result<Data, Failure> + Send + Sync> Provider for Own<F> {
    fn call(&self, request: &Request<'_>) -> Result<Data, Failure> {
        (self.0)(request)
    }
}

fn own(name: &str, answer: impl Fn(&Request<'_>) -> Result<Data, Failure> + Send + Sync + 'static) -> Tools {
    let mut tools = Tools::new();
    assert!(tools.add(Tool::new(name, Box::new(Own(answer)))).is_none());
    tools
}

/// Calls `t` with its input; a failure is rolled back by `t` again, then passed on.
fn program() -> Program {
    let mut d = Draft::new(&["id"]);
    let (call, name) = d.call("t", &["id"]);
    let tool = |fail| Op::Tool { dst: Out(1), first: First(0), call, fail: OnFail(fail) };
    let undo = Op::Tool { dst: Out(2), first: First(0), call, fail: OnFail(1) };
    d.function(
        "f",
        &[("id", Type::ANY)],
        Output { ok: Type::ANY, err: Some(Type::ANY) },
        &[
            tool(1),
            Op::Return { src: In(1) },
            undo,
            Op::Jump { to: To(1) },
            Op::Note { src: In(2), tool: name },
            Op::Fail { src: In(1) },
        ],
    );
    Program::new(d.0).unwrap()
}

fn outcome(tools: &Tools, options: &Options, observer: &mut dyn Observer) -> String {
    let program = program();
    let input = Data::Record(vec![("id".to_owned(), Data::from("x"))].into());
    let function = program.entry().unwrap();
    let finished = ilo_host::run(&program, function, &input, tools, options, observer).unwrap();
    let mut json = String::new();
    finished.outcome().unwrap().write_json(&mut json).unwrap();
    json
}

#[test]
fn a_host_adds_its_own_tool_and_watches_it() {
    let tools = own("t", |request| {
        assert_eq!(request.tool, "t");
        Ok(Data::List(vec![request.arguments.clone()].into()))
    });
    let mut trace = Trace::new(Vec::new());
    let json = outcome(&tools, &Options::default(), &mut trace);
    assert_eq!(json, r#"{"status":"ok","value":[{"id":"x"}]}"#);
    trace.finish().unwrap();
}

#[test]
fn failures_of_any_value_reach_the_program() {
    let deep =
        Data::Record(vec![("why".to_owned(), Data::List(vec![Data::Nil, Data::from("b")].into()))].into());
    let tools = own("t", move |_| Err(Failure::Failed(deep.clone())));
    let json = outcome(&tools, &Options::default(), &mut ());
    let failure = r#"{"why":[null,"b"]}"#;
    assert_eq!(
        json,
        format!(
            r#"{{"status":"err","error":{failure},"compensation_failures":[{{"tool":"t","error":{failure}}}]}}"#
        )
    );
}

#[test]
fn a_late_answer_does_not_save_a_run_whose_time_is_over() {
    let tools = own("t", |request| {
        std::thread::sleep(request.deadline.saturating_duration_since(std::time::Instant::now()));
        Ok(Data::Nil)
    });
    let options = Options { timeout: Duration::from_millis(20), ..Options::default() };
    let json = outcome(&tools, &options, &mut ());
    let fault =
        r#"{"status":"fault","code":"timed-out","message":"the run took longer than its limit of 20 ms","#;
    assert!(json.starts_with(fault), "{json}");
}

#[test]
fn a_limit_of_the_answer_ends_the_run() {
    let tools = own("t", |_| Err(Failure::Limit(Code::FaultTooLarge, "large".to_owned())));
    let json = outcome(&tools, &Options::default(), &mut ());
    assert!(json.starts_with(r#"{"status":"fault","code":"too-large","message":"large","#), "{json}");
    // For a provider without bounds of its own, those of the machine apply.
    let tools = own("t", |_| Ok(Data::List(vec![Data::Nil; 200_000].into())));
    let json = outcome(&tools, &Options::default(), &mut ());
    assert!(json.starts_with(r#"{"status":"fault","code":"too-large","#), "{json}");
    let tools = own("t", |_| Ok((0..129).fold(Data::Nil, |inner, _| Data::List(vec![inner].into()))));
    let json = outcome(&tools, &Options::default(), &mut ());
    assert!(json.starts_with(r#"{"status":"fault","code":"depth","#), "{json}");
    let tools = own("t", |_| Ok((0..128).fold(Data::Nil, |inner, _| Data::List(vec![inner].into()))));
    assert!(outcome(&tools, &Options::default(), &mut ()).starts_with(r#"{"status":"ok""#));
}

/// Panics at every call.
#[derive(Debug)]
struct Panics;

impl Observer for Panics {
    fn started(&mut self, _seq: u64, _tool: &str) {
        panic!("an observer");
    }

    fn ended(&mut self, _call: &Ended<'_>) {
        panic!("an observer");
    }
}

#[test]
fn an_observer_that_panics_changes_nothing() {
    let failing = || own("t", |_| Err(Failure::text("no")));
    let watched = outcome(&failing(), &Options::default(), &mut Panics);
    assert_eq!(watched, outcome(&failing(), &Options::default(), &mut ()));
}

impl Ask for Panics {
    fn ask(&self, _question: &Question<'_>) -> Consent {
        panic!("a secret of the person who asks");
    }
}

#[test]
fn a_question_that_panics_makes_no_call_and_the_program_hears_nothing_of_it() {
    let mut tools = own("t", |_| Ok(Data::Nil));
    let mut tool =
        Tool::new("t", Box::new(Own(|_: &Request<'_>| -> Result<Data, Failure> { panic!("made") })));
    tool.policy.confirm = true;
    tools.add(tool);
    let options = Options { ask: Some(Arc::new(Panics)), ..Options::default() };
    let json = outcome(&tools, &options, &mut ());
    assert!(json.contains("and nobody could be asked") && !json.contains("secret"), "{json}");
}

#[test]
fn a_call_that_changes_something_is_awaited_after_a_cancel_and_its_place_and_reason_are_kept() {
    let (cancel, at) = (Interrupt::default(), Arc::new(AtomicBool::new(false)));
    let (set, seen) = (cancel.clone(), Arc::clone(&at));
    let tools = own("t", move |request| {
        set.set_for("the person left");
        assert!(request.cancel.is_set() && !request.interrupt.is_set());
        seen.store(true, Ordering::Relaxed);
        Ok(Data::Nil)
    });
    let options = Options { cancel, ..Options::default() };
    let json = outcome(&tools, &options, &mut ());
    assert!(at.load(Ordering::Relaxed) && json.contains(r#""code":"cancelled""#), "{json}");
    assert!(json.contains(": the person left\"") && json.contains(r#""line":1"#), "{json}");
}

#[test]
fn nothing_runs_where_a_tool_is_missing() {
    let program = program();
    let input = Data::Record(vec![("id".to_owned(), Data::Nil)].into());
    let tools = own("u", |_| Ok(Data::Nil));
    let function = program.entry().unwrap();
    let problems =
        ilo_host::run(&program, function, &input, &tools, &Options::default(), &mut ()).unwrap_err();
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].code, Code::UnknownTool);
}
