//! Many suspended runs, each stored as its snapshot, and one machine that resumes any of them.
//!
//! `cargo run --release -p ilo-examples --example million [COUNT]`

use ilo_vm::{Datum, Limits, Program, Run, Step};
use std::error::Error;

/// The default number of runs; a tenth of it in a build without optimization.
const RUNS: usize = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };

fn main() -> Result<(), Box<dyn Error>> {
    let count = match std::env::args().nth(1) {
        Some(count) => count.parse()?,
        None => RUNS,
    };
    let (program, _) =
        ilo_asm::compile::compile(include_str!("../notify.ilo"), &ilo_asm::compile::Options::default());
    let program = Program::new(program.ok_or("the example does not build")?)?;
    let entry = program.function("notify").ok_or("no such function")?;
    let mut run = Run::new(&program, Limits::default());
    let mut bytes = Vec::new();

    // Every run proceeds to its first call and is stored as its snapshot.
    let before = resident();
    let mut suspended: Vec<Box<[u8]>> = Vec::with_capacity(count);
    let mut packed = 0;
    for number in 0..count {
        let user = format!("u{}", number % 10);
        run.start(entry, &[Datum::Text(&user), "Hello".into()])?;
        if let Step::Done(outcome) = run.step() {
            return Err(format!("no call: {outcome}").into());
        }
        run.snapshot(&mut bytes)?;
        packed += bytes.len();
        suspended.push(bytes.as_slice().into());
    }
    println!("{count} runs suspended, {} bytes each packed", packed / count.max(1));
    if let (Some(before), Some(after)) = (before, resident()) {
        println!("{} bytes each resident", after.saturating_sub(before) / count.max(1));
    }

    // They continue in another order, each to its second call and its end.
    shuffle(&mut suspended);
    let (mut calls, mut sent) = (0, 0);
    for snapshot in suspended {
        run.restore(&snapshot)?;
        loop {
            match run.step() {
                Step::Done(outcome) => {
                    sent += usize::from(outcome.ok().is_some());
                    break;
                }
                Step::Call(call) => {
                    calls += 1;
                    call.answer(Datum::Record(&[("email", "a@b.c".into()), ("verified", true.into())]))?;
                }
            }
        }
    }
    println!("{calls} calls answered, {sent} mails sent");
    Ok(())
}

/// Resident bytes of this process, if the system reports them.
fn resident() -> Option<usize> {
    const PAGE: usize = 4_096;
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(text.split(' ').nth(1)?.parse::<usize>().ok()? * PAGE)
}

/// Shuffles a list, the same way each time.
fn shuffle<T>(list: &mut [T]) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for place in (1..list.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let other = (state >> 33) % (place as u64 + 1);
        list.swap(place, usize::try_from(other).unwrap_or(0));
    }
}
