//! Servers of `serve` that start slowly, or not at all: they cost only themselves.

use crate::support::{ILO, Lines, folder};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A folder whose tools file has three servers: `quick`, `slow`, which starts once the file `go` is there,
/// and `gone`, which ends at once. Each of the first two offers `mail-of`.
fn three() -> TempDir {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    std::fs::rename(path("tools.json"), path("inner.json")).unwrap();
    let start = format!("exec '{ILO}' serve --tools inner.json mail.ilo");
    let server = |line: String| json!({"command": "sh", "args": ["-c", line]});
    let slow = format!("while [ ! -e go ]; do sleep 0.05; done; {start}");
    let text = json!({
        "mcpServers": {"quick": server(start), "slow": server(slow), "gone": server("exit 1".to_owned())},
        "tools": {"here": {"mock": {"returns": "here"}}},
    });
    std::fs::write(path("tools.json"), text.to_string()).unwrap();
    for server in ["quick", "slow", "gone"] {
        std::fs::write(path(&format!("{server}.ilo")), calls(server)).unwrap();
    }
    folder
}

/// A program that calls a tool of a server.
fn calls(server: &str) -> String {
    format!(
        "; fn of-{server}() -> any\n; Tools: 0=mcp://{server}/mail-of\n; Fields: 0=id\nRET CALL 0 1 0 LIT 0 \"u1\"\n"
    )
}

fn say(lines: &mut Lines, id: u32, method: &str, params: &Value) {
    lines.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
}

fn run(lines: &mut Lines, id: u32, source: &str) {
    say(lines, id, "tools/call", &json!({"name": "run_program", "arguments": {"source": source}}));
}

/// The answer to a request.
fn answer(lines: &Lines, id: u32) -> Value {
    let heard: Value = serde_json::from_str(&lines.hear_with(&format!(r#""id":{id}"#))).unwrap();
    heard["result"].clone()
}

/// The names of the tools that are offered now.
fn listed(lines: &mut Lines, id: u32) -> Vec<String> {
    say(lines, id, "tools/list", &json!({}));
    let tools = answer(lines, id)["tools"].as_array().unwrap().clone();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

const CHANGED: &str = "notifications/tools/list_changed";

#[test]
fn a_slow_server_costs_only_itself() {
    let folder = three();
    let programs = ["quick.ilo", "slow.ilo", "gone.ilo"].map(|name| folder.path().join(name));
    let programs = programs.each_ref().map(|path| path.to_str().unwrap());
    let mut lines = Lines::start(&folder, &programs);
    // Whether the quick one has arrived within a second depends on how busy the machine is.
    let mut names = listed(&mut lines, 2);
    while !names.contains(&"of-quick".to_owned()) {
        lines.hear_with(CHANGED);
        names = listed(&mut lines, 3);
    }
    assert_eq!(names, ["run_program", "check_program", "find_tools", "of-quick"]);
    // A program waits for the server that it calls, and for no other.
    run(&mut lines, 4, &calls("slow"));
    run(&mut lines, 5, "; fn f() -> any\n; Tools: 0=here\nRET CALL 0 0\n");
    assert_eq!(answer(&lines, 5)["structuredContent"]["outcome"]["value"], "here");
    run(&mut lines, 6, &calls("quick"));
    assert_eq!(answer(&lines, 6)["structuredContent"]["outcome"]["value"], "a@b.c");
    say(&mut lines, 7, "tools/call", &json!({"name": "find_tools", "arguments": {"query": "mail"}}));
    let found = answer(&lines, 7)["structuredContent"].clone();
    assert_eq!(
        (&found["tools"][0]["name"], &found["starting"]),
        (&json!("mcp://quick/mail-of"), &json!(["slow"]))
    );
    say(&mut lines, 8, "resources/read", &json!({"uri": "ilo://servers"}));
    let state = answer(&lines, 8)["contents"][0]["text"].as_str().unwrap().to_owned();
    assert!(state.contains(r#"{"name":"slow","state":"starting"}"#), "{state}");
    // A function that will be offered can be called before it is listed.
    say(&mut lines, 9, "tools/call", &json!({"name": "of-slow", "arguments": {}}));
    std::fs::write(folder.path().join("go"), "").unwrap();
    let (mut answered, mut changed) = (Vec::new(), false);
    while answered.len() < 2 || !changed {
        let heard = lines.hear();
        changed |= heard.contains(CHANGED);
        if heard.contains(r#""id":"#) {
            assert!(heard.contains("a@b.c"), "{heard}");
            answered.push(heard);
        }
    }
    assert_eq!(listed(&mut lines, 10).last().map(String::as_str), Some("of-slow"));
}

#[test]
fn the_lock_is_held_before_anything_is_called() {
    let folder = three();
    let go = folder.path().join("go");
    std::fs::write(&go, "").unwrap();
    let lock = folder.path().join("tools.lock");
    let lock = lock.to_str().unwrap();
    let mut lines = Lines::start(&folder, &["--lock", lock]);
    let here = "; fn f() -> any\n; Tools: 0=here\nRET CALL 0 0\n";
    run(&mut lines, 2, here);
    assert_eq!(answer(&lines, 2)["structuredContent"]["outcome"]["value"], "here");
    drop(lines);
    assert!(Path::new(lock).exists(), "it was written once all had arrived");
    std::fs::remove_file(&go).unwrap();
    let changed = "; fn mail-of(id: text, more: text) -> result text, text\nRET_OK REF 1\n";
    std::fs::write(folder.path().join("mail.ilo"), changed).unwrap();
    let mut lines = Lines::piped(&folder, &["--lock", lock]);
    lines.open("{}");
    run(&mut lines, 2, here);
    std::fs::write(&go, "").unwrap();
    let begun = Instant::now();
    while lines.child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_mins(1), "it goes on with tools that have changed");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(lines.child.wait().unwrap().code(), Some(2));
    let mut error = String::new();
    std::io::Read::read_to_string(lines.child.stderr.as_mut().unwrap(), &mut error).unwrap();
    assert!(error.contains("error[changed-tool]: ") && error.contains("`more`"), "{error}");
    assert!(!lines.from.try_iter().any(|line| line.contains("here")), "it was called");
}

#[test]
fn a_client_that_leaves_while_servers_start_does_not_wait_for_them() {
    let folder = three();
    let mut lines = Lines::start(&folder, &[]);
    let begun = Instant::now();
    drop(lines.child.stdin.take());
    assert!(lines.child.wait().unwrap().success());
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}
