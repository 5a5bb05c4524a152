//! Records of a host shape have the same outcome, fuel and memory as records with names.

use crate::common::*;
use ilo_spec::isa::Op;
use ilo_vm::{Datum, FunctionId, Limits, Program, Run, Shape, Shaped, Step};

/// Calls a tool three times, twice at the same place; returns the answers, the field `a` of the first, and
/// the failures.
fn program() -> Program {
    let mut asm = Asm::new(&["a", "b", "c"]);
    let (one, two) = (asm.call("one", &["a"]), asm.call("two", &["a"]));
    let a = asm.field("a");
    let base = LoopBase(1);
    let code = [
        Op::List { dst: Out(5), first: First(0), count: Count(2) },
        Op::For { base, list: In(5), to: To(2) },
        Op::Tool { dst: Out(6), first: First(4), call: one, fail: OnFail(0) },
        Op::Yield { base, src: In(6) },
        Op::Next { base, item: Out(4), back: Back(3) },
        Op::Collect { dst: Out(5), base },
        Op::Tool { dst: Out(7), first: First(5), call: two, fail: OnFail(0) },
        Op::Field { dst: Out(6), src: In(7), field: a },
        Op::List { dst: Out(5), first: First(5), count: Count(3) },
        Op::Return { src: In(5) },
    ];
    asm.function("f", &["a", "b"], RESULT, 8, &code);
    asm.build()
}

