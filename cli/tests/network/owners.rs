//! To whom sessions, questions and tasks belong where clients have access tokens.

use crate::issuer::Issuer;
use crate::login::{ILO, http, serve};
use ilo_journal::{Effect, FirstRecord, NewRun, Options, Record, RecordedPolicy, RunLimits, Store, To};
use serde_json::{Value, json};
use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A call that asks a person.
const TOOLS: &str = r#"{"tools": {"pay": {"mock": [{"returns": "paid"}], "confirm": true}}}"#;
const PROGRAM: &str = "; fn f(n: number) -> any\n; Tools: 0=pay\n; Fields: 0=amount\nRET CALL 0 1 0 REF 0\n";

/// A server with a journal that takes the tokens of an issuer.
struct Shop {
    issuer: Issuer,
    served: Child,
    address: String,
    folder: TempDir,
}

impl Drop for Shop {
    fn drop(&mut self) {
        drop(self.served.kill());
        drop(self.served.wait());
    }
}

/// One client, with its token.
struct Client<'s>(&'s Shop, String);

impl Shop {
    /// The journal, and the subject and limits of runs of Ada.
    fn journal_of_ada(&self) -> (Store, String, RunLimits) {
        let store = Store::open(&self.folder.path().join("j"), &Options::default()).unwrap();
        (store, format!("{} sub ada", self.issuer.url), RunLimits::default())
    }

    fn open(with_journal: bool) -> Shop {
        Shop::with(with_journal, &[])
    }

    fn with(with_journal: bool, options: &[&str]) -> Shop {
        let (issuer, folder) = (Issuer::start(), TempDir::new().unwrap());
        let path = |name: &str| folder.path().join(name).display().to_string();
        fs::write(path("tools.json"), TOOLS).unwrap();
        fs::write(path("p.ilo"), PROGRAM).unwrap();
        let (tools, journal, program) = (path("tools.json"), path("j"), path("p.ilo"));
        let mut more = vec!["--tools", &tools, "--approver-scope", "approve", &program];
        more.extend(options);
        if with_journal {
            more.extend(["--journal", &journal]);
        }
        let (served, address) = serve(&issuer, &more);
        Shop { issuer, served, address, folder }
    }

    /// A client whose token has these claims instead of the usual ones; null removes a claim.
    fn client(&self, other: &Value) -> Client<'_> {
        let mut claims = self.issuer.claims(&format!("http://{}/mcp", self.address));
        for (name, value) in other.as_object().unwrap() {
            if value.is_null() {
                claims.as_object_mut().unwrap().remove(name);
            } else {
                claims[name] = value.clone();
            }
        }
        Client(self, self.issuer.signed(&claims))
    }

    fn runs(&self, arguments: &[&str]) -> Value {
        let journal = self.folder.path().join("j");
        let mut command = Command::new(ILO);
        command.arg("runs").args(arguments).arg("--json").arg("--journal").arg(journal);
        let output = command.stdin(Stdio::null()).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
    }
}

