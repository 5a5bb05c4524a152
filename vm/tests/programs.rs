//! Whole programs: their calls and outcomes.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use crate::common::*;
use ilo_spec::isa::Op;
use ilo_vm::{Datum, FunctionId, Limits, Number, Program, Run, Step};

#[test]
fn total_adds_the_tax() {
    let mut asm = Asm::new(&["price", "quantity", "rate"]);
    let code = [
        Op::Mul { dst: Out(3), a: In(0), b: In(1) },
        Op::Mul { dst: Out(4), a: In(3), b: In(2) },
        Op::ReturnAdd { a: In(3), b: In(4) },
    ];
    asm.function("total", &["price", "quantity", "rate"], PLAIN, 5, &code);
    let outcome = outcome(asm, &[Datum::Int(10), Datum::Double(20.5), Datum::Double(0.25)], NO_TOOLS);
    assert_eq!(outcome, r#"{"status":"ok","value":256.25}"#);
}

#[test]
fn notify_takes_every_branch() {
    const VERIFIED: &[(&str, Datum<'static>)] =
        &[("email", Datum::Text("a@b.c")), ("verified", Datum::Bool(true))];
    const UNVERIFIED: &[(&str, Datum<'static>)] = &[("verified", Datum::Nil), ("email", Datum::Nil)];
    type Answer = Result<Datum<'static>, &'static str>;
    let cases: [(Answer, Answer, &str); 4] = [
        (Ok(Datum::Record(VERIFIED)), Ok(Datum::Nil), r#"{"status":"ok","value":null}"#),
        (
            Err("no such user"),
            Ok(Datum::Nil),
            r#"{"status":"err","error":"User lookup failed: no such user"}"#,
        ),
        (Ok(Datum::Record(UNVERIFIED)), Ok(Datum::Nil), r#"{"status":"err","error":"Email not verified"}"#),
        (Ok(Datum::Record(VERIFIED)), Err("down"), r#"{"status":"err","error":"Send failed: down"}"#),
    ];
    for (user, sent, expected) in cases {
        let tools = |tool: &str, arguments: &str| {
            let (expected, answer) = if tool == "get-user" {
                (r#"{"user-id":"u1"}"#, user)
            } else {
                (r#"{"email":"a@b.c","subject":"Notification","body":"hello"}"#, sent)
            };
            assert_eq!(arguments, expected);
            answer
        };
        let found = outcome(notify(), &[Datum::Text("u1"), Datum::Text("hello")], &tools);
        assert_eq!(found, expected);
    }
}

/// A loop over numbers: each doubled, collected if it is at least ten.
fn doubled() -> Asm {
    let mut asm = Asm::new(&["numbers"]);
    for number in [2.0, 10.0] {
        asm.double(number);
    }
    let code = [
        Op::For { base: LoopBase(1), list: In(0), to: To(2) },
        Op::MulCUnlessGeC { dst: Out(5), a: In(4), by: NumberByte(0), least: NumberByte(1), to: To(1) },
        Op::Yield { base: LoopBase(1), src: In(5) },
        Op::Next { base: LoopBase(1), item: Out(4), back: Back(3) },
        Op::Collect { dst: Out(0), base: LoopBase(1) },
        Op::Return { src: In(0) },
    ];
    asm.function("doubled", &["numbers"], PLAIN, 6, &code);
    asm
}

#[test]
fn a_loop_collects_what_it_yields() {
    let numbers = [Datum::Double(1.5), Datum::Int(5), Datum::Int(4), Datum::Double(7.25)];
    let found = outcome(doubled(), &[Datum::List(&numbers)], NO_TOOLS);
    assert_eq!(found, r#"{"status":"ok","value":[10.0,14.5]}"#);
    let found = outcome(doubled(), &[Datum::List(&[])], NO_TOOLS);
    assert_eq!(found, r#"{"status":"ok","value":[]}"#);
}

/// A rewound run has its original arguments, whatever its function did to their registers.
#[test]
fn a_run_that_is_rewound_has_its_arguments_again() {
    let base = LoopBase(1);
    let again = Op::Next { base, item: Out(0), back: Back(1) };
    let invoke =
        |first| Op::Invoke { dst: Out(4), first: First(first), function: FunctionId(0), fail: OnFail(0) };
    let codes: [&[Op]; 5] = [
        // It leaves them alone, overwrites one, has a loop overwrite one with an item and with its state, or
        // a callee.
        &[Op::Len { dst: Out(4), src: In(0) }, Op::Return { src: In(4) }],
        &[Op::Len { dst: Out(0), src: In(0) }, Op::Return { src: In(0) }],
        &[
            Op::Len { dst: Out(4), src: In(0) },
            Op::Each { base, list: In(0), to: To(0) },
            again,
            Op::Return { src: In(4) },
        ],
        &[
            Op::Len { dst: Out(4), src: In(0) },
            Op::Each { base: LoopBase(0), list: In(0), to: To(0) },
            Op::Next { base: LoopBase(0), item: Out(3), back: Back(1) },
            Op::Return { src: In(4) },
        ],
        &[invoke(0), Op::Return { src: In(4) }],
    ];
    for code in codes {
        let mut asm = Asm::new(&["items"]);
        asm.function(
            "g",
            &["items"],
            PLAIN,
            1,
            &[Op::Len { dst: Out(0), src: In(0) }, Op::Return { src: In(0) }],
        );
        asm.function("f", &["items"], PLAIN, 5, code);
        let mut run = Run::new(&asm.build(), Limits::default());
        run.start(FunctionId(1), &[Datum::List(&[Datum::Int(7), Datum::Int(8)])]).unwrap();
        for _ in 0..3 {
            assert_eq!(drive(&mut run, NO_TOOLS), r#"{"status":"ok","value":2}"#, "{code:?}");
            run.rewind();
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes hours")]
fn a_thousand_runs_wait_at_once() {
    let program = notify().build();
    let mut runs: Vec<Run> = (0..1_000)
        .map(|n| {
            let mut run = Run::new(&program, Limits::default());
            run.start(FunctionId(0), &[Datum::Text(&format!("u{n}")), Datum::Text("hello")]).unwrap();
            run
        })
        .collect();
    for run in &mut runs {
        assert!(matches!(run.step(), Step::Call(_)));
    }
    for (n, run) in runs.iter_mut().enumerate().rev() {
        let call = run.pending().unwrap();
        assert_eq!(call.argument("user-id").unwrap().as_text(), Some(format!("u{n}").as_str()));
        call.fail(&format!("no u{n}")).unwrap();
        let expected = format!(r#"{{"status":"err","error":"User lookup failed: no u{n}"}}"#);
        assert_eq!(drive(run, NO_TOOLS), expected);
    }
}

#[test]
fn a_rewound_run_does_the_same_again() {
    let program = notify().build();
    let mut run = Run::new(&program, Limits::default());
    run.start(FunctionId(0), &[Datum::Text("u1"), Datum::Text("hello")]).unwrap();
    let answer = [("email", Datum::Text("a")), ("verified", Datum::Bool(true)), ("new", Datum::Int(1))];
    let mut seen = Vec::new();
    for steps in [2, 0, 1, 2, 2, 1, 2] {
        run.rewind();
        for _ in 0..steps {
            match run.step() {
                Step::Call(call) => call.answer(&answer[..]).unwrap(),
                Step::Done(_) => unreachable!("two calls"),
            }
        }
        if steps == 2 {
            assert_eq!(drive(&mut run, NO_TOOLS), r#"{"status":"ok","value":null}"#);
            seen.push((run.fuel_used(), run.memory_used()));
        }
    }
    assert!(seen.iter().all(|one| *one == seen[0]), "what is charged is the same each time: {seen:?}");
    let mut fresh = Run::new(&program, Limits::default());
    fresh.start(FunctionId(0), &[Datum::Text("u1"), Datum::Text("hello")]).unwrap();
    for _ in 0..2 {
        let Step::Call(call) = fresh.step() else { unreachable!("two calls") };
        call.answer(&answer[..]).unwrap();
    }
    drive(&mut fresh, NO_TOOLS);
    assert_eq!((fresh.fuel_used(), fresh.memory_used()), seen[0], "and the same in a fresh run");
}

#[test]
fn a_host_reads_numbers_calls_ends_and_packed_programs() {
    let program = Program::load(&notify().build().to_bytes()).unwrap();
    let mut run = Run::new(&program, Limits::default());
    assert!(run.outcome().is_none(), "nothing has run");
    run.start(FunctionId(0), &[Datum::Text("u1"), Datum::Text("hello")]).unwrap();
    let Step::Call(call) = run.step() else { unreachable!("two calls") };
    assert_eq!((call.number(), call.tool()), (1, "get-user"));
    let answer = [("email", Datum::Int(7)), ("verified", Datum::Bool(true))];
    call.answer(&answer[..]).unwrap();
    let Step::Call(call) = run.step() else { unreachable!("two calls") };
    assert_eq!(call.number(), 2);
    let email = call.argument("email").unwrap();
    assert_eq!(
        (email.as_i64(), email.as_f64(), email.as_number()),
        (Some(7), Some(7.0), Some(Number::Int(7)))
    );
    assert_eq!(call.argument("body").unwrap().as_f64(), None);
    let mut kept = Vec::new();
    run.snapshot(&mut kept).unwrap();
    assert!(run.outcome().is_none(), "it waits");
    // In another process, the number of the call is the same.
    let mut run = Run::from_snapshot(&program, &kept, Limits::default()).unwrap();
    let call = run.pending().unwrap();
    assert_eq!(call.number(), 2);
    call.answer(Datum::Nil).unwrap();
    assert!(matches!(run.step(), Step::Done(_)));
    assert!(run.outcome().is_some_and(|outcome| outcome.ok().is_some_and(|value| value.is_nil())));
}

/// A break at the first number from 2 on takes what its loop, or the one around it, has collected.
#[test]
fn a_break_keeps_what_was_collected() {
    let (outer, inner) = (LoopBase(2), LoopBase(6));
    let lists = [l(&[Datum::Int(1)]), l(&[]), l(&[Datum::Int(1), Datum::Int(2), Datum::Int(1)]), l(&[])];
    for (broken, arguments, expected) in [
        (inner, &lists[..], "[1]"),
        (outer, &lists[..], "[[1],[]]"),
        (inner, &lists[2..], "[1]"),
        (outer, &lists[2..], "[]"),
        (inner, &lists[..2], "[[1],[]]"),
    ] {
        let mut asm = Asm::new(&["a", "b"]);
        let limit = asm.int(2);
        let code = [
            Op::For { base: outer, list: In(0), to: To(7) },
            Op::For { base: inner, list: In(5), to: To(3) },
            Op::UnlessGeC { a: In(9), number: limit, to: To(1) },
            Op::Break { dst: Out(0), base: broken, to: To(6) },
            Op::Yield { base: inner, src: In(9) },
            Op::Next { base: inner, item: Out(9), back: Back(4) },
            Op::Collect { dst: Out(9), base: inner },
            Op::Yield { base: outer, src: In(9) },
            Op::Next { base: outer, item: Out(5), back: Back(8) },
            Op::Collect { dst: Out(0), base: outer },
            Op::Return { src: In(0) },
        ];
        asm.function("f", &["a", "b"], PLAIN, 10, &code);
        assert_eq!(short(&outcome(asm, &[l(arguments), NIL], NO_TOOLS)), expected);
    }
}

/// The list that a break took is separate when the run is suspended after it.
#[test]
fn a_broken_loop_survives_a_snapshot() {
    let base = LoopBase(1);
    let mut asm = Asm::new(&["a"]);
    let call = asm.call("tool", &["a"]);
    let limit = asm.int(3);
    let code = [
        Op::For { base, list: In(0), to: To(3) },
        Op::UnlessGeC { a: In(4), number: limit, to: To(1) },
        Op::Break { dst: Out(5), base, to: To(4) },
        Op::Yield { base, src: In(4) },
        Op::Next { base, item: Out(4), back: Back(4) },
        Op::Nil { dst: Out(5) },
        Op::Jump { to: To(0) },
        Op::Append { dst: Out(6), list: In(5), item: In(0) },
        Op::Tool { dst: Out(7), first: First(5), call, fail: OnFail(0) },
        Op::List { dst: Out(5), first: First(5), count: Count(3) },
        Op::Return { src: In(5) },
    ];
    asm.function("f", &["a"], PLAIN, 8, &code);
    let program = asm.build();
    let mut run = Run::new(&program, Limits::default());
    run.start(FunctionId(0), &[l(&[i(1), i(2), i(3), i(1)])]).unwrap();
    assert!(matches!(run.step(), Step::Call(_)));
    let mut snapshot = Vec::new();
    run.snapshot(&mut snapshot).unwrap();
    let mut restored = Run::from_snapshot(&program, &snapshot, Limits::default()).unwrap();
    for run in [&mut run, &mut restored] {
        run.pending().unwrap().answer(NIL).unwrap();
        assert_eq!(short(&drive(run, NO_TOOLS)), "[[1,2],[1,2,[1,2,3,1]],null]");
    }
}
