//! The default limits: each applies in a host that sets nothing, and accepts n but not n + 1. Tests of the
//! settings themselves are in `vm/tests/limits.rs` and `host/tests`, those of ceilings in
//! `asm/tests/ceilings.rs` and `spec/tests/limits.rs`.

#![cfg(feature = "host")]

use ilo_asm::compile::{Options, compile};
use ilo_host::data::read::{Bounds, ReadErrorKind, read};
use ilo_host::run;
use ilo_host::tools::CallLimits;
use ilo_spec::isa::Op;
use ilo_spec::limits;
use ilo_spec::operand::FunctionId;
use ilo_vm::{Datum, Limits, Program, Run, Step};
use std::time::Duration;

/// The first error of a source with the default limits.
fn found(source: &str) -> Option<&'static str> {
    let (program, diagnostics) = compile(source, &Options::default());
    let first = diagnostics.as_slice().iter().find(|diagnostic| diagnostic.is_error());
    assert_eq!(program.is_none(), first.is_some());
    first.map(|first| first.code.as_str())
}

/// A source of this many bytes, in short lines.
fn source_of(bytes: usize) -> String {
    let mut source = "; fn f() -> nil\nLIT 2 nil\n".to_owned();
    let line = format!(";{}\n", "x".repeat(900));
    while source.len() + line.len() < bytes {
        source += &line;
    }
    source.push(';');
    source += &"x".repeat(bytes - source.len());
    source
}

#[test]
fn a_source_is_bounded_by_default() {
    assert_eq!(ilo_asm::source::SourceLimits::default().source, limits::DEFAULT_SOURCE);
    assert_eq!(found(&source_of(limits::DEFAULT_SOURCE)), None);
    assert_eq!(found(&source_of(limits::DEFAULT_SOURCE + 1)), Some("source-too-large"));

    let line = |bytes: usize| format!("; fn f() -> nil\nLIT 2 nil\n;{}\n", "x".repeat(bytes - 1));
    assert_eq!(found(&line(limits::DEFAULT_LINE)), None);
    assert_eq!(found(&line(limits::DEFAULT_LINE + 1)), Some("line-too-long"));

    let nested = |levels: usize| format!("; fn f(a: bool) -> bool\nRET {}REF 0\n", "NOT ".repeat(levels - 1));
    assert_eq!(found(&nested(limits::DEFAULT_NESTING)), None);
    assert_eq!(found(&nested(limits::DEFAULT_NESTING + 1)), Some("too-deep"));

    // No source of 4 GiB is made here; a span must be able to hold the position after its last byte.
    assert!(u32::try_from(limits::SOURCE + 1).is_ok());
}

#[test]
fn a_long_list_is_made_in_windows() {
    let windows = |items: usize| {
        let source = format!("; fn f() -> thing\nRET LIST {items} {}\n", "LIT 2 nil ".repeat(items));
        let program = compile(&source, &Options::default()).0.unwrap();
        let appends = program.code.iter().filter(|op| matches!(op, Op::Append { .. })).count();
        let counts = program.code.iter().filter_map(|op| match op {
            Op::List { count, .. } => Some(usize::from(count.0)),
            _ => None,
        });
        (counts.collect::<Vec<_>>(), appends)
    };
    assert_eq!(windows(limits::CHUNK), (vec![limits::CHUNK], 0));
    let (counts, appends) = windows(limits::CHUNK + 1);
    assert!(counts.iter().all(|&count| count <= limits::CHUNK));
    assert_eq!(counts.iter().sum::<usize>() + appends, limits::CHUNK + 1);
}

#[test]
fn a_run_has_the_defaults_where_a_host_sets_nothing() {
    let expected = Limits {
        fuel: limits::DEFAULT_FUEL,
        memory: limits::DEFAULT_MEMORY,
        text: limits::DEFAULT_TEXT,
        items: limits::DEFAULT_ITEMS,
        value_depth: limits::DEFAULT_VALUE_DEPTH,
        tool_calls: limits::DEFAULT_TOOL_CALLS,
        rollbacks: limits::DEFAULT_ROLLBACKS,
        result_bytes: limits::DEFAULT_RESULT,
        result_nodes: limits::DEFAULT_RESULT_NODES,
    };
    assert_eq!(Limits::default(), expected);
    let options = run::Options::default();
    assert_eq!(options.limits, expected);
    assert_eq!(options.timeout, Duration::from_millis(limits::DEFAULT_RUN_MS));
    assert_eq!(options.call_timeout, Duration::from_millis(limits::DEFAULT_CALL_MS));
    assert_eq!(CallLimits::default().timeout, Duration::from_millis(limits::DEFAULT_CALL_MS));
}

