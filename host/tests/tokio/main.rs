//! Runs on a runtime of the host: what ends them, what tools can do to them, and what is seen of them.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod canaries;
mod events;
#[cfg(feature = "tracing")]
mod spans;
mod support;

use ilo_host::data::Data;
use ilo_host::interrupt::Interrupt;
use ilo_host::run::{AsyncOptions, Options, run_async};
use ilo_host::tools::consent::Consent;
use ilo_host::tools::{AsyncRequest, Failure, Policy, Request, Tools};
use ilo_spec::error::Code;
use ilo_vm::Limits;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use support::{Log, both, current, fine, log, multi, outcome, program, tools};
use tokio::sync::{Barrier, Notify};
use tokio::time::sleep;

type Answer = fn() -> Consent;

const LONG: Duration = Duration::from_mins(1);

#[derive(Deserialize)]
struct GetUser {
    #[serde(rename = "user-id")]
    id: String,
}

#[derive(Serialize)]
struct User {
    email: String,
    verified: bool,
}

async fn get_user(args: GetUser, _request: AsyncRequest) -> Result<User, String> {
    sleep(Duration::from_millis(1)).await;
    match args.id.as_str() {
        "u1" => Ok(User { email: "a@b.c".into(), verified: true }),
        other => Err(format!("no user {other}")),
    }
}

#[test]
fn typed_tools_get_and_give_the_types_of_the_host() {
    let notify = support::build(include_str!("../../../examples/notify.ilo"));
    let mut tools = Tools::new();
    tools.add_async("get-user", Policy::reads(), get_user);
    tools.add_blocking(
        "send-email",
        Policy::default(),
        |mail: BTreeMap<String, String>, _: &Request<'_>| -> Result<(), std::io::Error> {
            if mail["email"] == "a@b.c" { Ok(()) } else { Err(std::io::Error::other("no such address")) }
        },
    );
    let tools = Arc::new(tools);
    for (id, expected) in [
        ("u1", r#"{"status":"ok","value":null}"#),
        ("u2", r#"{"status":"err","error":"User lookup failed: no user u2"}"#),
    ] {
        both(|| async {
            let input = json!({"user-id": id, "message": "Hello"});
            let finished = run_async(&notify, &input, AsyncOptions::new(&tools)).await.unwrap();
            assert_eq!(finished.outcome().unwrap().to_string(), expected);
        });
    }
}

#[cfg(feature = "schemars")]
mod schemas {
    use super::*;
    use ilo_asm::compile;
    use ilo_asm::notation::Notation;
    use ilo_asm::prompt::prompt_for;
    use ilo_host::tools::Tool;
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use std::borrow::Cow;

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    #[expect(dead_code, reason = "they are deserialized")]
    struct Find {
        user_id: u32,
        /// Which part.
        part: Option<String>,
    }

    #[derive(Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    #[expect(dead_code, reason = "the schema has both")]
    enum Role {
        Admin,
        Guest,
    }

    #[derive(Serialize, JsonSchema)]
    struct Found {
        mails: Vec<String>,
        role: Role,
    }

    async fn find(_: Find, _: AsyncRequest) -> Result<Found, String> {
        Ok(Found { mails: vec!["a@b.c".into()], role: Role::Admin })
    }

    /// A type whose schema is none.
    #[derive(Deserialize)]
    struct Odd {}

    impl JsonSchema for Odd {
        fn schema_name() -> Cow<'static, str> {
            "Odd".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({"type": 7})
        }
    }

    fn tools() -> Arc<Tools> {
        let mut tools = Tools::new();
        let tool = Tool::asynchronous("find", find).described_by::<Find, Found>();
        tools.add(tool.with_policy(Policy::reads()).with_description("finds a user"));
        let odd = |_: Odd, _: AsyncRequest| async { Ok::<_, String>(()) };
        tools.add(Tool::asynchronous("odd", odd).described_by::<Odd, ()>());
        Arc::new(tools)
    }

    fn source(tool: &str, argument: &str, field: &str) -> String {
        format!(
            r#"{{"function": "f", "input": {{}}, "output": "any", "steps": [
                {{"let": "user", "call": "{tool}", "args": {{"{argument}": 7}}}}, {{"return": "$user.{field}"}}]}}"#
        )
    }

    #[test]
    fn the_types_of_a_tool_are_known_to_the_check_the_card_and_the_run() {
        let tools = tools();
        let options = compile::Options { catalog: Some(tools.catalog()), ..compile::Options::default() };
        let codes = |source: &str| -> Vec<&str> {
            compile::compile(source, &options).1.as_slice().iter().map(|found| found.code.as_str()).collect()
        };
        assert_eq!(codes(&source("find", "user-id", "mails")), [""; 0]);
        assert_eq!(codes(&source("find", "user-id", "mail")), ["unknown-field"]);
        assert!(codes(&source("find", "user", "mails")).contains(&"missing-argument"));
        let card = prompt_for(Notation::ToolCalling, options.catalog, None, None);
        for part in ["finds a user", "user-id", "part", "mails", "admin"] {
            assert!(card.contains(part), "{part}: {card}");
        }
        let built = compile::compile(&source("find", "user-id", "role"), &options).0.unwrap();
        let program = ilo_vm::Program::new(built).unwrap();
        both(|| async {
            let finished = run_async(&program, &json!({}), AsyncOptions::new(&tools)).await.unwrap();
            assert_eq!(finished.outcome().unwrap().to_string(), r#"{"status":"ok","value":"admin"}"#);
        });
    }

    #[test]
    fn a_schema_that_is_none_is_a_problem_of_the_programs_that_call_its_tool() {
        let tools = tools();
        let program = support::build(&source("odd", "a", "b"));
        both(|| async {
            let failed = run_async(&program, &json!({}), AsyncOptions::new(&tools)).await.unwrap_err();
            let expected = "tool `odd`: input_schema: no JSON Schema that can be used: ";
            assert!(failed.to_string().contains(expected), "{failed}");
        });
    }
}

