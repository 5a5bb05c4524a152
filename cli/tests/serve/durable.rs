//! `serve --journal`: runs as tasks, which outlive the server.

#[cfg(feature = "postgres")]
#[path = "../../../journal/tests/support/server.rs"]
#[allow(unreachable_pub, missing_docs, clippy::missing_panics_doc, reason = "a test's own helpers")]
mod server;

use crate::support::{ILO, Lines, Served};
use serde_json::{Value, json};
#[cfg(feature = "postgres")]
use server::Server;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The members that a client with support for tasks sends with every request.
fn meta() -> Value {
    json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}},
            "extensions": {"io.modelcontextprotocol/tasks": {}}}})
}

/// Pays, ships, and undoes the payment if shipping fails.
const PAYS: &str = "; fn f(n: number) -> result number, text\n; Vars: 0=n 1=first 2=second\n\
    ; Tools: 0=pay 1=refund 2=ship\n; Fields: 0=amount 1=id\nLET 1 CALL 0 1 0 REF 0\n\
    ROLLBACK CALL 1 1 1 FIELD 1 1\nLET 2 CALL 2 1 1 FIELD 1 1\nRET_OK FIELD 1 1\n";

/// A folder with the program and its tools, which are commands: `ship` with these keys.
fn shop(ship: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("p.ilo", PAYS);
    let tool = |name: &str, keys: &str| {
        format!("\"{name}\": {{\"command\": [\"sh\", \"tool.sh\", \"{name}\"]{keys}}}")
    };
    let tools = [tool("pay", ""), tool("refund", ""), tool("ship", ship)].join(", ");
    write("tools.json", &format!("{{\"tools\": {{{tools}}}}}"));
    write(
        "tool.sh",
        "cat > /dev/null; echo \"$1\" >> done\nwhile [ -e \"hang-$1\" ]; do sleep 0.05; done\necho '{\"id\": 7}'\n",
    );
    folder
}

fn done(folder: &TempDir) -> Vec<String> {
    let text = fs::read_to_string(folder.path().join("done")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).display().to_string()
}

fn serve(folder: &TempDir) -> Lines {
    Lines::unopened(folder, &["--journal", &path(folder, "j"), &path(folder, "p.ilo")])
}

/// Sends a request. Returns its result or its error.
fn ask(lines: &mut Lines, method: &str, params: Value) -> Value {
    let mut params = params;
    params["_meta"] = meta();
    lines.say(&json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).to_string());
    let heard: Value = serde_json::from_str(&lines.hear_with("\"id\":7")).unwrap();
    if heard["error"].is_null() { heard["result"].clone() } else { heard["error"].clone() }
}

/// Starts the function. Returns the name of its task.
fn start(lines: &mut Lines) -> String {
    let created = ask(lines, "tools/call", json!({"name": "f", "arguments": {"n": 5}}));
    assert_eq!(created["resultType"], "task", "{created}");
    created["taskId"].as_str().unwrap().to_owned()
}

/// Requests a task until it has a status.
fn until(lines: &mut Lines, task: &str, status: &str) -> Value {
    let begun = Instant::now();
    loop {
        let seen = ask(lines, "tasks/get", json!({"taskId": task}));
        if seen["status"] == status {
            return seen;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "{seen}");
        thread::sleep(Duration::from_millis(50));
    }
}