impl Client<'_> {
    /// Sends a request of the newer protocol. Returns its result or its error.
    fn ask_as(&self, tasks: bool, method: &str, mut params: Value) -> Value {
        let extensions = if tasks { json!({"io.modelcontextprotocol/tasks": {}}) } else { json!({}) };
        params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities":
                {"elicitation": {"form": {}}, "extensions": extensions}});
        let name = params.get("name").or_else(|| params.get("taskId")).and_then(Value::as_str).unwrap_or("-");
        let Client(Shop { address, .. }, token) = self;
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n\
             mcp-name: {name}\r\n"
        );
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).to_string();
        let answer = http(address, &head, &body);
        let mut found = answer.lines().filter_map(|line| {
            let line = line.strip_prefix("data:").unwrap_or(line);
            serde_json::from_str::<Value>(line).ok().filter(|value| value["id"] == 7)
        });
        let found = found.next_back().unwrap_or_else(|| panic!("{answer}"));
        if found["error"].is_null() { found["result"].clone() } else { found["error"].clone() }
    }

    fn ask(&self, method: &str, params: Value) -> Value {
        self.ask_as(true, method, params)
    }

    /// Starts the function as a task that waits for an approval. Returns its name.
    fn start(&self) -> String {
        let created = self.ask("tools/call", json!({"name": "f", "arguments": {"n": 5}}));
        let task = created["taskId"].as_str().unwrap_or_else(|| panic!("{created}")).to_owned();
        self.until(&task, "input_required");
        task
    }

    fn until(&self, task: &str, status: &str) -> Value {
        let begun = Instant::now();
        loop {
            let seen = self.ask("tasks/get", json!({"taskId": task}));
            if seen["status"] == status {
                return seen;
            }
            assert!(begun.elapsed() < Duration::from_mins(1), "{seen}");
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn approve(&self, task: &str, question: &str) -> Value {
        let response = json!({"action": "accept", "content": {"call_it": true}});
        self.ask("tasks/update", json!({"taskId": task, "inputResponses": {question: response}}))
    }
}

fn question(seen: &Value) -> String {
    seen["inputRequests"].as_object().unwrap().keys().next().unwrap().clone()
}

const NONE: &str = "there is no such task";

fn is_none(answer: &Value) -> bool {
    answer["message"].as_str().is_some_and(|message| message.contains(NONE))
}

#[test]
fn a_task_is_there_for_its_owner_only() {
    let shop = Shop::open(true);
    let ada = shop.client(&json!({}));
    let task = ada.start();
    let asked = question(&ada.until(&task, "input_required"));
    let same = shop.client(&json!({"client_id": "c2"}));
    assert_eq!(
        same.until(&task, "input_required")["status"],
        "input_required",
        "another client of the owner"
    );
    for other in [json!({"sub": "eve"}), json!({"sub": null}), json!({"sub": null, "client_id": "ada"})] {
        let other = shop.client(&other);
        assert!(is_none(&other.ask("tasks/get", json!({"taskId": task}))));
        assert!(is_none(&other.approve(&task, &asked)));
        assert!(is_none(&other.ask("tasks/cancel", json!({"taskId": task}))));
    }
    let shown = shop.runs(&["show", "1"]);
    assert_eq!((&shown["state"], &shown["decisions"]), (&json!("asking"), &json!([])), "nothing was decided");
    assert_eq!(shown["subject"], format!("{} sub ada", shop.issuer.url));
    ada.approve(&task, &asked);
    ada.until(&task, "completed");
    assert_eq!(shop.runs(&["show", "1"])["decisions"][0]["who"], format!("{} sub ada", shop.issuer.url));
}

#[test]
fn a_task_of_a_token_without_a_subject_is_that_clients() {
    let shop = Shop::open(true);
    let robot = shop.client(&json!({"sub": null}));
    let task = robot.start();
    for other in [json!({"sub": "c1"}), json!({"sub": null, "client_id": "c2"}), json!({})] {
        assert!(is_none(&shop.client(&other).ask("tasks/get", json!({"taskId": task}))), "{other}");
    }
    assert_eq!(robot.until(&task, "input_required")["status"], "input_required");
}

#[test]
fn a_subject_with_the_scope_decides_for_others_and_sees_no_more() {
    let shop = Shop::open(true);
    let (ada, eve) = (shop.client(&json!({})), shop.client(&json!({"sub": "eve", "scope": "tools approve"})));
    let task = ada.start();
    assert!(is_none(&eve.ask("tasks/cancel", json!({"taskId": task}))), "that is no decision on a call");
    let seen = eve.until(&task, "input_required");
    eve.approve(&task, &question(&seen));
    ada.until(&task, "completed");
    assert!(is_none(&eve.ask("tasks/get", json!({"taskId": task}))), "the result is not for it");
    assert_eq!(shop.runs(&["show", "1"])["decisions"][0]["who"], format!("{} sub eve", shop.issuer.url));
}

#[test]
fn a_run_without_an_owner_is_for_the_command_line_only() {
    let shop = Shop::open(true);
    let ada = shop.client(&json!({}));
    let task = ada.start();
    let other = of_the_command_line(&shop);
    // The name of a task is made of the key of its run, which a run of the command line has too.
    assert_eq!(other["subject"], Value::Null);
    let renamed = task.replacen('1', "2", 1);
    assert!(is_none(&ada.ask("tasks/get", json!({"taskId": renamed}))));
}

/// Starts a run of the command line in the same journal. Returns what is shown of it.
fn of_the_command_line(shop: &Shop) -> Value {
    let path = |name: &str| shop.folder.path().join(name);
    let mut command = Command::new(ILO);
    command.arg("run").arg(path("p.ilo")).arg("--tools").arg(path("tools.json")).args(["--arg", "n=5"]);
    command.arg("--journal").arg(path("j"));
    assert!(command.stdin(Stdio::null()).output().is_ok());
    shop.runs(&["show", "2"])
}

/// A run of a subject, without the program that it would have.
fn of_subject<'r>(subject: &'r str, limits: &'r RunLimits) -> NewRun<'r> {
    NewRun { name: None, input: b"", program: b"", function: "f", limits, subject: Some(subject) }
}

/// An owner whose runs all wait cannot fill the journal.
#[test]
fn an_owner_has_only_so_many_tasks_that_have_not_ended() {
    let shop = Shop::open(true);
    let ada = shop.client(&json!({}));
    ada.start();
    let (store, subject, limits) = shop.journal_of_ada();
    let new = of_subject(&subject, &limits);
    let asking = Record {
        to: To::Asking,
        call: 1,
        tool: "pay",
        policy: RecordedPolicy::of(Effect::Changes),
        arguments: b"{}",
        active_ms: 0,
        snapshot: b"",
        answer: None,
        expects: None,
    };
    let starts: Vec<_> =
        (0..998).map(|_| store.start(&new, &FirstRecord::Call(asking.clone())).unwrap()).collect();
    starts.into_iter().for_each(|start| drop(start.wait().unwrap()));
    ada.start();
    let refused = ada.ask("tools/call", json!({"name": "f", "arguments": {"n": 5}}));
    let why = "1000 runs of this subject have not ended; decide on them or cancel them";
    assert_eq!(refused["message"], why, "{refused}");
    shop.client(&json!({"sub": "eve"})).start();
}

/// An owner whose runs end at once cannot fill the disk.
#[test]
fn an_owner_has_only_its_part_of_the_journal() {
    let shop = Shop::with(true, &["--max-client-journal", "1"]);
    let ada = shop.client(&json!({}));
    ada.start();
    let (store, subject, limits) = shop.journal_of_ada();
    let new = of_subject(&subject, &limits);
    let outcome = format!(r#"{{"status":"ok","value":"{}"}}"#, "x".repeat(1 << 20));
    store.start(&new, &FirstRecord::Ended(outcome.as_bytes())).unwrap().wait().unwrap();
    let refused = ada.ask("tools/call", json!({"name": "f", "arguments": {"n": 5}}));
    assert!(refused.to_string().contains("take 1 MiB of the journal"), "{refused}");
    shop.client(&json!({"sub": "eve"})).start();
}

/// In the newer protocol a question is the answer to a call, and its state comes back with the person's
/// answer.
#[test]
fn the_state_of_a_question_is_for_the_call_that_asked() {
    for with_journal in [false, true] {
        let shop = Shop::open(with_journal);
        let ada = shop.client(&json!({}));
        let call = |client: &Client<'_>, n: u64, more: &Value| {
            let mut params = json!({"name": "f", "arguments": {"n": n}});
            for (name, value) in more.as_object().unwrap() {
                params[name] = value.clone();
            }
            client.ask_as(false, "tools/call", params)
        };
        let asked = call(&ada, 5, &json!({}));
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        let (name, state) = (question(&asked), asked["requestState"].clone());
        let yes = json!({"requestState": state,
            "inputResponses": {name: {"action": "accept", "content": {"call_it": true}}}});
        let eve = shop.client(&json!({"sub": "eve"}));
        let other = shop.client(&json!({"client_id": "c2"}));
        for (who, n) in [(&eve, 5), (&other, 5), (&ada, 6)] {
            let refused = call(who, n, &yes);
            assert!(refused["code"].is_number(), "{with_journal}: {refused}");
        }
        let done = call(&ada, 5, &yes);
        assert_eq!(done["structuredContent"]["result"], "paid", "{with_journal}: {done}");
    }
}
