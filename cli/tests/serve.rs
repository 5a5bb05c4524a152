//! The server as clients see it: another `ilo-vm` over both transports, and requests by hand.

#![allow(clippy::unwrap_used, reason = "a test may stop at what must not be")]

use ilo_host::Tools;
use ilo_host::data::Data;
use ilo_host::data::read::{Bounds, read};
use ilo_host::tools::{CallLimits, Failure};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const ILO: &str = env!("CARGO_BIN_EXE_ilo-vm");

const TOOLS: &str = r#"{"tools": {
    "get-user": {"description": "looks a user up", "mock": [
        {"when": {"user-id": "u1"}, "returns": {"email": "a@b.c"}}, {"fails": "no such user"}]},
    "send": {"confirm": true, "mock": {"returns": "sent"}},
    "wait": {"mock": {"delay_ms": 200, "returns": 1}},
    "wait-long": {"read_only": true, "mock": {"delay_ms": 3600000, "returns": 1}}
}}"#;

const PROGRAM: &str = "; fn mail-of(id: text) -> result text, text\n; Tools: 0=get-user\n\
    ; Fields: 0=user-id 1=email\nLET 1 CALL 0 1 0 REF 0\nRET_OK FIELD 1 1\n";

/// A folder with a tools file and a program.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("tools.json"), TOOLS).unwrap();
    std::fs::write(folder.path().join("mail.ilo"), PROGRAM).unwrap();
    folder
}