fn answer(lines: &mut Lines, task: &str, seen: &Value, content: &Value) -> Value {
    let question = seen["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let response = json!({"action": "accept", "content": content});
    ask(lines, "tasks/update", json!({"taskId": task, "inputResponses": {question: response}}))
}

fn kill(lines: &mut Lines) {
    lines.child.kill().unwrap();
    lines.child.wait().unwrap();
}

fn runs(folder: &TempDir, arguments: &[&str]) -> Value {
    let mut command = Command::new(ILO);
    command.arg("runs").args(arguments).args(["--json", "--journal", &path(folder, "j")]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

/// Approves the call at which a run waits, by the hash of its arguments.
fn approve(folder: &TempDir, run: &str) {
    let shown = runs(folder, &["show", run]);
    let (call, hash) = (shown["call"]["number"].to_string(), shown["arguments_hash"].as_str().unwrap());
    runs(folder, &["approve", run, "--call", &call, "--arguments-hash", hash]);
}

fn wait_for(what: impl Fn() -> bool) {
    let begun = Instant::now();
    while !what() {
        assert!(begun.elapsed() < Duration::from_mins(1), "it does not happen");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_run_is_a_task_and_its_result_is_that_of_the_tool() {
    let folder = shop("");
    let mut lines = serve(&folder);
    let task = start(&mut lines);
    let seen = until(&mut lines, &task, "completed");
    assert_eq!(seen["result"]["structuredContent"], json!({"result": 7}), "{seen}");
    assert_eq!(done(&folder), ["pay", "ship"]);
    // The next server knows its name too, and no other name of it.
    kill(&mut lines);
    let mut lines = serve(&folder);
    assert_eq!(until(&mut lines, &task, "completed")["result"], seen["result"]);
    let (head, last) = task.split_at(task.len() - 1);
    let other = format!("{head}{}", if last == "0" { "1" } else { "0" });
    for wrong in [other.as_str(), "1-f-", "1-p-x", "9-f-0", "x", ""] {
        let refused = ask(&mut lines, "tasks/get", json!({"taskId": wrong}));
        assert_eq!(refused["code"], -32602, "{wrong}: {refused}");
    }
}

#[test]
fn a_program_that_cannot_run_is_refused_at_once() {
    let folder = shop("");
    let mut lines = serve(&folder);
    let source = "; fn f() -> any\n; Tools: 0=none\nRET CALL 0 0\n";
    let refused =
        ask(&mut lines, "tools/call", json!({"name": "run_program", "arguments": {"source": source}}));
    assert_eq!(refused["isError"], true, "{refused}");
    let calls_nothing = "; fn f() -> number\nRET LIT 1 4\n";
    let created =
        ask(&mut lines, "tools/call", json!({"name": "run_program", "arguments": {"source": calls_nothing}}));
    let seen = until(&mut lines, created["taskId"].as_str().unwrap(), "completed");
    assert_eq!(seen["result"]["structuredContent"]["outcome"], json!({"status": "ok", "value": 4}));
}

#[test]
fn an_approval_is_asked_for_and_given_after_the_server_was_killed() {
    let folder = shop(", \"confirm\": true");
    let mut lines = serve(&folder);
    let task = start(&mut lines);
    let seen = until(&mut lines, &task, "input_required");
    let question = seen["inputRequests"].as_object().unwrap().values().next().unwrap();
    assert!(question["params"]["message"].as_str().unwrap().starts_with("May `ship` be called?"), "{seen}");
    kill(&mut lines);
    let mut lines = serve(&folder);
    let again = until(&mut lines, &task, "input_required");
    assert_eq!(again["inputRequests"], seen["inputRequests"], "the same question");
    let wrong = json!({"taskId": task, "inputResponses": {"ask-2-1": {"action": "accept", "content": {"call_it": true}}}});
    ask(&mut lines, "tasks/update", wrong);
    assert_eq!(ask(&mut lines, "tasks/get", json!({"taskId": task}))["status"], "input_required");
    answer(&mut lines, &task, &again, &json!({"call_it": true}));
    assert_eq!(until(&mut lines, &task, "completed")["result"]["isError"], false);
    assert_eq!(done(&folder), ["pay", "ship"]);
}

#[test]
fn a_server_that_was_killed_in_a_call_leaves_the_call_in_doubt_and_loses_nothing() {
    let folder = shop("");
    fs::write(folder.path().join("hang-ship"), "").unwrap();
    let mut lines = serve(&folder);
    let task = start(&mut lines);
    wait_for(|| done(&folder) == ["pay", "ship"]);
    kill(&mut lines);
    fs::remove_file(folder.path().join("hang-ship")).unwrap();
    let mut lines = serve(&folder);
    let seen = until(&mut lines, &task, "input_required");
    assert!(seen["statusMessage"].as_str().unwrap().starts_with("Nobody knows whether"), "{seen}");
    assert_eq!(done(&folder), ["pay", "ship"], "it was not made again");
    answer(&mut lines, &task, &seen, &json!({"was": "made", "value": "{\"id\": 9}"}));
    let seen = until(&mut lines, &task, "completed");
    assert_eq!(seen["result"]["structuredContent"], json!({"result": 7}));
    assert_eq!(done(&folder), ["pay", "ship"]);
}

#[test]
fn a_task_is_cancelled_with_its_rollback() {
    let folder = shop(", \"confirm\": true");
    let mut lines = serve(&folder);
    let task = start(&mut lines);
    until(&mut lines, &task, "input_required");
    ask(&mut lines, "tasks/cancel", json!({"taskId": task}));
    let seen = until(&mut lines, &task, "cancelled");
    assert!(seen["statusMessage"].as_str().unwrap().contains("refund"), "{seen}");
    assert_eq!(done(&folder), ["pay", "refund"]);
    assert!(ask(&mut lines, "tasks/cancel", json!({"taskId": task}))["code"].is_null());
}

#[test]
fn a_run_goes_on_when_a_person_decides_in_another_process() {
    let folder = shop(", \"confirm\": true");
    let mut lines = serve(&folder);
    let task = start(&mut lines);
    until(&mut lines, &task, "input_required");
    approve(&folder, "1");
    until(&mut lines, &task, "completed");
    assert_eq!(done(&folder), ["pay", "ship"]);
}

#[test]
fn the_end_of_the_server_leaves_its_runs_to_the_next() {
    let folder = shop("");
    fs::write(folder.path().join("hang-pay"), "").unwrap();
    let mut lines = serve(&folder);
    let task = start(&mut lines);
    wait_for(|| done(&folder) == ["pay"]);
    // The client closes the streams.
    drop(lines.child.stdin.take());
    // Nothing shows that it has noticed.
    thread::sleep(Duration::from_secs(1));
    fs::remove_file(folder.path().join("hang-pay")).unwrap();
    lines.child.wait().unwrap();
    assert_eq!(done(&folder), ["pay"]);
    assert_eq!(runs(&folder, &["show", "1"])["state"], "ready");
    let mut lines = serve(&folder);
    until(&mut lines, &task, "completed");
    assert_eq!(done(&folder), ["pay", "ship"]);
}

#[test]
fn a_client_without_tasks_gets_the_outcome_or_where_the_run_waits() {
    let folder = shop(", \"confirm\": true");
    let mut lines = serve(&folder);
    lines.open("{}");
    let call = |lines: &mut Lines, id: u32| {
        lines.say(
            &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "f", "arguments": {"n": 5}}})
            .to_string(),
        );
        let heard: Value = serde_json::from_str(&lines.hear_with(&format!("\"id\":{id}"))).unwrap();
        heard["result"].clone()
    };
    let waits = call(&mut lines, 2);
    assert_eq!(waits["isError"], true);
    let text = waits["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("run 1 waits in the journal: call 2 of `ship` needs approval"), "{text}");
    let tools = fs::read_to_string(folder.path().join("tools.json")).unwrap();
    drop(lines);
    fs::write(folder.path().join("tools.json"), tools.replace(", \"confirm\": true", "")).unwrap();
    let mut lines = serve(&folder);
    lines.open("{}");
    assert_eq!(call(&mut lines, 2)["structuredContent"], json!({"result": 7}));
    assert!(Path::new(&path(&folder, "j")).exists());
}

#[test]
fn a_person_is_asked_through_a_client_without_tasks() {
    let folder = shop(", \"confirm\": true");
    let mut lines = serve(&folder);
    lines.open(r#"{"elicitation":{}}"#);
    for (id, yes, failed) in [(2, true, false), (3, false, true)] {
        lines.say(
            &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "f", "arguments": {"n": 5}}})
            .to_string(),
        );
        let question: Value = serde_json::from_str(&lines.hear_with("elicitation/create")).unwrap();
        let result = json!({"action": "accept", "content": {"call_it": yes}});
        lines.say(&json!({"jsonrpc": "2.0", "id": question["id"], "result": result}).to_string());
        let heard: Value = serde_json::from_str(&lines.hear_with(&format!("\"id\":{id},"))).unwrap();
        assert_eq!(heard["result"]["isError"], failed, "{heard}");
    }
    assert_eq!(done(&folder), ["pay", "ship", "pay", "refund"]);
}

/// The same as [`ask`] over HTTP.
fn post(server: &Served, method: &str, name: &str, params: Value) -> Value {
    let mut params = params;
    params["_meta"] = meta();
    let head = format!(
        "{}mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\nmcp-name: {name}\r\n",
        server.host()
    );
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    let answer = server.post(&head, &body.to_string());
    let json =
        answer.split_once("\r\n\r\n").and_then(|(_, body)| Some(&body[body.find('{')?..=body.rfind('}')?]));
    let heard: Value =
        json.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_else(|| panic!("{answer}"));
    if heard["error"].is_null() { heard["result"].clone() } else { heard["error"].clone() }
}

fn until_over_http(server: &Served, task: &str, status: &str) -> Value {
    let begun = Instant::now();
    loop {
        let seen = post(server, "tasks/get", task, json!({"taskId": task}));
        if seen["status"] == status {
            return seen;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "{seen}");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_task_over_http_is_approved_after_the_server_was_killed() {
    let folder = shop(", \"confirm\": true");
    let serve = || Served::start(&folder, &["--journal", &path(&folder, "j"), &path(&folder, "p.ilo")]);
    let mut server = serve();
    let created = post(&server, "tools/call", "f", json!({"name": "f", "arguments": {"n": 5}}));
    assert_eq!(created["resultType"], "task", "{created}");
    let task = created["taskId"].as_str().unwrap();
    until_over_http(&server, task, "input_required");
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    let server = serve();
    let seen = until_over_http(&server, task, "input_required");
    let question = seen["inputRequests"].as_object().unwrap().keys().next().unwrap();
    let yes = json!({"action": "accept", "content": {"call_it": true}});
    let update = json!({"taskId": task, "inputResponses": {question: yes}});
    post(&server, "tasks/update", task, update);
    let seen = until_over_http(&server, task, "completed");
    assert_eq!(seen["result"]["structuredContent"], json!({"result": 7}), "{seen}");
    assert_eq!(done(&folder), ["pay", "ship"]);
}

#[test]
fn any_of_several_servers_answers_for_any_run() {
    let folder = shop(", \"confirm\": true");
    any_answers(&folder, &path(&folder, "j"));
}

#[cfg(feature = "postgres")]
#[test]
fn any_of_several_servers_answers_for_any_run_in_a_database() {
    let Some(database) = Server::start() else { return };
    let folder = shop(", \"confirm\": true");
    any_answers(&folder, database.address("").to_str().unwrap());
}

/// A server that is killed leaves a run to the others: one of them continues it, and no two.
#[cfg(feature = "postgres")]
#[test]
fn one_of_several_servers_continues_the_run_of_one_that_was_killed() {
    let Some(database) = Server::start() else { return };
    let folder = shop(", \"idempotent\": true");
    let journal = database.address("&lease=1");
    let serve = || Served::start(&folder, &["--journal", journal.to_str().unwrap(), &path(&folder, "p.ilo")]);
    let (mut first, others) = (serve(), [serve(), serve()]);
    fs::write(path(&folder, "hang-ship"), "").unwrap();
    let created = post(&first, "tools/call", "f", json!({"name": "f", "arguments": {"n": 5}}));
    let task = created["taskId"].as_str().unwrap();
    let until = |calls: &[&str]| {
        let begun = Instant::now();
        while done(&folder) != calls {
            assert!(begun.elapsed() < Duration::from_mins(2), "{:?}", done(&folder));
            thread::sleep(Duration::from_millis(20));
        }
    };
    until(&["pay", "ship"]);
    first.child.kill().unwrap();
    first.child.wait().unwrap();
    until(&["pay", "ship", "ship"]);
    fs::remove_file(path(&folder, "hang-ship")).unwrap();
    for server in &others {
        let seen = until_over_http(server, task, "completed");
        assert_eq!(seen["result"]["structuredContent"], json!({"result": 7}), "{seen}");
    }
    assert_eq!(done(&folder), ["pay", "ship", "ship"]);
}

fn any_answers(folder: &TempDir, journal: &str) {
    let serve = || Served::start(folder, &["--journal", journal, &path(folder, "p.ilo")]);
    let servers = [serve(), serve(), serve()];
    // As a balancer does, each request goes to another one.
    for (turn, wish) in [true, false, true].into_iter().enumerate() {
        let at = |more: usize| &servers[(turn + more) % servers.len()];
        let created = post(at(0), "tools/call", "f", json!({"name": "f", "arguments": {"n": 5}}));
        let task = created["taskId"].as_str().unwrap();
        let seen = until_over_http(at(1), task, "input_required");
        let question = seen["inputRequests"].as_object().unwrap().keys().next().unwrap();
        let response = json!({"action": "accept", "content": {"call_it": wish}});
        post(at(2), "tasks/update", task, json!({"taskId": task, "inputResponses": {question: response}}));
        for more in 0..3 {
            let seen = until_over_http(at(more), task, "completed");
            assert_eq!(seen["result"]["isError"], !wish, "{seen}");
        }
    }
    // None of them has made a call twice.
    assert_eq!(done(folder), ["pay", "ship", "pay", "refund", "pay", "ship"]);
}
