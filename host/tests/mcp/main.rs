//! MCP servers that misbehave: each ends in one clear failure or error within its limits.
//!
//! The binary of the tests is the server as well, so that nothing else must be built or found.

#![allow(clippy::unwrap_used, reason = "a test may stop at what must not be")]

mod broken_answers;
mod hostile_server;
mod memory;
mod policy;
mod survival;

use ilo_host::Tools;
use ilo_host::data::Data;
use ilo_host::data::read::{Bounds, read};
use ilo_host::interrupt::Interrupt;
use ilo_host::tools::{CallLimits, Failure};
use ilo_spec::error::Code;
use libtest_mimic::{Arguments, Trial};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// The argument that makes this binary the server instead of its tests.
const SERVE: &str = "serve-hostile";
/// The argument that makes it a client of a server that floods it.
const FLOOD: &str = "call-hostile";

fn main() {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some(SERVE) => return hostile_server::serve(arguments.next().unwrap_or_default()),
        Some(FLOOD) => return memory::client(&arguments.next().unwrap_or_default()),
        _ => {}
    }
    macro_rules! trials {
        ($($test:path;)*) => {
            vec![$(Trial::test(stringify!($test).replace(' ', ""), || { $test(); Ok(()) })),*]
        };
    }
    let trials = trials![
        a_server_that_cannot_be_used_is_refused_before_anything_runs;
        what_does_no_harm_is_passed_over;
        a_server_that_is_late_at_first_is_asked_again;
        content_becomes_a_value;
        a_server_that_asks_during_a_call_is_told_that_nobody_is_asked;
        what_goes_wrong_in_a_call_is_its_failure;
        an_answer_past_the_limit_is_a_fault;
        a_tool_that_changed_gets_no_call;
        survival::a_server_that_asks_and_never_reads_is_dropped;
        survival::a_server_that_asks_without_end_over_http_is_dropped;
        survival::a_session_that_is_forgotten_is_begun_again;
        survival::an_answer_that_cannot_be_read_fails_at_once;
        survival::an_unreadable_answer_over_http_fails_at_once;
        survival::a_server_that_does_not_know_the_newer_question_starts_soon;
        survival::a_server_that_has_ended_is_started_again;
        survival::a_call_that_was_never_sent_says_so;
        survival::one_bad_tool_costs_only_itself;
        survival::an_announcement_is_looked_at_once;
        survival::a_stream_that_its_server_closes_is_resumed;
        survival::a_stream_that_is_closed_for_ever_ends_with_the_time_of_its_call;
        survival::a_silent_change_stops_a_call_that_may_change_something;
        memory::a_flood_takes_no_more_memory_than_four_times_its_bytes;
        memory::what_comes_without_end_takes_no_memory;
        memory::a_flood_of_one_server_does_not_delay_another;
        an_interrupt_ends_a_call;
        only_servers_that_are_named_are_started;
        a_short_name_takes_the_servers_schema_under_its_own_names;
        http_that_leads_elsewhere_is_not_followed;
        an_address_without_tls_says_so_in_words;
        a_server_that_wants_a_login_says_what_to_set;
        an_answer_over_http_is_looked_at_too;
        a_secret_in_a_url_is_in_no_error;
        policy::only_tools_that_are_allowed_are_there;
        policy::a_policy_that_names_no_tool_of_the_server_is_refused;
        policy::a_server_is_not_believed_and_the_file_is;
        policy::only_an_idempotent_tool_is_called_again;
        policy::every_attempt_at_a_call_has_its_key;
        policy::a_server_gets_the_cancellation_of_its_call;
        policy::a_retry_waits_no_longer_than_the_run;
        policy::a_call_that_wants_a_yes_waits_for_it;
        policy::a_question_is_never_worded_by_the_program;
        policy::bytes_come_where_they_are_wanted;
        policy::a_text_that_is_json_is_read_where_the_file_says_so;
        policy::a_lock_tells_what_changed_and_is_written_whole;
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn tools(scenario: &str, timeout: u64) -> Tools {
    let program = serde_json::to_string(&std::env::current_exe().unwrap()).unwrap();
    let text = format!(
        r#"{{"mcpServers": {{"h": {{"command": {program}, "args": ["{SERVE}", "{scenario}"], "timeout": {timeout}}}}},
            "tools": {{"say": {{"mcp": "mcp://h/echo", "args": {{"words": "text"}}}}}}}}"#
    );
    Tools::from_text("tools.json", &text, Path::new(".")).unwrap()
}

