//! Memory charges, to the byte, and when the heap is collected (10.5, 10.10), as a host can observe them.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use crate::common::*;
use ilo_spec::isa::Op;
use ilo_vm::{Datum, FunctionId, Limits, Program, Run, Step};

const MIB: u64 = 1 << 20;

fn limits(memory: u64) -> Limits {
    Limits { memory, fuel: 1 << 40, ..Limits::default() }
}

/// The charge for that many bytes of text: the mark bits take three bytes for every sixteen.
fn room(bytes: u64) -> u64 {
    bytes + bytes.div_ceil(16) * 3
}

fn started(program: &Program, argument: &str, memory: u64) -> Run {
    let mut run = Run::new(program, limits(memory));
    run.start(FunctionId(0), &[Datum::Text(argument)]).unwrap();
    run
}

/// Room for text doubles; if the limit is nearer than that, it takes all that is left, and no more.
#[test]
fn near_its_limit_an_arena_takes_what_is_left() {
    let mut asm = Asm::new(&["long"]);
    let half = asm.text(&"y".repeat(5_000));
    let code = [
        Op::Text { dst: Out(1), text: half },
        Op::Concat { dst: Out(1), first: First(1), count: Count(1) },
        Op::Len { dst: Out(1), src: In(1) },
        Op::Return { src: In(1) },
    ];
    asm.function("f", &["long"], PLAIN, 2, &code);
    let program = asm.build();
    let long = "x".repeat(10_000);
    let before = started(&program, &long, MIB).memory_used();
    let mut ample = started(&program, &long, MIB);
    drive(&mut ample, NO_TOOLS);
    assert_eq!(ample.memory_used(), before + room(20_000) - room(10_000), "room for as much again");
    let need = room(15_000) - room(10_000);
    // The three bytes of mark bits for the last sixteen are kept back.
    for spare in [2, 3, 4, 64, 1_000] {
        let limit = before + need + spare;
        let mut run = started(&program, &long, limit);
        assert_eq!(drive(&mut run, NO_TOOLS), r#"{"status":"ok","value":5000}"#, "{spare}");
        // One more byte is charged at most four.
        assert!(limit - run.memory_used() < 3 + 4, "{} of {limit}", run.memory_used());
    }
    let limit = before + need - 1;
    let mut run = started(&program, &long, limit);
    let outcome = drive(&mut run, NO_TOOLS);
    let message = format!(
        "{need} more bytes would exceed the limit of the run: {limit} bytes, of which {} are left",
        need - 1
    );
    assert!(outcome.contains(&message), "{outcome}");
}

/// The same for values, which are sixteen bytes each.
#[test]
fn near_its_limit_there_is_room_for_values() {
    let mut asm = Asm::new(&["list"]);
    let parts = (1..=200).map(|register| Op::Nil { dst: Out(register) });
    let rest = [
        Op::List { dst: Out(0), first: First(1), count: Count(200) },
        Op::Len { dst: Out(0), src: In(0) },
        Op::Return { src: In(0) },
    ];
    let code: Vec<Op> = parts.chain(rest).collect();
    asm.function("f", &["list"], PLAIN, 201, &code);
    let program = asm.build();
    let items = vec![NIL; 1_000];
    let start = |memory| {
        let mut run = Run::new(&program, limits(memory));
        run.start(FunctionId(0), &[Datum::List(&items)]).unwrap();
        run
    };
    let need = (1_200 - 1_000) * 16 + (75 - 63) * 3;
    for spare in [16, 100, 1_000] {
        let limit = start(MIB).memory_used() + need + spare;
        let mut run = start(limit);
        assert_eq!(drive(&mut run, NO_TOOLS), r#"{"status":"ok","value":200}"#, "{spare}");
        // One more value is charged at most nineteen.
        assert!(limit - run.memory_used() < 3 + 19, "{} of {limit}", run.memory_used());
    }
}

/// The memory of a run at its start and at each call; each pass of its loop makes a thousand bytes of garbage
/// text.
fn forgetting(kept: &str) -> Vec<u64> {
    let mut asm = Asm::new(&["kept", "items"]);
    let call = asm.call("tool", &[]);
    let text = asm.text(&"x".repeat(1_000));
    let base = LoopBase(4);
    let code = [
        Op::Text { dst: Out(2), text },
        Op::Each { base, list: In(1), to: To(2) },
        Op::Concat { dst: Out(3), first: First(2), count: Count(1) },
        Op::Tool { dst: Out(3), first: First(0), call, fail: OnFail(0) },
        Op::Next { base, item: Out(7), back: Back(3) },
        Op::Return { src: In(0) },
    ];
    asm.function("f", &["kept", "items"], PLAIN, 8, &code);
    let program = asm.build();
    let items = vec![NIL; 2_500];
    let mut run = Run::new(&program, limits(MIB));
    run.start(FunctionId(0), &[Datum::Text(kept), Datum::List(&items)]).unwrap();
    let mut used = vec![run.memory_used()];
    while let Step::Call(call) = run.step() {
        call.answer(NIL).unwrap();
        used.push(run.memory_used());
    }
    used
}

/// The heap is collected when half of the memory is taken, then whenever usage has doubled, and before memory
/// runs out.
#[test]
fn a_heap_is_cleared_when_twice_what_was_left_is_taken() {
    for (kept, marks) in [(10, 2), (150_000, 2), (300_000, 1)] {
        let used = forgetting(&"k".repeat(kept));
        let mut mark = (2 * used[0]).clamp(MIB / 2, MIB);
        let mut found = 0;
        for pair in used.windows(2).filter(|pair| pair[1] < pair[0]) {
            // An arena takes what is left before the threshold, except one byte and its mark bits.
            assert!(mark - pair[0] < 3 + 4, "{kept}: {} of {mark}", pair[0]);
            mark = (2 * pair[1]).clamp(MIB / 2, MIB);
            found += 1;
        }
        assert!(found >= marks, "{kept}: cleared {found} times");
        assert!(used.iter().all(|&used| used <= MIB));
    }
}

/// If a collection frees nothing before its threshold, the rest of the memory can still be used.
#[test]
fn one_text_may_take_more_than_half() {
    let mut asm = Asm::new(&["small"]);
    let part = asm.text(&"x".repeat(10_000));
    let parts = (0..60).map(|register| Op::Text { dst: Out(register), text: part });
    let rest = [
        Op::Concat { dst: Out(0), first: First(0), count: Count(60) },
        Op::Len { dst: Out(0), src: In(0) },
        Op::Return { src: In(0) },
    ];
    let code: Vec<Op> = parts.chain(rest).collect();
    asm.function("f", &["small"], PLAIN, 60, &code);
    let program = asm.build();
    assert!(room(600_000) > MIB / 2);
    let mut run = started(&program, "s", MIB);
    assert_eq!(drive(&mut run, NO_TOOLS), r#"{"status":"ok","value":600000}"#);
}

/// A size error names the unit.
#[test]
fn what_is_too_large_is_told_in_its_unit() {
    let mut asm = Asm::new(&["a"]);
    let code = [
        Op::Concat { dst: Out(1), first: First(0), count: Count(1) },
        Op::List { dst: Out(1), first: First(0), count: Count(2) },
        Op::Return { src: In(1) },
    ];
    asm.function("f", &["a"], PLAIN, 2, &code);
    let program = asm.build();
    let said = |limits: Limits| {
        let mut run = Run::new(&program, limits);
        run.start(FunctionId(0), &[Datum::Text("abc")]).unwrap();
        drive(&mut run, NO_TOOLS)
    };
    let text = said(Limits { text: 3, items: 1, ..Limits::default() });
    assert!(text.contains("a list of at least 2 items passes the limit of 1"), "{text}");
    let mut run = Run::new(&program, Limits { text: 2, ..Limits::default() });
    let refused = run.start(FunctionId(0), &[Datum::Text("abc")]).unwrap_err().to_string();
    assert!(refused.contains("a text of at least 3 bytes passes the limit of 2"), "{refused}");
}

/// Calls made before a snapshot count: of four, the third restored one has one left.
#[test]
fn calls_stay_counted_in_a_snapshot() {
    let mut asm = Asm::new(&["a"]);
    let call = asm.call("tool", &[]);
    let tool = Op::Tool { dst: Out(0), first: First(0), call, fail: OnFail(0) };
    asm.function("f", &["a"], PLAIN, 1, &[tool, tool, tool, tool, Op::Return { src: In(0) }]);
    let program = asm.build();
    for (most, ends) in [(3, "too-many-calls"), (4, "null")] {
        let limits = Limits { tool_calls: most, ..Limits::default() };
        let mut run = Run::new(&program, limits.clone());
        run.start(FunctionId(0), &[NIL]).unwrap();
        for _ in 0..2 {
            let Step::Call(call) = run.step() else { unreachable!("it calls") };
            call.answer(NIL).unwrap();
        }
        assert!(matches!(run.step(), Step::Call(_)));
        let mut bytes = Vec::new();
        run.snapshot(&mut bytes).unwrap();
        let mut restored = Run::from_snapshot(&program, &bytes, limits).unwrap();
        assert_eq!(short(&drive(&mut restored, &|_, _| Ok(NIL))), ends, "{most}");
    }
}

/// Memory taken by restoring is returned: the same values have the same charge.
#[test]
fn a_restored_run_is_charged_for_its_values_alone() {
    let mut asm = Asm::new(&["list"]);
    let call = asm.call("tool", &[]);
    let tool = Op::Tool { dst: Out(1), first: First(0), call, fail: OnFail(0) };
    asm.function("f", &["list"], PLAIN, 2, &[tool, Op::Return { src: In(0) }]);
    let program = asm.build();
    let texts: Vec<String> = (0..1_000).map(|at| format!("text {at}")).collect();
    let items: Vec<Datum<'_>> = texts.iter().map(|text| Datum::Text(text)).collect();
    let mut run = Run::new(&program, Limits::default());
    run.start(FunctionId(0), &[Datum::List(&items)]).unwrap();
    assert!(matches!(run.step(), Step::Call(_)));
    let mut bytes = Vec::new();
    run.snapshot(&mut bytes).unwrap();
    let restored = Run::from_snapshot(&program, &bytes, Limits::default()).unwrap();
    assert!(restored.memory_used() <= run.memory_used(), "{} {}", restored.memory_used(), run.memory_used());
}
