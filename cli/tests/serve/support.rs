//! A server under test: `ilo-vm serve` over both transports, with another `ilo-vm` and with requests by hand.

use ilo_host::Tools;
use ilo_host::data::Data;
use ilo_host::data::read::{Bounds, read};
use ilo_host::tools::{CallLimits, Failure};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub(crate) const ILO: &str = env!("CARGO_BIN_EXE_ilo-vm");

pub(crate) const TOOLS: &str = r#"{"tools": {
    "get-user": {"description": "looks a user up", "mock": [
        {"when": {"user-id": "u1"}, "returns": {"email": "a@b.c"}}, {"fails": "no such user"}]},
    "send": {"confirm": true, "mock": {"returns": "sent"}},
    "wait": {"mock": {"delay_ms": 200, "returns": 1}},
    "wait-long": {"read_only": true, "mock": {"delay_ms": 3600000, "returns": 1}}
}}"#;

pub(crate) const PROGRAM: &str = "; fn mail-of(id: text) -> result text, text\n; Tools: 0=get-user\n\
    ; Fields: 0=user-id 1=email\nLET 1 CALL 0 1 0 REF 0\nRET_OK FIELD 1 1\n";

/// A folder with a tools file and a program.
pub(crate) fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("tools.json"), TOOLS).unwrap();
    std::fs::write(folder.path().join("mail.ilo"), PROGRAM).unwrap();
    folder
}

/// The tools of a server over its standard streams.
pub(crate) fn over_stdio(folder: &TempDir) -> Tools {
    let [tools, program] = ["tools.json", "mail.ilo"].map(|name| folder.path().join(name));
    let arguments =
        serde_json::to_string(&["serve".as_ref(), "--tools".as_ref(), &*tools, &*program]).unwrap();
    let text = format!(r#"{{"mcpServers": {{"ilo": {{"command": "{ILO}", "args": {arguments}}}}}}}"#);
    let mut tools = Tools::from_text("tools.json", &text, Path::new(".")).unwrap();
    tools.connect_all().unwrap();
    tools
}

pub(crate) fn call(tools: &Tools, tool: &str, arguments: &str) -> Result<Data, Failure> {
    let arguments = read(arguments.as_bytes(), &Bounds::default()).unwrap();
    let until = Instant::now() + Duration::from_mins(1);
    tools.call(&format!("mcp://ilo/{tool}"), &arguments, &CallLimits::default(), until)
}

/// The value at a path of an answer, as JSON.
pub(crate) fn at(answer: &Data, path: &[&str]) -> String {
    let mut value = answer;
    for step in path {
        value = match value {
            Data::List(items) => &items[step.parse::<usize>().unwrap()],
            record => record.get(step).unwrap(),
        };
    }
    value.to_json()
}

/// A server over HTTP on a port of its own, which is ended when this is dropped.
pub(crate) struct Served {
    pub(crate) child: Child,
    pub(crate) address: String,
}

impl Served {
    pub(crate) fn start(folder: &TempDir, more: &[&str]) -> Served {
        let mut command = Command::new(ILO);
        command.arg("serve").arg("--tools").arg(folder.path().join("tools.json")).args(["--http", "0"]);
        command.args(more).env("ILO_TOKEN", "open sesame").stderr(Stdio::piped()).stdout(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("serving http://").unwrap().strip_suffix("/mcp").unwrap();
        Served { address: address.to_owned(), child }
    }

    pub(crate) fn tools(&self, headers: &str) -> Result<Tools, String> {
        let text = format!(
            r#"{{"mcpServers": {{"ilo": {{"url": "http://{}/mcp", "headers": {headers}}}}}}}"#,
            self.address
        );
        let mut tools = Tools::from_text("tools.json", &text, Path::new(".")).unwrap();
        let connected = tools.connect_all().map(|()| tools);
        connected.map_err(|problems| problems.first().map(ToString::to_string).unwrap_or_default())
    }

    /// The status of a ping with these header lines.
    pub(crate) fn status(&self, headers: &str) -> String {
        self.post(headers, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
            .split(' ')
            .nth(1)
            .unwrap_or_default()
            .to_owned()
    }

    /// The whole answer to a request with these header lines, which name the host.
    pub(crate) fn post(&self, headers: &str, body: &str) -> String {
        let mut answer = String::new();
        self.posted(headers, body).read_to_string(&mut answer).unwrap();
        answer
    }

    /// The connection on which the answer to such a request comes.
    fn posted(&self, headers: &str, body: &str) -> TcpStream {
        let head = "content-type: application/json\r\naccept: application/json, text/event-stream\r\n";
        self.begin(&format!("POST /mcp HTTP/1.1\r\n{headers}{head}content-length: {}\r\n", body.len()), body)
    }

    /// The whole answer to a request, on a connection of its own.
    pub(crate) fn request(&self, head: &str, body: &str) -> String {
        let mut stream = self.begin(head, body);
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Sends a request on a connection of its own.
    pub(crate) fn begin(&self, head: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        // The server may answer before it has read everything.
        drop(stream.write_all(format!("{head}connection: close\r\n\r\n{body}").as_bytes()));
        stream
    }

    pub(crate) fn host(&self) -> String {
        format!("host: {}\r\n", self.address)
    }

    /// Begins a session of the older protocol. Returns its header line.
    pub(crate) fn session(&self) -> String {
        self.session_with("{}")
    }

    /// The same for a client with these capabilities.
    pub(crate) fn session_with(&self, capabilities: &str) -> String {
        let capabilities = format!(r#""capabilities":{capabilities}"#);
        let answer = self.post(&self.host(), &INITIALIZE.replace(r#""capabilities":{}"#, &capabilities));
        let name = answer.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("a session");
        let session = format!("mcp-session-id: {name}\r\n");
        self.post(
            &format!("{}{session}", self.host()),
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        );
        session
    }

    /// Calls a tool in the newer protocol, which has no sessions. `more` are members of the parameters.
    pub(crate) fn call(&self, tool: &str, arguments: &str, more: &str) -> String {
        self.call_with("", tool, arguments, more)
    }

    /// The same with another header line.
    pub(crate) fn call_with(&self, header: &str, tool: &str, arguments: &str, more: &str) -> String {
        let mut answer = String::new();
        self.called(header, tool, arguments, more).read_to_string(&mut answer).unwrap();
        answer
    }

    /// The connection on which the answer to such a call comes.
    pub(crate) fn called(&self, header: &str, tool: &str, arguments: &str, more: &str) -> TcpStream {
        let head = format!(
            "{}{header}mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: {tool}\r\n",
            self.host()
        );
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments},"_meta":{META}{more}}}}}"#
        );
        self.posted(&head, &body)
    }

    /// The most memory that the server has used so far, in bytes.
    #[cfg(target_os = "linux")]
    pub(crate) fn peak(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        1024 * line.trim().strip_suffix(" kB").unwrap().parse::<usize>().unwrap()
    }
}

/// The first message of a client of the older protocol.
pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
/// The members that a client of the newer protocol sends with every request.
pub(crate) const META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}"#;

