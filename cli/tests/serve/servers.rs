//! The MCP servers of `serve`: their health, servers that end, and questions of clients over HTTP.

use crate::support::{ILO, Lines, Served, folder, program};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A folder whose tools file has `ilo-vm serve` itself as a server, started by a shell that writes its
/// number.
fn nested() -> TempDir {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    std::fs::copy(path("tools.json"), path("inner.json")).unwrap();
    let line = format!("echo $$ >> pids; exec '{ILO}' serve --tools inner.json mail.ilo");
    let gone = r#""command": "sh", "args": ["-c", "exit 1"]"#;
    let text = json!({"command": "sh", "args": ["-c", line]});
    let text = format!(r#"{{"mcpServers": {{"gone": {{{gone}}}, "inner": {text}}}}}"#);
    std::fs::write(path("tools.json"), text).unwrap();
    folder
}

fn pids(folder: &TempDir) -> Vec<i32> {
    let text = std::fs::read_to_string(folder.path().join("pids")).unwrap_or_default();
    text.lines().map(|line| line.parse().unwrap()).collect()
}

fn kill(pid: i32) {
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

/// The resource's statement about each server, once all have started or failed.
fn health(lines: &mut Lines) -> Vec<Value> {
    loop {
        let servers = health_now(lines);
        if servers.iter().all(|server| server["state"] != "starting") {
            return servers;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn health_now(lines: &mut Lines) -> Vec<Value> {
    lines.say(r#"{"jsonrpc":"2.0","id":90,"method":"resources/read","params":{"uri":"ilo://servers"}}"#);
    let heard: Value = serde_json::from_str(&lines.hear_with(r#""id":90"#)).unwrap();
    let text = heard["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{heard}"));
    let servers: Value = serde_json::from_str(text).unwrap();
    servers["servers"].as_array().unwrap().clone()
}

#[test]
fn a_server_that_was_killed_is_started_again_by_the_next_call() {
    let folder = nested();
    let mut lines = Lines::start(&folder, &[]);
    let gone = json!({"name": "gone", "state": "not-started"});
    let inner =
        |state: &str, ended: u32| json!({"name": "inner", "state": state, "tools": 4, "ended": ended});
    assert_eq!(health(&mut lines), [gone.clone(), inner("running", 0)]);
    let source =
        "; fn f() -> any\n; Tools: 0=mcp://inner/mail-of\n; Fields: 0=id\nRET CALL 0 1 0 LIT 0 \"u1\"\n";
    let run = |lines: &mut Lines, id: u32| {
        let arguments = json!({"source": source});
        lines.say(
            &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "run_program", "arguments": arguments}})
            .to_string(),
        );
        lines.hear_with(&format!(r#""id":{id},"#))
    };
    for killed in 1..4 {
        let heard = run(&mut lines, killed);
        assert!(heard.contains(r#""status":"ok","value":"a@b.c""#), "{heard}");
        kill(*pids(&folder).last().unwrap());
        let begun = Instant::now();
        while health(&mut lines)[1]["state"] != "ended" {
            assert!(begun.elapsed() < Duration::from_mins(1), "nobody notices that it has ended");
            thread::sleep(Duration::from_millis(20));
        }
    }
    let heard = run(&mut lines, 9);
    assert!(heard.contains(r#""status":"ok","value":"a@b.c""#), "{heard}");
    assert_eq!(pids(&folder).len(), 4);
    // It has answered since it last ended.
    assert_eq!(health(&mut lines), [gone, inner("running", 0)]);
}

#[test]
fn a_watch_shows_each_change_of_a_server() {
    let folder = nested();
    let mut command = Command::new(ILO);
    command.args(["tools", "--watch", "--tools"]).arg(folder.path().join("tools.json"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert_eq!(lines.next().as_deref(), Some("gone: not started"));
    assert_eq!(lines.next().as_deref(), Some("inner: running, 4 tools"));
    kill(pids(&folder)[0]);
    assert_eq!(lines.next().as_deref(), Some("inner: ended"));
    child.kill().unwrap();
    child.wait().unwrap();
}

/// As in the older protocol over HTTP, where a question is an event of the call's own stream.
#[test]
fn questions_in_a_session_stop_no_other_session() {
    let served = Served::start(&folder(), &["--max-runs", "2"]);
    let session = served.session_with(r#"{"elicitation":{}}"#);
    let ask = |session: &str, id: u32, tool: &str, arguments: &str| {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        );
        let head = format!(
            "POST /mcp HTTP/1.1\r\n{}{session}content-type: application/json\r\n\
             accept: application/json, text/event-stream\r\ncontent-length: {}\r\n",
            served.host(),
            body.len()
        );
        served.begin(&head, &body)
    };
    let questions: Vec<_> = (2..18)
        .map(|id| {
            let mut stream = ask(&session, id, "run_program", &program("send"));
            let (mut heard, mut buffer) = (String::new(), [0; 4096]);
            while !heard.contains("elicitation/create") {
                let count = stream.read(&mut buffer).unwrap();
                assert!(count > 0, "{heard}");
                heard.push_str(&String::from_utf8_lossy(&buffer[..count]));
            }
            stream
        })
        .collect();
    let begun = Instant::now();
    let other = served.session();
    for (tool, words) in [("check_program", r#""ok":true"#), ("run_program", r#""status":"ok""#)] {
        let mut answer = String::new();
        ask(&other, 2, tool, &program("wait")).read_to_string(&mut answer).unwrap();
        assert!(answer.contains(words), "{answer}");
    }
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    drop(questions);
}