/// The tools of a server over its standard streams.
fn over_stdio(folder: &TempDir) -> Tools {
    let [tools, program] = ["tools.json", "mail.ilo"].map(|name| folder.path().join(name));
    let arguments =
        serde_json::to_string(&["serve".as_ref(), "--tools".as_ref(), &*tools, &*program]).unwrap();
    let text = format!(r#"{{"mcpServers": {{"ilo": {{"command": "{ILO}", "args": {arguments}}}}}}}"#);
    let mut tools = Tools::from_text("tools.json", &text, Path::new(".")).unwrap();
    tools.connect_all().unwrap();
    tools
}

fn call(tools: &Tools, tool: &str, arguments: &str) -> Result<Data, Failure> {
    let arguments = read(arguments.as_bytes(), &Bounds::default()).unwrap();
    let until = Instant::now() + Duration::from_mins(1);
    tools.call(&format!("mcp://ilo/{tool}"), &arguments, &CallLimits::default(), until)
}

/// The value at a path of an answer, as JSON.
fn at(answer: &Data, path: &[&str]) -> String {
    let mut value = answer;
    for step in path {
        value = match value {
            Data::List(items) => &items[step.parse::<usize>().unwrap()],
            record => record.get(step).unwrap(),
        };
    }
    value.to_json()
}

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
    assert_eq!(at(&answer, &["diagnostics", "0", "help"]), r#""pass the notation with `notation`""#);
    let failure = call(&tools, "run_program", &format!(r#"{{"source": {source}}}"#)).unwrap_err();
    assert!(matches!(failure, Failure::Failed(_)), "{failure:?}");
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
        // By hand: our own reader would refuse such a number before it is sent.
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

/// A server over HTTP on a port of its own, ended with this.
struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn start(folder: &TempDir, more: &[&str]) -> Served {
        let mut command = Command::new(ILO);
        command.arg("serve").arg("--tools").arg(folder.path().join("tools.json")).args(["--http", "0"]);
        command.args(more).env("ILO_TOKEN", "open sesame").stderr(Stdio::piped()).stdout(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("serving http://").unwrap().strip_suffix("/mcp").unwrap();
        Served { address: address.to_owned(), child }
    }

    fn tools(&self, headers: &str) -> Result<Tools, String> {
        let text = format!(
            r#"{{"mcpServers": {{"ilo": {{"url": "http://{}/mcp", "headers": {headers}}}}}}}"#,
            self.address
        );
        let mut tools = Tools::from_text("tools.json", &text, Path::new(".")).unwrap();
        let connected = tools.connect_all().map(|()| tools);
        connected.map_err(|problems| problems.first().map(ToString::to_string).unwrap_or_default())
    }

    /// The status of a request with these header lines.
    fn status(&self, headers: &str) -> String {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let request = format!(
            "POST /mcp HTTP/1.1\r\n{headers}content-type: application/json\r\n\
             accept: application/json, text/event-stream\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn http_lets_in_who_may_come() {
    let served =
        Served::start(&folder(), &["--token-env", "ILO_TOKEN", "--allow-origin", "https://good.example:443"]);
    let host = format!("host: {}\r\n", served.address);
    let bearer = "authorization: Bearer open sesame\r\n";
    assert_eq!(served.status(&host), "401");
    assert_eq!(served.status(&format!("{host}authorization: Bearer open sesam\r\n")), "401");
    assert_eq!(served.status(&format!("{host}{bearer}origin: https://evil.example\r\n")), "403");
    assert_eq!(served.status(&format!("host: evil.example\r\n{bearer}")), "403");
    assert!(served.tools("{}").unwrap_err().contains("server `ilo`"));
    let tools = served.tools(r#"{"authorization": "Bearer open sesame"}"#).unwrap();
    let answer = call(&tools, "find_tools", r#"{"query": "user"}"#).unwrap();
    assert_eq!(at(&answer, &["tools", "0", "name"]), r#""get-user""#);
}

#[test]
fn beyond_loopback_only_with_a_token() {
    let ended = Command::new(ILO).args(["serve", "--http", "0.0.0.0:0"]).output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
    let told = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(told.contains("only loopback is served without a token; give one with `--token-env`"), "{told}");
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

/// Lines to and from a server over its standard streams, by hand.
struct Lines {
    child: Child,
    from: mpsc::Receiver<String>,
}

impl Lines {
    fn start(folder: &TempDir, more: &[&str]) -> Lines {
        let mut lines = Lines::unopened(folder, more);
        lines.open("{}");
        lines
    }

    /// A server that has heard nothing yet.
    fn unopened(folder: &TempDir, more: &[&str]) -> Lines {
        let mut command = Command::new(ILO);
        command.arg("serve").arg("--tools").arg(folder.path().join("tools.json")).args(more);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let out = child.stdout.take().unwrap();
        let (sender, from) = mpsc::channel();
        thread::spawn(move || {
            BufReader::new(out).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Lines { child, from }
    }

    /// Begins as clients of the older protocol do, with these capabilities.
    fn open(&mut self, capabilities: &str) {
        self.say(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":{capabilities},"clientInfo":{{"name":"t","version":"1"}}}}}}"#
        ));
        assert!(self.hear().contains(r#""id":1"#));
        self.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    fn say(&mut self, line: &str) {
        self.say_bytes(line.as_bytes());
    }

    fn say_bytes(&mut self, line: &[u8]) {
        let input = self.child.stdin.as_mut().unwrap();
        input.write_all(line).and_then(|()| input.write_all(b"\n")).unwrap();
    }

    /// Runs a program that calls a tool; what it answers is heard later.
    fn run(&mut self, id: u32, tool: &str) {
        let source = Data::from(format!("; fn f() -> any\n; Tools: 0={tool}\nRET CALL 0 0\n")).to_json();
        self.say(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"run_program","arguments":{{"source":{source}}},"_meta":{{"progressToken":"p{id}"}}}}}}"#
        ));
    }

    /// The next line; one that never comes fails the test.
    fn hear(&self) -> String {
        self.from.recv_timeout(Duration::from_mins(1)).expect("the server says something")
    }

    /// The next line with these words; others are passed over.
    fn hear_with(&self, words: &str) -> String {
        loop {
            let heard = self.hear();
            if heard.contains(words) {
                return heard;
            }
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
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
            bad(-32700, br#"{"jsonrpc":"2.0","id":7,"method":"\ud800"}"#.to_vec()),
            bad(-32700, deep(1_000_000)),
            bad(-32600, br#"["ping"]"#.to_vec()),
            bad(-32600, "x".repeat(2_000 + (4 << 20)).into_bytes()),
        ]
    };
    // Before it is opened as after it.
    for opened in [false, true] {
        for (expected, text) in cases() {
            lines.say_bytes(&text);
            let heard = lines.hear();
            assert!(heard.contains(&expected) && !heard.contains(r#""id":7"#), "{heard}");
        }
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

/// What a call of `send` came to, as the outcome says.
fn outcome(heard: &str) -> String {
    let heard = read(heard.as_bytes(), &Bounds::default()).unwrap();
    at(&heard, &["result", "structuredContent", "outcome"])
}

const SENT: &str = r#"{"status":"ok","value":"sent"}"#;

fn refused(why: &str) -> String {
    let message = format!("tool `send` was not called: it needs a confirmation (`confirm`), and {why}");
    format!(r#"{{"status":"fault","code":"tool-failed","message":"{message}""#)
}

#[test]
fn a_person_is_asked_by_elicitation() {
    let folder = folder();
    let mut lines = Lines::unopened(&folder, &[]);
    lines.open(r#"{"elicitation":{}}"#);
    for (id, answer, expected) in [
        (2, r#"{"action":"accept","content":{"call_it":true}}"#, SENT.to_owned()),
        (3, r#"{"action":"accept","content":{"call_it":false}}"#, refused("the answer was no")),
        (4, r#"{"action":"accept"}"#, refused("the answer was no")),
        (5, r#"{"action":"decline"}"#, refused("the answer was no")),
        (6, r#"{"action":"cancel"}"#, refused("the question was put away unanswered")),
    ] {
        lines.run(id, "send");
        let question = lines.hear_with("elicitation/create");
        let question = read(question.as_bytes(), &Bounds::default()).unwrap();
        assert_eq!(at(&question, &["params", "message"]), r#""May `send` be called? Its arguments:\n{}""#);
        assert_eq!(at(&question, &["params", "requestedSchema", "required"]), r#"["call_it"]"#);
        lines.say(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{answer}}}"#, at(&question, &["id"])));
        assert!(outcome(&lines.hear_with(&format!(r#""id":{id},"#))).starts_with(&expected), "{answer}");
    }
}

#[test]
fn a_client_that_cannot_ask_is_told_so() {
    let mut lines = Lines::start(&folder(), &[]);
    lines.run(2, "send");
    let heard = lines.hear_with(r#""id":2,"#);
    assert!(
        outcome(&heard).starts_with(&refused("this client offers no way to ask (no `elicitation`)")),
        "{heard}"
    );
}

/// In the newer protocol a server sends no requests: the call is answered by the question, and made again.
#[test]
fn a_person_is_asked_by_the_answer_to_the_call() {
    let folder = folder();
    let mut lines = Lines::unopened(&folder, &[]);
    let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},
        "io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}"#.replace(['\n', ' '], "");
    let source = Data::from("; fn f() -> any\n; Tools: 0=send\nRET CALL 0 0\n").to_json();
    let mut id = 0;
    let mut call = |lines: &mut Lines, more: &str| {
        id += 1;
        lines.say(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"run_program","arguments":{{"source":{source}}},"_meta":{meta}{more}}}}}"#
        ));
        lines.hear()
    };
    for (answer, expected) in [
        (r#","inputResponses":{"consent":{"action":"accept","content":{"call_it":true}}}"#, SENT.to_owned()),
        (r#","inputResponses":{"consent":{"action":"decline"}}"#, refused("the answer was no")),
        ("", refused("the client gave no answer")),
    ] {
        let question = call(&mut lines, "");
        let data = read(question.as_bytes(), &Bounds::default()).unwrap();
        assert_eq!(at(&data, &["result", "resultType"]), r#""input_required""#, "{question}");
        let form = ["result", "inputRequests", "consent", "params", "message"];
        assert!(at(&data, &form).contains("May `send` be called?"), "{question}");
        let state = at(&data, &["result", "requestState"]);
        let again = format!(r#","requestState":{state}{answer}"#);
        let heard = call(&mut lines, &again);
        assert!(outcome(&heard).starts_with(&expected), "{heard}");
        let late = call(&mut lines, &again);
        assert!(late.contains("no such run waits for an answer"), "{late}");
    }
    let guessed = call(&mut lines, r#","requestState":"0","inputResponses":{}"#);
    assert!(guessed.contains("no such run waits for an answer"), "{guessed}");
}