/// The arguments of `run_program` for a program that calls a tool.
pub(crate) fn program(tool: &str) -> String {
    let source = Data::from(format!("; fn f() -> any\n; Tools: 0={tool}\nRET CALL 0 0\n")).to_json();
    format!(r#"{{"source":{source}}}"#)
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Lines to and from a server over its standard streams, by hand.
pub(crate) struct Lines {
    pub(crate) child: Child,
    pub(crate) from: mpsc::Receiver<String>,
}

impl Lines {
    pub(crate) fn start(folder: &TempDir, more: &[&str]) -> Lines {
        let mut lines = Lines::unopened(folder, more);
        lines.open("{}");
        lines
    }

    /// A server that has received nothing yet.
    pub(crate) fn unopened(folder: &TempDir, more: &[&str]) -> Lines {
        Lines::with(folder, more, Stdio::inherit())
    }

    /// A server whose standard error is a pipe.
    pub(crate) fn piped(folder: &TempDir, more: &[&str]) -> Lines {
        Lines::with(folder, more, Stdio::piped())
    }

    fn with(folder: &TempDir, more: &[&str], error: Stdio) -> Lines {
        let mut command = Command::new(ILO);
        command.stderr(error).arg("serve").arg("--tools").arg(folder.path().join("tools.json")).args(more);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let out = child.stdout.take().unwrap();
        let (sender, from) = mpsc::channel();
        thread::spawn(move || {
            BufReader::new(out).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Lines { child, from }
    }

    /// Begins as clients of the older protocol do, with these capabilities.
    pub(crate) fn open(&mut self, capabilities: &str) {
        self.say(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":{capabilities},"clientInfo":{{"name":"t","version":"1"}}}}}}"#
        ));
        assert!(self.hear().contains(r#""id":1"#));
        self.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    pub(crate) fn say(&mut self, line: &str) {
        self.say_bytes(line.as_bytes());
    }

    pub(crate) fn say_bytes(&mut self, line: &[u8]) {
        let input = self.child.stdin.as_mut().unwrap();
        input.write_all(line).and_then(|()| input.write_all(b"\n")).unwrap();
    }

    /// Runs a program that calls a tool, whose answer is read later.
    pub(crate) fn run(&mut self, id: u32, tool: &str) {
        let arguments = program(tool);
        self.say(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"run_program","arguments":{arguments},"_meta":{{"progressToken":"p{id}"}}}}}}"#
        ));
    }

    /// The next line. If none comes, the test fails.
    pub(crate) fn hear(&self) -> String {
        self.from.recv_timeout(Duration::from_mins(1)).expect("the server says something")
    }

    /// The next line with these words. Others are skipped.
    pub(crate) fn hear_with(&self, words: &str) -> String {
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
