//! Failures that pass through functions, and those of compensations.

use crate::common::*;
use ilo_spec::isa::Op;

#[test]
fn failures_pass_through_functions_to_the_first_that_handles_them() {
    for handled in [false, true] {
        for (output, unhandled) in [
            (RESULT, r#"{"status":"err","error":{"why":"x"}}"#),
            (
                PLAIN,
                r#"{"status":"fault","code":"tool-failed","message":"{\"why\":\"x\"}","at":{"function":"top","instruction":5}}"#,
            ),
        ] {
            let mut asm = Asm::new(&["a"]);
            let call = asm.call("t", &[]);
            asm.function(
                "leaf",
                &["a"],
                PLAIN,
                2,
                &[
                    Op::Tool { dst: Out(1), first: First(0), call, fail: OnFail(0) },
                    Op::Return { src: In(1) },
                ],
            );
            asm.function(
                "middle",
                &["a"],
                PLAIN,
                2,
                &[
                    Op::Move { dst: Out(1), src: In(0) },
                    Op::Invoke {
                        dst: Out(1),
                        first: First(1),
                        function: ilo_vm::FunctionId(0),
                        fail: OnFail(0),
                    },
                    Op::Return { src: In(1) },
                ],
            );
            let fail = OnFail(u16::from(handled));
            asm.function(
                "top",
                &["a"],
                output,
                3,
                &[
                    Op::Invoke { dst: Out(1), first: First(0), function: ilo_vm::FunctionId(1), fail },
                    Op::Return { src: In(1) },
                    Op::List { dst: Out(1), first: First(1), count: Count(1) },
                    Op::Return { src: In(1) },
                ][..if handled { 4 } else { 2 }],
            );
            let program = asm.build();
            let mut run = ilo_vm::Run::new(&program, ilo_vm::Limits::default());
            run.start(ilo_vm::FunctionId(2), &[NIL]).unwrap();
            match run.step() {
                ilo_vm::Step::Call(call) => call.fail_with(r(&[("why", t("x"))])).unwrap(),
                ilo_vm::Step::Done(_) => unreachable!("it calls"),
            }
            let found = drive(&mut run, NO_TOOLS);
            let expected = if handled { r#"{"status":"ok","value":[{"why":"x"}]}"# } else { unhandled };
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn failed_compensations_are_recorded() {
    let mut asm = Asm::new(&["a"]);
    let call = asm.call("undo", &[]);
    let tool = asm.text("undo");
    asm.function(
        "f",
        &["a"],
        RESULT,
        2,
        &[
            Op::Tool { dst: Out(1), first: First(0), call, fail: OnFail(1) },
            Op::Jump { to: To(1) },
            Op::Note { src: In(1), tool },
            Op::Fail { src: In(0) },
        ],
    );
    let found = outcome(asm, &[t("first")], &|_, _| Err("second"));
    let expected =
        r#"{"status":"err","error":"first","compensation_failures":[{"tool":"undo","error":"second"}]}"#;
    assert_eq!(found, expected);
}
