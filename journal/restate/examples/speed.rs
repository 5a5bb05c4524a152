//! Measures runs per second, with two steps each: written by hand with the SDK, as a service and as a
//! workflow, and as ilo programs, all on one server, one after the other, several times. Prints medians.
//!
//! `speed.sh` builds and starts it: `speed ROUNDS SECONDS`.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss, missing_docs, reason = "an example")]

mod support;

use restate_sdk::prelude::*;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use support::{Place, order, program};

/// Clients at once.
const CLIENTS: u64 = 64;

const SOURCE: &str = "
; fn f(n: number) -> result number, text
; Vars: 0=n 1=first 2=second
; Tools: 0=TOOL
; Fields: 0=n
LET 1 CALL 0 1 0 REF 0
LET 2 CALL 0 1 0 REF 1
RET_OK REF 2
";

async fn step(n: i64) -> Result<i64, HandlerError> {
    // As in ilo-restate: a tool may block.
    Ok(tokio::task::spawn_blocking(move || n).await?)
}

struct HandService;

#[service(name = "hand-service")]
impl HandService {
    #[handler]
    async fn run(&self, ctx: Context<'_>, Json(n): Json<i64>) -> Result<Json<i64>, HandlerError> {
        let first = ctx.run(|| step(n)).await?;
        let second = ctx.run(|| step(first)).await?;
        Ok(Json(second))
    }
}

struct HandWorkflow;

#[workflow(name = "hand-workflow")]
impl HandWorkflow {
    #[handler]
    async fn run(&self, ctx: WorkflowContext<'_>, Json(n): Json<i64>) -> Result<Json<i64>, HandlerError> {
        let first = ctx.run(|| step(n)).await?;
        let second = ctx.run(|| step(first)).await?;
        Ok(Json(second))
    }
}

async fn serve(address: SocketAddr) {
    let endpoint = Endpoint::builder().bind(HandService).bind(HandWorkflow).build();
    HttpServer::new(endpoint).listen_and_serve(address).await;
}

/// The runs per second of `CLIENTS` that each wait for a run before they start the next.
async fn rate(place: &Arc<Place>, url: impl Fn(u64) -> String, body: &Value, time: Duration) -> f64 {
    let url = Arc::new(url);
    let (next, done) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let begun = Instant::now();
    let mut clients = Vec::new();
    let urls: Vec<String> = (0..200_000).map(|number| url(number)).collect();
    let urls = Arc::new(urls);
    for _ in 0..CLIENTS {
        let (place, next, done, body, urls) =
            (place.clone(), next.clone(), done.clone(), body.clone(), urls.clone());
        clients.push(tokio::spawn(async move {
            while begun.elapsed() < time {
                let number = usize::try_from(next.fetch_add(1, Ordering::Relaxed)).unwrap();
                let (status, text) = place.post(&urls[number], &body).await.unwrap();
                assert_eq!(status, 200, "{text}");
                done.fetch_add(1, Ordering::Relaxed);
            }
        }));
    }
    for client in clients {
        client.await.unwrap();
    }
    done.load(Ordering::Relaxed) as f64 / begun.elapsed().as_secs_f64()
}

fn median(rates: &mut [f64]) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(address) = arguments.iter().position(|word| word == "--listen").map(|at| &arguments[at + 1]) {
        return serve(address.parse().unwrap()).await;
    }
    let number = |at: usize, default| arguments.get(at).map_or(default, |text| text.parse().unwrap());
    let (rounds, time) = (number(0, 5), Duration::from_secs(number(1, 5)));
    let folder = tempfile::tempdir().unwrap();
    let tools = json!({ "tools": {
        "set": { "mock": [{ "returns": 1 }], "idempotent": true },
        "pay": { "mock": [{ "returns": 1 }] },
    } });
    std::fs::write(folder.path().join("tools.json"), tools.to_string()).unwrap();
    let mut place = Place::new(folder.path());
    place.start_server().await;
    let mut ilo = Command::new(Place::built("ilo-restate"));
    ilo.arg("--tools").arg(folder.path().join("tools.json"));
    place.start_endpoint(ilo, true).await;
    let ilo = place.served.take();
    place.other_port();
    place.start_endpoint(Command::new(std::env::current_exe().unwrap()), true).await;
    let place = Arc::new(place);
    let set = order(&program(&SOURCE.replace("TOOL", "set")), &json!({ "n": 1 }));
    let pay = order(&program(&SOURCE.replace("TOOL", "pay")), &json!({ "n": 1 }));
    let one = json!(1);
    let kinds = [
        "by hand, service",
        "by hand, workflow",
        "ilo, idempotent tool",
        "ilo, tool that may change something",
    ];
    let mut rates: Vec<Vec<f64>> = vec![Vec::new(); kinds.len()];
    // The first round warms up.
    for round in 0..=rounds {
        for (kind, rates) in rates.iter_mut().enumerate() {
            let url = |run: u64| match kind {
                0 => place.ingress("/hand-service/run"),
                1 => place.ingress(&format!("/hand-workflow/{round}-{run}/run")),
                kind => place.ingress(&format!("/ilo/{kind}-{round}-{run}/run")),
            };
            let body = [&one, &one, &set, &pay][kind];
            let rate = rate(&place, url, body, time).await;
            if round > 0 {
                rates.push(rate);
            }
        }
    }
    let medians: Vec<f64> = rates.iter_mut().map(|rates| median(rates)).collect();
    println!("runs of 2 steps a second, {CLIENTS} clients, medians of {rounds} times {} s", time.as_secs());
    for (kind, rate) in kinds.iter().zip(&medians) {
        println!(
            "{kind}: {rate:.0} ({:.2} of the service, {:.2} of the workflow)",
            rate / medians[0],
            rate / medians[1]
        );
    }
    drop(ilo.map(|mut ilo| ilo.kill()));
}
