//! A canary under each key by which a server gets settings, in the words of every client, and in every
//! setting of a command. The servers and commands repeat all that they got, in answers, failures, errors and
//! at their end. What `ilo-vm` says, traces, logs and keeps has none of it.
#![cfg(all(unix, feature = "mcp", feature = "serve", feature = "journal", feature = "telemetry"))]

use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// All secrets contain this.
const CANARY: &str = "c4n4ry";
/// The table of the keys of clients.
const ROWS: &str = include_str!("../../host/src/config/clients.rs");
/// A variable of the environment of `ilo-vm`.
const VARIABLE: (&str, &str) = ("PASSED_ON", "c4n4ry-of-the-environment-7F");

/// A server whose tools repeat its arguments and its environment.
const SERVER: &str = include_str!("../../host/tests/support/repeats.sh");
const TOOLS: [&str; 6] = ["fine", "fails", "errs", "misfits", "prints", "dies"];

/// The keys of a server with an effect.
fn keys(effect: &str) -> Vec<&'static str> {
    let rows = ROWS.split("row(").filter_map(|row| {
        let mut parts = row.split(',').map(str::trim);
        let (_, place, key) = (parts.next()?, parts.next()?, parts.next()?.strip_prefix('"')?);
        let found = parts.next()?.trim_end_matches(')').starts_with(effect);
        (place == "Server" && found).then(|| key.trim_end_matches('"').split(' '))
    });
    let found: Vec<&str> = rows.flatten().collect();
    assert!(!found.is_empty(), "no key with the effect {effect}");
    found
}

/// A secret of a key.
fn secret(key: &str) -> String {
    format!("{CANARY}-of-{key}-7F")
}

/// The servers: those that are started, and those that are reached at an address. All keys occur.
fn servers(address: &str) -> (Map<String, Value>, Map<String, Value>) {
    let (mut local, mut far) = (Map::new(), Map::new());
    for key in keys("Command") {
        let mut server = Map::new();
        server.insert(key.to_owned(), json!(["sh", "-c", SERVER, "x", "--token", secret(key)]));
        for key in keys("Arguments") {
            server.insert(
                key.to_owned(),
                json!(["--api-key", secret(key), format!("--password={}", secret(key))]),
            );
        }
        for key in keys("Variables") {
            server.insert(
                key.to_owned(),
                json!({format!("OF_{key}"): secret(key), "KEY": format!("line\n{}\n", secret(key))}),
            );
        }
        for key in keys("Passed") {
            server.insert(key.to_owned(), json!([VARIABLE.0]));
        }
        for key in keys("Nothing") {
            server.insert(key.to_owned(), json!({"token": secret(key), "a": [secret(key)]}));
        }
        local.insert(format!("by-{key}"), Value::Object(server));
    }
    for (at, key) in keys("Url").into_iter().chain(keys("Bearer")).enumerate() {
        let (url, has_bearer) =
            (format!("http://me:{}@{address}/mcp?api_key={}", secret(key), secret(key)), at > 3);
        let mut server = Map::new();
        server.insert(if has_bearer { "url" } else { key }.to_owned(), json!(url));
        if has_bearer {
            server.insert(key.to_owned(), json!(VARIABLE.0));
        }
        for key in keys("Headers") {
            server.insert(key.to_owned(), json!({format!("X-{key}"): secret(key)}));
        }
        for key in keys("HeaderNames") {
            server.insert(key.to_owned(), json!({"X-Passed": VARIABLE.0}));
        }
        far.insert(format!("by-{key}"), Value::Object(server));
    }
    (local, far)
}

/// Commands that repeat everything, each in a way of its own.
fn commands() -> Value {
    let command = |line: &str, more: Value| {
        let all = "all=\"$(cat) $* $(env | tr '\\n' ' ')\"; all=$(printf %s \"$all\" | tr -d '\\\\\"'); ";
        let mut entry = json!({
            "command": ["sh", "-c", format!("{all}{line}"), "x", "--token", secret("option"), format!("--key={}", secret("pair"))],
            "env": {"OF_TOOL": secret("env"), "KEY": format!("{}\nnext line", secret("lines"))},
        });
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        entry
    };
    json!({
        "fails": command("echo \"$all\" >&2; exit 3", json!({})),
        "prints": command("echo \"it is $all\"", json!({})),
        "misfits": command("echo \"{\\\"state\\\":\\\"$all\\\"}\"", json!({"output_schema": {"properties": {"state": {"enum": ["on"]}}}})),
        "dies": command("echo \"$all\" >&2; kill -9 $$", json!({})),
        "fine": command("echo 1", json!({"confirm": true})),
    })
}

/// A program that makes calls, and gives their failures.
fn program(calls: impl IntoIterator<Item = String>) -> String {
    let calls: Vec<String> = calls.into_iter().collect();
    let name = |at: usize| format!("r{at}");
    let mut steps: Vec<Value> = Vec::new();
    for (at, call) in calls.iter().enumerate() {
        steps.push(json!({"let": name(at), "call": call, "args": {}, "on-error": {"value": "$error"}}));
    }
    steps.push(json!({"return": (0..calls.len()).map(|at| format!("${}", name(at))).collect::<Vec<_>>()}));
    json!({"function": "f", "input": {}, "output": "any", "steps": steps}).to_string()
}