#[test]
fn what_is_read_is_bounded_by_default() {
    let kind = |text: &str| read(text.as_bytes(), &Bounds::default()).map_err(|error| error.kind).err();
    let text = |bytes: usize| format!("\"{}\"", "x".repeat(bytes - 2));
    assert_eq!(kind(&text(limits::DEFAULT_RESULT)), None);
    let past = Some(ReadErrorKind::Bytes(limits::DEFAULT_RESULT));
    assert_eq!(kind(&text(limits::DEFAULT_RESULT + 1)), past);
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert_eq!(kind(&nested(limits::DEFAULT_VALUE_DEPTH)), None);
    let past = Some(ReadErrorKind::Depth(limits::DEFAULT_VALUE_DEPTH));
    assert_eq!(kind(&nested(limits::DEFAULT_VALUE_DEPTH + 1)), past);
    // The list counts as one of the values.
    let items = |values: usize| format!("[{}0]", "0,".repeat(values - 2));
    assert_eq!(kind(&items(limits::DEFAULT_RESULT_NODES)), None);
    let past = Some(ReadErrorKind::Values(limits::DEFAULT_RESULT_NODES));
    assert_eq!(kind(&items(limits::DEFAULT_RESULT_NODES + 1)), past);
}

fn program(source: &str) -> Program {
    Program::new(compile(source, &Options::default()).0.unwrap()).unwrap()
}

/// Runs the only function with one argument; returns the outcome and the fuel used.
fn ran(program: &Program, argument: Datum<'_>, limits: Limits) -> (String, u64) {
    let mut run = Run::new(program, limits);
    run.start(FunctionId(0), &[argument]).unwrap();
    let mut json = String::new();
    let Step::Done(outcome) = run.step() else { panic!("it calls nothing") };
    outcome.write_json(&mut json).unwrap();
    (json, run.memory_used())
}

#[test]
fn values_nest_as_deep_as_may_be_asked_for_and_no_deeper() {
    let wrap = program("; fn f(a: thing) -> thing\nRET LIST 1 REF 0\n");
    let arena = ilo_asm::arena::Arena::new();
    let nested = |depth: usize| {
        let mut value = Datum::Nil;
        for _ in 0..depth {
            value = Datum::List(arena.alloc_slice_copy(&[value]));
        }
        value
    };
    let asked = Limits { value_depth: usize::MAX, ..Limits::default() };
    let most = limits::VALUE_DEPTH;
    assert!(ran(&wrap, nested(most - 1), asked.clone()).0.starts_with("{\"status\":\"ok\""));
    assert!(ran(&wrap, nested(most), asked).0.contains("\"code\":\"depth\""));
}

/// A loop that creates texts and drops them: the heap is cleared when a certain part of the memory is in use,
/// and not before.
#[test]
fn a_heap_is_cleared_when_a_part_of_its_memory_is_taken() {
    let text = "x".repeat(1 << 10);
    let program = program(&format!(
        "; fn f(l: list thing) -> number\n; Vars: 0=l 1=i 2=t 3=n\nLET 3 LIT 1 0\nFOR 1 REF 0 2\n\
         \x20 LET 2 CONCAT REF 1 LIT 0 \"{text}\"\n  LET 3 ADD REF 3 LEN REF 2\nRET REF 3\n"
    ));
    let took = |passes: usize, memory: u64| {
        let items = vec![Datum::Int(1); passes];
        let (outcome, took) = ran(&program, Datum::List(&items), Limits { memory, ..Limits::default() });
        assert!(outcome.starts_with("{\"status\":\"ok\""), "{outcome}");
        took
    };
    let memory: u64 = 4 << 20;
    // The memory without any clearing.
    let all = |passes| took(passes, 1 << 30);
    let part = memory / limits::CLEARED_FIRST;
    let least = (1..1 << 14).find(|&passes| all(passes) > part).unwrap();
    assert_eq!(took(least - 1, memory), all(least - 1), "less than the part is left alone");
    assert!(all(8 * least) > 4 * memory, "it makes more than it may hold");
    assert!(took(8 * least, memory) <= part, "the memory was cleared");
}

/// A list that is kept and grows: a run continues as long as clearing leaves the minimum, and then ends with
/// a fault.
#[test]
fn a_run_ends_when_clearing_leaves_too_little() {
    let keep = program(
        "; fn f(a: thing) -> number\n; Vars: 0=a 1=b 2=i\nLET 1 LIST 0\n\
         FOR 2 REF 0 1\n  LET 1 APPEND REF 1 CONCAT REF 2 LIT 0 \"0123456789012345678901234567890123456789\"\n\
         RET LEN REF 1\n",
    );
    let memory: u64 = 1 << 20;
    let outcome = |passes: usize| {
        let items = vec![Datum::Int(1); passes];
        ran(&keep, Datum::List(&items), Limits { memory, ..Limits::default() })
    };
    let fits = |passes: usize| outcome(passes).0.starts_with("{\"status\":\"ok\"");
    let (mut most, mut least) = (1_usize, 1 << 14);
    assert!(fits(most) && outcome(least).0.contains("\"code\":\"memory\""));
    while least - most > 1 {
        let middle = usize::midpoint(most, least);
        if fits(middle) { most = middle } else { least = middle }
    }
    // One more pass needs a few hundred bytes, so the run stopped because so little was left.
    let (_, used) = outcome(most);
    assert!(used <= memory, "{used}");
    assert!(used >= memory - 2 * memory / limits::CLEARED_LEAST, "{used}");
}
