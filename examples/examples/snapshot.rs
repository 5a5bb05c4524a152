//! The smallest host: it steps the machine itself. When a call has to wait, it saves the run, and another
//! process goes on with it.
//!
//! `cargo run -p ilo-examples --example snapshot`

use ilo_vm::{Limits, Program, Run, Step};
use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Steps a run to its end; false if it comes to a call that this process leaves to another one.
fn drive(run: &mut Run, sends: bool) -> Result<bool, Box<dyn Error>> {
    loop {
        let (tool, address) = match run.step() {
            Step::Done(outcome) => {
                println!("process {}: {outcome}", if sends { 2 } else { 1 });
                return Ok(true);
            }
            Step::Call(call) => {
                let address = call.argument("email").and_then(|email| email.as_text().map(str::to_owned));
                (call.tool().to_owned(), address)
            }
        };
        let Some(call) = run.pending() else { return Err("the call is gone".into()) };
        match (tool.as_str(), address) {
            ("get-user", _) => call.answer_json(r#"{"email": "ada@example.com", "verified": true}"#)?,
            ("send-email", _) if !sends => return Ok(false),
            ("send-email", Some(address)) if address.contains('@') => call.answer(())?,
            (tool, _) => call.fail(&format!("{tool} cannot do that"))?,
        }
    }
}

/// Starts the run, and hands it over at the call of `send-email`.
fn first(folder: &Path) -> Result<(), Box<dyn Error>> {
    let source = include_str!("../notify.ilo");
    let (built, diagnostics) = ilo_asm::compile::compile(source, &ilo_asm::compile::Options::default());
    let program = Program::new(built.ok_or(diagnostics)?)?;
    let entry = program.function("notify").ok_or("no such function")?;
    let mut run = Run::new(&program, Limits::default());
    run.start_named(entry, &[("user-id", "u1".into()), ("message", "Hello".into())])?;
    if drive(&mut run, false)? {
        return Ok(());
    }
    let mut snapshot = Vec::new();
    run.snapshot(&mut snapshot)?;
    println!("process 1: the run waits at call 2, in {} bytes", snapshot.len());
    fs::write(folder.join("program"), program.to_bytes())?;
    fs::write(folder.join("run"), snapshot)?;
    let output = Command::new(std::env::current_exe()?).arg(folder).output()?;
    print!("{}", String::from_utf8(output.stdout)?);
    if output.status.success() { Ok(()) } else { Err(String::from_utf8(output.stderr)?.into()) }
}

/// Goes on with a saved run. Both files are checked: whatever they hold, this fails or goes on, and nothing
/// else.
fn second(folder: &Path) -> Result<(), Box<dyn Error>> {
    let program = Program::load(&fs::read(folder.join("program"))?)?;
    let mut run = Run::from_snapshot(&program, &fs::read(folder.join("run"))?, Limits::default())?;
    drive(&mut run, true)?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1) {
        Some(folder) => second(folder.as_ref()),
        None => first(tempfile::tempdir()?.path()),
    }
}
