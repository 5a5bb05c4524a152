//! An asynchronous host: many runs at once, each waiting for slow tools.
//!
//! `cargo run -p ilo-examples --example asynchronous`

use ilo_vm::{Datum, Limits, Program, Run, Step};
use std::error::Error;
use std::time::{Duration, Instant};

const RUNS: usize = 100;
const LATENCY: Duration = Duration::from_millis(50);

/// What the host keeps for a call while it waits. The run stays suspended.
struct Request {
    tool: String,
    address: String,
}

/// A tool that answers after a while.
async fn work(request: &Request) -> Result<bool, String> {
    tokio::time::sleep(LATENCY).await;
    match request.tool.as_str() {
        "get-user" => Ok(true),
        "send-email" if request.address.contains('@') => Ok(true),
        other => Err(format!("{other} cannot do that")),
    }
}

async fn drive(program: &Program, number: usize) -> Result<String, Box<dyn Error>> {
    let entry = program.function("notify").ok_or("no such function")?;
    let mut run = Run::new(program, Limits::default());
    let user = format!("u{number}");
    run.start_named(entry, &[("user-id", Datum::Text(&user)), ("message", "Hello".into())])?;
    loop {
        let request = match run.step() {
            Step::Done(outcome) => return Ok(outcome.to_string()),
            Step::Call(call) => Request {
                tool: call.tool().to_owned(),
                address: call.argument("email").and_then(|to| to.as_text()).unwrap_or_default().to_owned(),
            },
        };
        let answer = work(&request).await;
        let Some(call) = run.pending() else { return Err("the call is gone".into()) };
        match answer {
            Ok(verified) => {
                let user = [("email", "a@b.c".into()), ("verified", Datum::Bool(verified))];
                call.answer(Datum::Record(&user))?;
            }
            Err(message) => call.fail(&message)?,
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (program, _) =
        ilo_asm::build::build(include_str!("../notify.ilo"), &ilo_asm::build::Options::default());
    let program = Program::new(program.ok_or("the example does not build")?)?;

    let start = Instant::now();
    let local = tokio::task::LocalSet::new();
    let outcomes = local
        .run_until(async {
            let tasks: Vec<_> = (0..RUNS)
                .map(|number| {
                    let program = program.clone();
                    tokio::task::spawn_local(async move {
                        drive(&program, number).await.unwrap_or_else(|error| error.to_string())
                    })
                })
                .collect();
            let mut outcomes = Vec::new();
            for task in tasks {
                outcomes.push(task.await);
            }
            outcomes
        })
        .await;
    let ok = outcomes.iter().filter(|outcome| matches!(outcome, Ok(json) if json.contains("\"ok\""))).count();
    println!("{ok} of {RUNS} runs ended well in {:?}; one takes {:?} at least", start.elapsed(), 2 * LATENCY);
    Ok(())
}
