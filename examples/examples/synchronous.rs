//! The smallest host: builds a program, runs it, and answers its calls as they come.
//!
//! `cargo run -p ilo-examples --example synchronous`

use ilo_vm::{Datum, Limits, Program, Run, Step};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let source = include_str!("../notify.ilo");
    let (program, diagnostics) = ilo_asm::build::build(source, &ilo_asm::build::Options::default());
    let program = program.ok_or_else(|| format!("{:?}", diagnostics.as_slice()))?;
    // A host that receives bytecode begins here: `Program::load(&bytes)` verifies it.
    let program = Program::new(program)?;
    let entry = program.function("notify").ok_or("no such function")?;

    let mut run = Run::new(&program, Limits::default());
    run.start_named(entry, &[("user-id", "u1".into()), ("message", "Hello".into())])?;
    let outcome = loop {
        match run.step() {
            Step::Done(outcome) => break outcome,
            Step::Call(call) => match call.tool() {
                "get-user" => {
                    let user = [("email", Datum::Text("ada@example.com")), ("verified", Datum::Bool(true))];
                    call.answer(Datum::Record(&user))?;
                }
                "send-email" => {
                    println!("mail to {}", call.argument("email").and_then(|to| to.as_text()).unwrap_or("?"));
                    call.answer(Datum::Nil)?;
                }
                other => {
                    let message = format!("no such tool: {other}");
                    call.fail(&message)?;
                }
            },
        }
    };
    println!("{outcome}");
    Ok(())
}
