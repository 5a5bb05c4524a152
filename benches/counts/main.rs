//! Does one thing so many times inside [`measured`], for `benches/counts.sh` to count instructions in.
//!
//! It takes no time and prints nothing: what is counted is the same on a busy machine as on an idle one.

use ilo_asm::build::{Options, build};
use ilo_benches::{Answers, NOTIFY, P1_ARGUMENTS, Prepared, TOTAL, finish, p1, p2, p3, p4, program, source};
use ilo_spec::encode::encode;
use ilo_vm::{Limits, Program, Run};
use std::hint::black_box;
use std::process::ExitCode;

/// The one function that is counted; the script knows its name.
#[inline(never)]
fn measured(times: usize, work: &mut dyn FnMut() -> bool) -> bool {
    (0..times).all(|_| work())
}

fn repeat(mut work: impl FnMut() -> bool, times: usize) -> bool {
    // Once before, so that what a first run allocates is not counted.
    work() && measured(times, &mut work)
}

fn again(mut prepared: Prepared, times: usize) -> bool {
    repeat(|| prepared.again(), times)
}

fn start(fresh: bool, times: usize) -> bool {
    let total = program(TOTAL);
    let Some(entry) = total.function("total") else { return false };
    let mut run = Run::new(&total, Limits::default());
    let answers = Answers::new(&total);
    let work = || {
        if fresh {
            run = Run::new(&total, Limits::default());
        }
        run.start(entry, black_box(&P1_ARGUMENTS)).is_ok() && finish(&mut run, &answers)
    };
    repeat(work, times)
}

fn assemble(text: &str, times: usize) -> bool {
    let reading = ilo_asm::source::Limits { source: usize::MAX, ..ilo_asm::source::Limits::default() };
    let options = Options { reading, strip: true, ..Options::default() };
    repeat(|| build(black_box(text), &options).0.is_some_and(|program| !encode(&program).is_empty()), times)
}

fn load(text: &str, times: usize) -> bool {
    let bytes = encode(program(text).spec());
    repeat(|| Program::load(black_box(&bytes)).is_ok(), times)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let times = arguments.get(1).and_then(|times| times.parse().ok()).unwrap_or(1);
    let well = match arguments.first().map_or("", String::as_str) {
        "p1" => again(p1(), times),
        "p2" => again(p2(), times),
        "p3" => again(p3(), times),
        "p4" => again(p4(), times),
        "start" => start(false, times),
        "fresh" => start(true, times),
        "assemble-notify" => assemble(NOTIFY, times),
        "assemble-large" => assemble(&source(100_000), times),
        "load-notify" => load(NOTIFY, times),
        "load-large" => load(&source(100_000), times),
        _ => false,
    };
    if well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
