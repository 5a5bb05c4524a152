//! A durable host on tokio: a run that waits for a person is left in its journal, and goes on once she has
//! decided, in this process or another one.
//!
//! `cargo run -p ilo-examples --example recorded`

use ilo_host::data::Data;
use ilo_host::interrupt::Interrupt;
use ilo_host::run::{AsyncOptions, Finished, Options, drive_async, run_async};
use ilo_host::tools::{AsyncRequest, Policy, Tools};
use ilo_journal::{Beginning, Claim, Decision, Left, Recording, RunLimits, Session, Store};
use ilo_vm::{Program, Run};
use serde_json::json;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::task::spawn_blocking;

fn tools() -> Tools {
    let mut tools = Tools::new();
    // After a crash such a call is made again, with the same key.
    let again = || Policy { idempotent: true, ..Policy::default() };
    tools.add_async("reserve", again(), |_: Data, _: AsyncRequest| async {
        Ok::<_, String>(json!({"reservation-id": "r1"}))
    });
    tools.add_async("release", again(), |_: Data, _: AsyncRequest| async { Ok::<_, String>(()) });
    let asks = Policy { confirm: true, ..Policy::default() };
    tools.add_async("charge", asks, |args: Data, request: AsyncRequest| async move {
        println!("charge {args}, with a key: {}", request.key.is_some());
        Ok::<_, String>(json!({"charge-id": "c1"}))
    });
    tools
}

/// The options of a run that is recorded, and its recording, which says afterwards what the run waits for.
fn recorded(tools: &Arc<Tools>, session: Session) -> (AsyncOptions, Arc<Mutex<Recording<'static>>>) {
    let cancel = Interrupt::default();
    let limits = Options { cancel: cancel.clone(), ..Options::default() };
    // The run does not stop by itself; somebody may cancel it in the journal.
    let recording = Recording::new(session, || false, move || cancel.set_for("cancelled in the journal"));
    let recording = Arc::new(Mutex::new(recording));
    (AsyncOptions::new(tools).options(limits).recorder(recording.clone()), recording)
}

/// The outcome of a run, or what it waits for.
fn said(finished: &Finished, recording: &Mutex<Recording<'_>>) -> String {
    let recording = recording.lock().unwrap_or_else(PoisonError::into_inner);
    match (finished.outcome(), recording.session().left(), recording.error()) {
        (Some(outcome), ..) => outcome.to_string(),
        (None, Some(Left::Waits { call, tool, state, .. }), _) => {
            format!("waits at call {call} of {tool}: {state:?}")
        }
        (None, left, error) => format!("{left:?} {error:?}"),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let source = include_str!("../purchase.ilo");
    let (built, diagnostics) = ilo_asm::compile::compile(source, &ilo_asm::compile::Options::default());
    let program = Program::new(built.ok_or(diagnostics)?)?;
    let tools = Arc::new(tools());
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("runs.journal");
    // Opening a journal, and the decisions of people, block their thread.
    let store =
        Arc::new(spawn_blocking(move || Store::open(&path, &ilo_journal::Options::default())).await??);

    let input = json!({"item": "lamp", "payment-id": "p1", "amount": 12.5});
    let beginning = Beginning {
        name: Some("lamp-1".into()), // a second run of this name is not started
        input: input.to_string().into_bytes(),
        program: program.to_bytes(),
        function: "purchase".into(),
        limits: RunLimits::default(),
    };
    let (options, recording) = recorded(&tools, Session::new(store.clone(), beginning));
    let finished = run_async(&program, &input, options).await?;
    println!("{}", said(&finished, &recording));

    // A day later: a person allows the call, and a process takes the run over.
    let run = store.find("lamp-1")?;
    let decides = store.clone();
    spawn_blocking(move || decides.resolve(run, Some(2), &Decision::Approve, "ann")).await??;
    let Claim::Mine(claimed) = store.claim(run).await? else { return Err("it waits, or has ended".into()) };
    let program = Program::load(&claimed.program)?;
    let restored = Run::from_snapshot(&program, &claimed.snapshot, claimed.limits.machine.clone())?;
    let (options, recording) = recorded(&tools, Session::resumed(store, *claimed));
    let finished = drive_async(restored, options).await;
    println!("{}", said(&finished, &recording));
    Ok(())
}