#[test]
fn arguments_and_answers_that_do_not_convert_fail_the_call_with_their_place() {
    let mut tools = Tools::new();
    tools.add_async("do", Policy::reads(), |_: GetUser, _| async { Ok::<_, String>(1) });
    tools.add_async("then", Policy::reads(), |_: Data, _| async { Ok::<_, String>(f64::NAN) });
    tools.add_async("undo", Policy::default(), fine);
    let mut others = tools.clone();
    others.add_async("do", Policy::reads(), |_: Data, _| async { Ok::<_, String>([u64::MAX]) });
    others
        .add_async("then", Policy::reads(), |_: Data, _| async { Ok::<_, String>(BTreeMap::from([(1, 2)])) });
    let (tools, others) = (Arc::new(tools), Arc::new(others));
    both(|| async {
        let error = outcome(&support::reads(), &others, Options::default()).await;
        assert_eq!(
            error,
            "the answer does not fit: `[0]`: the integer 18446744073709551615 does not fit 64 bits with a sign; write \
             it as text; the answer does not fit: expected a text as a key, found a number"
        );
        let input = BTreeMap::from([("id", BTreeMap::from([(1, 2)]))]);
        let failed = run_async(&support::reads(), &input, AsyncOptions::new(&tools)).await.unwrap_err();
        assert_eq!(failed[0].message, "`id`: expected a text as a key, found a number");
        let error = outcome(&support::reads(), &tools, Options::default()).await;
        assert_eq!(
            error,
            "the arguments do not fit: missing field `user-id`; the answer does not fit: NaN is not a number that a \
             program can have; numbers are finite"
        );
    });
}

/// An error of a host, with a cause.
#[derive(Debug)]
struct Declined(std::io::Error);

impl std::fmt::Display for Declined {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the card was declined")
    }
}

