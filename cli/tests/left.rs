//! Processes that tools leave running: they end with the run, with the server, and with a host that is
//! killed.
#![cfg(target_os = "linux")]
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const PROGRAM: &str = "; fn f() -> any\n; Tools: 0=leave\nRET CALL 0 0\n";

/// A folder with a program and a tool, which is a shell script that may write process numbers to a file
/// `left`.
fn folder(script: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let file = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    file("p.ilo", PROGRAM);
    file("tool.sh", script);
    file("tools.json", r#"{"tools": {"leave": {"command": ["sh", "tool.sh"]}}}"#);
    file("server.json", r#"{"mcpServers": {"s": {"command": "sh", "args": ["tool.sh"]}}}"#);
    folder
}

fn ilo(folder: &TempDir, line: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ilo-vm"));
    command.args(line.split(' ')).current_dir(folder.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Waits for a condition that must become true.
#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_mins(1);
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The processes whose numbers a tool wrote down, when there are this many.
fn left(folder: &TempDir, count: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    until("the tool starts", || {
        let text = std::fs::read_to_string(folder.path().join("left")).unwrap_or_default();
        found = text.split_whitespace().map(|pid| Path::new("/proc").join(pid)).collect();
        text.ends_with('\n') && found.len() == count
    });
    found
}

/// Whether a process runs. A process that has ended and was not waited for does not.
fn runs(process: &Path) -> bool {
    std::fs::read_to_string(process.join("stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

const DAEMON: &str =
    "setsid sh -c 'echo $$ >> left; sleep 1000 & echo $! >> left; wait' > /dev/null 2>&1 < /dev/null &\n";

#[test]
fn what_a_host_that_is_killed_has_started_ends() {
    for line in ["run p.ilo --tools tools.json", "tools --tools server.json", "serve --tools server.json"] {
        // It ignores requests to end, and as a server it does not read its input.
        let folder = folder(&format!("trap '' TERM HUP INT\necho $$ >> left\n{DAEMON}sleep 1000\n"));
        let mut host = ilo(&folder, line);
        let left = left(&folder, 3);
        assert!(left.iter().all(|process| runs(process)), "{line}");
        host.kill().unwrap();
        host.wait().unwrap();
        until(line, || !left.iter().any(|process| runs(process)));
    }
}

/// A client that writes messages by hand.
struct Client(Child, ChildStdin, BufReader<ChildStdout>);

impl Client {
    fn start(folder: &TempDir) -> Client {
        let mut child = ilo(folder, "serve --tools tools.json p.ilo");
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut client = Client(child, input, BufReader::new(output));
        client.say(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#);
        client.hear();
        client.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        client
    }

    fn say(&mut self, line: &str) {
        writeln!(self.1, "{line}").unwrap();
    }

    fn hear(&mut self) -> String {
        let mut line = String::new();
        self.2.read_line(&mut line).unwrap();
        line
    }
}

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"f","arguments":{}}}"#;

#[test]
fn what_a_command_leaves_ends_with_its_run_and_not_with_the_server() {
    let folder =
        folder(&format!("{DAEMON}while [ \"$(wc -l < left)\" != 2 ]; do sleep 0.01; done\necho 1\n"));
    std::fs::write(folder.path().join("left"), "").unwrap();
    let mut client = Client::start(&folder);
    client.say(CALL);
    let answer = client.hear();
    assert!(answer.contains(r#""structuredContent":{"result":1}"#), "{answer}");
    for process in left(&folder, 2) {
        assert!(!runs(&process), "{} is still there", process.display());
    }
    client.say(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
    assert!(client.hear().contains(r#""id":2"#), "the server goes on");
}

#[test]
fn what_a_command_does_ends_with_the_client() {
    let folder = folder(&format!("echo $$ >> left\n{DAEMON}sleep 1000\n"));
    let mut client = Client::start(&folder);
    client.say(CALL);
    let left = left(&folder, 3);
    let Client(mut child, input, _output) = client;
    drop(input);
    assert!(child.wait().unwrap().success());
    for process in left {
        assert!(!runs(&process), "{} is still there", process.display());
    }
}
