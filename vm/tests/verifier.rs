//! What the verifier accepts and refuses; and no bytes make it or a run panic.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use crate::common::*;
use ilo_spec::isa::Op;
use ilo_spec::operand::{CallId, FieldId, MapId, NumberId, ShapeId, StringId, ToolId};
use ilo_spec::program::{CallShape, Function, Key, Map, Number};
use ilo_spec::types::Type;
use ilo_vm::{Datum, FunctionId, Limits, Program, Rule, Run, Step};

/// What a case adds to a program.
type Tables = Box<dyn Fn(&mut Asm)>;

/// Refused with this rule at this instruction, or accepted.
type Verdict = Result<(), (Option<u32>, &'static str)>;

fn verdict(asm: Asm) -> Verdict {
    Program::new(asm.spec).map(|_| ()).map_err(|error| {
        let name = format!("{:?}", error.rule);
        let end = name.find([' ', '{']).unwrap_or(name.len());
        let known = [
            "Count",
            "Index",
            "Duplicate",
            "NotFinite",
            "Cover",
            "Register",
            "Unset",
            "LoopRegister",
            "Jump",
            "EntersLoop",
            "Loop",
            "Yield",
            "Collect",
            "RunsOff",
            "Unreachable",
            "Order",
            "MapOrder",
            "UnusedMap",
            "TooDeep",
        ];
        (error.pc(), *known.iter().find(|known| **known == &name[..end]).unwrap())
    })
}

/// A program of one function f(a) with four registers, and one entry in each table.
fn asm(code: &[Op]) -> Asm {
    let mut asm = tables();
    asm.function("f", &["a"], PLAIN, 6, code);
    asm
}

fn tables() -> Asm {
    let mut asm = Asm::new(&["a", "b"]);
    asm.int(1);
    asm.shape(&["a", "b"]);
    asm.call("tool", &["a"]);
    asm
}

const RETURN: Op = Op::Return { src: In(0) };
const NIL1: Op = Op::Nil { dst: Out(1) };

#[test]
fn code() {
    let at = |pc: u32, rule: &'static str| Err((Some(pc), rule));
    let base = LoopBase(1);
    let for_to = |to: u16| Op::For { base, list: In(0), to: To(to) };
    let next = |back: u16| Op::Next { base, item: Out(4), back: Back(back) };
    let collect = Op::Collect { dst: Out(0), base };
    let switch = Op::Switch { src: In(0), map: MapId(0) };
    let map = |cases: &[(Key, u16)], default| {
        let cases = cases.to_vec();
        move |asm: &mut Asm| {
            asm.map(cases.clone(), default);
        }
    };
    let none = |_: &mut Asm| ();
    let call = |call: u16, fail: u16| Op::Tool {
        dst: Out(1),
        first: First(0),
        call: CallId(call),
        fail: OnFail(fail),
    };
    let cases: Vec<(&str, Vec<Op>, Verdict)> = vec![
        ("the least", vec![RETURN], Ok(())),
        ("no end", vec![NIL1], at(0, "RunsOff")),
        ("nothing reaches", vec![RETURN, RETURN], at(1, "Unreachable")),
        ("unset", vec![Op::Return { src: In(1) }], at(0, "Unset")),
        ("set", vec![NIL1, Op::Return { src: In(1) }], Ok(())),
        ("a register too high", vec![Op::Nil { dst: Out(6) }, RETURN], at(0, "Register")),
        ("a read too high", vec![Op::Return { src: In(6) }], at(0, "Register")),
        ("the highest", vec![Op::Nil { dst: Out(5) }, RETURN], Ok(())),
        (
            "set on one path",
            vec![Op::JumpIf { src: In(0), to: To(1) }, NIL1, Op::Return { src: In(1) }],
            at(2, "Unset"),
        ),
        (
            "set on both",
            vec![
                Op::JumpIf { src: In(0), to: To(2) },
                NIL1,
                Op::Jump { to: To(1) },
                NIL1,
                Op::Return { src: In(1) },
            ],
            Ok(()),
        ),
        ("a jump to the end", vec![Op::JumpIf { src: In(0), to: To(1) }, RETURN], at(0, "Jump")),
        ("a jump past 32 bits", vec![Op::JumpIf { src: In(0), to: To(65_535) }, RETURN], at(0, "Jump")),
        ("no such number", vec![Op::Number { dst: Out(1), number: NumberId(1) }, RETURN], at(0, "Index")),
        ("a number", vec![Op::Number { dst: Out(1), number: NumberId(0) }, RETURN], Ok(())),
        ("no such text", vec![Op::Text { dst: Out(1), text: StringId(4) }, RETURN], at(0, "Index")),
        (
            "no such field",
            vec![Op::Field { dst: Out(1), src: In(0), field: FieldId(2) }, RETURN],
            at(0, "Index"),
        ),
        (
            "no such shape",
            vec![Op::Record { dst: Out(1), first: First(0), shape: ShapeId(2) }, RETURN],
            at(0, "Index"),
        ),
        ("no such map", vec![switch, RETURN], at(0, "Index")),
        ("no such call", vec![call(1, 0), RETURN], at(0, "Index")),
        ("a call", vec![call(0, 0), Op::Return { src: In(1) }], Ok(())),
        ("a handled call", vec![call(0, 1), RETURN, Op::Return { src: In(1) }], Ok(())),
        ("handled outside", vec![call(0, 2), RETURN, RETURN], at(0, "Jump")),
        (
            "a window unset",
            vec![Op::Record { dst: Out(1), first: First(0), shape: ShapeId(0) }, RETURN],
            at(0, "Unset"),
        ),
        (
            "a window set",
            vec![NIL1, Op::Record { dst: Out(1), first: First(0), shape: ShapeId(0) }, RETURN],
            Ok(()),
        ),
        (
            "a window too long",
            vec![Op::List { dst: Out(1), first: First(5), count: Count(2) }, RETURN],
            at(0, "Register"),
        ),
        ("no window", vec![Op::List { dst: Out(1), first: First(5), count: Count(0) }, RETURN], Ok(())),
        (
            "a call of itself",
            vec![
                Op::Invoke { dst: Out(1), first: First(0), function: FunctionId(0), fail: OnFail(0) },
                RETURN,
            ],
            at(0, "Order"),
        ),
        ("a loop", vec![for_to(1), Op::Yield { base, src: In(4) }, next(2), collect, RETURN], Ok(())),
        ("an empty loop", vec![for_to(0), next(1), collect, RETURN], Ok(())),
        ("a loop to no next", vec![for_to(0), RETURN], at(0, "Loop")),
        ("a loop past the end", vec![for_to(9), next(1), RETURN], at(0, "Loop")),
        (
            "another's next",
            vec![for_to(0), Op::Next { base: LoopBase(2), item: Out(5), back: Back(1) }, RETURN],
            at(0, "Loop"),
        ),
        ("back too far", vec![for_to(1), NIL1, next(3), RETURN], at(0, "Loop")),
        ("a next alone", vec![next(1), RETURN], at(0, "Loop")),
        ("a loop's end runs off", vec![for_to(0), next(1)], at(1, "RunsOff")),
        ("a body that returns", vec![for_to(1), RETURN, next(2), RETURN], Ok(())),
        (
            "a loop's base too high",
            vec![
                Op::Each { base: LoopBase(4), list: In(0), to: To(0) },
                Op::Next { base: LoopBase(4), item: Out(1), back: Back(1) },
                RETURN,
            ],
            at(0, "Register"),
        ),
        (
            "an item in the state",
            vec![for_to(0), Op::Next { base, item: Out(3), back: Back(1) }, RETURN],
            at(0, "LoopRegister"),
        ),
        (
            "the state is read",
            vec![for_to(1), Op::Move { dst: Out(5), src: In(3) }, next(2), RETURN],
            at(1, "LoopRegister"),
        ),
        ("the state is written", vec![for_to(1), NIL1, next(2), RETURN], at(1, "LoopRegister")),
        ("the state after the loop", vec![for_to(0), next(1), Op::Return { src: In(1) }], at(2, "Unset")),
        ("the item after the loop", vec![for_to(0), next(1), Op::Return { src: In(4) }], at(2, "Unset")),
        (
            "two loops on one state",
            vec![for_to(2), for_to(0), next(1), next(3), RETURN],
            at(1, "LoopRegister"),
        ),
        (
            "collecting later",
            vec![for_to(0), next(1), Op::Nil { dst: Out(5) }, collect, RETURN],
            at(3, "Collect"),
        ),
        ("collecting without", vec![collect, RETURN], at(0, "Collect")),
        (
            "collecting from each",
            vec![Op::Each { base, list: In(0), to: To(0) }, next(1), collect, RETURN],
            at(2, "Collect"),
        ),
        ("collecting twice", vec![for_to(0), next(1), collect, collect, RETURN], at(3, "Collect")),
        (
            "jumping to collect",
            vec![Op::JumpIf { src: In(0), to: To(2) }, for_to(0), next(1), collect, RETURN],
            at(3, "Collect"),
        ),
        ("a yield outside", vec![Op::Yield { base, src: In(0) }, RETURN], at(0, "Yield")),
        (
            "a yield in each",
            vec![Op::Each { base, list: In(0), to: To(1) }, Op::Yield { base, src: In(0) }, next(2), RETURN],
            at(1, "Yield"),
        ),
        (
            "a jump into a loop",
            vec![Op::JumpIf { src: In(0), to: To(1) }, for_to(1), Op::Nil { dst: Out(5) }, next(2), RETURN],
            at(2, "EntersLoop"),
        ),
        (
            "a jump out of a loop",
            vec![for_to(1), Op::JumpIf { src: In(0), to: To(1) }, next(2), RETURN],
            Ok(()),
        ),
        (
            "continuing in a loop",
            vec![for_to(2), Op::JumpIf { src: In(0), to: To(1) }, Op::Nil { dst: Out(5) }, next(3), RETURN],
            Ok(()),
        ),
        (
            "set in the body only",
            vec![for_to(1), Op::Nil { dst: Out(5) }, next(2), Op::Return { src: In(5) }],
            at(3, "Unset"),
        ),
        (
            "set for the next pass",
            vec![for_to(2), Op::Move { dst: Out(0), src: In(5) }, Op::Nil { dst: Out(5) }, next(3), RETURN],
            at(1, "Unset"),
        ),
    ];
    for (name, code, expected) in cases {
        assert_eq!(verdict(asm(&code)), expected, "{name}");
    }
    let nil = Key::Nil;
    let switches: Vec<(&str, Vec<Op>, Tables, Verdict)> = vec![
        ("a switch", vec![switch, RETURN, RETURN], Box::new(map(&[(nil, 1)], Some(0))), Ok(())),
        ("a case outside", vec![switch, RETURN], Box::new(map(&[(nil, 1)], Some(0))), at(0, "Jump")),
        ("a default outside", vec![switch, RETURN], Box::new(map(&[(nil, 0)], Some(1))), at(0, "Jump")),
        ("one map twice", vec![switch, switch, RETURN], Box::new(map(&[(nil, 0)], None)), at(1, "MapOrder")),
        ("a map for nothing", vec![RETURN], Box::new(map(&[(nil, 0)], None)), Err((None, "UnusedMap"))),
        ("a switch of nothing", vec![switch], Box::new(map(&[], None)), Ok(())),
        ("no map", vec![RETURN], Box::new(none), Ok(())),
    ];
    for (name, code, tables, expected) in switches {
        let mut asm = asm(&code);
        tables(&mut asm);
        assert_eq!(verdict(asm), expected, "{name}");
    }
}

#[test]
fn frames_of_callees_overwrite_the_caller() {
    let leaf = |asm: &mut Asm| asm.function("leaf", &["a"], PLAIN, 3, &[RETURN]);
    let invoke =
        |first: u8| Op::Invoke { dst: Out(0), first: First(first), function: FunctionId(0), fail: OnFail(0) };
    let base = LoopBase(2);
    let begin = |to: u16| Op::Each { base, list: In(0), to: To(to) };
    let next = |back: u16| Op::Next { base, item: Out(1), back: Back(back) };
    let set = |register: u8| Op::Nil { dst: Out(register) };
    let read = |register: u8| Op::Move { dst: Out(0), src: In(register) };
    let cases: Vec<(&str, Vec<Op>, Verdict)> = vec![
        ("the window is gone", vec![invoke(0), read(0), RETURN], Ok(())),
        ("behind it too", vec![set(2), invoke(0), read(2), RETURN], Err((Some(3), "Unset"))),
        ("before it not", vec![set(2), set(5), invoke(5), read(2), RETURN], Ok(())),
        ("past the frame not", vec![set(4), invoke(0), read(4), RETURN], Ok(())),
        ("nor past the stack of the caller", vec![set(5), invoke(5), RETURN], Ok(())),
        ("a loop's state", vec![begin(1), invoke(1), next(2), RETURN], Err((Some(2), "LoopRegister"))),
        ("not behind a loop's state", vec![begin(2), set(5), invoke(5), next(3), RETURN], Ok(())),
        (
            "a second pass reads it",
            vec![set(6), begin(3), read(6), set(5), invoke(5), next(4), RETURN],
            Err((Some(3), "Unset")),
        ),
        (
            "a second pass sets it",
            vec![set(6), begin(4), set(6), read(6), set(5), invoke(5), next(5), RETURN],
            Ok(()),
        ),
    ];
    for (name, code, expected) in cases {
        let mut asm = Asm::new(&["a"]);
        leaf(&mut asm);
        asm.function("f", &["a"], PLAIN, 8, &code);
        assert_eq!(verdict(asm), expected, "{name}");
    }
}

#[test]
fn tables_and_signatures() {
    type Change = fn(&mut Asm);
    let table = |rule: &'static str| Err((None, rule));
    let cases: [(&str, Change, Verdict); 21] = [
        ("as it is", |_| (), Ok(())),
        ("two strings", |asm| assert!(asm.spec.strings.push("tool").is_some()), table("Duplicate")),
        ("two fields", |asm| asm.spec.shapes.push(vec![FieldId(1), FieldId(1)]), table("Duplicate")),
        ("a field past the table", |asm| asm.spec.shapes.push(vec![FieldId(2)]), table("Index")),
        ("fields past the strings", |asm| asm.spec.fields = 9, table("Count")),
        ("a number that is none", |asm| asm.spec.numbers.push(Number::Double(f64::NAN)), table("NotFinite")),
        ("a tool without a name", |asm| asm.spec.tools.push(StringId(9)), table("Index")),
        (
            "a call of no tool",
            |asm| asm.spec.calls.push(CallShape { tool: ToolId(1), shape: ShapeId(0) }),
            table("Index"),
        ),
        (
            "a call of no shape",
            |asm| asm.spec.calls.push(CallShape { tool: ToolId(0), shape: ShapeId(2) }),
            table("Index"),
        ),
        (
            "a key that is not a number",
            |asm| {
                asm.map(vec![(Key::Number(NumberId(9)), 0)], None);
            },
            table("Index"),
        ),
        (
            "a key that is not a text",
            |asm| {
                asm.map(vec![(Key::Text(StringId(9)), 0)], None);
            },
            table("Index"),
        ),
        (
            "equal keys",
            |asm| {
                let one = asm.double(1.0);
                asm.map(vec![(Key::Number(NumberId(0)), 0), (Key::Number(one), 0)], None);
            },
            table("Duplicate"),
        ),
        ("code for nobody", |asm| asm.spec.code.push(RETURN), table("Cover")),
        ("a gap", |asm| asm.spec.functions[0].start = 1, table("Cover")),
        ("an end outside", |asm| asm.spec.functions[0].end = 2, table("Cover")),
        ("no code", |asm| asm.spec.functions[0].end = 0, table("Cover")),
        ("too many registers", |asm| asm.spec.functions[0].registers = 257, table("Count")),
        ("the most registers", |asm| asm.spec.functions[0].registers = 256, Ok(())),
        ("too few registers", |asm| asm.spec.functions[0].registers = 0, table("Count")),
        (
            "two parameters",
            |asm| {
                let one = asm.spec.functions[0].parameters[0];
                asm.spec.functions[0].parameters.push(one);
            },
            table("Duplicate"),
        ),
        (
            "a function's name",
            |asm| {
                let f = asm.spec.functions[0].clone();
                asm.spec.functions.push(Function { start: 1, end: 2, ..f });
                asm.spec.code.push(RETURN);
            },
            table("Duplicate"),
        ),
    ];
    for (name, change, expected) in cases {
        let mut asm = asm(&[RETURN]);
        change(&mut asm);
        assert_eq!(verdict(asm), expected, "{name}");
    }
    let mut empty = Asm::new(&[]);
    assert_eq!(verdict(Asm::new(&[])), Ok(()));
    empty.spec.maps.push(Map::default());
    assert_eq!(verdict(empty), table("UnusedMap"));
}

#[test]
fn the_first_error_says_what_was_expected() {
    let error =
        Program::new(asm(&[Op::Number { dst: Out(1), number: NumberId(7) }, RETURN]).spec).unwrap_err();
    assert_eq!(error.to_string(), "at instruction 0: expected the index of a number below 1, found 7");
    assert_eq!(error.rule, Rule::Index { what: "number", found: 7, size: 1 });
}

/// Starts every function of a program with texts and answers its calls, up to a number of times.
fn exercise(program: &Program) {
    let limits = Limits { fuel: 2_000, memory: 1 << 20, tool_calls: 8, ..Limits::default() };
    let mut run = Run::new(program, limits);
    for id in 0..program.spec().functions.len() {
        let function = FunctionId(u16::try_from(id).unwrap());
        let items = [Datum::Int(1), Datum::Text("x")];
        let fields = [("email", Datum::Text("a")), ("verified", Datum::Bool(true))];
        for argument in [Datum::Text("x"), Datum::List(&items), Datum::Record(&fields)] {
            let arguments = vec![argument; program.parameters(function).count()];
            if run.start(function, &arguments).is_err() {
                continue;
            }
            drive(&mut run, &|_, arguments| {
                if arguments.len() % 2 == 0 { Ok(Datum::Int(1)) } else { Err("no") }
            });
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes hours")]
fn no_bytes_make_it_panic() {
    let mut samples = vec![notify()];
    let base = LoopBase(1);
    let mut looping = tables();
    looping.map(vec![(Key::Nil, 0), (Key::Text(StringId(1)), 1)], Some(1));
    looping.typed_function(
        "g",
        &[("a", Type::TEXT)],
        PLAIN,
        3,
        &[
            Op::Field { dst: Out(1), src: In(0), field: FieldId(1) },
            Op::Merge { dst: Out(1), src: In(0), first: First(0), shape: ShapeId(1) },
            Op::Return { src: In(1) },
        ],
    );
    looping.function(
        "f",
        &["a"],
        RESULT,
        8,
        &[
            Op::For { base, list: In(0), to: To(6) },
            Op::Move { dst: Out(5), src: In(4) },
            Op::Invoke { dst: Out(5), first: First(5), function: FunctionId(0), fail: OnFail(2) },
            Op::Switch { src: In(5), map: MapId(0) },
            Op::Jump { to: To(1) },
            Op::Nil { dst: Out(5) },
            Op::Yield { base, src: In(5) },
            Op::Next { base, item: Out(4), back: Back(7) },
            Op::Collect { dst: Out(1), base },
            Op::Append { dst: Out(1), list: In(1), item: In(0) },
            Op::Concat { dst: Out(2), first: First(0), count: Count(2) },
            Op::Return { src: In(2) },
        ],
    );
    samples.push(looping);
    for sample in samples {
        let bytes = ilo_spec::encode::encode(sample.build().spec());
        exercise(&Program::load(&bytes).unwrap());
        for end in 0..bytes.len() {
            if let Ok(program) = Program::load(&bytes[..end]) {
                exercise(&program);
            }
        }
        for place in 0..bytes.len() {
            for value in 0..=255 {
                let mut changed = bytes.clone();
                changed[place] = value;
                match (Program::load(&changed), Program::load(&changed)) {
                    (Ok(program), Ok(_)) => exercise(&program),
                    (Err(first), Err(second)) => assert_eq!(first, second, "always the same error"),
                    _ => unreachable!("loading does not depend on the time of day"),
                }
            }
        }
    }
}

#[test]
fn a_loaded_program_says_what_it_is() {
    let program = notify().build();
    let notify = program.function("notify").unwrap();
    assert_eq!(program.entry(), Ok(notify));
    assert_eq!(program.function_name(notify), "notify");
    let parameters: Vec<_> = program.parameters(notify).collect();
    assert_eq!(parameters, [("user-id", Type::ANY), ("message", Type::ANY)]);
    assert_eq!(program.tools().collect::<Vec<_>>(), ["get-user", "send-email"]);
    assert_eq!(program.function("get-user"), None);
    assert_eq!(Asm::new(&[]).build().entry(), Err(vec![]));
    let mut run = Run::new(&program, Limits::default());
    assert!(matches!(run.step(), Step::Done(_)), "nothing was started");
}