impl std::error::Error for Declined {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

#[test]
fn any_error_of_a_host_fails_its_call_with_its_causes() {
    type Boxed = Box<dyn std::error::Error + Send + Sync>;
    let declined = || Declined(std::io::Error::other("the bank is closed"));
    let (_, done) = log();
    let own = tools(&done, |tools| {
        tools.add_async("then", Policy::default(), move |_: Data, _| async move { Err::<(), _>(declined()) });
    });
    let boxed = tools(&done, |tools| {
        tools.add_blocking("then", Policy::default(), move |_: Data, _: &Request<'_>| {
            Err::<(), Boxed>(declined().into())
        });
    });
    // A `Failure` stays what it is, also in a box.
    let kept = tools(&done, |tools| {
        tools.add_async("then", Policy::default(), |_: Data, _| async {
            Err::<(), Boxed>(Failure::Failed(Data::record([("code", 7)])).into())
        });
    });
    for (tools, expected) in [
        (own, "the card was declined: the bank is closed"),
        (boxed, "the card was declined: the bank is closed"),
        (kept, r#"{"code":7}"#),
    ] {
        both(|| async {
            assert_eq!(outcome(&program(), &tools, Options::default()).await, expected);
        });
    }
}

/// f(id): what `echo` answers, which is what it gets.
#[test]
fn values_of_every_kind_go_in_and_out_of_a_run_exactly_or_are_a_named_error() {
    let echoes = support::build(
        "; fn f(id: any) -> any\n; Tools: 0=echo\n; Fields: 0=id\nLET 1 CALL 0 1 0 REF 0\nRET REF 1\n",
    );
    let mut tools = Tools::new();
    tools.add_async("echo", Policy::reads(), |mut args: BTreeMap<String, Data>, _| async move {
        args.remove("id").ok_or("no id")
    });
    let tools = Arc::new(tools);
    let run = async |id: Data| {
        let options = Options {
            // A million items, and a nesting of 1,000 below the record of the input.
            limits: Limits {
                result_nodes: 2_000_000,
                value_depth: 1_024,
                memory: 1 << 30,
                items: 1 << 20,
                ..Limits::default()
            },
            ..Options::default()
        };
        let options = AsyncOptions::new(&tools).options(options);
        let finished = run_async(&echoes, &BTreeMap::from([("id", &id)]), options).await.unwrap();
        let outcome = finished.outcome().unwrap();
        let value = outcome.ok().unwrap_or_else(|| panic!("{outcome}"));
        // Its text is exact, too.
        assert_eq!(value.to_string(), id.to_json());
        assert_eq!(Data::from(value), id);
    };
    let scalars = r#"[null,true,-9223372036854775808,9223372036854775807,9007199254740993,0.1,-0.0,1e300,"",
        "é\u0000\n😀",[],{},{"":{"a b":[[1]]}}]"#;
    let deep = (0..1_000).fold(Data::Nil, |inner, _| Data::list([inner]));
    // Recursion in debug builds of serde needs more than the 2 MiB of a test's thread.
    let test = move || {
        current().block_on(async {
            let Data::List(values) = scalars.parse().unwrap() else { panic!("a list") };
            for value in values {
                run(value).await;
            }
            run(deep).await;
            run(Data::list(0..1_000_000)).await;
        });
    };
    std::thread::scope(|scope| {
        std::thread::Builder::new().stack_size(64 << 20).spawn_scoped(scope, test).unwrap().join().unwrap();
    });
}

#[test]
fn a_panic_is_a_failure_of_its_call_and_the_rest_is_rolled_back() {
    async fn panics(_: Data, _: AsyncRequest) -> Result<(), String> {
        panic!("of an asynchronous tool")
    }
    fn panics_too(_: Data, _: &Request<'_>) -> Result<(), String> {
        panic!("of a blocking tool")
    }
    let (log, done) = log();
    let asynchronous = tools(&done, |tools| tools.add_async("then", Policy::default(), panics));
    let blocking = tools(&done, |tools| tools.add_blocking("then", Policy::default(), panics_too));
    for (tools, expected) in [
        (asynchronous, "tool `then` panicked: of an asynchronous tool"),
        (blocking, "tool `then` panicked: of a blocking tool"),
    ] {
        both(|| async {
            assert_eq!(outcome(&program(), &tools, Options::default()).await, expected);
            assert_eq!(log.take(), ["do", "undo"]);
        });
    }
}

