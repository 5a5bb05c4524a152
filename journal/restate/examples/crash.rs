//! Runs on a Restate server whose endpoint and node are killed at random; a person decides calls in doubt. In
//! the end every run has the outcome of an uninterrupted run, and each of its effects once.
//!
//! `crash.sh` builds and starts it: `crash ROUNDS SEED`.
#![allow(clippy::unwrap_used, missing_docs, unreachable_pub, reason = "an example")]

#[path = "../../tests/crash/programs.rs"]
mod programs;
mod support;

use programs::{Log, Random, answer, expected, program};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use support::{Place, order};

/// Runs in a round.
const RUNS: u64 = 8;
/// The time limit of a round.
const LONGEST: Duration = Duration::from_mins(5);

#[derive(Default)]
struct Counts {
    endpoints: u64,
    servers: u64,
    doubts: u64,
    approvals: u64,
    answers: u64,
    cancels: u64,
    again: u64,
}

/// The tool as a program. Its effect is a line in a file.
fn tool(name: &str, effects: &Path) {
    let arguments = std::io::read_to_string(std::io::stdin()).unwrap();
    let key = std::env::var("ILO_IDEMPOTENCY_KEY").unwrap();
    // Its caller may be killed before it has written them.
    assert!(arguments.trim().ends_with('}'), "the arguments are cut off");
    let (answer, changes) = answer(name, arguments.trim());
    std::thread::sleep(Duration::from_millis(50));
    if changes {
        Log(effects).write(&key, name, arguments.trim());
    }
    std::thread::sleep(Duration::from_millis(50));
    match answer {
        Ok(json) => print!("{json}"),
        Err(message) => {
            eprint!("{message}");
            std::process::exit(1);
        }
    }
}

fn tools(folder: &Path) {
    let own = std::env::current_exe().unwrap();
    let command = |name: &str| json!([own, "tool", name, folder.join("effects")]);
    let tools = json!({ "tools": {
        "get": { "command": command("get"), "read_only": true },
        "set": { "command": command("set"), "idempotent": true },
        "pay": { "command": command("pay") },
        "refund": { "command": command("refund") },
        "ship": { "command": command("ship"), "confirm": true },
        "review": { "command": command("review"), "deferred": true },
    } });
    std::fs::write(folder.join("tools.json"), tools.to_string()).unwrap();
}

fn endpoint(folder: &Path) -> Command {
    let mut command = Command::new(Place::built("ilo-restate"));
    command.arg("--tools").arg(folder.join("tools.json"));
    command
}

/// Whether a process has this text in its environment or its command line.
fn is_running(mark: &str) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return false };
    processes.flatten().any(|process| {
        ["environ", "cmdline"].iter().any(|file| {
            let bytes = std::fs::read(process.path().join(file)).unwrap_or_default();
            bytes.windows(mark.len()).any(|window| window == mark.as_bytes())
        })
    })
}

async fn round(seed: u64, counts: &mut Counts) {
    let folder = tempfile::tempdir().unwrap();
    tools(folder.path());
    let mut place = Place::new(folder.path());
    place.start_server().await;
    place.start_endpoint(endpoint(folder.path()), true).await;
    let (mut random, begun) = (Random(seed), Instant::now());
    let mut keys: BTreeMap<u64, String> = BTreeMap::new();
    let mut cancelled = None;
    loop {
        assert!(begun.elapsed() < LONGEST, "seed {seed}: the runs do not end");
        for number in 0..RUNS {
            let (program, n) = program(number);
            let url = place.ingress(&format!("/ilo/r{number}/run/send"));
            if !keys.contains_key(&number)
                && let Some((status, text)) = place.post(&url, &order(&program, &json!({ "n": n }))).await
                && status < 300
            {
                let answer: Value = serde_json::from_str(&text).unwrap();
                keys.insert(number, answer["invocationId"].as_str().unwrap().to_owned());
            }
        }
        tokio::time::sleep(Duration::from_millis(random.below(400))).await;
        if cancelled.is_none() && random.below(4) == 0 {
            let number = random.below(RUNS);
            if let Some(id) = keys.get(&number) {
                let url = place.admin(&format!("/invocations/{id}/cancel"));
                let answer = place.client.patch(&url).send().await;
                if answer.is_ok_and(|answer| answer.status().is_success()) {
                    cancelled = Some(number);
                }
            }
        }
        if random.below(6) == 0 {
            place.kill_server();
            counts.servers += 1;
            place.start_server().await;
        } else {
            place.kill_endpoint();
            counts.endpoints += 1;
            place.start_endpoint(endpoint(folder.path()), false).await;
        }
        // Long enough for some progress.
        tokio::time::sleep(Duration::from_millis(300 + random.below(500))).await;
        if decide(&place, counts).await {
            break;
        }
    }
    check(&place, &keys, cancelled, seed, counts).await;
}