/// Answers every request with its own text, as an error. Ends with the process. Keeps the bodies.
fn echo() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let bodies: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = bodies.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut reads = BufReader::new(&stream);
            let (mut got, mut length) = (String::new(), 0);
            while !got.ends_with("\r\n\r\n") && reads.read_line(&mut got).unwrap_or_default() > 0 {
                let last = got.to_lowercase();
                let last = last.lines().last().and_then(|line| line.strip_prefix("content-length:"));
                length = last.map_or(length, |length| length.trim().parse().unwrap());
            }
            let mut body = String::new();
            drop(reads.take(length).read_to_string(&mut body));
            let head =
                "HTTP/1.1 500 Internal Server Error\r\ncontent-type: text/plain\r\nconnection: close\r\n";
            let all = got + &body;
            kept.lock().unwrap().push(body);
            drop(stream.write_all(format!("{head}content-length: {}\r\n\r\n{all}", all.len()).as_bytes()));
            drop(stream.shutdown(Shutdown::Write));
        }
    });
    (address, bodies)
}

/// What a command says on both streams.
fn said(folder: &Path, collector: &str, line: &[&str], input: &str) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ilo-vm"))
        .args(line)
        .current_dir(folder)
        .env(VARIABLE.0, VARIABLE.1)
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://me:{}@{collector}", secret("collector")))
        .env("OTEL_EXPORTER_OTLP_HEADERS", format!("x-api-key={}", secret("header-of-collector")))
        .env_remove("ILO_KEY")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(File::create(folder.join("errors")).unwrap())
        .spawn()
        .unwrap();
    let (mut writes, mut reads) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    drop(writes.write_all(input.as_bytes()));
    let mut said = String::new();
    // A server has answered before its input ends.
    while !input.is_empty() && !said.contains("\"id\":2,") && reads.read_line(&mut said).unwrap() > 0 {}
    drop(writes);
    reads.read_to_string(&mut said).unwrap();
    child.wait().unwrap();
    said + &String::from_utf8_lossy(&std::fs::read(folder.join("errors")).unwrap())
}

#[test]
fn no_setting_of_a_server_or_command_is_shown_or_kept() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let (collector, sent) = echo();
    let (local, far) = servers(&echo().0);
    let names = |servers: &Map<String, Value>| servers.keys().cloned().collect::<Vec<_>>();
    let calls = names(&local).into_iter().flat_map(|name| TOOLS.map(|tool| format!("mcp://{name}/{tool}")));
    write("local.wf", &program(calls));
    write("far.wf", &program(names(&far).into_iter().map(|name| format!("mcp://{name}/x"))));
    let tools = commands();
    write("commands.wf", &program(tools.as_object().unwrap().keys().cloned()));
    for (name, file) in [
        ("local", json!({"mcpServers": local})),
        ("far", json!({"mcpServers": far})),
        ("commands", json!({"tools": tools})),
    ] {
        write(&format!("{name}.json"), &file.to_string());
    }
    let request = |id: u32, method: &str, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    let serve = [
        request(1, "initialize", hello),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        request(2, "tools/call", json!({"name": "f", "arguments": {}, "_meta": {"progressToken": 7}})),
        request(3, "resources/read", json!({"uri": "ilo://servers"})),
        request(4, "resources/read", json!({"uri": "ilo://card/workflow"})),
        request(5, "tools/list", json!({})),
    ]
    .map(|message| format!("{message}\n"))
    .concat();
    // What each says in any case.
    let expected = [("local", "***", "in-doubt"), ("far", "500", "500"), ("commands", "***", "in-doubt")];
    for (name, of_run, of_journal) in expected {
        let (source, tools) = (format!("{name}.wf"), format!("{name}.json"));
        let with = |line: &[&str]| -> Vec<String> {
            line.iter().copied().chain(["--tools", &tools]).map(str::to_owned).collect()
        };
        let all = [
            (with(&["run", &source, "--trace", "trace"]), "", of_run),
            (with(&["run", &source, "--journal", "journal"]), "", of_journal),
            (["runs", "show", "1", "--journal", "journal"].map(str::to_owned).to_vec(), "", ""),
            (with(&["tools", "--json"]), "", ""),
            (with(&["check", &source, "--lock", "lock"]), "", ""),
            (with(&["serve", &source, "--log", "trace"]), serve.as_str(), ""),
        ];
        for (line, input, expected) in all {
            let line: Vec<&str> = line.iter().map(String::as_str).collect();
            let said = said(folder.path(), &collector, &line, input);
            if std::env::var_os("SHOW").is_some() {
                println!("{line:?}\n{said}\n");
            }
            let shown = said.lines().find(|line| line.contains(CANARY));
            assert_eq!(shown, None, "{line:?}");
            assert!(said.contains(expected), "{line:?}: {said}");
        }
        for file in ["trace", "lock", "journal", "journal-wal"] {
            let Ok(bytes) = std::fs::read(folder.path().join(file)) else { continue };
            let text = String::from_utf8_lossy(&bytes);
            assert!(
                !text.contains(CANARY),
                "{name}: {file} has {:?}",
                text.lines().find(|line| line.contains(CANARY))
            );
        }
        for file in ["journal", "journal-wal", "journal-shm", "lock"] {
            drop(std::fs::remove_file(folder.path().join(file)));
        }
    }
    let sent = sent.lock().unwrap();
    assert!(sent.iter().any(|body| body.contains("execute_tool")), "{sent:?}");
    assert_eq!(sent.iter().find(|body| body.contains(CANARY)), None);
}
