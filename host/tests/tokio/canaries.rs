//! A secret in each setting of a server and of commands that repeat all that they got. What a host in Rust
//! gets of a run has none of it: events, observers, recorders, questions, traces, spans, problems, notes, and
//! what `Debug` shows.
#![cfg(all(unix, feature = "mcp", feature = "tracing"))]

use crate::spans::Seen;
use crate::support::{build, current};
use ilo_host::data::Data;
use ilo_host::run::{
    Asked, AsyncOptions, Due, Ended, NotRecorded, Observer, Options, Recorder, Taken, run_async,
};
use ilo_host::tools::consent::{Ask, Consent, Question};
use ilo_host::tools::{Failure, McpServer, Policy, Request, Tools};
use ilo_host::trace::Trace;
use serde_json::{Value, json};
use std::fmt::Debug;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener};
use std::sync::{Arc, Mutex};

/// All secrets begin with this.
const CANARY: &str = "c4n4ry";
const SERVER: &str = include_str!("../support/repeats.sh");
/// The secret of another tool, which the program has got in an answer and gives to one that asks.
const KNOWN: &str = "kn0wn-7F3a9C";
/// Longer than what a message shows of a value, so that a secret is shown in part.
const PAD: &str = "a text of fifty bytes, which leaves room for ten m";

fn secret(of: &str) -> String {
    format!("{CANARY}-of-{of}-7F")
}

/// What was told.
#[derive(Clone, Debug, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl Told {
    fn add(&self, what: impl Debug) {
        self.0.lock().unwrap().push(format!("{what:?}"));
    }
}

impl Observer for Told {
    fn started(&mut self, _seq: u64, tool: &str) {
        self.add(tool);
    }

    fn ended(&mut self, call: &Ended<'_>) {
        self.add(call);
    }
}

impl Recorder for Told {
    fn after(&mut self, call: &Due<'_>, result: &Result<Data, Failure>) -> Result<Taken, NotRecorded> {
        self.add((call.tool, call.arguments, result));
        Ok(Taken::GoOn)
    }
}

impl Ask for Told {
    fn ask(&self, question: &Question<'_>) -> Consent {
        self.add((question, question.tool_shown(), question.arguments_shown()));
        Consent::Given
    }
}

/// Commands that say all that they got, each in a way of its own.
fn commands() -> Value {
    let command = |line: &str, more: Value| {
        let line = format!("all=$(printf '%s ' \"$@\"; env | tr '\\n' ' '); {line}");
        let mut entry = json!({
            "command": ["sh", "-c", line, "x", "--token", secret("option")],
            "env": {"OF_TOOL": secret("env")},
        });
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        entry
    };
    let states =
        |more: &str| json!({"output_schema": {"properties": {"state": {"enum": ["on"]}}}, "validate": more});
    let cut = format!("echo \"{{\\\"state\\\": \\\"{PAD} $OF_TOOL\\\"}}\"");
    json!({
        "fails": command("echo \"$all\" >&2; exit 3", json!({})),
        "prints": command("echo \"it is $all\"", json!({})),
        "misfits": command(&cut, json!({"output_schema": states("")["output_schema"]})),
        "passes": command(&cut, states("warn")),
        "dies": command("echo \"$all\" >&2; kill -9 $$", json!({})),
        "asked": command("echo 1", json!({"confirm": true, "env": {"OF_TOOL": KNOWN}})),
    })
}

/// Answers every request with its own text, as an error. Ends with the process.
fn echo() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut got = vec![0; 8 << 10];
            let length = stream.read(&mut got).unwrap_or(0);
            let head = "HTTP/1.1 500 Internal Server Error\r\ncontent-type: text/plain\r\nconnection: close";
            drop(stream.write_all(format!("{head}\r\ncontent-length: {length}\r\n\r\n").as_bytes()));
            drop(stream.write_all(&got[..length]));
            drop(stream.shutdown(Shutdown::Write));
        }
    });
    address
}

/// The tools: commands of a file, a server that is described in code, and a function that panics with what
/// only the server knows.
fn tools() -> Tools {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tools.json");
    std::fs::write(&path, json!({"tools": commands()}).to_string()).unwrap();
    let mut tools = Tools::from_file(&path).unwrap();
    let server = McpServer::program("s", "sh")
        .args([
            "-c",
            SERVER,
            "x",
            "--api-key",
            &secret("argument"),
            &format!("--password={}", secret("pair")),
        ])
        .env("OF_SERVER", secret("server"));
    tools.add_mcp_server(server).unwrap();
    tools.add_blocking("panics", Policy::default(), |_: Data, _: &Request<'_>| -> Result<(), String> {
        // Its message is shown in part, up to the middle of the secret.
        panic!("{}{}", "a".repeat(188), secret("server"))
    });
    tools
}

