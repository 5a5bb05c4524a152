//! A durable host: it records a run in a journal, so that the run survives the end of the process.
//!
//! `cargo run -p ilo-examples --example durable FILE` starts the run. Each of its tools takes two seconds.
//! Kill the process and type the command again: the run continues where it was. If it was killed while it
//! charged, nobody knows whether it did, and a person decides: `ilo-vm runs list --journal FILE` names the
//! commands. Once a call has its answer, nothing is in doubt. `ilo-vm runs cancel lamp-1 --journal FILE`
//! cancels the run, also while it works: calls that were not begun fail, and the reservation is released.

use ilo_drive::give;
use ilo_host::data::Data;
use ilo_host::tools::{Failure, Policy};
use ilo_journal::{Beginning, Claim, Due, Left, Options, Permit, RunId, RunLimits, Session, Store, Taken};
use ilo_vm::{Limits, Program, Run, Step};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const TOOL_TIME: Duration = Duration::from_secs(2);
const OTHER_WORK: Duration = Duration::from_millis(500);

/// What may be done with a call of a tool after a crash.
fn policy(tool: &str) -> Option<Policy> {
    match tool {
        // Repeated with the same key.
        "reserve" | "release" => Some(Policy { idempotent: true, ..Policy::default() }),
        "charge" => Some(Policy::default()), // left in doubt
        _ => None,
    }
}

/// Makes a call. A service that gets the same key twice should act only once.
fn call(tool: &str, arguments: &Data, key: &str) -> Data {
    println!("{tool} {arguments}, key {key}");
    std::thread::sleep(TOOL_TIME);
    match tool {
        "reserve" => Data::record([("reservation-id", "r1")]),
        "charge" => Data::record([("charge-id", "c1")]),
        _ => Data::Nil,
    }
}

/// Drives a run to its end, or to a call that cannot be made now. Returns the outcome, or what it waits for.
fn drive(mut run: Run, mut session: Session) -> Result<String, Box<dyn Error>> {
    loop {
        if session.is_cancelled() && !run.is_cancelled() {
            run.cancel();
        }
        let Step::Call(waiting) = run.step() else { break };
        if waiting.is_cancelled() {
            // Every tool here changes something; one that only reads may still be called.
            run.pending().ok_or("the call is gone")?.fail("cancelled")?;
            continue;
        }
        let (number, tool, rollback) = (waiting.number(), waiting.tool().to_owned(), waiting.is_rollback());
        let mut arguments = String::new();
        waiting.write_json(&mut arguments)?;
        let (policy, arguments) = (policy(&tool), arguments.parse()?);
        let policy = policy.as_ref();
        let due =
            Due { run: &run, tool: &tool, policy, arguments: &arguments, number, rollback, expects: None };
        // After this the intent to make the call is on disk.
        let result = match session.before(&due)? {
            Permit::CallWithKey { key, confirmed } => {
                // Somebody cancelled the run before this was on disk. A call that may have been made before
                // is confirmed: it is made again.
                let cancelled = session.is_cancelled() && !confirmed && !rollback;
                let make = || Ok(call(&tool, &arguments, &key));
                let result = if cancelled { Err(Failure::text("cancelled")) } else { make() };
                match session.after(&due, &result)? {
                    Taken::GoOn => {
                        if !cancelled {
                            // The answer is on disk within milliseconds, whatever else the host does now.
                            println!("{tool} has its answer");
                            std::thread::sleep(OTHER_WORK);
                        }
                        result
                    }
                    Taken::Suspend => return Ok(left(&session)),
                }
            }
            // Only a call that reads has no key.
            Permit::Call => Err(Failure::text("no tool here only reads")),
            Permit::Settled(result) => result,
            Permit::Suspend => return Ok(left(&session)),
        };
        give(run.pending().ok_or("the call is gone")?, &result);
    }
    session.end(&run)?;
    Ok(run.outcome().ok_or("it has ended")?.to_string())
}

/// Why the process does not continue the run.
fn left(session: &Session) -> String {
    match session.left() {
        Some(Left::Waits { run, state, call, tool, .. }) => {
            format!("run {run} waits at call {call} of {tool}: {state:?}")
        }
        left => format!("{left:?}"),
    }
}

fn start(store: &Arc<Store>) -> Result<String, Box<dyn Error>> {
    let (program, _) =
        ilo_asm::compile::compile(include_str!("../purchase.ilo"), &ilo_asm::compile::Options::default());
    let program = Program::new(program.ok_or("the example does not build")?)?;
    let entry = program.entry().map_err(|_| "which function is to run?")?;
    let limits = RunLimits { machine: Limits { fuel: 10_000, ..Limits::default() }, ..RunLimits::default() };
    let mut run = Run::new(&program, limits.machine.clone());
    run.start_named(entry, &[("item", "lamp".into()), ("payment-id", "p1".into()), ("amount", 12.5.into())])?;
    let beginning = Beginning {
        name: Some("lamp-1".into()), // a second run of this name is not started
        input: br#"{"item":"lamp","payment-id":"p1","amount":12.5}"#.to_vec(),
        program: program.to_bytes(),
        function: program.function_name(entry).into(),
        limits,
    };
    drive(run, Session::new(store.clone(), beginning))
}

/// Continues a run that another process has left, or says why it cannot.
fn resume(store: Arc<Store>, run: RunId) -> Result<String, Box<dyn Error>> {
    match store.claim(run).wait()? {
        Claim::Mine(claimed) => {
            let program = Program::load(&claimed.program)?;
            let restored = Run::from_snapshot(&program, &claimed.snapshot, claimed.limits.machine.clone())?;
            drive(restored, Session::resumed(store, *claimed))
        }
        Claim::Waits { state, call, .. } => Ok(format!("it waits at call {call}: {state:?}")),
        Claim::Ended { outcome } => Ok(String::from_utf8(outcome)?),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("name a file for the journal")?;
    let store = Arc::new(Store::open(Path::new(&path), &Options::default())?);
    let ended = match store.find("lamp-1") {
        Ok(run) => resume(store, run)?,
        Err(_) => start(&store)?,
    };
    println!("{ended}");
    Ok(())
}