/// One run after its start: its outcome, fuel and memory.
fn drive(run: &mut Run, answers: &[Datum<'_>; 3]) -> (String, u64, u64) {
    let mut next = 0;
    loop {
        match run.step() {
            Step::Call(call) => {
                let _ = call.answer(answers[next % answers.len()]);
                next += 1;
            }
            Step::Done(outcome) => {
                let outcome = outcome.to_string();
                return (outcome, run.fuel_used(), run.memory_used());
            }
        }
    }
}

/// Four runs, the later ones after a rewind, a start and another rewind.
fn runs(program: &Program, limits: &Limits, answers: &[Datum<'_>; 3]) -> Vec<(String, u64, u64)> {
    let arguments = [Datum::Int(1), Datum::Int(2)];
    let mut run = Run::new(program, limits.clone());
    let mut found = Vec::new();
    for round in 0..4 {
        if round % 2 == 0 {
            if let Err(error) = run.start(FunctionId(0), &arguments) {
                found.push((error.code().as_str().to_string(), 0, 0));
                continue;
            }
        } else {
            run.rewind();
        }
        found.push(drive(&mut run, answers));
    }
    found
}

/// Tries each limit, except under Miri, where that would take hours.
const STEP: usize = if cfg!(miri) { 500 } else { 1 };

/// Checks that both ways agree, with ample limits and with every limit near what the run takes.
fn same(named: [Datum<'_>; 3], shaped: [Datum<'_>; 3]) -> String {
    let program = program();
    let plenty = runs(&program, &Limits::default(), &named);
    assert_eq!(runs(&program, &Limits::default(), &shaped), plenty);
    let (fuel, memory) =
        plenty.iter().fold((0, 0), |(fuel, memory), run| (run.1.max(fuel), run.2.max(memory)));
    let check = |change: &dyn Fn(&mut Limits)| {
        let mut limits = Limits::default();
        change(&mut limits);
        assert_eq!(runs(&program, &limits, &shaped), runs(&program, &limits, &named), "{limits:?}");
    };
    (0..=fuel).step_by(STEP).for_each(|fuel| check(&|limits| limits.fuel = fuel));
    let near = memory.saturating_sub(3_000)..=memory;
    near.step_by(STEP).for_each(|memory| check(&|limits| limits.memory = memory));
    for least in (0..40).step_by(STEP) {
        check(&|limits| limits.text = least);
        check(&|limits| limits.items = least);
        check(&|limits| limits.value_depth = least);
        check(&|limits| limits.result_bytes = least);
        check(&|limits| limits.result_nodes = least);
    }
    plenty[0].0.clone()
}

#[test]
fn a_record_of_a_shape_is_a_record() {
    let (user, sent) = (Shape::new(["a", "other"]), Shape::new(["some-name", "a", "c"]));
    let (x, y) = ([t("text"), d(1.5)], [t(""), l(&[Datum::Nil]), i(3)]);
    let (x, y) = (user.record(&x), sent.record(&y));
    let named_x = [("a", t("text")), ("other", d(1.5))];
    let named_y = [("some-name", t("")), ("a", l(&[Datum::Nil])), ("c", i(3))];
    let found = same([r(&named_x), r(&named_x), r(&named_y)], [(&x).into(), (&x).into(), (&y).into()]);
    let expected = r#"{"status":"ok","value":[[{"a":"text","other":1.5},{"a":"text","other":1.5}],[null],{"some-name":"","a":[null],"c":3}]}"#;
    assert_eq!(found, expected);
}

#[test]
fn shapes_change_and_stand_in_lists_and_records() {
    let (first, second, same_names) = (Shape::new(["a"]), Shape::new(["b", "a"]), Shape::new(["a"]));
    let (x, y, z) = ([TRUE], [i(1), t("y")], [t("z")]);
    let (x, y, z) = (first.record(&x), second.record(&y), same_names.record(&z));
    let rows = [Datum::Shaped(&x), Datum::Shaped(&z), Datum::Shaped(&y)];
    let inner = [l(&rows)];
    let outer = first.record(&inner);
    let (named_x, named_y, named_z) = ([("a", TRUE)], [("b", i(1)), ("a", t("y"))], [("a", t("z"))]);
    let (named_x, named_z) = (r(&named_x), r(&named_z));
    let named_rows = [named_x, named_z, r(&named_y)];
    let named_outer = [("a", l(&named_rows))];
    same([named_x, named_z, r(&named_outer)], [(&x).into(), (&z).into(), (&outer).into()]);
    // A clone is the same shape.
    let (clone, value) = (first.clone(), [TRUE]);
    let x = clone.record(&value);
    same([r(&named_y), named_x, named_z], [(&y).into(), (&x).into(), (&z).into()]);
}

#[test]
fn what_no_record_may_be_fails_the_call() {
    let (twice, empty, number) = (Shape::new(["a", "a"]), Shape::new([]), Shape::new(["a"]));
    let (values, infinite) = ([i(1), i(2)], [d(f64::INFINITY)]);
    let (twice, empty, number): (Shaped<'_>, Shaped<'_>, Shaped<'_>) =
        (twice.record(&values), empty.record(&[]), number.record(&infinite));
    let (a, named_twice, named_number) =
        ([("a", NIL)], [("a", i(1)), ("a", i(2))], [("a", d(f64::INFINITY))]);
    let a = r(&a);
    let found = same([r(&named_twice), a, a], [(&twice).into(), a, a]);
    assert_eq!(found, r#"{"status":"err","error":"the field a is given twice"}"#);
    let found = same([a, r(&named_number), a], [a, (&number).into(), a]);
    assert_eq!(found, r#"{"status":"err","error":"a number that is not finite"}"#);
    let found = same([r(&[]), r(&[]), a], [(&empty).into(), (&empty).into(), a]);
    assert_eq!(found, r#"{"status":"ok","value":[[{},{}],null,{"a":null}]}"#);
}

#[test]
fn a_failure_may_be_one() {
    let shape = Shape::new(["a"]);
    let program = program();
    let mut run = Run::new(&program, Limits::default());
    for _ in 0..2 {
        run.start(FunctionId(0), &[NIL, NIL]).unwrap();
        let Step::Call(call) = run.step() else { panic!("it calls") };
        call.fail_with(&shape.record(&[i(7)])).unwrap();
        let Step::Done(outcome) = run.step() else { panic!("it ends") };
        assert_eq!(outcome.to_string(), r#"{"status":"err","error":{"a":7}}"#);
    }
}
