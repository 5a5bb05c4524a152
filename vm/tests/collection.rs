//! Garbage collection: what a run no longer reads makes room, and what it can still read is unchanged.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use crate::common::*;
use ilo_spec::isa::Op;
use ilo_spec::operand::CallId;
use ilo_vm::{Datum, FunctionId, Limits, Program, Run, Step};

const MIB: usize = 1 << 20;

fn limits(memory: u64) -> Limits {
    Limits { memory, fuel: 1 << 40, ..Limits::default() }
}

/// Runs the last function with one list of that many numbers.
fn looped(asm: Asm, count: i64, limits: Limits) -> (String, Run) {
    let items: Vec<Datum<'_>> = (0..count).map(Datum::Int).collect();
    let last = FunctionId(u16::try_from(asm.spec.functions.len() - 1).unwrap());
    let mut run = Run::new(&asm.build(), limits);
    run.start(last, &[Datum::List(&items)]).unwrap();
    (drive(&mut run, NO_TOOLS), run)
}

#[test]
#[cfg_attr(miri, ignore = "takes hours")]
fn a_loop_that_makes_500_mb_of_text_lives_within_64_mib() {
    let mut asm = Asm::new(&["items"]);
    let base = LoopBase(1);
    let wide = asm.text(&"x".repeat(MIB));
    let code = [
        Op::Text { dst: Out(5), text: wide },
        Op::Each { base, list: In(0), to: To(2) },
        Op::Move { dst: Out(6), src: In(4) },
        Op::Concat { dst: Out(7), first: First(5), count: Count(2) },
        Op::Next { base, item: Out(4), back: Back(3) },
        Op::Concat { dst: Out(5), first: First(5), count: Count(2) },
        Op::Len { dst: Out(5), src: In(5) },
        Op::Return { src: In(5) },
    ];
    // The last two read a register that the loop may not have set.
    let code = [&code[..1], &[Op::Move { dst: Out(6), src: In(5) }], &code[1..]].concat();
    asm.function("f", &["items"], PLAIN, 8, &code);
    let (outcome, run) = looped(asm, 500, Limits::default());
    assert_eq!(outcome, r#"{"status":"ok","value":1048579}"#);
    assert!(run.memory_used() <= 64 << 20);
}

#[test]
#[cfg_attr(miri, ignore = "takes hours")]
fn a_million_items_are_appended_within_the_defaults() {
    let mut asm = Asm::new(&["items"]);
    let (outer, inner) = (LoopBase(1), LoopBase(5));
    let code = [
        Op::List { dst: Out(9), first: First(0), count: Count(0) },
        Op::Each { base: outer, list: In(0), to: To(3) },
        Op::Each { base: inner, list: In(0), to: To(1) },
        Op::Append { dst: Out(9), list: In(9), item: In(8) },
        Op::Next { base: inner, item: Out(8), back: Back(2) },
        Op::Next { base: outer, item: Out(4), back: Back(4) },
        Op::Len { dst: Out(0), src: In(9) },
        Op::Return { src: In(0) },
    ];
    asm.function("f", &["items"], PLAIN, 10, &code);
    let (outcome, run) = looped(asm, 1_000, Limits::default());
    assert_eq!(outcome, r#"{"status":"ok","value":1000000}"#);
    assert!(run.fuel_used() < 10_000_000);
}

/// Calls, nested collecting loops, shared lists, branches of one list, merged records: all of them with
/// garbage.
fn mixture() -> Program {
    let mut asm = Asm::new(&["items", "a", "b", "c"]);
    let call = asm.call("tool", &["a"]);
    assert_eq!(call, CallId(0));
    let (ab, c) = (asm.shape(&["a", "b"]), asm.shape(&["c"]));
    let base = LoopBase(1);
    let inner = [
        Op::For { base, list: In(0), to: To(4) },
        Op::Move { dst: Out(5), src: In(4) },
        Op::Concat { dst: Out(6), first: First(4), count: Count(2) },
        Op::Yield { base, src: In(6) },
        // More than fits.
        Op::YieldRecord { base, first: First(5), shape: ab },
        Op::Next { base, item: Out(4), back: Back(5) },
        Op::Collect { dst: Out(0), base },
        Op::Return { src: In(0) },
    ];
    asm.function("g", &["items"], PLAIN, 7, &inner);
    let outer = [
        Op::List { dst: Out(5), first: First(0), count: Count(0) },
        Op::Append { dst: Out(5), list: In(5), item: In(0) },
        Op::For { base, list: In(0), to: To(13) },
        Op::Move { dst: Out(9), src: In(4) },
        Op::Tool { dst: Out(6), first: First(9), call, fail: OnFail(0) },
        Op::Append { dst: Out(5), list: In(5), item: In(6) },
        // Another branch of the same list, then garbage.
        Op::Append { dst: Out(7), list: In(5), item: In(5) },
        Op::Concat { dst: Out(7), first: First(5), count: Count(2) },
        Op::Concat { dst: Out(7), first: First(5), count: Count(3) },
        Op::Move { dst: Out(9), src: In(6) },
        Op::Merge { dst: Out(8), src: In(6), first: First(9), shape: c },
        Op::Move { dst: Out(9), src: In(0) },
        Op::Invoke { dst: Out(7), first: First(9), function: FunctionId(0), fail: OnFail(0) },
        Op::Yield { base, src: In(8) },
        Op::Move { dst: Out(9), src: In(7) },
        Op::Yield { base, src: In(9) },
        Op::Next { base, item: Out(4), back: Back(14) },
        Op::Collect { dst: Out(0), base },
        Op::Move { dst: Out(1), src: In(5) },
        Op::List { dst: Out(0), first: First(0), count: Count(2) },
        Op::Return { src: In(0) },
    ];
    asm.function("f", &["items"], PLAIN, 10, &outer);
    asm.build()
}

/// Runs the mixture; returns the outcome and the run.
fn mixed(program: &Program, memory: u64) -> (String, Run) {
    mixed_from(program, memory, false)
}

/// Runs the mixture; with `broken`, from a snapshot at each call. Every second answer is built event by
/// event.
fn mixed_from(program: &Program, memory: u64, broken: bool) -> (String, Run) {
    let items: Vec<Datum<'_>> = (0..12).map(Datum::Int).collect();
    let mut run = Run::new(program, limits(memory));
    if let Err(error) = run.start(FunctionId(1), &[Datum::List(&items)]) {
        return (error.to_string(), run);
    }
    let text = "some text that is long enough to count, ".repeat(30);
    for turn in 0.. {
        let Step::Call(_) = run.step() else { break };
        if broken {
            let mut bytes = Vec::new();
            run.snapshot(&mut bytes).unwrap();
            if let Err(error) = run.restore(&bytes) {
                return (format!("\"{}\"", error.code()), run);
            }
        }
        let call = run.pending().unwrap();
        let list = [Datum::Int(turn), Datum::Text(&text[..usize::try_from(turn).unwrap() * 40])];
        if turn % 2 == 0 {
            let _ = call.answer(Datum::Record(&[("a", Datum::List(&list)), ("new", Datum::Text(&text))]));
        } else {
            let _ = built(call.answer_with(), turn, &text);
        }
    }
    (drive(&mut run, NO_TOOLS), run)
}

fn built(mut builder: ilo_vm::Builder<'_>, turn: i64, text: &str) -> Result<(), ilo_vm::BuildError> {
    builder.begin_record()?;
    builder.key("a")?;
    builder.begin_list()?;
    builder.text(text)?;
    builder.int(turn)?;
    builder.end()?;
    builder.key(if turn % 4 == 1 { "new" } else { "newer" })?;
    builder.text(&text[..40])?;
    builder.end()?;
    builder.finish()
}

#[test]
#[cfg_attr(miri, ignore = "takes hours")]
fn what_a_run_can_read_stays_the_same_however_often_its_heap_is_cleared() {
    let program = mixture();
    let (expected, ample) = mixed(&program, 1 << 30);
    assert!(expected.starts_with(r#"{"status":"ok""#), "{expected}");
    let most = ample.memory_used();
    let (mut fewest, mut held) = (most, 0);
    for memory in (most / 6..most).step_by(2_003) {
        let (outcome, run) = mixed(&program, memory);
        if outcome == expected {
            fewest = fewest.min(memory);
            held += 1;
        } else {
            let codes = ["\"memory\"", "\"too-large\"", "would pass"];
            assert!(codes.iter().any(|code| outcome.contains(code)), "{memory}: {outcome}");
        }
        assert!(run.memory_used() <= memory);
    }
    assert!(held > 5 && fewest < most * 3 / 4, "clearing made room: {fewest} of {most} bytes, {held} times");
}

#[test]
#[cfg_attr(miri, ignore = "takes hours")]
fn a_suspended_run_goes_on_within_the_same_memory() {
    let program = mixture();
    let (expected, ample) = mixed(&program, 1 << 30);
    let (outcome, broken) = mixed_from(&program, 1 << 30, true);
    assert_eq!(outcome, expected);
    assert_eq!(broken.fuel_used(), ample.fuel_used());
    let most = ample.memory_used();
    let mut held = 0;
    for memory in (most / 6..most).step_by(20_011) {
        let (outcome, _) = mixed_from(&program, memory, true);
        held += usize::from(outcome == expected);
        let codes = ["\"memory\"", "\"too-large\"", "would pass"];
        assert!(
            outcome == expected || codes.iter().any(|code| outcome.contains(code)),
            "{memory}: {outcome}"
        );
    }
    assert!(held > 2, "{held}");
}

#[test]
#[cfg_attr(miri, ignore = "takes hours")]
fn what_clearing_costs_does_not_depend_on_what_a_run_kept() {
    let program = mixture();
    let most = mixed(&program, 1 << 30).1.memory_used();
    let (outcome, mut run) = mixed(&program, most * 7 / 8);
    let fuel = run.fuel_used();
    for _ in 0..3 {
        run.rewind();
        let text = "some text that is long enough to count, ".repeat(30);
        for turn in 0.. {
            let Step::Call(call) = run.step() else { break };
            let list = [Datum::Int(turn), Datum::Text(&text[..usize::try_from(turn).unwrap() * 40])];
            if turn % 2 == 0 {
                let _ = call.answer(Datum::Record(&[("a", Datum::List(&list)), ("new", Datum::Text(&text))]));
            } else {
                let _ = built(call.answer_with(), turn, &text);
            }
        }
        assert_eq!(drive(&mut run, NO_TOOLS), outcome);
        assert_eq!(run.fuel_used(), fuel);
    }
}

#[test]
fn a_run_whose_memory_is_all_in_use_ends_with_a_fault() {
    let mut asm = Asm::new(&["items"]);
    let base = LoopBase(1);
    let code = [
        Op::For { base, list: In(0), to: To(3) },
        Op::Move { dst: Out(5), src: In(4) },
        Op::Concat { dst: Out(5), first: First(4), count: Count(2) },
        Op::Yield { base, src: In(5) },
        Op::Next { base, item: Out(4), back: Back(4) },
        Op::Collect { dst: Out(0), base },
        Op::Return { src: In(0) },
    ];
    asm.function("f", &["items"], PLAIN, 6, &code);
    let (outcome, _) = looped(asm, 5_000, limits(190_000));
    assert!(outcome.contains("\"memory\""), "{outcome}");
}
