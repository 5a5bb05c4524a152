//! A thousand runs on one thread, each waiting for its answers, which arrive in any order.
//!
//! `cargo run -p ilo-examples --example thousand`

use ilo_vm::{Datum, Limits, Program, Run, Step};
use std::error::Error;

const RUNS: usize = 1_000;

fn main() -> Result<(), Box<dyn Error>> {
    let (program, _) =
        ilo_asm::compile::compile(include_str!("../notify.ilo"), &ilo_asm::compile::Options::default());
    let program = Program::new(program.ok_or("the example does not build")?)?;
    let entry = program.function("notify").ok_or("no such function")?;

    let mut runs = Vec::with_capacity(RUNS);
    for number in 0..RUNS {
        let mut run = Run::new(&program, Limits::default());
        let user = format!("u{number}");
        run.start_named(entry, &[("user-id", Datum::Text(&user)), ("message", "Hello".into())])?;
        runs.push(run);
    }

    // Each round answers the call that each run waits for, the last run first.
    let (mut calls, mut sent, mut refused) = (0_u32, 0_u32, 0_u32);
    while !runs.is_empty() {
        let mut waiting = Vec::with_capacity(runs.len());
        for mut run in runs.into_iter().rev() {
            let ended = match run.step() {
                Step::Done(outcome) => Some(outcome.ok().is_some()),
                Step::Call(call) => {
                    calls += 1;
                    if call.tool() == "get-user" {
                        // Every third user is not verified.
                        let number = call.argument("user-id").and_then(|id| id.as_text()).map_or(0, str::len);
                        let user = [("email", "a@b.c".into()), ("verified", Datum::Bool(number % 3 != 0))];
                        call.answer(Datum::Record(&user))?;
                    } else {
                        call.answer(Datum::Nil)?;
                    }
                    None
                }
            };
            match ended {
                None => waiting.push(run),
                Some(true) => sent += 1,
                Some(false) => refused += 1,
            }
        }
        println!("{:>5} runs wait for an answer", waiting.len());
        runs = waiting;
    }
    println!("{calls} calls answered, {sent} mails sent, {refused} refused");
    Ok(())
}
