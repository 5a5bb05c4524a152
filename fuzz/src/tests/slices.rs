//! Runs in slices of fuel: random programs come to the same end, whatever the slices.

use crate::differential::datum;
use crate::generate::{Case, bytes, case};
use ilo_asm::arena::Arena;
use ilo_asm::compile::{Options, compile};
use ilo_vm::{Datum, Limits, Program, Run, Step};

/// The programs of each test, unless `SEEDS` is set.
const SEEDS: u64 = 1500;

/// The outcome, fuel, memory and number of calls of a run; `slice` is the fuel of each step, and the number
/// of slices is counted.
fn ended(program: &Program, case: &Case, limits: &Limits, slice: Option<u64>, slices: &mut u64) -> String {
    let mut run = Run::new(program, limits.clone());
    let arena = Arena::new();
    let input: Vec<(&str, Datum<'_>)> =
        case.input.iter().map(|(name, value)| (name.as_str(), datum(value, &arena))).collect();
    if let Err(error) = run.start_named(program.function(&case.entry).unwrap(), &input) {
        return error.to_string();
    }
    let (mut calls, mut stalled) = (0_usize, 0);
    loop {
        let step = match slice {
            None => run.step(),
            Some(fuel) => {
                *slices += 1;
                let before = run.fuel_used();
                if run.step_within(fuel).is_none() {
                    assert!(run.waiting().is_none() && run.outcome().is_none(), "it only pauses");
                    // A slice may end where it begins, and when lent fuel is paid back; the next one
                    // continues.
                    stalled = if run.fuel_used() > before { 0 } else { stalled + 1 };
                    assert!(stalled <= 2, "slices make progress: {before} of {limits:?}\n{}", case.source);
                    continue;
                }
                stalled = 0;
                // A step returns the same as the previous one.
                run.step()
            }
        };
        if let Step::Done(outcome) = step {
            let outcome = outcome.to_string();
            return format!("{outcome} {} {} {calls}", run.fuel_used(), run.memory_used());
        }
        let (tool, number) = run.waiting().map(|call| (call.tool_index(), call.number())).unwrap();
        assert_eq!(run.pending().map(|call| (call.tool_index(), call.number())), Some((tool, number)));
        calls += 1;
        let answers = &case.tools[tool % case.tools.len()].answers;
        let call = run.pending().unwrap();
        // An answer that exceeds a limit ends the run, which the next step returns.
        drop(match &answers[calls % answers.len()] {
            Ok(value) => call.answer(datum(value, &arena)),
            Err(failure) => call.fail_with(datum(failure, &arena)),
        });
    }
}

#[test]
fn slices_change_nothing() {
    let seeds = std::env::var("SEEDS").map_or(SEEDS, |seeds| seeds.parse().unwrap());
    let (mut programs, mut sliced) = (0, 0);
    for seed in 0..seeds {
        let case = case(&bytes(seed));
        let Some(program) = compile(&case.source, &Options::default()).0 else { continue };
        let program = Program::new(program).unwrap();
        programs += 1;
        // Enough for most runs, but so little that many end for lack of fuel, or clear their heap.
        for (fuel, memory) in [(100_000, 8 << 20), (40 + seed % 400, 8 << 20), (100_000, 1 << 14)] {
            let limits = Limits { fuel, memory, tool_calls: 200, ..Limits::default() };
            let mut slices = 0;
            let whole = ended(&program, &case, &limits, None, &mut slices);
            for slice in [0, 1, 7, 1 + seed % 97, 5_000] {
                let mut slices = 0;
                let found = ended(&program, &case, &limits, Some(slice), &mut slices);
                assert_eq!(found, whole, "seed {seed}, slices of {slice}\n{}", case.source);
                sliced += slices;
            }
        }
    }
    assert!(programs > 500 && sliced > 20_000, "{programs} programs in {sliced} slices");
}