/// A server over HTTP, named `w`.
fn web_tools(url: &str) -> Tools {
    let text = format!(r#"{{"mcpServers": {{"w": {{"url": "{url}"}}}}}}"#);
    Tools::from_text("tools.json", &text, Path::new(".")).unwrap()
}

fn call(tools: &Tools, name: &str, argument: &str, timeout: u64) -> Result<Data, Failure> {
    let arguments = Data::Record(vec![(argument.to_owned(), Data::from("hello"))].into());
    let limits = CallLimits { timeout: Duration::from_millis(timeout), ..CallLimits::default() };
    tools.call(name, &arguments, &limits, Instant::now() + Duration::from_mins(1))
}

#[track_caller]
fn refused(scenario: &str, timeout: u64, expected: &str) {
    let problems = tools(scenario, timeout).connect_all().unwrap_err();
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(told, [format!("error[bad-usage]: server `h`: {expected}")], "{scenario}");
}

fn a_server_that_cannot_be_used_is_refused_before_anything_runs() {
    refused("dies-at-start", 20_000, "ended before it answered; it said: no licence found");
    refused("dies-in-list", 20_000, "does not list its tools: the server has ended");
    refused("silent", 300, "did not start and list its tools within 300 ms (`timeout`, in milliseconds)");
    refused(
        "asks-for-a-password",
        5_000,
        "did not start and list its tools within 5000 ms (`timeout`, in milliseconds); its standard output is no MCP, \
         a message a line, but begins with `Password:`",
    );
    refused("pages-for-ever", 60_000, "lists more than 10000 tools, or as many pages");
    refused("page-to-itself", 20_000, "lists its tools without end: a page leads to itself");
}

#[track_caller]
fn answers(scenario: &str, expected: &str) {
    let mut tools = tools(scenario, 20_000);
    tools.connect(["say"]).unwrap();
    let answer = call(&tools, "mcp://h/echo", "text", 60_000).unwrap();
    assert_eq!(answer.to_json(), expected, "{scenario}");
}

fn what_does_no_harm_is_passed_over() {
    answers("none", r#""hello""#);
    answers("answers-twice", r#""hello""#);
    answers("wrong-id", r#""hello""#);
    answers("noise", r#""hello""#);
    answers("bad-utf8", r#""hello""#);
    answers("floods-standard-error", r#""hello""#);
    answers("refers-away", r#""hello""#);
    answers("dies-after-call", r#""hello""#);
}

fn a_server_that_is_late_at_first_is_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let marker = folder.path().join("late");
    answers(&format!("late:{}", marker.display()), r#""hello""#);
    assert!(marker.exists(), "it was late");
}

/// A client takes an answer as a promise: nobody declines in place of a person, and no list of roots is
/// empty.
fn a_server_that_asks_during_a_call_is_told_that_nobody_is_asked() {
    for method in ["elicitation/create", "sampling/createMessage", "roots/list", "made/up"] {
        let mut tools = tools(&format!("asks:{method}"), 20_000);
        tools.connect(["say"]).unwrap();
        let Err(Failure::Failed(told)) = call(&tools, "mcp://h/echo", "text", 20_000) else {
            panic!("{method}")
        };
        let told: serde_json::Value = serde_json::from_str(told.as_text().unwrap()).unwrap();
        assert_eq!(told["code"], -32601, "{method}: {told}");
        assert!(told["message"].as_str().unwrap().contains(method), "{told}");
    }
}

fn content_becomes_a_value() {
    answers("image", r#"{"type":"image","mimeType":"image/png","size":5}"#);
    answers("structured", r#"{"text":"hello","n":9007199254740993}"#);
}

#[track_caller]
fn fails(scenario: &str, timeout: u64, expected: &str) {
    let mut tools = tools(scenario, 20_000);
    tools.connect(["say"]).unwrap();
    let failure = call(&tools, "mcp://h/echo", "text", timeout).unwrap_err();
    let (Failure::Failed(Data::Text(message)) | Failure::InDoubt(message)) = &failure else {
        panic!("{scenario}: {failure:?}")
    };
    // Whether it is known that the call was not made.
    let lost = ["has ended", "is not known", "took longer"].iter().any(|text| message.contains(text));
    assert_eq!(matches!(failure, Failure::InDoubt(_)), lost, "{scenario}: {message}");
    assert!(message.contains(expected), "{scenario}: {message}");
}

fn what_goes_wrong_in_a_call_is_its_failure() {
    let late = "tool `mcp://h/echo` took longer than its limit of";
    fails("dies-in-call", 20_000, "server `h` has ended, and whether it did this is not known");
    let frames: Vec<String> = (0..9).map(|frame| format!(" / at frame {frame}")).collect();
    let said = format!("is not known; it said: Error: out of cheese{}", frames.concat());
    fails("dies-with-a-trace", 20_000, &said);
    fails("dies-with-a-long-line", 20_000, "is not known; it said: last");
    fails("never-answers", 300, late);
    fails("is-error", 20_000, "no such text");
    fails("protocol-error", 20_000, "text is too plain");
    fails("no-result", 20_000, "response type");
    fails("integer-beyond-64-bits", 20_000, "18446744073709551615 does not fit 64 bits");
    fails("integer-beyond-any", 20_000, "18446744073709551616 does not fit 64 bits");
}

fn an_answer_past_the_limit_is_a_fault() {
    for (scenario, code, expected) in [
        (
            "large",
            Code::FaultTooLarge,
            "the tool's answer has more than 2097152 bytes; the limit is `result_bytes`, on the command line `--max-result`",
        ),
        (
            "huge",
            Code::FaultTooLarge,
            "the tool's answer has more than 16777216 bytes, which is the limit of a message",
        ),
        ("deep", Code::FaultDepth, "the tool's answer is nested more than 125 deep"),
    ] {
        let mut tools = tools(scenario, 20_000);
        tools.connect(["say"]).unwrap();
        let failure = call(&tools, "say", "words", 20_000).unwrap_err();
        assert_eq!(failure, Failure::Limit(code, expected.to_owned()), "{scenario}");
        // The server continues with the next call, unless it is still answering the first.
        if scenario == "deep" {
            assert_eq!(call(&tools, "say", "words", 20_000), Err(failure));
        }
    }
}

fn a_tool_that_changed_gets_no_call() {
    let mut tools = tools("changes-its-tool", 20_000);
    tools.connect(["say"]).unwrap();
    assert_eq!(call(&tools, "say", "words", 20_000), Ok(Data::from("hello")));
    let failure = call(&tools, "say", "words", 20_000).unwrap_err();
    let message = "server `h` has changed its tool `echo` since it was checked";
    assert_eq!(failure, Failure::text(message));
}

fn an_interrupt_ends_a_call() {
    let mut tools = tools("never-answers", 20_000);
    tools.connect(["say"]).unwrap();
    let interrupt = Interrupt::default();
    let limits = CallLimits { interrupt: interrupt.clone(), ..CallLimits::default() };
    let until = Instant::now() + Duration::from_mins(1);
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(50));
            interrupt.set();
        });
        let arguments = Data::Record(vec![("words".to_owned(), Data::from("x"))].into());
        assert_eq!(tools.call("say", &arguments, &limits, until), Err(Failure::Interrupted));
    });
}

fn only_servers_that_are_named_are_started() {
    let text = r#"{"mcpServers": {"gone": {"command": "no-such-program-anywhere"}},
        "tools": {"say": {"mock": {"returns": 1}}}}"#;
    let mut tools = Tools::from_text("tools.json", text, Path::new(".")).unwrap();
    tools.connect(["say", "mcp://other/x"]).unwrap();
    let problems = tools.connect(["mcp://gone/x"]).unwrap_err();
    let told = problems.first().unwrap().to_string();
    assert!(
        told.starts_with("error[bad-usage]: server `gone`: cannot start `no-such-program-anywhere`"),
        "{told}"
    );
}

fn a_short_name_takes_the_servers_schema_under_its_own_names() {
    let mut tools = tools("none", 20_000);
    tools.connect(["say"]).unwrap();
    let schema = tools.get("say").unwrap().input_schema.clone().unwrap();
    let expected = r#"{"properties":{"words":{"type":"string"}},"required":["words"],"type":"object"}"#;
    assert!(schema.fits(&read(expected.as_bytes(), &Bounds::default()).unwrap()));
    assert_eq!(call(&tools, "say", "words", 20_000), Ok(Data::from("hello")));
    assert_eq!(call(&tools, "echo", "text", 20_000), Ok(Data::from("hello")));
}

/// A request with its body.
fn request(stream: &mut TcpStream) -> String {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let asked = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = asked.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return asked;
            }
        }
        match stream.read(&mut buffer) {
            Ok(count @ 1..) => bytes.extend_from_slice(&buffer[..count]),
            _ => return asked,
        }
    }
}

/// The URL of a server that answers requests as instructed.
fn web(answer: impl Fn(&str) -> String + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let asked = request(&mut stream);
            drop(stream.write_all(answer(&asked).as_bytes()));
        }
    });
    url
}