#[test]
fn a_tool_that_blocks_on_another_runtime_or_returns_too_much_costs_its_call_at_most() {
    let (log, done) = log();
    let nested = tools(&done, |tools| {
        tools.add_async("then", Policy::default(), |_: Data, _| async {
            Ok::<_, String>(current().block_on(async { "an inner answer" }))
        });
    });
    // A thread for blocking work may have a runtime of its own.
    let blocking = tools(&done, |tools| {
        tools.add_blocking("then", Policy::default(), |_: Data, _: &Request<'_>| {
            Ok::<_, String>(current().block_on(async { "an inner answer" }))
        });
    });
    let much = tools(&done, |tools| {
        tools.add_async("then", Policy::default(), |_: Data, _| async {
            Ok::<_, String>("x".repeat(1 << 26))
        });
    });
    for (tools, expected, effects) in [
        (nested, "tool `then` panicked: Cannot start a runtime", &["do", "undo"][..]),
        (blocking, "ok \"an inner answer\"", &["do"]),
        (much, "too-large: ", &["do", "undo"]),
    ] {
        both(|| async {
            let outcome = outcome(&program(), &tools, Options::default()).await;
            assert!(
                outcome.starts_with(expected),
                "{expected}: {}",
                outcome.chars().take(200).collect::<String>()
            );
            assert_eq!(log.take(), effects);
        });
    }
}

#[test]
fn the_limit_of_a_run_holds_whatever_its_tool_does() {
    let (log, done) = log();
    let free = Interrupt::default();
    let waits = tools(&done, |tools| {
        tools.add_async("then", Policy::default(), |_: Data, _| async {
            sleep(LONG).await;
            Ok::<_, String>(())
        });
    });
    let holds = tools(&done, |tools| holds_its_thread(tools, &free));
    for tools in [waits, holds] {
        both(|| async {
            let options = Options { timeout: Duration::from_millis(600), ..Options::default() };
            // The call goes on: nothing has freed it.
            let error = outcome(&program(), &tools, options).await;
            assert_eq!(error, "timed-out: the run took longer than its limit of 600 ms");
            assert_eq!(log.take(), ["do", "undo"]);
        });
    }
    free.set();
}

/// Adds `then`, which does not look at its deadline.
fn holds_its_thread(tools: &mut Tools, free: &Interrupt) {
    let free = free.clone();
    tools.add_blocking("then", Policy::default(), move |_: Data, _: &Request<'_>| {
        while !free.is_set() {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok::<_, String>(())
    });
}

/// Adds `then`, which says that it has begun, and does not end.
fn never_ends(tools: &mut Tools, policy: Policy) -> Arc<Notify> {
    let begun = Arc::new(Notify::new());
    let own = begun.clone();
    tools.add_async("then", policy, move |_: Data, _| {
        let own = own.clone();
        async move {
            own.notify_one();
            std::future::pending::<Result<(), String>>().await
        }
    });
    begun
}

#[test]
fn a_tool_says_that_a_limit_was_exceeded_or_the_run_ended_only_when_it_was_so() {
    let (_, done) = log();
    let limit = |millis| Policy { timeout: Some(Duration::from_millis(millis)), ..Policy::default() };
    let slow = tools(&done, |tools| {
        tools.add_async("then", limit(50), |_: Data, _| async {
            sleep(LONG).await;
            Ok::<_, String>(())
        });
    });
    let lies = tools(&done, |tools| {
        tools.add_async("then", limit(9_000), |_: Data, _| async { Err::<(), _>(Failure::TimedOut) });
    });
    let forges = tools(&done, |tools| {
        tools.add_async("then", limit(9_000), |_: Data, _| async { Err::<(), _>(Failure::Interrupted) });
    });
    let faults = tools(&done, |tools| {
        tools.add_async("then", limit(9_000), |_: Data, _| async {
            Err::<(), _>(Failure::Limit(Code::FaultCancelled, "the run was cancelled".to_owned()))
        });
    });
    for (tools, expected) in [
        (slow, "tool `then` took longer than its limit of 50 ms"),
        (lies, "tool `then` gave up before its limit of 9000 ms"),
        (forges, "tool `then` gave up as if it were interrupted, and nobody interrupted it"),
        (faults, "tool `then` gave up with `cancelled`, which is no limit of an answer"),
    ] {
        both(|| async {
            assert_eq!(outcome(&program(), &tools, Options::default()).await, expected);
        });
    }
}

