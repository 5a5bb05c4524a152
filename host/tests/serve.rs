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
    "wait": {"mock": {"delay_ms": 200, "returns": 1}},
    "wait-long": {"mock": {"delay_ms": 3600000, "returns": 1}}
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
        let mut command = Command::new(ILO);
        command.arg("serve").arg("--tools").arg(folder.path().join("tools.json")).args(more);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let out = child.stdout.take().unwrap();
        let (sender, from) = mpsc::channel();
        thread::spawn(move || {
            BufReader::new(out).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let mut lines = Lines { child, from };
        lines.say(
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        );
        assert!(lines.hear().contains(r#""id":1"#));
        lines.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        lines
    }

    fn say(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Runs a program that calls a tool; what it answers is heard later.
    fn run(&mut self, id: u32, tool: &str) {
        let source = Data::from(format!("; fn f() -> number\n; Tools: 0={tool}\nRET CALL 0 0\n")).to_json();
        self.say(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"run_program","arguments":{{"source":{source}}},"_meta":{{"progressToken":"p{id}"}}}}}}"#
        ));
    }

    /// The next line; one that never comes fails the test.
    fn hear(&self) -> String {
        self.from.recv_timeout(Duration::from_mins(1)).expect("the server says something")
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
    loop {
        let heard = lines.hear();
        if heard.contains(r#""id":3"#) {
            assert!(heard.contains(r#""status":"ok""#), "{heard}");
            break;
        }
    }
}
