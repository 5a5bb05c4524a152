//! Calls of mocks and commands: their answers, failures and limits.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use ilo_host::data::Data;
use ilo_host::data::read::{Bounds, read};
use ilo_host::tools::{CallLimits, Failure, Tools};
use ilo_spec::error::Code;
use std::path::Path;
use std::time::{Duration, Instant};

fn data(json: &str) -> Data {
    read(json.as_bytes(), &Bounds { bytes: 2 << 20, ..Bounds::default() }).unwrap()
}

fn tools(folder: &Path, text: &str) -> Tools {
    let path = folder.join("tools.json");
    std::fs::write(&path, text).unwrap();
    Tools::from_file(&path).unwrap()
}

/// Calls tool `t` with long limits, so that only hanging calls reach them.
fn call(tools: &Tools, arguments: &str) -> Result<Data, Failure> {
    let until = Instant::now() + Duration::from_mins(1);
    tools.call("t", &data(arguments), &CallLimits::default(), until)
}

/// Calls a command of one shell script, with further keys of its entry.
fn shell_with(script: &str, keys: &str, arguments: &str) -> Result<Data, Failure> {
    let folder = tempfile::tempdir().unwrap();
    let script = Data::from(script).to_json();
    let text = format!(r#"{{"tools":{{"t":{{"command":["sh","-c",{script}]{keys}}}}}}}"#);
    call(&tools(folder.path(), &text), arguments)
}

fn shell(script: &str) -> Result<Data, Failure> {
    shell_with(script, "", "{}")
}

fn failed(result: Result<Data, Failure>) -> String {
    match result {
        Err(Failure::Failed(Data::Text(ref message)) | Failure::InDoubt(ref message)) => message.clone(),
        other => panic!("expected a failure, found {other:?}"),
    }
}

#[test]
fn a_mock_answers_with_the_first_entry_that_fits() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"{"tools":{"t":{"mock":[
        {"when":{"id":1},"returns":"one"},
        {"when":{"id":2},"returns":null,"times":2},
        {"when":{"id":2},"fails":{"code":7}},
        {"when":{"deep":{"a":1}},"returns":"deep"}]}}}"#;
    let tools = tools(folder.path(), text);
    assert_eq!(call(&tools, r#"{"id":1.0,"more":true}"#), Ok(data("\"one\"")));
    assert_eq!(call(&tools, r#"{"id":2}"#), Ok(Data::Nil));
    assert_eq!(call(&tools, r#"{"id":2}"#), Ok(Data::Nil));
    assert_eq!(call(&tools, r#"{"id":2}"#), Err(Failure::Failed(data(r#"{"code":7}"#))));
    assert_eq!(call(&tools, r#"{"deep":{"b":2,"a":1}}"#), Ok(data("\"deep\"")));
    let message = failed(call(&tools, r#"{"id":3}"#));
    assert_eq!(message, r#"no entry of the mock `t` fits the arguments {"id":3}"#);
}

#[test]
fn a_mock_as_one_record_serves_as_often_as_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let tools = tools(folder.path(), r#"{"tools":{"t":{"mock":{"returns":1,"times":1,"delay_ms":1}}}}"#);
    assert_eq!(call(&tools, "{}"), Ok(data("1")));
    assert!(failed(call(&tools, "{}")).starts_with("no entry of the mock `t` fits"));
}

#[test]
fn an_overrun_is_a_failure_of_the_call_but_the_end_of_the_run_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"{"tools":{"t":{"mock":{"returns":1,"delay_ms":60000},"timeout_ms":30}}}"#;
    let tools = tools(folder.path(), text);
    assert_eq!(failed(call(&tools, "{}")), "tool `t` took longer than its limit of 30 ms");
    let until = Instant::now();
    assert_eq!(tools.call("t", &data("{}"), &CallLimits::default(), until), Err(Failure::TimedOut));
}

#[test]
fn an_interrupted_call_ends_before_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let limits = CallLimits::default();
    limits.interrupt.set();
    let until = Instant::now() + Duration::from_hours(1);
    for tool in [r#"{"mock":{"returns":1,"delay_ms":600000}}"#, r#"{"command":["sh","-c","sleep 600"]}"#] {
        let text = format!(r#"{{"tools":{{"t":{tool}}}}}"#);
        let tools = tools(folder.path(), &text);
        assert_eq!(tools.call("t", &data("{}"), &limits, until), Err(Failure::Interrupted));
    }
}

#[test]
fn a_command_gets_its_arguments_and_answers_one_value() {
    assert_eq!(shell_with("cat", "", r#"{"b":[1,-0.0],"a":"é"}"#), Ok(data(r#"{"b":[1,-0.0],"a":"é"}"#)));
    assert_eq!(shell("echo ' null '"), Ok(Data::Nil));
}

#[test]
fn a_command_runs_in_the_files_folder_with_a_closed_environment() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("answer"), "\"beside\"").unwrap();
    let text = r#"{"tools":{"t":{"command":["cat","answer"]}}}"#;
    assert_eq!(call(&tools(folder.path(), text), "{}"), Ok(data("\"beside\"")));
    let script = r#"echo "\"$CARGO_MANIFEST_DIR,$EXTRA,${PATH:+path}\"""#;
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some(), "the test's own environment has it");
    assert_eq!(shell_with(script, r#","env":{"EXTRA":"more"}"#, "{}"), Ok(data("\",more,path\"")));
}

#[test]
fn a_command_that_fails_says_why() {
    assert_eq!(failed(shell("echo 1; echo ' no such user ' >&2; exit 3")), "no such user");
    assert_eq!(failed(shell("exit 3")), "ended with status 3 and nothing on standard error");
}

#[test]
fn a_command_that_is_killed_may_have_done_its_work() {
    assert_eq!(shell("kill -9 $$"), Err(Failure::InDoubt("ended by signal 9".to_owned())));
    let why = Failure::InDoubt("ended by signal 15: why".to_owned());
    assert_eq!(shell("echo why >&2; kill -15 $$"), Err(why));
}

#[test]
fn output_that_is_no_value_is_an_answer_that_does_not_fit() {
    let cases = [
        ("", "expected one JSON value on standard output, found nothing: "),
        ("echo hello", "expected one JSON value on standard output, found `hello`: line 1, column 1: "),
        (
            "echo 1 2",
            "expected one JSON value on standard output, found `1 2`: line 1, column 2: expected one value",
        ),
        (
            r"printf '\377'",
            "expected one JSON value on standard output, found `\u{fffd}`: line 1, column 1: bytes that are not UTF-8",
        ),
        (
            r#"echo '{"a":1,"a":2}'"#,
            "expected one JSON value on standard output, found `{\"a\":1,\"a\":2}`: line 1, column 1: a record with the key `a` twice",
        ),
        (
            "echo 18446744073709551616",
            "expected one JSON value on standard output, found `18446744073709551616`: line 1, column 1: the integer 18446744073709551616 does not fit 64 bits",
        ),
        (r#"echo '"\ud800"'"#, "expected one JSON value on standard output, found `\"\\ud800\"`: "),
    ];
    for (script, expected) in cases {
        let Err(Failure::Misfit(why)) = shell(script) else { panic!("{script}") };
        assert!(why.starts_with(expected), "{script}: {why}");
    }
}

#[test]
fn an_answer_past_a_limit_is_a_fault() {
    let code = |script| match shell(script) {
        Err(Failure::Limit(code, _)) => code,
        other => panic!("{script}: {other:?}"),
    };
    assert_eq!(code("yes '[[[['"), Code::FaultTooLarge);
    assert_eq!(code("yes [ | head -c 1000000"), Code::FaultDepth);
    assert_eq!(code("echo [; yes 1, | head -n 100001; echo 1]"), Code::FaultTooLarge);
}

#[test]
fn standard_error_may_flood() {
    assert_eq!(shell("yes flood | head -c 3000000 >&2; echo 1"), Ok(data("1")));
    let message = failed(shell("yes flood | head -c 3000000 >&2; echo 'the end' >&2; exit 1"));
    assert!(message.len() <= 4096 && message.ends_with("flood\nthe end"), "{}", message.len());
}

#[test]
fn a_command_that_never_reads_its_input_blocks_nobody() {
    let arguments = format!(r#"{{"a":"{}"}}"#, "x".repeat(1 << 20));
    assert_eq!(shell_with("echo 1", "", &arguments), Ok(data("1")));
    assert_eq!(shell_with("exec <&-; echo 2", "", &arguments), Ok(data("2")));
    let overrun = shell_with("sleep 600", r#","timeout_ms":50"#, &arguments);
    assert_eq!(failed(overrun), "tool `t` took longer than its limit of 50 ms");
}

/// Whether a process exists and is not a zombie.
fn alive(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'))
}

fn gone(pid: &str) -> bool {
    (0..2_000).any(|_| {
        std::thread::sleep(Duration::from_millis(5));
        !alive(pid)
    })
}

#[test]
#[cfg(target_os = "linux")]
fn an_overrun_ends_the_whole_group() {
    let folder = tempfile::tempdir().unwrap();
    let started = Instant::now();
    // The limit grows until the command has written the number of its child.
    let pid = (6..16).find_map(|power| {
        let script = "sleep 600 & echo $! > pid.new; mv pid.new pid; wait";
        let text = format!(
            r#"{{"tools":{{"t":{{"command":["sh","-c","{script}"],"timeout_ms":{}}}}}}}"#,
            1 << power
        );
        assert!(failed(call(&tools(folder.path(), &text), "{}")).contains("took longer"));
        std::fs::read_to_string(folder.path().join("pid")).ok()
    });
    assert!(gone(pid.unwrap().trim()), "the child of the command still runs");
    assert!(started.elapsed() < Duration::from_mins(5), "nobody waited for the sleep");
}

#[test]
#[cfg(target_os = "linux")]
fn a_child_left_behind_with_the_output_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"{"tools":{"t":{"command":["sh","-c","sleep 600 & echo $! > pid; echo 1"]}}}"#;
    assert_eq!(call(&tools(folder.path(), text), "{}"), Ok(data("1")));
    let pid = std::fs::read_to_string(folder.path().join("pid")).unwrap();
    assert!(gone(pid.trim()), "the child of the command still runs");
}

#[test]
fn a_child_that_left_the_group_with_the_output_hangs_nobody() {
    let started = Instant::now();
    assert_eq!(shell("setsid sleep 30 & sleep 0.2; echo 1"), Ok(data("1")));
    assert!(started.elapsed() < Duration::from_secs(25), "nobody waited for the sleep");
}

#[test]
fn problems_name_the_nearest_tool() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"{"mcpServers":{"mail":{"url":"http://x/"}},
        "tools":{"get-user":{"mock":{"returns":1}},"send":{"mcp":"mcp://mail/send"}}}"#;
    let tools = tools(folder.path(), text);
    let later = "the MCP server `mail` would answer it, and is not started";
    let found: Vec<String> = tools
        .problems([
            "get-user",
            "get-usr",
            "send",
            "mcp://mail/x",
            "mcp://mial/send-x",
            "mcp://users/get-user",
        ])
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        found,
        [
            "error[unknown-tool]: tool `get-usr`: the tools file has no such tool; did you mean `get-user`?".to_owned(),
            format!("error[bad-usage]: tool `send`: {later}"),
            format!("error[bad-usage]: tool `mcp://mail/x`: {later}"),
            "error[unknown-tool]: tool `mcp://mial/send-x`: the tools file has no such tool; did you mean `mail`?"
                .to_owned(),
        ]
    );
}

/// Calls tool `t` that is this built-in.
fn builtin(word: &str, arguments: &str) -> Result<Data, Failure> {
    let text = format!(r#"{{"tools":{{"t":{{"builtin":"{word}"}}}}}}"#);
    call(&Tools::from_text("tools.json", &text, Path::new(".")).unwrap(), arguments)
}

#[test]
fn built_in_tools_answer() {
    for (word, arguments, expected) in [
        (
            "match",
            r#"{"text":"a1 b22","pattern":"([a-z])([0-9]+)(x)?"}"#,
            r#"[{"text":"a1","groups":["a","1",""]},{"text":"b22","groups":["b","22",""]}]"#,
        ),
        ("match", r#"{"text":"abc","pattern":"x"}"#, "[]"),
        ("replace", r#"{"text":"a1b22","pattern":"[a-z](?P<n>[0-9]+)","with":"<${n}$$>"}"#, r#""<1$><22$>""#),
        (
            "hash",
            r#"{"text":"abc"}"#,
            r#""ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad""#,
        ),
        ("base64", r#"{"text":"h\u00e9"}"#, r#""aMOp""#),
        ("base64", r#"{"text":"aMOp","decode":true}"#, "\"h\u{e9}\""),
        ("url-encode", r#"{"text":"a b/\u00e9~"}"#, r#""a%20b%2F%C3%A9~""#),
        ("url-encode", r#"{"text":"a%20b%2F%C3%A9~","decode":true}"#, "\"a b/\u{e9}~\""),
        ("random", r#"{"min":7,"max":7}"#, "7"),
        ("wait", r#"{"seconds":0.01}"#, "null"),
    ] {
        let found = builtin(word, arguments).map(|value| value.to_json());
        assert_eq!(found, Ok(expected.to_owned()), "{word} {arguments}");
    }
    let sha512 = "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f";
    assert_eq!(builtin("hash", r#"{"text":"abc","algorithm":"sha512"}"#), Ok(Data::from(sha512)));
    let Ok(Data::Text(ref id)) = builtin("uuid", "{}") else { panic!("a text") };
    assert_eq!((id.len(), &id[14..15]), (36, "4"));
    assert!(matches!(builtin("now", "{}").unwrap().get("iso"), Some(Data::Text(iso)) if iso.ends_with('Z')));
    let full = r#"{"min":-9223372036854775808,"max":9223372036854775807}"#;
    assert!(matches!(builtin("random", full), Ok(Data::Number(_))));
}

#[test]
fn built_in_tools_say_what_is_wrong() {
    for (word, arguments, expected) in [
        (
            "match",
            r#"{"text":"a","pattern":"("}"#,
            "argument `pattern` is not a regular expression that can be used: unclosed group",
        ),
        (
            "match",
            r#"{"text":"a","pattern":"((a{100}){100}){100}"}"#,
            "argument `pattern` is not a regular expression that can be used",
        ),
        ("match", r#"{"pattern":"a"}"#, "argument `text`: expected a text, found nothing"),
        ("base64", r#"{"text":"*","decode":true}"#, "argument `text` is not base64"),
        ("base64", r#"{"text":"/w==","decode":true}"#, "bytes that are not text"),
        ("random", r#"{"min":2,"max":1}"#, "`min` is 2, more than `max`, which is 1"),
        ("wait", r#"{"seconds":-1}"#, "argument `seconds`: expected a number from 0, found a number"),
    ] {
        let message = failed(builtin(word, arguments));
        assert!(message.contains(expected), "{word}: {message}");
    }
    // An answer is bounded while it is made, and the time limit applies.
    let long = "x".repeat(4 << 10);
    let grows = format!(r#"{{"text":"{long}","pattern":"","with":"{long}"}}"#);
    assert!(matches!(builtin("replace", &grows), Err(Failure::Limit(Code::FaultTooLarge, _))));
    let text = r#"{"tools":{"t":{"builtin":"wait","timeout_ms":30}}}"#;
    let tools = Tools::from_text("tools.json", text, Path::new(".")).unwrap();
    assert_eq!(failed(call(&tools, r#"{"seconds":1e300}"#)), "tool `t` took longer than its limit of 30 ms");
}

#[test]
fn a_rate_holds_over_all_calls_within_their_time() {
    let text = r#"{"tools":{"t":{"mock":{"returns":1},"rate":{"calls":2,"per_ms":200},"timeout_ms":1000},
        "u":{"mock":{"returns":1},"rate":{"calls":1,"per_ms":60000},"timeout_ms":100}}}"#;
    let tools = Tools::from_text("tools.json", text, Path::new(".")).unwrap();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| assert_eq!(call(&tools, "{}"), Ok(data("1"))));
        }
    });
    assert!(begun.elapsed() >= Duration::from_millis(400), "{:?}", begun.elapsed());
    let until = Instant::now() + Duration::from_mins(1);
    let other = || tools.call("u", &data("{}"), &CallLimits::default(), until);
    assert_eq!(other(), Ok(data("1")));
    let message = failed(other());
    assert!(message.starts_with("tool `u` was not called: its rate of 1 calls in 60000 ms"), "{message}");
}

#[test]
fn a_function_of_the_host_gets_the_key_of_the_call() {
    let mut tools = Tools::new();
    let tell = |request: &ilo_host::tools::Request<'_>| Ok(Data::from(request.key.unwrap_or("none")));
    tools.add(ilo_host::tools::Tool::new("tell", Box::new(tell)));
    let made = |key: Option<&str>| {
        let limits = CallLimits { key: key.map(str::to_owned), ..CallLimits::default() };
        let until = Instant::now() + Duration::from_mins(1);
        tools.call("tell", &Data::Record(Vec::new().into()), &limits, until).unwrap()
    };
    assert_eq!(made(Some("abc-1")), Data::from("abc-1"));
    assert_eq!(made(None), Data::from("none"));
}

#[test]
fn a_command_of_a_cancelled_run_is_awaited_or_has_the_time_that_its_entry_gives() {
    let call = |script: &str, keys: &str| {
        let folder = tempfile::tempdir().unwrap();
        let script = Data::from(script).to_json();
        let text = format!(r#"{{"tools":{{"t":{{"command":["sh","-c",{script}]{keys}}}}}}}"#);
        let tools = tools(folder.path(), &text);
        let limits = CallLimits::default();
        limits.cancel.set();
        let begun = Instant::now();
        let result = tools.call("t", &data("{}"), &limits, begun + Duration::from_mins(1));
        let heard = std::fs::read_to_string(folder.path().join("heard")).unwrap_or_default();
        (result, begun.elapsed(), heard)
    };
    assert_eq!(call("sleep 0.3; echo 1", "").0, Ok(data("1")));
    let grace = r#","cancel_grace_ms":100"#;
    assert_eq!(call("echo 1", grace).0, Ok(data("1")));
    let (result, took, heard) = call("trap 'echo term > heard; exit 1' TERM; sleep 30 & wait", grace);
    assert_eq!(failed(result), "tool `t` was ended 100 ms after the run was cancelled");
    assert!(took < Duration::from_secs(20), "{took:?}");
    assert_eq!(heard, "term\n", "it may clean up");
    let (result, took, _) = call("trap '' TERM; sleep 30 & wait; sleep 30", grace);
    assert!(matches!(result, Err(Failure::InDoubt(_))), "{result:?}");
    assert!((Duration::from_secs(2)..Duration::from_secs(5)).contains(&took), "{took:?}");
}
