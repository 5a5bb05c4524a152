//! Snapshots: their content, their size, and everything that is refused.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use crate::common::*;
use ilo_spec::isa::Op;
use ilo_spec::operand::CallId;
use ilo_vm::{Datum, FunctionId, Limits, NotWaiting, Program, RestoreError, Run, Step, seal};

const USER: &[(&str, Datum<'static>)] = &[("email", Datum::Text("a@b.c")), ("verified", Datum::Bool(true))];

/// The notify program with a user-id of two bytes and a message of five, at its first call.
fn waiting(program: &Program) -> Run {
    let mut run = Run::new(program, Limits::default());
    run.start(FunctionId(0), &[Datum::Text("u1"), Datum::Text("hello")]).unwrap();
    assert!(matches!(run.step(), Step::Call(_)));
    run
}

fn snapshot(run: &Run) -> Vec<u8> {
    let mut bytes = Vec::new();
    run.snapshot(&mut bytes).unwrap();
    bytes
}

#[test]
fn notify_is_small_at_both_calls_and_goes_on_as_it_would_have() {
    let program = notify().build();
    let mut run = waiting(&program);
    let first = snapshot(&run);
    assert!(first.len() <= 128, "{} bytes", first.len());
    let mut other = Run::from_snapshot(&program, &first, Limits::default()).unwrap();
    for run in [&mut run, &mut other] {
        let call = run.pending().unwrap();
        assert_eq!(call.tool(), "get-user");
        assert_eq!(call.argument("user-id").unwrap().as_text(), Some("u1"));
        call.answer(Datum::Record(USER)).unwrap();
        assert!(matches!(run.step(), Step::Call(_)));
    }
    let second = snapshot(&other);
    assert_eq!(second, snapshot(&run), "the same run, the same bytes");
    assert!(second.len() <= 135, "{} bytes", second.len());
    run.restore(&second).unwrap();
    let call = run.pending().unwrap();
    let mut json = String::new();
    call.write_json(&mut json).unwrap();
    assert_eq!(json, r#"{"email":"a@b.c","subject":"Notification","body":"hello"}"#);
    call.fail("down").unwrap();
    assert_eq!(drive(&mut run, NO_TOOLS), r#"{"status":"err","error":"Send failed: down"}"#);
    other.pending().unwrap().fail("down").unwrap();
    assert_eq!(drive(&mut other, NO_TOOLS), r#"{"status":"err","error":"Send failed: down"}"#);
    assert_eq!(run.fuel_used(), other.fuel_used());
}

#[test]
fn only_a_run_that_waits_has_a_snapshot() {
    let program = notify().build();
    let mut bytes = vec![1];
    let mut run = Run::new(&program, Limits::default());
    assert_eq!(run.snapshot(&mut bytes), Err(NotWaiting));
    assert_eq!(bytes, []);
    run.start(FunctionId(0), &[Datum::Text("u1"), Datum::Text("hello")]).unwrap();
    assert_eq!(run.snapshot(&mut bytes), Err(NotWaiting));
    assert!(matches!(run.step(), Step::Call(_)));
    assert_eq!(run.snapshot(&mut bytes), Ok(()));
    run.pending().unwrap().fail("no").unwrap();
    drive(&mut run, NO_TOOLS);
    assert_eq!(run.snapshot(&mut bytes), Err(NotWaiting));
}

#[test]
fn a_snapshot_belongs_to_its_program() {
    let program = notify().build();
    let bytes = snapshot(&waiting(&program));
    let mut other = notify();
    other.text("one more string");
    let other = other.build();
    let error = Run::from_snapshot(&other, &bytes, Limits::default()).unwrap_err();
    assert!(matches!(error, RestoreError::OtherProgram { .. }), "{error}");
    assert_eq!(error.code().as_str(), "bad-snapshot");
    let mut magic = bytes.clone();
    magic[0] = b'I';
    assert_eq!(Run::from_snapshot(&program, &magic, Limits::default()).unwrap_err(), RestoreError::Magic);
    let mut version = bytes.clone();
    version[4] = 2;
    let error = Run::from_snapshot(&program, &version, Limits::default()).unwrap_err();
    assert_eq!(error.to_string(), "expected a snapshot of version 1, found 2");
    let mut longer = bytes;
    longer.push(0);
    assert_eq!(Run::from_snapshot(&program, &longer, Limits::default()).unwrap_err(), RestoreError::Damaged);
}

#[test]
fn what_was_used_stays_used_and_there_is_nothing_to_rewind_to() {
    let program = notify().build();
    let run = waiting(&program);
    let bytes = snapshot(&run);
    let little = Limits { fuel: run.fuel_used(), tool_calls: 1, ..Limits::default() };
    let mut other = Run::from_snapshot(&program, &bytes, little).unwrap();
    assert_eq!(other.fuel_used(), run.fuel_used());
    other.rewind();
    other.pending().unwrap().answer(Datum::Bool(true)).unwrap();
    assert!(drive(&mut other, NO_TOOLS).contains("type-mismatch"));
    let mut other =
        Run::from_snapshot(&program, &bytes, Limits { tool_calls: 1, ..Limits::default() }).unwrap();
    other.pending().unwrap().answer(Datum::Record(USER)).unwrap();
    assert!(drive(&mut other, NO_TOOLS).contains("too-many-calls"));
    let error =
        Run::from_snapshot(&program, &bytes, Limits { memory: 100, ..Limits::default() }).unwrap_err();
    assert_eq!(error.code().as_str(), "memory");
    let error = Run::from_snapshot(&program, &bytes, Limits { text: 4, ..Limits::default() }).unwrap_err();
    assert_eq!(error.code().as_str(), "too-large");
}

/// f(a): calls a tool, with or without `a`, then returns `a`.
fn echo(with: bool) -> Program {
    let mut asm = Asm::new(&["a"]);
    asm.call("tool", if with { &["a"] } else { &[] });
    let code = [
        Op::Tool { dst: Out(1), first: First(0), call: CallId(0), fail: OnFail(0) },
        Op::Return { src: In(0) },
    ];
    asm.function("f", &["a"], PLAIN, 2, &code);
    asm.build()
}

/// A snapshot of `echo` in which `a` is these bytes.
fn forged(program: &Program, value: &[u8]) -> Vec<u8> {
    let mut run = Run::new(program, Limits::default());
    run.start(FunctionId(0), &[Datum::Nil]).unwrap();
    assert!(matches!(run.step(), Step::Call(_)));
    let plain = snapshot(&run);
    // Before the value: magic, version, program, and six numbers; after it: no notes, and the checksum.
    assert_eq!((plain.len(), plain[19]), (29, 0));
    let mut bytes = [&plain[..19], value, &[0; 9]].concat();
    seal(&mut bytes);
    bytes
}

#[test]
fn values_are_what_their_bytes_say() {
    let program = echo(false);
    let cases: [(&[u8], &str); 12] = [
        (&[2], "true"),
        (&[3, 5], "-3"),
        (&[4, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f], "1.5"),
        (&[5, 2, 0xc3, 0xa9], r#""é""#),
        (&[5, 0], r#""""#),
        (&[7, 1], r#""tool""#),
        (&[8, 2, 5, 1, b'x', 6, 0], r#"["x","x"]"#),
        (&[8, 0], "[]"),
        // A list of two; another list has only its first item; the second item is a list that contains the
        // other list.
        (&[9, 1, 2, 4, 0, 8, 1, 12, 0, 1], "[null]"),
        (&[9, 2, 2, 2, 0, 8, 1, 12, 0, 1], "[null,[[null]]]"),
        (&[8, 2, 11, 0, 1, 1, 1, b'x', 0, 11, 0, 2], r#"[{"x":null},{"x":true}]"#),
        (&[8, 3, 8, 1, 2, 12, 1, 11, 0, 1, 0, 12, 1], r#"[[true],[true],{"a":[true]}]"#),
    ];
    for (value, expected) in cases {
        let mut run = Run::from_snapshot(&program, &forged(&program, value), Limits::default()).unwrap();
        let again = snapshot(&run);
        run.pending().unwrap().answer(Datum::Nil).unwrap();
        let expected = format!(r#"{{"status":"ok","value":{expected}}}"#);
        assert_eq!(drive(&mut run, NO_TOOLS), expected);
        run.restore(&again).unwrap();
        run.pending().unwrap().answer(Datum::Nil).unwrap();
        assert_eq!(drive(&mut run, NO_TOOLS), expected);
    }
}

#[test]
fn values_that_break_a_rule_are_refused() {
    let program = echo(false);
    let cases: [(&[u8], &str); 18] = [
        (&[13], "the tag of a value"),
        (&[4, 0, 0, 0, 0, 0, 0, 0xf0, 0x7f], "a finite number"),
        (&[5, 2, 0xff, 0xff], "not UTF-8"),
        (&[5, 9, b'x'], "at most 2 bytes, found 9"),
        (&[6, 0], "the number of a text before"),
        (&[7, 3], "the number of a string"),
        (&[8, 9, 0], "at most 2 items, found 9"),
        (&[8, 2, 0], "at byte 23: the bytes end too early"),
        // A list in itself, and one that has more items than exist.
        (&[8, 1, 12, 0], "a list or record that is whole"),
        (&[9, 1, 1, 4, 12, 0, 1], "a length of what is there of the list"),
        (&[9, 2, 1, 4, 0], "a length of the list within its items"),
        (&[9, 1, 1, 5, 0], "places for as many items"),
        (&[9, 1, 1, 0, 0], "places for as many items"),
        (&[10, 1], "the number of a shape"),
        (&[11, 1, 0], "the number of a shape before, or the next"),
        (&[11, 0, 2, 1, 1, b'x', 1, 0, 0], "every field of a shape once"),
        (&[11, 0, 1, 3, 1, b'x', 0], "the number of a name before, or the next"),
        (&[0, 0], "the end, found 1"),
    ];
    for (value, expected) in cases {
        let error = Run::from_snapshot(&program, &forged(&program, value), Limits::default()).unwrap_err();
        let message = error.to_string();
        assert!(message.contains(expected), "{value:?}: {message}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes hours")]
fn depth_and_size_keep_to_the_limits() {
    let nested = |depth: usize| [[8, 1].repeat(depth - 1), vec![8, 0]].concat();
    let program = echo(false);
    assert!(Run::from_snapshot(&program, &forged(&program, &nested(128)), Limits::default()).is_ok());
    let error = Run::from_snapshot(&program, &forged(&program, &nested(129)), Limits::default()).unwrap_err();
    assert_eq!(error.code().as_str(), "depth");
    let many = [vec![8, 4], vec![0; 4]].concat();
    let within = |items| Limits { items, ..Limits::default() };
    assert!(Run::from_snapshot(&program, &forged(&program, &many), within(4)).is_ok());
    let error = Run::from_snapshot(&program, &forged(&program, &many), within(3)).unwrap_err();
    assert_eq!(error.code().as_str(), "too-large");
    // Forty lists of two, each holding the one before twice, as an argument of the call.
    let mut shared = [8, 2].repeat(40);
    shared.extend([8, 0, 8, 0]);
    for inner in (1..40).rev() {
        shared.extend([12, inner]);
    }
    assert!(Run::from_snapshot(&program, &forged(&program, &shared), Limits::default()).is_ok());
    let program = echo(true);
    let error = Run::from_snapshot(&program, &forged(&program, &shared), Limits::default()).unwrap_err();
    assert_eq!(error.code().as_str(), "too-large");
}

/// Builds a list of all prefixes of a list in a loop, then calls a tool and returns everything.
fn beginnings() -> Asm {
    let mut asm = Asm::new(&["items"]);
    asm.call("tool", &[]);
    let base = LoopBase(1);
    let code = [
        Op::List { dst: Out(5), first: First(0), count: Count(0) },
        Op::Move { dst: Out(6), src: In(5) },
        Op::Each { base, list: In(0), to: To(2) },
        Op::Append { dst: Out(5), list: In(5), item: In(4) },
        Op::Append { dst: Out(6), list: In(6), item: In(5) },
        Op::Next { base, item: Out(4), back: Back(3) },
        Op::Tool { dst: Out(7), first: First(0), call: CallId(0), fail: OnFail(0) },
        Op::Append { dst: Out(6), list: In(6), item: In(7) },
        Op::Return { src: In(6) },
    ];
    asm.function("f", &["items"], PLAIN, 8, &code);
    asm
}

#[test]
#[cfg_attr(miri, ignore = "takes hours")]
fn shared_parts_stay_shared() {
    let program = beginnings().build();
    let texts: Vec<String> = (0..1_000).map(|number| format!("text {}", number % 40)).collect();
    let items: Vec<Datum<'_>> = texts.iter().map(|text| Datum::Text(text)).collect();
    let mut run = Run::new(&program, Limits { memory: 1 << 30, ..Limits::default() });
    run.start(FunctionId(0), &[Datum::List(&items)]).unwrap();
    assert!(matches!(run.step(), Step::Call(_)));
    let bytes = snapshot(&run);
    assert!(bytes.len() < 30_000, "half a million items in {} bytes", bytes.len());
    let mut other =
        Run::from_snapshot(&program, &bytes, Limits { memory: 1 << 30, ..Limits::default() }).unwrap();
    assert!(other.memory_used() < 200_000, "{}", other.memory_used());
    for run in [&mut run, &mut other] {
        run.pending().unwrap().answer(Datum::Int(7)).unwrap();
    }
    assert_eq!(drive(&mut other, NO_TOOLS), drive(&mut run, NO_TOOLS));
    assert_eq!(other.fuel_used(), run.fuel_used());
}

#[test]
fn many_shapes_and_names_go_along() {
    let program = echo(false);
    let names: Vec<String> = (0..200).map(|number| format!("field {number}")).collect();
    let fields: Vec<Vec<(&str, Datum<'_>)>> = (0..100)
        .map(|first| names[first..first + 50].iter().map(|name| (name.as_str(), Datum::Int(1))).collect())
        .collect();
    let records: Vec<Datum<'_>> = fields.iter().map(|fields| Datum::Record(fields)).collect();
    let mut run = Run::new(&program, Limits::default());
    run.start(FunctionId(0), &[Datum::List(&records)]).unwrap();
    assert!(matches!(run.step(), Step::Call(_)));
    let mut other = Run::from_snapshot(&program, &snapshot(&run), Limits::default()).unwrap();
    for run in [&mut run, &mut other] {
        run.pending().unwrap().answer(Datum::Nil).unwrap();
    }
    assert_eq!(drive(&mut other, NO_TOOLS), drive(&mut run, NO_TOOLS));
}
