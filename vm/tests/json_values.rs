//! Answers from JSON text: the values that the text says, within the limits of the run.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use crate::common::*;
use ilo_spec::isa::Op;
use ilo_vm::{Datum, FunctionId, JsonErrorKind, JsonRefused, Limits, Program, Run, Step};

/// Calls a tool and returns its answer.
fn program() -> Program {
    let mut asm = Asm::new(&["a"]);
    let call = asm.call("one", &["a"]);
    let code = [Op::Tool { dst: Out(1), first: First(0), call, fail: OnFail(0) }, Op::Return { src: In(1) }];
    asm.function("f", &["a"], RESULT, 2, &code);
    asm.build()
}

fn waiting(program: &Program, limits: &Limits) -> Run {
    let mut run = Run::new(program, limits.clone());
    run.start(FunctionId(0), &[Datum::Int(1)]).unwrap();
    assert!(matches!(run.step(), Step::Call(_)));
    run
}

fn ended(mut run: Run) -> (String, u64) {
    let Step::Done(outcome) = run.step() else { panic!("one call") };
    (outcome.to_string(), run.fuel_used())
}

fn from_json(text: &str, limits: &Limits) -> Result<(String, u64), JsonRefused> {
    let mut run = waiting(&program(), limits);
    run.pending().unwrap().answer_json(text)?;
    Ok(ended(run))
}

#[test]
fn a_value_from_json_is_the_value_that_a_host_gives() {
    let fields = [
        ("b", Datum::Int(i64::MIN)),
        ("a\n", Datum::List(&[Datum::Nil, Datum::Bool(true), Datum::Double(2.5), Datum::Text("é\"")])),
        ("", Datum::Record(&[("x", Datum::Int(9_007_199_254_740_993))])),
    ];
    let text = r#" {"b":-9223372036854775808, "a\n":[null,true,2.5,"\u00e9\""],"":{"x":9007199254740993}} "#;
    let mut run = waiting(&program(), &Limits::default());
    run.pending().unwrap().answer(Datum::Record(&fields)).unwrap();
    assert_eq!(from_json(text, &Limits::default()), Ok(ended(run)));
    for scalar in ["null", "1", "-0.0", "\"\"", "[]", "{}", "1e300"] {
        let (outcome, _) = from_json(scalar, &Limits::default()).unwrap();
        let shown = if scalar == "1e300" { "1e+300" } else { scalar };
        assert!(
            [scalar, shown].iter().any(|s| outcome == format!(r#"{{"status":"ok","value":{s}}}"#)),
            "{outcome}"
        );
    }
}

#[test]
fn a_call_still_waits_after_an_answer_that_is_not_json() {
    let mut run = waiting(&program(), &Limits::default());
    for wrong in ["", "{", "1 2", "18446744073709551615"] {
        assert!(matches!(run.pending().unwrap().answer_json(wrong), Err(JsonRefused::Json(_))), "{wrong}");
    }
    run.pending().unwrap().answer_json("[1]").unwrap();
    assert_eq!(ended(run).0, r#"{"status":"ok","value":[1]}"#);
}

#[test]
fn what_is_not_json_has_its_place_and_the_limits_of_a_run_hold() {
    let kind = |text: &str| match from_json(text, &Limits::default()) {
        Err(JsonRefused::Json(error)) => (error.offset, error.kind),
        other => panic!("{other:?}"),
    };
    assert_eq!(kind("[1,]").0, 3);
    assert_eq!(kind("[9223372036854775808]"), (1, JsonErrorKind::Beyond64Bits));
    assert_eq!(kind("1e999").1, JsonErrorKind::NotFinite);
    let limits = Limits { value_depth: 3, result_nodes: 4, result_bytes: 5, ..Limits::default() };
    let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
    assert!(from_json(&nested(3), &limits).is_ok());
    let code = |text: &str| match from_json(text, &limits) {
        Err(JsonRefused::Build(error)) => error.code().as_str(),
        other => panic!("{other:?}"),
    };
    assert_eq!(code(&nested(4)), "depth");
    assert!(from_json("[1,2,3]", &limits).is_ok());
    assert_eq!(code("[1,2,3,4]"), "too-large");
    assert!(from_json(r#"{"a":"bcde"}"#, &limits).is_ok());
    assert_eq!(code(r#"{"a":"bcdef"}"#), "too-large");
    // As with the other methods of a builder, a field that is there twice fails the call.
    let twice = from_json(r#"{"a":1,"\u0061":2}"#, &Limits::default()).unwrap().0;
    assert!(twice.contains("twice"), "{twice}");
}