/// A person finds out what has happened and decides. Returns whether all runs have ended.
async fn decide(place: &Place, counts: &mut Counts) -> bool {
    let mut ended = 0;
    for number in 0..RUNS {
        let output = place.get(&place.ingress(&format!("/restate/workflow/ilo/r{number}/output"))).await;
        if output.is_some_and(|(status, _)| status == 200) {
            ended += 1;
            continue;
        }
        let url = place.ingress(&format!("/ilo/r{number}/status"));
        let request = place.client.post(&url).timeout(Duration::from_secs(5)).send().await;
        let Ok(shown) = request else { continue };
        let Ok(waiting) = serde_json::from_str::<Value>(&shown.text().await.unwrap_or_default()) else {
            continue;
        };
        let Some(key) = waiting["key"].as_str() else { continue };
        // Calls that were under way have ended.
        while is_running(&format!("ILO_IDEMPOTENCY_KEY={key}")) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let found = Log(&place.folder.join("effects")).read();
        let effect = found.iter().find(|(of, ..)| of == key);
        let verdict = match (waiting["reason"].as_str().unwrap(), effect) {
            ("asking", None) => json!("approve"),
            ("in-doubt", None) => json!("retry"),
            ("in-doubt" | "deferred", Some((_, tool, arguments))) => {
                let (answer, _) = answer(tool, arguments);
                json!({ "answer": serde_json::from_str::<Value>(&answer.unwrap()).unwrap() })
            }
            other => panic!("{other:?}"),
        };
        let url = place.ingress(&format!("/ilo/r{number}/decide"));
        let body = json!({ "call": waiting["call"], "decision": verdict });
        match place.post(&url, &body).await {
            Some((status, _)) if status < 300 && waiting["reason"] == "asking" => counts.approvals += 1,
            Some((status, _)) if status < 300 && waiting["reason"] == "deferred" => counts.answers += 1,
            Some((status, _)) if status < 300 => counts.doubts += 1,
            // The run has moved on, or the server was killed.
            _ => {}
        }
    }
    ended == RUNS
}

type Made = BTreeMap<String, Vec<(String, String)>>;

async fn check(
    place: &Place,
    keys: &BTreeMap<u64, String>,
    cancelled: Option<u64>,
    seed: u64,
    counts: &mut Counts,
) {
    let mut by_key = Made::new();
    for (key, tool, arguments) in Log(&place.folder.join("effects")).read() {
        by_key.entry(key).or_default().push((tool, arguments));
    }
    for number in 0..RUNS {
        let url = place.ingress(&format!("/restate/workflow/ilo/r{number}/output"));
        let (_, text) = place.get(&url).await.unwrap();
        let (outcome, effects) = expected(number);
        let found = serde_json::from_str::<Value>(&text).unwrap();
        if cancelled == Some(number) && found["code"] == "cancelled" {
            counts.cancels += 1;
            check_cancelled(&mut by_key, &keys[&number], &format!("seed {seed}: r{number}"));
            continue;
        }
        let outcome: Value = serde_json::from_str(&outcome).unwrap();
        assert_eq!(found, outcome, "seed {seed}: r{number}");
        for (tool, arguments, call) in effects {
            let made = by_key.remove(&format!("{}-{call}", keys[&number])).unwrap_or_default();
            let most = if tool == "set" { usize::MAX } else { 1 };
            assert!((1..=most).contains(&made.len()), "seed {seed}: r{number} call {call}: {made:?}");
            assert!(made.iter().all(|found| *found == (tool.clone(), arguments.clone())), "{made:?}");
            counts.again += made.len() as u64 - 1;
        }
    }
    assert!(by_key.is_empty(), "seed {seed}: effects of no call: {by_key:?}");
}

/// A cancelled run has undone its payments, and has done nothing twice.
fn check_cancelled(by_key: &mut Made, key: &str, name: &str) {
    let (mut paid, mut refunded) = (Vec::new(), Vec::new());
    for (_, made) in by_key.extract_if(.., |of, _| of.starts_with(&format!("{key}-"))) {
        let (tool, arguments) = &made[0];
        assert!(tool == "set" || made.len() == 1, "{name}: {made:?}");
        let digits: String = arguments.chars().filter(char::is_ascii_digit).collect();
        match tool.as_str() {
            "pay" => paid.push(digits),
            "refund" => refunded.push(digits),
            _ => {}
        }
    }
    paid.sort();
    refunded.sort();
    assert_eq!(paid, refunded, "{name}");
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, name, effects] = arguments.as_slice()
        && command == "tool"
    {
        return tool(name, Path::new(effects));
    }
    let number = |at: usize, default| arguments.get(at).map_or(default, |text| text.parse().unwrap());
    let (rounds, first) = (number(0, 3), number(1, 1));
    let (begun, mut counts) = (Instant::now(), Counts::default());
    for seed in first..first + rounds {
        round(seed, &mut counts).await;
    }
    let Counts { endpoints, servers, doubts, approvals, answers, cancels, again } = counts;
    println!(
        "{rounds} rounds of {RUNS} runs from seed {first}: {endpoints} kills of the endpoint, {servers} of the \
         server, {doubts} doubts, {approvals} approvals, {answers} deferred answers, {cancels} runs cancelled, {again} idempotent calls made again; 0 violations, {} s",
        begun.elapsed().as_secs()
    );
}