/// An answer over HTTP, with this content type, to the request in a message.
fn over_http(asked: &str, kind: &str, result: &str) -> String {
    let id = asked.split_once(r#""id":"#).map_or("0", |(_, rest)| rest.split([',', '}']).next().unwrap());
    let message = format!(r#"{{"jsonrpc":"2.0","id":{id},{result}}}"#);
    let body = if kind == "text/event-stream" { format!("data: {message}\n\n") } else { message };
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

/// Answers as a server over HTTP with one tool, `get`, which `call` answers.
fn one_tool(asked: &str, call: impl FnOnce() -> String) -> String {
    const ABOUT: &str = r#""result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"w","version":"1"}}"#;
    const TOOLS: &str = r#""result":{"tools":[{"name":"get","inputSchema":{"type":"object"}}]}"#;
    let has = |method: &str| asked.contains(&format!(r#""method":"{method}""#));
    let empty = |status: &str| format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    let json = "application/json";
    if has("initialize") {
        over_http(asked, json, ABOUT)
    } else if has("tools/list") {
        over_http(asked, json, TOOLS)
    } else if has("tools/call") {
        call()
    } else if asked.starts_with("POST") && !asked.contains(r#""id":"#) {
        empty("202 Accepted")
    } else if asked.starts_with("POST") {
        over_http(asked, json, r#""error":{"code":-32601,"message":"unknown method"}"#)
    } else {
        empty("405 Not Allowed")
    }
}

/// No error shows a key in a server's URL, neither at the start nor in a call.
fn a_secret_in_a_url_is_in_no_error() {
    const SECRET: &str = "canary-5d1f";
    let tools = |url: &str| {
        let text = format!(r#"{{"mcpServers": {{"w": {{"url": "{url}?api_key={SECRET}"}}}}}}"#);
        Tools::from_text("tools.json", &text, Path::new(".")).unwrap()
    };
    // Nothing listens on the first port.
    let problems = tools("http://127.0.0.1:1/mcp").connect_all().unwrap_err();
    let text = format!("{problems:?} {}", problems.first().unwrap());
    assert!(text.contains("server `w`") && !text.contains(SECRET), "{text}");
    // The connection of the call ends without an answer.
    let url = web(|asked| one_tool(asked, String::new));
    let mut tools = tools(&url);
    tools.connect_all().unwrap();
    let failure = format!("{:?}", call(&tools, "get", "text", 20_000).unwrap_err());
    assert!(!failure.contains(SECRET), "{failure}");
}

fn an_answer_over_http_is_looked_at_too() {
    let deep = format!("{}{}", "[".repeat(126), "]".repeat(126));
    let large = "the tool's answer: the integer 18446744073709551616 does not fit 64 bits; \
                 `\"big_numbers\": \"text\"` in the policy of the tool makes every integer of its answers a text";
    for (content_type, value, expected) in [
        ("application/json", "9223372036854775807", Ok(r#"{"n":9223372036854775807}"#.to_owned())),
        ("application/json", "18446744073709551616", Err(Failure::text(large))),
        ("application/json", "1e30", Ok(r#"{"n":1e30}"#.to_owned())),
        ("text/event-stream", "9223372036854775807", Ok(r#"{"n":9223372036854775807}"#.to_owned())),
        ("text/event-stream", "18446744073709551616", Err(Failure::text(large))),
        (
            "text/event-stream",
            deep.as_str(),
            Err(Failure::Limit(Code::FaultDepth, "the tool's answer is nested more than 125 deep".into())),
        ),
    ] {
        let result = match value {
            "" => String::new(),
            value => format!(r#""result":{{"content":[],"structuredContent":{{"n":{value}}}}}"#),
        };
        let url = web(move |asked| one_tool(asked, || over_http(asked, content_type, &result)));
        let mut tools = web_tools(&url);
        tools.connect_all().unwrap();
        let found = call(&tools, "get", "text", 20_000).map(|answer| answer.to_json());
        assert_eq!(found, expected, "{value}");
    }
}

fn a_server_that_wants_a_login_says_what_to_set() {
    for challenge in ["www-authenticate: Bearer\r\n", ""] {
        let url = web(move |_| {
            format!("HTTP/1.1 401 Unauthorized\r\n{challenge}content-length: 0\r\nconnection: close\r\n\r\n")
        });
        let refused = |headers: &str| {
            let text = format!(r#"{{"mcpServers": {{"w": {{"url": "{url}", "headers": {headers}}}}}}}"#);
            let mut tools = Tools::from_text("tools.json", &text, Path::new(".")).unwrap();
            tools.connect_all().unwrap_err().first().unwrap().to_string()
        };
        let told = refused("{}");
        assert!(told.contains("401") && told.contains(r#"{"Authorization": "Bearer ${NAME}"}"#), "{told}");
        let told = refused(r#"{"authorization": "Bearer x"}"#);
        assert!(told.contains("does not let us in with the header `Authorization`"), "{told}");
    }
    // A call that is refused so was not made, and says which scopes it needs.
    for (status, challenge, expected) in [
        ("401 Unauthorized", r#"Bearer error="invalid_token""#, "--tools FILE`"),
        (
            "403 Forbidden",
            r#"Bearer scope="a:read b $(c)", error="x""#,
            "--tools FILE --scope a:read --scope b`",
        ),
    ] {
        let head = format!("HTTP/1.1 {status}\r\nwww-authenticate: {challenge}\r\n");
        let url = web(move |asked| {
            one_tool(asked, || format!("{head}content-length: 0\r\nconnection: close\r\n\r\n"))
        });
        let mut tools = web_tools(&url);
        tools.connect_all().unwrap();
        let Err(Failure::Failed(told)) = call(&tools, "get", "text", 20_000) else { panic!("{status}") };
        let told = told.to_json();
        assert!(told.contains(expected) && told.contains("this call was not made"), "{told}");
    }
}

fn an_address_without_tls_says_so_in_words() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            drop(std::io::Read::read(&mut stream, &mut [0; 64]));
            drop(std::io::Write::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n"));
        }
    });
    let told = web_tools(&url).connect_all().unwrap_err().first().unwrap().to_string();
    assert!(told.contains("it does not speak TLS at this port"), "{told}");
}

fn http_that_leads_elsewhere_is_not_followed() {
    let url = web(|asked| {
        // What follows the redirect would be answered so that the test sees it.
        let answer = if asked.contains(" /secret ") {
            "HTTP/1.1 500 arrived\r\ncontent-length: 7\r\nconnection: close\r\n\r\narrived"
        } else {
            "HTTP/1.1 307 Temporary Redirect\r\nlocation: /secret?state=a1b2\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        };
        answer.to_owned()
    });
    let text = format!(r#"{{"mcpServers": {{"w": {{"url": "{url}", "timeout": 3000}}}}}}"#);
    let mut tools = Tools::from_text("tools.json", &text, Path::new(".")).unwrap();
    let problems = tools.connect_all().unwrap_err();
    let told = problems.first().unwrap().to_string();
    assert!(told.contains("server `w`") && !told.contains("arrived"), "{told}");
    assert!(
        told.ends_with("redirects are not followed: give the address that it leads to, `/secret`"),
        "{told}"
    );
}
