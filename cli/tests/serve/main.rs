//! The server as clients see it: another `ilo-vm` over both transports, and requests by hand.

#![allow(clippy::unwrap_used, reason = "a test may stop at what must not be")]

#[cfg(unix)]
mod arriving;
#[cfg(feature = "journal")]
mod durable;
mod endings;
mod fairness;
mod http;
mod questions;
#[cfg(unix)]
mod servers;
mod support;

use ilo_host::data::Data;
use ilo_host::tools::Failure;
use std::sync::Arc;
use std::thread;
use support::{Lines, PROGRAM, Served, at, call, folder, over_stdio};

#[test]
fn a_program_is_checked_and_run() {
    let tools = over_stdio(&folder());
    let source = Data::from(PROGRAM).to_json();
    let answer = call(&tools, "run_program", &format!(r#"{{"source": {source}, "inputs": {{"id": "u1"}}}}"#));
    let answer = answer.unwrap();
    assert_eq!(at(&answer, &["outcome"]), r#"{"status":"ok","value":"a@b.c"}"#);
    assert_eq!(at(&answer, &["calls", "0", "tool"]), r#""get-user""#);
    let answer = call(&tools, "check_program", &format!(r#"{{"source": {source}}}"#)).unwrap();
    assert_eq!(answer.to_json(), r#"{"ok":true,"diagnostics":[]}"#);
}

#[test]
fn a_program_with_errors_is_refused_with_all_of_them() {
    let tools = over_stdio(&folder());
    let source = Data::from(PROGRAM.replace("get-user", "get-usr").replace("REF 0", "REF 7")).to_json();
    let answer = call(&tools, "check_program", &format!(r#"{{"source": {source}}}"#)).unwrap();
    assert_eq!(at(&answer, &["ok"]), "false");
    assert_eq!(at(&answer, &["diagnostics", "0", "code"]), r#""unknown-tool""#);
    assert_eq!(at(&answer, &["diagnostics", "0", "nearest"]), r#""get-user""#);
    assert_eq!(at(&answer, &["diagnostics", "1", "code"]), r#""unset-slot""#);
    let answer = call(&tools, "check_program", r#"{"source": "hello"}"#).unwrap();
    assert_eq!(at(&answer, &["diagnostics", "0", "code"]), r#""unknown-notation""#);
    assert_eq!(
        at(&answer, &["diagnostics", "0", "help"]),
        r#""write the program and nothing else, or pass its notation with `notation`""#
    );
    let failure = call(&tools, "run_program", &format!(r#"{{"source": {source}}}"#)).unwrap_err();
    assert!(matches!(failure, Failure::Failed(_)), "{failure:?}");
}

#[test]
fn the_check_is_strict_unless_the_client_says_otherwise_and_compares_the_signature() {
    let tools = over_stdio(&folder());
    let source = Data::from("; fn f(c: text) -> bool\nEQ REF 0 LIT 1 1\n").to_json();
    let run = |more: &str| {
        call(&tools, "run_program", &format!(r#"{{"source": {source}, "inputs": {{"c": "1"}}{more}}}"#))
    };
    let Err(Failure::Failed(refused)) = run("") else { panic!("it foretells another result") };
    assert!(refused.to_json().contains("never-equal"), "{refused:?}");
    let passed = run(r#", "strict": false"#).unwrap();
    assert_eq!(at(&passed, &["outcome"]), r#"{"status":"ok","value":false}"#);
    assert_eq!(at(&passed, &["diagnostics", "0", "code"]), r#""never-equal""#);
    let Err(Failure::Failed(other)) = run(r#", "strict": false, "signature": "g(c: text) -> bool""#) else {
        panic!("another name")
    };
    assert!(other.to_json().contains("other-signature"), "{other:?}");
    assert!(run(r#", "signature": "g""#).is_err());
}

#[test]
fn a_value_that_the_client_does_not_expect_is_a_fault_after_the_rollback() {
    let tools = over_stdio(&folder());
    let source = Data::from("; fn f(c: any) -> any\nRET REF 0\n").to_json();
    let run = |c: &str, schema: &str| {
        let arguments =
            format!(r#"{{"source": {source}, "inputs": {{"c": {c}}}, "output_schema": {schema}}}"#);
        call(&tools, "run_program", &arguments)
    };
    let text = r#"{"type": "string"}"#;
    let passed = run(r#""a""#, text).unwrap();
    assert_eq!(at(&passed, &["outcome"]), r#"{"status":"ok","value":"a"}"#);
    // Some clients send a record as a text of JSON.
    for schema in [text.to_owned(), Data::from(text).to_json()] {
        let Err(Failure::Failed(refused)) = run("5", &schema) else { panic!("a number passed {schema}") };
        assert!(refused.to_json().contains("output-mismatch"), "{refused:?}");
    }
    assert!(run("5", "7").is_err(), "a number is no schema");
    // What the check knows it refuses before the run.
    let source = Data::from("; fn f() -> number\nRET LIT 1 5\n").to_json();
    for tool in ["check_program", "run_program"] {
        let answer = call(&tools, tool, &format!(r#"{{"source": {source}, "output_schema": {text}}}"#));
        let shown = match answer {
            Ok(answer) | Err(Failure::Failed(answer)) => answer.to_json(),
            Err(other) => panic!("{other:?}"),
        };
        assert!(shown.contains("other-signature"), "{tool}: {shown}");
    }
}

#[test]
fn a_function_is_a_tool_of_its_own() {
    let tools = over_stdio(&folder());
    assert_eq!(call(&tools, "mail-of", r#"{"id": "u1"}"#), Ok(Data::from("a@b.c")));
    assert_eq!(call(&tools, "mail-of", r#"{"id": "u2"}"#), Err(Failure::text("no such user")));
    let schema = tools.get("mcp://ilo/mail-of").unwrap().input_schema.clone().unwrap();
    assert_eq!(at(&schema, &["properties", "id"]), r#"{"type":"string"}"#);
}

#[test]
fn tools_are_found_by_words() {
    let tools = over_stdio(&folder());
    let answer = call(&tools, "find_tools", r#"{"query": "look up users"}"#).unwrap();
    assert_eq!(at(&answer, &["tools", "0", "name"]), r#""get-user""#);
    let answer = call(&tools, "find_tools", r#"{"query": "weather"}"#).unwrap();
    assert_eq!(answer.to_json(), r#"{"tools":[]}"#);
}

#[test]
fn a_search_looks_at_no_more_words_than_its_limit() {
    let tools = over_stdio(&folder());
    let found = |before: usize| {
        let query = Data::from(format!("{}user", "nothing ".repeat(before))).to_json();
        call(&tools, "find_tools", &format!(r#"{{"query": {query}}}"#)).unwrap().to_json()
    };
    assert!(found(31).contains("get-user"), "{}", found(31));
    assert_eq!(found(32), r#"{"tools":[]}"#);
}

#[test]
fn an_input_that_may_have_been_rounded_is_refused() {
    let folder = folder();
    let mut lines = Lines::start(&folder, &[]);
    let source = Data::from("; fn f(n: number) -> number\nRET REF 0\n").to_json();
    let mut run = |n: &str| {
        // By hand: the client of ilo would refuse such a number before sending it.
        lines.say(&format!(
            r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"run_program","arguments":{{"source":{source},"inputs":{{"n":{n}}}}}}}}}"#
        ));
        lines.hear_with(r#""id":2,"#)
    };
    for n in ["9223372036854775807", "-9223372036854775808", "1.5e18"] {
        let heard = run(n);
        assert!(heard.contains(r#""status":"ok""#), "{n}: {heard}");
    }
    for n in ["18446744073709551615", "18446744073709551616", "-9223372036854775809"] {
        let heard = run(n);
        assert!(heard.contains("does not fit 64 bits") && !heard.contains("status"), "{n}: {heard}");
    }
}

#[test]
fn clients_run_side_by_side() {
    let served = Served::start(&folder(), &[]);
    let tools = Arc::new(served.tools("{}").unwrap());
    let source = Data::from("; fn f() -> number\n; Tools: 0=wait\nRET CALL 0 0\n").to_json();
    let asked = Arc::new(format!(r#"{{"source": {source}}}"#));
    let calls: Vec<_> = (0..12)
        .map(|_| {
            let (tools, asked) = (Arc::clone(&tools), Arc::clone(&asked));
            thread::spawn(move || call(&tools, "run_program", &asked))
        })
        .collect();
    for call in calls {
        assert_eq!(at(&call.join().unwrap().unwrap(), &["outcome", "value"]), "1");
    }
}

#[test]
fn progress_is_told_and_a_cancelled_run_makes_room() {
    let hours = ["--max-runs", "1", "--call-timeout", "3600000", "--timeout", "3600000"];
    let mut lines = Lines::start(&folder(), &hours);
    lines.run(2, "wait-long");
    let told = lines.hear();
    assert!(told.contains("notifications/progress") && told.contains(r#""p2""#), "{told}");
    assert!(told.contains(r#""message":"wait-long""#), "{told}");
    lines.run(3, "wait");
    lines.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#);
    let heard = lines.hear_with(r#""id":3,"#);
    assert!(heard.contains(r#""status":"ok""#), "{heard}");
}

#[test]
fn a_line_that_is_no_message_is_answered_and_the_next_one_read() {
    let folder = folder();
    let mut lines = Lines::unopened(&folder, &["--max-source", "1000"]);
    let bad = |code: i32, text: Vec<u8>| (format!(r#""error":{{"code":{code},"#), text);
    let cases = || {
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth)).into_bytes();
        [
            bad(-32700, b"hello".to_vec()),
            bad(-32700, br#"{"jsonrpc":"2.0","id":7,"method":"#.to_vec()),
            bad(-32700, b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\xff\"}".to_vec()),
            bad(-32700, deep(1_000_000)),
            bad(-32600, br#"["ping"]"#.to_vec()),
            bad(-32600, "x".repeat(2_000 + (4 << 20)).into_bytes()),
        ]
    };
    // Both before and after it is opened.
    for opened in [false, true] {
        for (expected, text) in cases() {
            lines.say_bytes(&text);
            let heard = lines.hear();
            assert!(heard.contains(&expected) && !heard.contains(r#""id":7"#), "{heard}");
        }
        // Half a surrogate pair is JSON by its grammar: its ID is known, and its sender waits.
        lines.say(r#"{"jsonrpc":"2.0","id":7,"method":"\ud800"}"#);
        let heard = lines.hear();
        assert!(heard.starts_with(r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"#), "{heard}");
        if !opened {
            lines.open("{}");
        }
    }
    lines.say(r#"{"jsonrpc":"2.0","id":8,"method":"ping"}"#);
    assert!(lines.hear().contains(r#""id":8"#));
}

#[test]
fn no_more_requests_wait_than_may() {
    let folder = folder();
    let mut lines = Lines::start(&folder, &["--call-timeout", "3600000", "--timeout", "3600000"]);
    for id in 2..1_002 {
        lines.run(id, "wait-long");
    }
    let mut ping = |before: &str, id: usize| {
        lines.say(&format!(r#"{before}{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        lines.hear_with(&format!(r#""id":{id},"#))
    };
    for id in [2_000, 2_001] {
        let refused = ping("", id);
        assert!(refused.contains("1000 requests wait for their answers"), "{refused}");
    }
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":900}}"#;
    let answered = ping(&format!("{cancel}\n"), 2_002);
    assert!(answered.contains(r#""result":{}"#), "{answered}");
}

/// A short function that calls no tool is answered on another path, with the same answer.
#[test]
fn a_function_that_calls_nothing_answers_as_any_other() {
    let folder = folder();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(format!("{name}.ilo"));
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let body = "IF EQ REF 0 LIT 0 \"bad\" 1\n  RET_ERR LIT 0 \"refused\"\nRET_OK REF 0\n";
    let plain = write("plain", &format!("; fn plain(x: any) -> result any, text\n{body}"));
    let calls = "; Tools: 0=get-user\nIF EQ REF 0 LIT 0 \"call\" 1\n  RET_OK CALL 0 0\n";
    let calls = write("calls", &format!("; fn calls(x: any) -> result any, text\n{calls}{body}"));
    let sum = "; fn sum(x: number) -> number\nLET 1 LIT 1 0\nFOR 2 RANGE REF 0 1\n  LET 1 ADD REF 1 REF 2\nRET REF 1\n";
    let mut lines = Lines::start(&folder, &[&plain, &calls, &write("sum", sum)]);
    let mut call = |tool: &str, x: &str| {
        lines.say(&format!(
            r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"{tool}","arguments":{{"x":{x}}}}}}}"#
        ));
        lines.hear_with(r#""id":2,"#)
    };
    for x in
        [r#""text""#, "[1,2.5,null]", "null", r#"{"a":{"b":"\u00e9\n"}}"#, r#""bad""#, "9007199254740993"]
    {
        let (one, other) = (call("plain", x), call("calls", x));
        assert_eq!(one, other, "{x}");
        assert_eq!(one.contains(r#""isError":true"#), x.contains("bad"), "{one}");
    }
    for (x, expected) in [("10", "45"), ("100000", "4999950000")] {
        assert!(call("sum", x).contains(&format!(r#""structuredContent":{{"result":{expected}}}"#)), "{x}");
    }
    for x in ["1.5", r#""a""#] {
        let wrong = call("sum", x);
        assert!(wrong.contains(r#""isError":true"#) && !wrong.contains("structuredContent"), "{x}: {wrong}");
    }
}
