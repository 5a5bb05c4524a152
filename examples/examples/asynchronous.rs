//! An asynchronous host, complete: typed tools, the approval of a person, a cancel, time limits, events and a
//! trace.
//!
//! `cargo run -p ilo-examples --example asynchronous`

use ilo_host::interrupt::Interrupt;
use ilo_host::run::{AsyncOptions, Event, Options, run_async};
use ilo_host::tools::consent::Consent;
use ilo_host::tools::{AsyncRequest, Policy, Tools};
use ilo_host::trace::Trace;
use ilo_vm::Program;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::sleep;

#[derive(Deserialize)]
struct Reserve {
    item: String,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Reserved {
    reservation_id: String,
}

async fn reserve(args: Reserve, _request: AsyncRequest) -> Result<Reserved, String> {
    sleep(Duration::from_millis(10)).await;
    Ok(Reserved { reservation_id: format!("r-{}", args.item) })
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Charge {
    payment_id: String,
    amount: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Charged {
    charge_id: String,
}

/// Charging changes something, so a cancel does not drop the call. It may end it in an orderly way.
async fn charge(args: Charge, request: AsyncRequest) -> Result<Charged, String> {
    match args.payment_id.as_str() {
        "slow" => tokio::select! {
            () = sleep(Duration::from_mins(1)) => Err("nobody waits that long".into()),
            () = request.cancelled() => Err("cancelled before the bank was asked".into()),
        },
        payment if args.amount < 1000.0 => Ok(Charged { charge_id: format!("c-{payment}") }),
        _ => Err("card declined".into()),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Release {
    reservation_id: String,
}

async fn release(args: Release, _request: AsyncRequest) -> Result<bool, std::io::Error> {
    if args.reservation_id.is_empty() {
        return Err(std::io::Error::other("there is no such reservation"));
    }
    Ok(true)
}

fn tools() -> Tools {
    let mut tools = Tools::new();
    tools.add_async("reserve", Policy::default(), reserve);
    let asks = Policy { confirm: true, timeout: Some(Duration::from_secs(20)), ..Policy::default() };
    tools.add_async("charge", asks, charge);
    tools.add_async("release", Policy::default(), release);
    tools
}

/// Runs the program once, and returns its outcome and its trace.
async fn purchase(
    program: &Program,
    tools: &Arc<Tools>,
    (payment, approved): (&str, bool),
    limits: Options,
) -> Result<String, Box<dyn Error>> {
    let trace = Arc::new(Mutex::new(Trace::new(Vec::new())));
    let options = AsyncOptions::new(tools)
        .options(limits)
        .ask(move |asked| async move {
            println!("  may `{}` be called with {}?", asked.tool_shown(), asked.arguments);
            if approved { Consent::Given } else { Consent::Refused("the answer was no".into()) }
        })
        .on_event(|event| match event {
            Event::Start(call) => println!("  {} begins", call.tool),
            Event::End { call, result: Ok(answer), .. } => println!("  {} has answered {answer}", call.tool),
            Event::End { call, result: Err(failure), .. } => {
                println!("  {} has failed: {failure}", call.tool);
            }
            other => println!("  {other:?}"),
        })
        .observer(trace.clone());
    let input = json!({"item": "lamp", "payment-id": payment, "amount": 12.5});
    let finished = run_async(program, &input, options).await?;
    let outcome = finished.outcome().ok_or("the run was interrupted")?.to_string();
    let trace = Arc::into_inner(trace).ok_or("the run is over")?.into_inner()?.into_inner();
    println!("  {} lines of trace", String::from_utf8(trace)?.lines().count());
    Ok(outcome)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let source = include_str!("../purchase.ilo");
    let (built, diagnostics) = ilo_asm::compile::compile(source, &ilo_asm::compile::Options::default());
    let program = Program::new(built.ok_or(diagnostics)?)?;
    let tools = Arc::new(tools());

    println!("approved: {}", purchase(&program, &tools, ("p1", true), Options::default()).await?);
    println!("refused: {}", purchase(&program, &tools, ("p1", false), Options::default()).await?);

    let cancel = Interrupt::default();
    let limits = Options { cancel: cancel.clone(), ..Options::default() };
    tokio::spawn(async move {
        sleep(Duration::from_secs(1)).await;
        cancel.set_for("the user went away");
    });
    println!("cancelled: {}", purchase(&program, &tools, ("slow", true), limits).await?);

    let limits = Options { timeout: Duration::from_secs(1), ..Options::default() };
    println!("too late: {}", purchase(&program, &tools, ("slow", true), limits).await?);

    // Many runs share the tools; each is a future that can be spawned.
    let runs = (0..100).map(|number| {
        let input = json!({"item": format!("i{number}"), "payment-id": "p1", "amount": 1});
        let ask = |_| async { Consent::Given };
        tokio::spawn(run_async(&program, &input, AsyncOptions::new(&tools).ask(ask)))
    });
    let mut ended_well = 0;
    for run in runs.collect::<Vec<_>>() {
        let finished = run.await??;
        ended_well += u32::from(finished.outcome().is_some_and(|outcome| outcome.ok().is_some()));
    }
    println!("{ended_well} of 100 runs ended well");
    Ok(())
}