#[test]
fn a_cancel_awaits_a_change_rolls_back_and_drops_a_read() {
    let (log, done) = log();
    let begun = Arc::new(Notify::new());
    let changes = {
        let (done, begun) = (done.clone(), begun.clone());
        tools(&done.clone(), move |tools| {
            tools.add_async("then", Policy::default(), move |_: Data, request: AsyncRequest| {
                let (done, begun) = (done.clone(), begun.clone());
                async move {
                    begun.notify_one();
                    request.cancelled().await;
                    done("then");
                    Ok::<_, String>(())
                }
            });
        })
    };
    let mut reading = begun.clone();
    let reads = tools(&done, |tools| reading = never_ends(tools, Policy::reads()));
    for (tools, begun, expected) in
        [(changes, begun, &["do", "then", "undo"][..]), (reads, reading, &["do", "undo"])]
    {
        both(|| async {
            let options = Options::default();
            let (cancel, begun) = (options.cancel.clone(), begun.clone());
            tokio::spawn(async move {
                begun.notified().await;
                cancel.set_for("enough");
            });
            let error = outcome(&program(), &tools, options).await;
            assert!(error.starts_with("cancelled: "), "{error}");
            assert_eq!(log.take(), expected);
        });
    }
}

#[test]
fn an_interrupt_stops_the_run_at_once_and_rolls_nothing_back() {
    let (log, done) = log();
    let mut begun = Arc::new(Notify::new());
    let tools = tools(&done, |tools| begun = never_ends(tools, Policy::default()));
    both(|| async {
        let options = Options::default();
        let (interrupt, begun) = (options.interrupt.clone(), begun.clone());
        tokio::spawn(async move {
            begun.notified().await;
            interrupt.set();
        });
        let options = AsyncOptions::new(&tools).options(options);
        let finished = run_async(&program(), &json!({"id": "x"}), options).await.unwrap();
        assert!(finished.outcome().is_none());
        assert_eq!(log.take(), ["do"]);
    });
}

