//! Asynchronous runs: how well limits and cancels are kept, and what 10,000 runs at once cost.
//!
//! `cargo bench -p ilo-host --features tokio --bench asynchronous` prints a table. `ILO_RUNS` is the number
//! of runs for limits and cancels.
#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark")]

use ilo_host::data::Data;
use ilo_host::interrupt::Interrupt;
use ilo_host::run::{AsyncOptions, Options, run_async};
use ilo_host::tools::{AsyncRequest, Policy, Tools};
use ilo_vm::Program;
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// Runs at once for limits and cancels.
const AT_ONCE: usize = 10;
/// The limit of each run.
const LIMIT: Duration = Duration::from_millis(50);
/// Runs that wait at the same time.
const MANY: u32 = 10_000;

const SOURCE: &str = "
; fn f(id: text) -> result any, any
; Tools: 0=do 1=undo 2=wait-for
; Fields: 0=id
LET 1 CALL 0 1 0 REF 0
ROLLBACK CALL 1 1 0 REF 0
LET 2 CALL 2 1 0 REF 0
RET_OK REF 2
";

fn program() -> Program {
    let (built, found) = ilo_asm::compile::compile(SOURCE, &ilo_asm::compile::Options::default());
    Program::new(built.unwrap_or_else(|| panic!("{found:?}"))).unwrap()
}

fn tools(waits: Duration, policy: Policy) -> Arc<Tools> {
    let mut tools = Tools::new();
    for name in ["do", "undo"] {
        tools.add_async(name, Policy::default(), |_: Data, _: AsyncRequest| async { Ok::<_, String>(true) });
    }
    tools.add_async("wait-for", policy, move |_: Data, request: AsyncRequest| async move {
        tokio::select! {
            () = sleep(waits) => Ok(true),
            () = request.cancelled() => Err("cancelled".to_owned()),
        }
    });
    Arc::new(tools)
}

/// How much later than wanted each of many runs ended; each is rolled back.
async fn late(runs: usize, tools: &Arc<Tools>, cancels: bool) -> Vec<Duration> {
    let (program, input) = (program(), json!({"id": "x"}));
    let mut found = Vec::new();
    while found.len() < runs {
        let batch: Vec<_> = (0..AT_ONCE)
            .map(|_| {
                let cancel = Interrupt::default();
                let timeout = if cancels { Duration::from_mins(10) } else { LIMIT };
                let options = Options { cancel: cancel.clone(), timeout, ..Options::default() };
                let run = run_async(&program, &input, AsyncOptions::new(tools).options(options));
                tokio::spawn(async move {
                    let begun = Instant::now();
                    let cancelled = cancels.then(|| {
                        std::thread::spawn(move || {
                            std::thread::sleep(LIMIT.saturating_sub(begun.elapsed()));
                            cancel.set();
                            Instant::now()
                        })
                    });
                    let finished = run.await.unwrap();
                    let outcome = finished.outcome().unwrap().to_string();
                    assert!(outcome.contains(r#""rolled_back":[{"tool":"undo""#), "{outcome}");
                    let ended = Instant::now();
                    let due = cancelled.map_or(begun + LIMIT, |thread| thread.join().unwrap());
                    ended.saturating_duration_since(due)
                })
            })
            .collect();
        for run in batch {
            found.push(run.await.unwrap());
        }
    }
    found.sort();
    found
}

fn row(what: &str, late: &[Duration]) {
    let at = |share: usize| late[(late.len() * share / 1000).min(late.len() - 1)].as_secs_f64() * 1000.0;
    let over = late.iter().filter(|late| **late > Duration::from_millis(20)).count();
    println!(
        "| {what} | {} | {:.1} ms | {:.1} ms | {:.1} ms | {over} |",
        late.len(),
        at(500),
        at(990),
        at(1000)
    );
}

/// Resident memory of this process in bytes, on Linux.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0");
    line.split_whitespace().next().and_then(|kilobytes| kilobytes.parse::<u64>().ok()).unwrap_or(0) * 1024
}

async fn many() {
    let (program, input) = (program(), json!({"id": "x"}));
    let waits = Duration::from_secs(3);
    let tools = tools(waits, Policy::default());
    let before = resident();
    let begun = Instant::now();
    let runs: Vec<_> =
        (0..MANY).map(|_| tokio::spawn(run_async(&program, &input, AsyncOptions::new(&tools)))).collect();
    sleep(waits / 2).await;
    let waiting = resident().saturating_sub(before) / u64::from(MANY);
    for run in runs {
        assert!(run.await.unwrap().unwrap().outcome().unwrap().ok().is_some());
    }
    let each = begun.elapsed().saturating_sub(waits) / MANY;
    println!(
        "{MANY} runs at once, each waiting for a tool: {waiting} bytes and {} µs a run",
        each.as_micros()
    );
}

fn main() {
    let runs = std::env::var("ILO_RUNS").map_or(1_000, |text| text.parse().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        println!("| late by | runs | p50 | p99 | most | over 20 ms |\n|---|---|---|---|---|---|");
        let forever = Duration::from_mins(10);
        row("limit of the run", &late(runs, &tools(forever, Policy::default()), false).await);
        row("cancel during a read", &late(runs, &tools(forever, Policy::reads()), true).await);
        row("cancel during a change that ends", &late(runs, &tools(forever, Policy::default()), true).await);
        println!();
        many().await;
    });
}
