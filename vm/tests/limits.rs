//! Every limit at n and n + 1, and what is charged.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use crate::common::*;
use ilo_spec::isa::Op;
use ilo_spec::operand::{FieldId, ShapeId, StringId};
use ilo_spec::types::Type;
use ilo_vm::{BuildError, Datum, FunctionId, Limits, Misuse, Program, Run, StartError, Step};

const RETURN: Op = Op::Return { src: In(0) };
const NIL: Datum<'static> = Datum::Nil;

fn code_of(outcome: &str) -> &str {
    match outcome.strip_prefix(r#"{"status":"fault","code":""#) {
        Some(rest) => rest.split('"').next().unwrap_or_default(),
        None => "ok",
    }
}

/// Runs f(a, b) with eight registers under limits.
fn run(code: &[Op], arguments: &[Datum<'_>; 2], limits: Limits, answer: Datum<'static>) -> String {
    let mut asm = Asm::new(&["a", "b"]);
    asm.call("tool", &[]);
    asm.shape(&["a", "b"]);
    asm.function("f", &["a", "b"], PLAIN, 8, code);
    let outcome = outcome_within(asm, arguments, &|_, _| Ok(answer), limits);
    code_of(&outcome).to_string()
}

#[test]
fn text() {
    let code = [Op::Concat { dst: Out(0), first: First(0), count: Count(2) }, RETURN];
    let arguments = [Datum::Text("abc"), Datum::Text("de")];
    assert_eq!(run(&code, &arguments, Limits { text: 5, ..Limits::default() }, NIL), "ok");
    assert_eq!(run(&code, &arguments, Limits { text: 4, ..Limits::default() }, NIL), "too-large");
}

#[test]
fn items() {
    let append = [Op::Append { dst: Out(0), list: In(0), item: In(1) }, RETURN];
    let list = [Op::List { dst: Out(0), first: First(0), count: Count(2) }, RETURN];
    let record = [Op::Merge { dst: Out(0), src: In(0), first: First(0), shape: ShapeId(1) }, RETURN];
    let one = [Datum::Int(1)];
    let fields = [("z", Datum::Int(1))];
    for (code, a, most) in
        [(append, Datum::List(&one), 2), (list, NIL, 2), (record, Datum::Record(&fields), 3)]
    {
        assert_eq!(run(&code, &[a, NIL], Limits { items: most, ..Limits::default() }, NIL), "ok");
        assert_eq!(run(&code, &[a, NIL], Limits { items: most - 1, ..Limits::default() }, NIL), "too-large");
    }
}

#[test]
fn depth() {
    let inner = [Datum::Int(1)];
    let outer = [Datum::List(&inner)];
    let a = Datum::List(&outer);
    let record = [Op::Record { dst: Out(0), first: First(0), shape: ShapeId(1) }, RETURN];
    let list = [Op::List { dst: Out(0), first: First(0), count: Count(1) }, RETURN];
    let append = [
        Op::List { dst: Out(2), first: First(0), count: Count(0) },
        Op::Append { dst: Out(0), list: In(2), item: In(0) },
        RETURN,
    ];
    let fields = [("z", Datum::Int(1))];
    let merge = [Op::Merge { dst: Out(0), src: In(1), first: First(0), shape: ShapeId(1) }, RETURN];
    let base = LoopBase(2);
    let yielded = [
        Op::For { base, list: In(0), to: To(1) },
        Op::Yield { base, src: In(0) },
        Op::Next { base, item: Out(5), back: Back(2) },
        Op::Collect { dst: Out(0), base },
        RETURN,
    ];
    for code in [&record[..], &list, &append, &merge, &yielded] {
        let arguments = [a, Datum::Record(&fields)];
        assert_eq!(
            run(code, &arguments, Limits { value_depth: 3, ..Limits::default() }, NIL),
            "ok",
            "{code:?}"
        );
        let found = run(code, &arguments, Limits { value_depth: 2, ..Limits::default() }, NIL);
        assert_eq!(found, "depth", "{code:?}");
    }
}

#[test]
fn registers_are_taken_before_anything_runs() {
    // 258 registers and eight of the function, two arguments: 16 bytes each.
    const TAKEN: u64 = (258 + 8 + 2) * 16;
    let mut asm = Asm::new(&["a", "b"]);
    asm.function("f", &["a", "b"], PLAIN, 8, &[RETURN]);
    let program = asm.build();
    let start =
        |memory| Run::new(&program, Limits { memory, ..Limits::default() }).start(FunctionId(0), &[NIL, NIL]);
    assert_eq!(start(TAKEN), Ok(()));
    let refused = start(TAKEN - 1).unwrap_err();
    assert!(matches!(refused, StartError::Registers { .. }), "{refused}");
    assert_eq!(refused.code().as_str(), "memory");
}

#[test]
fn what_ends_a_run_in_a_rollback_says_so() {
    let (call, fail) = (ilo_spec::operand::CallId(0), OnFail(1));
    let undo = Op::Tool { dst: Out(2), first: First(2), call, fail };
    let noted = [undo, Op::Jump { to: To(1) }, Op::Note { src: In(2), tool: StringId(0) }, Op::ReturnNil {}];
    let mut asm = Asm::new(&["a", "b"]);
    asm.call("tool", &[]);
    asm.function(
        "undoes",
        &[],
        PLAIN,
        8,
        &[Op::Tool { dst: Out(0), first: First(2), call, fail: OnFail(0) }, RETURN],
    );
    asm.function("calls", &[], PLAIN, 8, &noted);
    let invoke = Op::Invoke { dst: Out(2), first: First(2), function: FunctionId(0), fail };
    let mut invoked = noted;
    invoked[0] = invoke;
    asm.function("invokes", &[], PLAIN, 8, &invoked);
    let program = asm.build();
    for (function, unfinished) in [(0, false), (1, true), (2, true)] {
        let mut run = Run::new(&program, Limits { tool_calls: 0, ..Limits::default() });
        run.start(FunctionId(function), &[]).unwrap();
        let outcome = drive(&mut run, NO_TOOLS);
        let end = "tool calls; a rollback was not finished";
        assert_eq!((code_of(&outcome), outcome.contains(end)), ("too-many-calls", unfinished), "{outcome}");
    }
}

#[test]
fn tool_calls_and_their_results() {
    const FIELDS: &[(&str, Datum<'static>)] =
        &[("ab", Datum::Text("cde")), ("f", Datum::List(&[Datum::Nil]))];
    const ANSWER: Datum<'static> = Datum::Record(FIELDS);
    let tool = Op::Tool { dst: Out(0), first: First(0), call: ilo_spec::operand::CallId(0), fail: OnFail(0) };
    let twice = [tool, tool, RETURN];
    let with = |change: &dyn Fn(&mut Limits)| {
        let mut limits = Limits::default();
        change(&mut limits);
        run(&twice, &[NIL, NIL], limits, ANSWER)
    };
    assert_eq!(with(&|l| l.tool_calls = 2), "ok");
    assert_eq!(with(&|l| l.tool_calls = 1), "too-many-calls");
    // The record, its text, its list and nil; names and text are six bytes.
    assert_eq!(with(&|l| l.result_nodes = 4), "ok");
    assert_eq!(with(&|l| l.result_nodes = 3), "too-large");
    assert_eq!(with(&|l| l.result_bytes = 6), "ok");
    assert_eq!(with(&|l| l.result_bytes = 5), "too-large");
    assert_eq!(with(&|l| l.value_depth = 2), "ok");
    assert_eq!(with(&|l| l.value_depth = 1), "depth");
    assert_eq!(with(&|l| l.text = 3), "ok");
    assert_eq!(with(&|l| l.text = 2), "too-large");
    assert_eq!(with(&|l| l.items = 2), "ok");
    assert_eq!(with(&|l| l.items = 1), "too-large");
}

/// What a program needs is enough, and one less is not.
fn exactly(asm: impl Fn() -> Asm, arguments: &[Datum<'_>], tools: Tool<'_>) {
    let program = asm().build();
    let last = FunctionId(u16::try_from(program.spec().functions.len() - 1).unwrap());
    let mut run = Run::new(&program, Limits::default());
    run.start(last, arguments).unwrap();
    let expected = drive(&mut run, tools);
    let (fuel, memory) = (run.fuel_used(), run.memory_used());
    assert!(fuel > 0 && memory > 0);
    let within = |limits: Limits| {
        let mut run = Run::new(&program, limits);
        match run.start(last, arguments) {
            Ok(()) => drive(&mut run, tools),
            Err(error) => error.code().as_str().to_string(),
        }
    };
    assert_eq!(within(Limits { fuel, ..Limits::default() }), expected);
    assert_eq!(code_of(&within(Limits { fuel: fuel - 1, ..Limits::default() })), "fuel");
    assert_eq!(within(Limits { memory, ..Limits::default() }), expected);
    // Growth takes what is left if that is less than double, so a run may need less than it was charged, but
    // never more; and with no memory it does not start.
    assert_eq!(within(Limits { memory: 0, ..Limits::default() }), "memory");
    let mut lower = memory;
    while within(Limits { memory: lower, ..Limits::default() }) == expected {
        lower -= 1;
    }
    let found = within(Limits { memory: lower, ..Limits::default() });
    assert!(found == "memory" || code_of(&found) == "memory", "{found}");
}

#[test]
#[cfg_attr(miri, ignore = "takes hours")]
fn fuel_and_memory() {
    const USER: &[(&str, Datum<'static>)] = &[
        ("email", Datum::Text("a")),
        ("verified", Datum::Bool(true)),
        ("rest", Datum::List(&[Datum::Int(1)])),
    ];
    let answer = |tool: &str, _: &str| if tool == "get-user" { Ok(Datum::Record(USER)) } else { Err("down") };
    exactly(notify, &[Datum::Text("u"), Datum::Text("m")], &answer);
    let growing = || {
        let mut asm = Asm::new(&["a"]);
        let base = LoopBase(1);
        let code = [
            Op::List { dst: Out(5), first: First(0), count: Count(0) },
            Op::Each { base, list: In(0), to: To(2) },
            Op::Append { dst: Out(5), list: In(5), item: In(4) },
            Op::Concat { dst: Out(6), first: First(4), count: Count(2) },
            Op::Next { base, item: Out(4), back: Back(3) },
            Op::Return { src: In(5) },
        ];
        asm.function("f", &["a"], PLAIN, 7, &code);
        asm
    };
    let items: Vec<Datum<'_>> = (0..40).map(Datum::Int).collect();
    exactly(growing, &[Datum::List(&items)], NO_TOOLS);
}

#[test]
#[cfg_attr(miri, ignore = "takes hours")]
fn a_value_that_would_fill_a_disk_does_not_leave() {
    // Forty lists of two, each holding the previous one twice: a million million values in a hundred places.
    let mut code = vec![Op::Move { dst: Out(2), src: In(0) }, Op::Move { dst: Out(3), src: In(0) }];
    for _ in 0..40 {
        code.push(Op::List { dst: Out(2), first: First(2), count: Count(2) });
        code.push(Op::Move { dst: Out(3), src: In(2) });
    }
    let mut returning = code.clone();
    returning.push(Op::Return { src: In(2) });
    assert_eq!(run(&returning, &[NIL, NIL], Limits::default(), NIL), "too-large");
    let mut joining = code.clone();
    joining.push(Op::Concat { dst: Out(2), first: First(2), count: Count(2) });
    joining.push(Op::Return { src: In(2) });
    assert_eq!(run(&joining, &[NIL, NIL], Limits::default(), NIL), "too-large");
    let mut comparing = code;
    comparing.push(Op::List { dst: Out(3), first: First(2), count: Count(1) });
    comparing.push(Op::At { dst: Out(4), list: In(3), index: In(1) });
    comparing.push(Op::List { dst: Out(2), first: First(2), count: Count(2) });
    comparing.push(Op::List { dst: Out(3), first: First(2), count: Count(2) });
    comparing.push(Op::Eq { dst: Out(2), a: In(2), b: In(3) });
    comparing.push(Op::Return { src: In(2) });
    let found = run(&comparing, &[NIL, Datum::Int(0)], Limits::default(), NIL);
    assert!(found == "ok" || found == "fuel", "it ends: {found}");
}

#[test]
fn inputs_are_checked() {
    let mut asm = Asm::new(&["n", "texts", "any"]);
    let texts = Type::TEXT.list().unwrap();
    asm.typed_function(
        "f",
        &[("n", Type::NUMBER), ("texts", texts), ("any", Type::ANY)],
        PLAIN,
        3,
        &[RETURN],
    );
    let program = asm.build();
    let f = FunctionId(0);
    let mut run = Run::new(&program, Limits::default());
    let (one, list) = (Datum::Int(1), [Datum::Text("a"), Datum::Text("b")]);
    let mixed = [Datum::Text("a"), Datum::Nil];
    let good = Datum::List(&list);
    assert_eq!(run.start(f, &[one, good, NIL]), Ok(()));
    let cases: [(&[Datum<'_>], &str); 6] = [
        (&[one, good], "no value for the parameter any"),
        (&[one, good, NIL, NIL], "no parameter is named 4; there are n, texts, any"),
        (&[NIL, good, NIL], "the parameter n is number, found nil"),
        (&[one, Datum::List(&mixed), NIL], "the parameter texts is list text, found nil"),
        (&[one, one, NIL], "the parameter texts is list text, found number"),
        (&[Datum::Double(f64::INFINITY), good, NIL], "a number that is not finite"),
    ];
    for (arguments, message) in cases {
        assert_eq!(run.start(f, arguments).unwrap_err().to_string(), message);
    }
    let named = [("any", NIL), ("texts", good), ("n", one)];
    assert_eq!(run.start_named(f, &named), Ok(()));
    assert_eq!(drive(&mut run, NO_TOOLS), r#"{"status":"ok","value":1}"#);
    let unknown = run.start_named(f, &[("any", NIL), ("text", good), ("n", one)]).unwrap_err();
    assert_eq!(unknown.to_string(), "no parameter is named text; there are n, texts, any");
    assert_eq!(run.start(FunctionId(1), &[]), Err(StartError::UnknownFunction));
    let twice = run.start_named(f, &[("n", one), ("n", one)]).unwrap_err();
    assert_eq!(twice.to_string(), "n is given twice in the input");
}

/// Returns the answer of a tool, or a list of its failure.
fn calls_a_tool() -> Program {
    let mut asm = Asm::new(&["a"]);
    asm.call("tool", &[]);
    let code = [
        Op::Tool { dst: Out(0), first: First(0), call: ilo_spec::operand::CallId(0), fail: OnFail(1) },
        RETURN,
        Op::List { dst: Out(0), first: First(0), count: Count(1) },
        RETURN,
    ];
    asm.function("f", &["a"], PLAIN, 1, &code);
    asm.build()
}

#[test]
fn a_builder_takes_events_in_order_only() {
    let program = calls_a_tool();
    let mut run = Run::new(&program, Limits::default());
    for _ in 0..3 {
        let mut builder = run.start_with(FunctionId(0)).unwrap();
        builder.begin_record().unwrap();
        builder.key("a").unwrap();
        builder.double(0.5).unwrap();
        builder.end().unwrap();
        builder.finish().unwrap();
        // After every misuse the call still waits.
        let misuses: [(&[u8], Misuse); 6] = [
            (b"rn", Misuse::ValueWithoutKey),
            (b"lk", Misuse::KeyOutOfPlace),
            (b"rkk", Misuse::KeyOutOfPlace),
            (b"rke", Misuse::EndOutOfPlace),
            (b"nn", Misuse::SecondValue),
            (b"e", Misuse::EndOutOfPlace),
        ];
        for (events, misuse) in misuses {
            let Step::Call(call) = run.step() else { unreachable!("it waits") };
            let mut builder = call.answer_with();
            let mut last = Ok(());
            for event in events {
                last = match event {
                    b'r' => builder.begin_record(),
                    b'l' => builder.begin_list(),
                    b'k' => builder.key("k"),
                    b'e' => builder.end(),
                    _ => builder.nil(),
                };
            }
            assert_eq!(last, Err(BuildError::Misuse(misuse)));
        }
        let mut builder = run.pending().unwrap().answer_with();
        builder.begin_list().unwrap();
        assert_eq!(builder.finish(), Err(BuildError::Misuse(Misuse::Unfinished)));
        let mut builder = run.pending().unwrap().answer_with();
        builder.begin_list().unwrap();
        for n in 0..2 {
            builder.begin_record().unwrap();
            builder.key("x").unwrap();
            builder.int(n).unwrap();
            builder.key("y").unwrap();
            builder.text("é").unwrap();
            builder.end().unwrap();
        }
        builder.end().unwrap();
        builder.finish().unwrap();
        let expected = r#"{"status":"ok","value":[{"x":0,"y":"é"},{"x":1,"y":"é"}]}"#;
        assert_eq!(drive(&mut run, NO_TOOLS), expected);
    }
}

#[test]
fn what_a_tool_may_not_answer_fails_its_call() {
    let program = calls_a_tool();
    let mut run = Run::new(&program, Limits::default());
    let twice = [("x", NIL), ("y", NIL), ("x", NIL)];
    let nested = [Datum::Record(&twice)];
    for (answer, message) in [
        (Datum::Record(&twice), "the field x is given twice"),
        (Datum::List(&nested), "the field x is given twice"),
        (Datum::Double(f64::NAN), "a number that is not finite"),
    ] {
        let expected = format!(r#"{{"status":"ok","value":["{message}"]}}"#);
        run.start(FunctionId(0), &[NIL]).unwrap();
        let Step::Call(call) = run.step() else { unreachable!("it calls") };
        call.answer(answer).unwrap();
        assert_eq!(drive(&mut run, NO_TOOLS), expected);
    }
    run.rewind();
    let Step::Call(call) = run.step() else { unreachable!("it calls") };
    let mut builder = call.answer_with();
    builder.begin_record().unwrap();
    for _ in 0..2 {
        builder.key("x").unwrap();
        builder.nil().unwrap();
    }
    builder.end().unwrap();
    builder.finish().unwrap();
    assert_eq!(drive(&mut run, NO_TOOLS), r#"{"status":"ok","value":["the field x is given twice"]}"#);
}

#[test]
fn a_host_may_stop_reset_or_drop_a_run_anywhere() {
    let program = notify().build();
    let mut other = Asm::new(&["a"]);
    other.function(
        "g",
        &["a"],
        PLAIN,
        1,
        &[Op::Field { dst: Out(0), src: In(0), field: FieldId(0) }, RETURN],
    );
    let other = other.build();
    let mut run = Run::new(&program, Limits::default());
    for _ in 0..3 {
        run.start(FunctionId(0), &[Datum::Text("u"), Datum::Text("m")]).unwrap();
        assert!(matches!(run.step(), Step::Call(_)));
        assert!(matches!(run.step(), Step::Call(_)), "a call that waits is returned again");
        run.stop(ilo_spec::error::Code::FaultTimedOut);
        assert_eq!(code_of(&drive(&mut run, NO_TOOLS)), "timed-out");
        run.rewind();
        assert!(matches!(run.step(), Step::Call(_)));
        run.reset(&other);
        assert!(run.pending().is_none());
        run.start(FunctionId(0), &[Datum::Record(&[("b", NIL), ("a", Datum::Int(3))])]).unwrap();
        assert_eq!(drive(&mut run, NO_TOOLS), r#"{"status":"ok","value":3}"#);
        run.reset(&program);
    }
}