#[test]
fn a_person_is_asked_while_other_work_goes_on() {
    let (log, done) = log();
    let confirm = || Policy { confirm: true, ..Policy::default() };
    let tools = tools(&done, |tools| tools.add_async("then", confirm(), fine));
    let answers: [(&str, Answer, &str); 3] = [
        ("given", || Consent::Given, "fine"),
        ("refused", || Consent::Refused("no".into()), "and no"),
        ("panic", || panic!("the question"), "and nobody could be asked"),
    ];
    for (what, answer, expected) in answers {
        both(|| async {
            let options = AsyncOptions::new(&tools).ask(move |asked| async move {
                assert_eq!(
                    (asked.tool.as_str(), asked.arguments.to_string().as_str()),
                    ("then", r#"{"id":"x"}"#)
                );
                sleep(Duration::from_millis(5)).await;
                answer()
            });
            let finished = run_async(&program(), &json!({"id": "x"}), options).await.unwrap();
            let outcome = finished.outcome().unwrap().to_string();
            assert!(outcome.contains(expected), "{what}: {outcome}");
            log.take();
        });
    }
    both(|| async {
        let error = outcome(&program(), &tools, Options::default()).await;
        assert!(error.ends_with("and there is nobody to ask"), "{error}");
        log.take();
    });
}

#[test]
fn failed_calls_of_idempotent_tools_are_made_again() {
    let tries = Arc::new(AtomicUsize::new(0));
    let (_, done) = log();
    let counted = tries.clone();
    let tools = tools(&done, move |tools| {
        let policy = Policy { idempotent: true, retries: 2, ..Policy::default() };
        tools.add_async("then", policy, move |_: Data, _| {
            let counted = counted.clone();
            async move {
                match counted.fetch_add(1, Ordering::SeqCst) {
                    2 => Ok("fine"),
                    _ => Err("not yet"),
                }
            }
        });
    });
    both(|| async {
        tries.store(0, Ordering::SeqCst);
        assert_eq!(outcome(&program(), &tools, Options::default()).await, r#"ok "fine""#);
        assert_eq!(tries.load(Ordering::SeqCst), 3);
    });
}

#[test]
fn a_trace_is_written_and_given_back() {
    let (_, done) = log();
    let tools = tools(&done, |tools| tools.add_async("then", Policy::default(), fine));
    both(|| async {
        let trace = Arc::new(Mutex::new(ilo_host::trace::Trace::new(Vec::new())));
        let options = AsyncOptions::new(&tools).observer(trace.clone());
        run_async(&program(), &json!({"id": "x"}), options).await.unwrap();
        let trace = Arc::into_inner(trace).unwrap().into_inner().unwrap();
        let lines = String::from_utf8(trace.into_inner()).unwrap();
        assert_eq!(lines.lines().count(), 2);
        assert!(
            lines.starts_with(r#"{"seq":0,"tool":"do","args":{"id":"x"},"ok":"fine","start_ms":"#),
            "{lines}"
        );
    });
}

#[test]
fn reads_are_made_at_the_same_time() {
    let mut tools = Tools::new();
    let together = Arc::new(Barrier::new(8));
    tools.add_async("price", Policy::reads(), move |_: Data, _| {
        let together = together.clone();
        async move {
            together.wait().await;
            Ok::<_, String>("1")
        }
    });
    let tools = Arc::new(tools);
    let program = support::build(
        "; fn prices(items: list text) -> list text\n; Tools: 0=price\n; Fields: 0=item\n\
         FOR 1 REF 0 2\n  LET 2 CALL 0 1 0 REF 1\n  CONCAT REF 1 REF 2\n",
    );
    both(|| async {
        let items: Vec<String> = (0..8).map(|n| format!("i{n}:")).collect();
        let finished =
            run_async(&program, &json!({"items": items}), AsyncOptions::new(&tools)).await.unwrap();
        assert!(finished.outcome().unwrap().to_string().contains("i7:1"));
    });
}

#[test]
fn what_prevents_a_run_is_said_before_it_starts() {
    let (_, done) = log();
    let tools = tools(&done, |_| {});
    both(|| async {
        let failed =
            run_async(&program(), &json!({"ix": u64::MAX}), AsyncOptions::new(&tools)).await.unwrap_err();
        assert!(
            failed.to_string().contains("`ix`: the integer 18446744073709551615 does not fit"),
            "{failed}"
        );
        let failed = run_async(&program(), &json!({"ix": 1}), AsyncOptions::new(&tools)).await.unwrap_err();
        let error: Box<dyn std::error::Error> = failed.into();
        let lines = error.to_string();
        for part in ["input `id`", "input `ix`", "tool `then`"] {
            assert!(lines.contains(part), "{lines}");
        }
        let options = AsyncOptions::new(&tools).function("g");
        let failed = run_async(&program(), &json!({"id": 1}), options).await.unwrap_err();
        assert_eq!(
            failed.to_string(),
            "error[unknown-function]: the program has no function `g`; there is only `f`"
        );
    });
}

#[test]
fn tools_may_drop_or_keep_their_request_and_answer_twice() {
    let (_, done) = log();
    let kept: Arc<Mutex<Vec<AsyncRequest>>> = Arc::default();
    let tools = tools(&done, move |tools| {
        tools.add_async("then", Policy::default(), move |_: Data, request: AsyncRequest| {
            kept.lock().unwrap().push(request);
            async {
                let (first, second) = tokio::sync::oneshot::channel();
                tokio::spawn(async { first.send("first") });
                let answer = second.await.map_err(|_| "gone")?;
                // A second answer has nowhere to go: the first is what is returned.
                tokio::spawn(async { "second" }).await.map_err(|_| "gone")?;
                Ok::<_, &str>(answer)
            }
        });
    });
    both(|| async {
        assert_eq!(outcome(&program(), &tools, Options::default()).await, r#"ok "first""#);
    });
}

#[test]
fn a_dropped_run_ends_its_calls() {
    struct Ended(Log);
    impl Drop for Ended {
        fn drop(&mut self) {
            self.0.add("dropped");
        }
    }
    let (log, done) = log();
    let begun = Arc::new(Notify::new());
    let (own, says) = (log.clone(), begun.clone());
    let tools = tools(&done, move |tools| {
        tools.add_async("then", Policy::default(), move |_: Data, _| {
            let (ended, says) = (Ended(own.clone()), says.clone());
            async move {
                let _ended = ended;
                says.notify_one();
                sleep(LONG).await;
                Ok::<_, String>(())
            }
        });
    });
    both(|| async {
        let run = run_async(&program(), &json!({"id": "x"}), AsyncOptions::new(&tools));
        tokio::select! {
            _ = run => panic!("its tool does not end"),
            () = begun.notified() => {}
        }
        while !log.has("dropped") {
            sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(log.take(), ["do", "dropped"]);
    });
}

#[test]
fn a_runtime_may_be_shut_down_in_the_middle() {
    let (log, done) = log();
    let mut begun = Arc::new(Notify::new());
    let tools = tools(&done, |tools| begun = never_ends(tools, Policy::default()));
    for runtime in [current(), multi()] {
        let tools = tools.clone();
        runtime.spawn(async move {
            let run = run_async(&program(), &json!({"id": "x"}), AsyncOptions::new(&tools));
            drop(run.await);
        });
        runtime.block_on(begun.notified());
        runtime.shutdown_timeout(LONG);
        assert_eq!(log.take(), ["do"]);
    }
}

#[test]
fn too_many_calls_left_behind_refuse_new_runs_until_they_end() {
    let (_, done) = log();
    let free = Interrupt::default();
    let tools = tools(&done, |tools| holds_its_thread(tools, &free));
    multi().block_on(async {
        // Enough for each to come to its second call.
        let options = || Options { timeout: Duration::from_secs(2), ..Options::default() };
        let input = json!({"id": "x"});
        let run = || run_async(&program(), &input, AsyncOptions::new(&tools).options(options()));
        let runs: Vec<_> = (0..32).map(|_| tokio::spawn(run())).collect();
        for run in runs {
            drop(run.await.unwrap());
        }
        let refused = run().await.unwrap_err();
        let expected =
            "error[bad-usage]: 32 calls of these tools went on after their deadline and have not ended";
        assert_eq!(refused.to_string(), expected);
        free.set();
        while run().await.is_err() {
            sleep(Duration::from_millis(5)).await;
        }
    });
}

#[test]
fn blocking_entry_points_refuse_asynchronous_code_and_say_what_to_call() {
    let (_, done) = log();
    let tools = tools(&done, |tools| {
        tools.add_blocking("then", Policy::default(), |_: Data, _: &Request<'_>| Ok::<_, String>("fine"));
    });
    let run = move |tools: &Tools| {
        let program = program();
        let input = Data::record([("id", "x")]);
        let entry = program.entry().unwrap();
        ilo_host::run(&program, entry, &input, tools, &Options::default(), &mut ())
            .map(|finished| finished.outcome().unwrap().to_string())
            .map_err(|problems| problems.iter().map(ToString::to_string).collect::<String>())
    };
    for runtime in [current(), multi()] {
        let tools = tools.clone();
        runtime.block_on(async move {
            let refused = run(&tools).unwrap_err();
            assert!(refused.contains("await `run_async`"), "{refused}");
            for (name, refused) in [
                ("connect_async", Tools::new().connect(["mcp://a/b"])),
                ("connect_all_async", Tools::new().connect_all()),
            ] {
                let refused = refused.unwrap_err().to_string();
                assert!(refused.contains(&format!("await `{name}`")), "{refused}");
            }
            // On a thread for blocking work it is as it always was, but for asynchronous tools.
            let ran = tokio::task::spawn_blocking(move || run(&tools)).await.unwrap().unwrap();
            assert!(
                ran.contains("the run is asynchronous") || ran.contains("start the run with `run_async`"),
                "{ran}"
            );
        });
    }
}

#[test]
fn runs_and_what_they_need_can_be_sent_between_threads() {
    fn sends<T: Send>() {}
    fn shares<T: Send + Sync>() {}
    sends::<ilo_vm::Run>();
    sends::<ilo_host::run::Finished>();
    sends::<AsyncOptions>();
    sends::<ilo_drive::Drive<()>>();
    shares::<ilo_vm::Program>();
    shares::<Tools>();
    shares::<AsyncRequest>();
    shares::<Data>();
    shares::<Failure>();
    shares::<Options>();
}
