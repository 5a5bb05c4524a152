//! Streams that nobody reads or that cannot be written, and signals.

use crate::support::{ILO, Lines, Served, folder, program};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A pipe holds 64 kB, and the log of this number of requests is longer.
#[test]
fn a_log_that_nobody_reads_stops_nothing() {
    let folder = folder();
    let mut lines = Lines::piped(&folder, &["--log", "trace"]);
    lines.open("{}");
    for id in 2..300 {
        lines.run(id, "get-user");
        lines.hear_with(&format!(r#""id":{id},"#));
    }
    // A late reader gets the number of missing lines.
    let log = BufReader::new(lines.child.stderr.take().unwrap()).lines().map_while(Result::ok);
    drop(lines.child.stdin.take());
    let words = "lines of the log were dropped: nobody read them";
    assert!(log.into_iter().any(|line| line.contains(words)));
}

#[test]
fn all_progress_is_sent_before_the_result() {
    let mut lines = Lines::start(&folder(), &[]);
    for id in 2..200 {
        lines.run(id, "get-user");
        let mut told = false;
        loop {
            let heard = lines.hear();
            assert!(
                heard.contains(&format!("p{id}")) || heard.contains(&format!(r#""id":{id},"#)),
                "{heard}"
            );
            if heard.contains(r#""result""#) {
                break;
            }
            told = true;
        }
        assert!(told, "{id}");
    }
}

/// A client need not show its model an error of the protocol; the answer of a tool it does.
#[test]
fn wrong_arguments_are_told_to_the_model() {
    let mut lines = Lines::start(&folder(), &[]);
    let wrong = [
        ("run_program", r#"{"source":"; fn f() -> any","input":{}}"#, "did you mean `inputs`?"),
        ("run_program", r#"{"program":"; fn f() -> any"}"#, "there is no argument `program`"),
        ("run_program", r#"{"source":"; fn f() -> any","inputs":[1]}"#, "`inputs` must be a record"),
        ("run_program", r#"{"source":1}"#, "`source` must be the text"),
        ("check_program", r#"{"source":"x","notation":"lisp"}"#, "lisp"),
        ("find_tools", r#"{"query":"x","limit":-1}"#, "`limit` must be a whole number"),
        ("find_tools", r#"{"query":"x","query":"y"}"#, "`query` is there twice"),
    ];
    for (id, (tool, arguments, told)) in (2..).zip(wrong) {
        lines.say(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        ));
        let answer = lines.hear_with(&format!(r#""id":{id},"#));
        assert!(answer.contains(r#""isError":true"#) && answer.contains(told), "{arguments}: {answer}");
    }
}

/// A client takes an answer as a promise: prompts and completions are not declared.
#[test]
fn methods_that_are_not_declared_are_not_there() {
    let mut lines = Lines::start(&folder(), &[]);
    let reference = r#"{"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"a","value":""}}"#;
    for (id, (method, params)) in (2..).zip([
        ("prompts/list", "{}"),
        ("prompts/get", r#"{"name":"x"}"#),
        ("completion/complete", reference),
    ]) {
        lines.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#));
        let answer = lines.hear_with(&format!(r#""id":{id},"#));
        assert!(answer.contains(r#""error":{"code":-32601,"#) && answer.contains(method), "{answer}");
    }
}

#[test]
fn a_check_waits_for_no_run() {
    let hours = ["--max-runs", "1", "--call-timeout", "3600000", "--timeout", "3600000"];
    let mut lines = Lines::start(&folder(), &hours);
    lines.run(2, "wait-long");
    lines.hear_with("notifications/progress");
    for (id, tool, arguments) in [(3, "check_program", program("wait")), (4, "find_tools", "{}".to_owned())] {
        lines.say(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        ));
        assert!(lines.hear_with(&format!(r#""id":{id},"#)).contains(r#""structuredContent""#));
    }
}

/// An offered function promises a schema for its structured content.
#[test]
fn an_error_of_a_function_has_no_structured_content() {
    let folder = folder();
    let program = folder.path().join("mail.ilo");
    let mut lines = Lines::start(&folder, &[program.to_str().unwrap()]);
    for (id, arguments, words) in [
        (2, r#"{"id":"u2"}"#, "no such user"),
        (3, r#"{"id":1}"#, "input"),
        (4, r#"{"other":"u1"}"#, "other"),
    ] {
        lines.say(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"mail-of","arguments":{arguments}}}}}"#
        ));
        let heard = lines.hear_with(&format!(r#""id":{id},"#));
        assert!(heard.contains(r#""isError":true"#) && heard.contains(words), "{heard}");
        assert!(!heard.contains("structuredContent"), "{heard}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_not_taken_for_a_run_that_did_not_happen() {
    let folder = folder();
    let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
    let [tools, program] = ["tools.json", "mail.ilo"].map(|name| folder.path().join(name));
    let mut run = Command::new(ILO);
    run.arg("run").arg(&program).arg("--tools").arg(&tools).args(["--arg", "id=u1"]);
    let ended = run.stdout(full()).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    let written = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(74), "{written}");
    assert!(written.contains("standard output cannot be written: No space left"), "{written}");
    assert!(written.contains(r#"{"status":"ok","value":"a@b.c"}"#), "{written}");

    let mut serve = Command::new(ILO);
    serve.args(["serve", "--tools"]).arg(&tools).stdin(Stdio::piped()).stdout(full()).stderr(Stdio::piped());
    let mut child = serve.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, format!("{}\n", crate::support::INITIALIZE).as_bytes()).unwrap();
    // Its input stays open: it must end by itself.
    let ended = child.wait_with_output().unwrap();
    let written = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(74), "{written}");
    assert!(written.contains("standard output cannot be written"), "{written}");
}

#[cfg(unix)]
fn terminate(id: u32) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
}

#[cfg(unix)]
#[test]
fn what_is_under_way_is_answered_before_a_signal_ends_the_server() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let tool = |line: &str| format!(r#"{{"command": ["sh", "-c", "{line}"]"#);
    let (short, long) = (
        tool("touch short; while [ ! -e go ]; do sleep 0.02; done; echo 1"),
        tool("touch long; exec sleep 3600"),
    );
    let tools = format!(r#"{{"tools": {{"short": {short}}}, "long": {long}, "read_only": true}}}}}}"#);
    std::fs::write(at("tools.json"), tools).unwrap();
    let mut served = Served::start(&folder, &["--call-timeout", "3600000", "--timeout", "3600000"]);
    let id = served.child.id();
    let (short, long) = thread::scope(|threads| {
        let short = threads.spawn(|| served.call("run_program", &program("short"), ""));
        let long = threads.spawn(|| served.call("run_program", &program("long"), ""));
        let begun = Instant::now();
        while !(at("short").exists() && at("long").exists()) {
            assert!(begun.elapsed() < Duration::from_mins(1), "the calls do not begin");
            thread::sleep(Duration::from_millis(5));
        }
        terminate(id);
        std::fs::write(at("go"), "").unwrap();
        (short.join().unwrap(), long.join().unwrap())
    });
    assert!(short.contains(r#""status":"ok""#), "{short}");
    assert!(long.contains(r#""code":"cancelled""#), "{long}");
    assert_eq!(served.child.wait().unwrap().code(), Some(0));
}

#[cfg(unix)]
#[test]
fn a_signal_cancels_runs_over_standard_streams() {
    let mut lines = Lines::start(&folder(), &["--call-timeout", "3600000", "--timeout", "3600000"]);
    lines.run(2, "wait-long");
    lines.hear_with("notifications/progress");
    terminate(lines.child.id());
    assert!(lines.hear_with(r#""id":2,"#).contains(r#""code":"cancelled""#));
    assert_eq!(lines.child.wait().unwrap().code(), Some(0));
}