/// A program that makes every call, and gives the failures.
fn program() -> (ilo_vm::Program, Vec<String>) {
    let own = ["fails", "prints", "misfits", "passes", "dies", "asked", "panics"].map(str::to_owned);
    let of_server = ["fails", "errs", "misfits", "prints", "dies"].map(|tool| format!("mcp://s/{tool}"));
    let calls: Vec<String> = own.into_iter().chain(of_server).collect();
    let mut steps: Vec<Value> = Vec::new();
    for (at, call) in calls.iter().enumerate() {
        let args = if call == "asked" { json!({"note": KNOWN}) } else { json!({}) };
        steps.push(
            json!({"let": format!("r{at}"), "call": call, "args": args, "on-error": {"value": "$error"}}),
        );
    }
    steps.push(json!({"return": (0..calls.len()).map(|at| format!("$r{at}")).collect::<Vec<_>>()}));
    let source = json!({"function": "f", "input": {}, "output": "any", "steps": steps});
    (build(&source.to_string()), calls)
}

fn held(told: &Told, manner: &str) {
    let told = std::mem::take(&mut *told.0.lock().unwrap());
    assert_eq!(told.iter().find(|line| line.contains(CANARY)), None, "{manner}");
    // The arguments of a call are data. In a question they are shown.
    let questions: Vec<&String> = told.iter().filter(|line| line.contains("uestion {")).collect();
    assert!(
        !questions.is_empty() && !questions.iter().any(|line| line.contains(KNOWN)),
        "{manner}: {questions:?}"
    );
    let all = told.concat();
    for part in ["***", "panicked", "does not fit"] {
        assert!(all.contains(part), "{manner}: {part}: {all}");
    }
}

#[test]
fn no_secret_is_in_what_a_host_gets() {
    let (program, calls) = program();
    let told = Told::default();
    let (seen, guard) = Seen::watch();
    let mut tools = tools();
    let far = McpServer::http(
        "far",
        format!("http://me:{}@{}/mcp?api_key={}", secret("user"), echo(), secret("url")),
    )
    .header("X-Key", secret("header"));
    told.add(&far);
    current().block_on(async {
        let mut unreachable = Tools::new();
        unreachable.add_mcp_server(far).unwrap();
        told.add(unreachable.connect_async(["mcp://far/x"]).await.unwrap_err());
        tools.connect_async(calls.iter().map(String::as_str)).await.unwrap();
    });
    told.add(tools.iter().collect::<Vec<_>>());
    let (tools, trace) = (Arc::new(tools), Arc::new(Mutex::new(Trace::new(Vec::new()))));
    current().block_on(async {
        for shown in [true, false] {
            let (events, asked) = (told.clone(), told.clone());
            let options = AsyncOptions::new(&tools)
                .on_event(move |event| events.add(event))
                .recorder(told.clone())
                .ask(move |question: Asked| {
                    asked.add(("Question {", question.tool_shown(), question.arguments_shown(), &question));
                    async { Consent::Given }
                });
            let options =
                if shown { options.observer(trace.clone()) } else { options.observer(told.clone()) };
            let finished = run_async(&program, &json!({}), options).await.unwrap();
            told.add(finished.outcome().unwrap().to_string());
        }
    });
    told.add(String::from_utf8(Arc::into_inner(trace).unwrap().into_inner().unwrap().into_inner()).unwrap());
    told.add(tools.notes());
    held(&told, "run_async");
    let options = Options { ask: Some(Arc::new(told.clone())), ..Options::default() };
    told.add(&options);
    let input = Data::Record(Vec::new().into());
    let entry = program.entry().unwrap();
    let finished = ilo_host::run(&program, entry, &input, &tools, &options, &mut told.clone()).unwrap();
    told.add(finished.outcome().unwrap().to_string());
    told.add(tools.notes());
    held(&told, "run");
    drop(guard);
    let spans = seen.lines();
    assert_eq!(
        spans.iter().filter(|line| line.starts_with("execute_tool")).count(),
        3 * calls.len(),
        "{spans:?}"
    );
    assert!(!spans.concat().contains(CANARY), "{spans:?}");
}
