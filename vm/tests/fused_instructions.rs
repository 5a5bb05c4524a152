//! Fused instructions do the same as the instructions that they replace.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use crate::common::*;
use ilo_spec::isa::{Op, Small};
use ilo_spec::operand::{ChoiceId, FieldsId, FunctionId, NumberId, StringId};
use ilo_spec::program::Key;
use ilo_vm::Datum;

#[test]
fn choices() {
    let keys = [Key::Nil, Key::Bool(true), Key::Number(NumberId(0)), Key::Text(StringId(3))];
    // Few cases, then enough for a binary search.
    for more in [0, 20] {
        for (value, expected) in [
            (NIL, "100"),
            (TRUE, "0.5"),
            (FALSE, "-7"),
            (i(100), "-1"),
            (d(100.0), "-1"),
            (t("gold"), "100"),
            (t("iron"), "-7"),
            (d(0.5), "-7"),
            (l(&[]), "-7"),
        ] {
            for default in [true, false] {
                let mut asm = Asm::new(&["a", "b", "c"]);
                asm.text("gold");
                let (hundred, half, less) = (asm.int(100), asm.double(0.5), asm.int(-1));
                let otherwise = default.then(|| asm.int(-7).0);
                let targets = [hundred.0, half.0, less.0, hundred.0];
                let mut cases: Vec<(Key, u16)> = keys.into_iter().zip(targets).collect();
                for n in 0..more {
                    cases.push((Key::Number(asm.int(1_000 + n)), half.0));
                }
                asm.map(cases, otherwise);
                let select = Op::Select { dst: Out(2), src: In(0), map: ChoiceId(0) };
                asm.function("f", &["a", "b"], PLAIN, 3, &[select, Op::Return { src: In(2) }]);
                let found = short(&outcome(asm, &[value, NIL], NO_TOOLS));
                let expected = if expected == "-7" && !default { "no-case" } else { expected };
                assert_eq!(found, expected, "{value:?} among {more} more, default {default}");
            }
        }
    }
}

/// A product with a small integer, compared with another: the same as the two instructions.
#[test]
fn small_products() {
    for (a, expected) in [
        (d(5.25), "[10.5,\"at least\"]"),
        (d(5.0), "[10.0,\"at least\"]"),
        (d(4.75), "[9.5,\"less\"]"),
        (i(5), "[10,\"at least\"]"),
        (i(-5), "[-10,\"less\"]"),
        (MAX, "overflow"),
        (MIN, "overflow"),
        (d(f64::MAX), "not-finite"),
        (d(f64::MIN), "not-finite"),
        (t("5"), MISMATCH),
        (NIL, MISMATCH),
    ] {
        // The operand's own register can take the product.
        for dst in [0, 2] {
            let code = [
                Op::MulUnlessGe { dst: Out(dst), a: In(0), by: Small(2), least: Small(10), to: To(2) },
                Op::Text { dst: Out(3), text: StringId(3) },
                Op::Jump { to: To(1) },
                Op::Text { dst: Out(3), text: StringId(4) },
                Op::Move { dst: Out(2), src: In(dst) },
                Op::List { dst: Out(2), first: First(2), count: Count(2) },
                Op::Return { src: In(2) },
            ];
            let found = short(&run(&code, a, NIL, |asm| {
                asm.text("at least");
                asm.text("less");
            }));
            assert_eq!(found, expected, "{a:?} in register {dst}");
        }
    }
    let code = [
        Op::MulUnlessGe { dst: Out(2), a: In(0), by: Small(-128), least: Small(-128), to: To(0) },
        Op::Return { src: In(2) },
    ];
    assert_eq!(short(&run(&code, d(1.5), NIL, |_| ())), "-192.0");
}

#[test]
fn a_constant_text_is_returned_from_functions() {
    let mut asm = Asm::new(&["a", "b", "c"]);
    asm.text("gold");
    let text = StringId(3);
    asm.function("g", &["a"], PLAIN, 1, &[Op::ReturnText { text }]);
    let code = [
        Op::Invoke { dst: Out(2), first: First(1), function: FunctionId(0), fail: OnFail(0) },
        Op::Return { src: In(2) },
    ];
    asm.function("f", &["a", "b"], PLAIN, 3, &code);
    assert_eq!(short(&outcome(asm, &[NIL, NIL], NO_TOOLS)), r#""gold""#);
}

#[test]
fn records_of_named_registers_are_yielded() {
    let base = LoopBase(2);
    let yields = [
        (Op::YieldTwo { base, a: In(1), b: In(5), shape: FieldsId(0) }, ["a", "b"].as_slice()),
        (Op::YieldThree { base, a: In(5), b: In(1), c: In(5), shape: FieldsId(0) }, &["a", "b", "c"]),
        (
            Op::YieldFour { base, a: In(5), b: In(5), c: In(5), d: In(1), shape: FieldsId(0) },
            &["d", "c", "b", "a"],
        ),
    ];
    let expected = [
        r#"[{"a":"-","b":1},{"a":"-","b":[2]},{"a":"-","b":3}]"#,
        r#"[{"a":1,"b":"-","c":1},{"a":[2],"b":"-","c":[2]},{"a":3,"b":"-","c":3}]"#,
        r#"[{"d":1,"c":1,"b":1,"a":"-"},{"d":[2],"c":[2],"b":[2],"a":"-"},{"d":3,"c":3,"b":3,"a":"-"}]"#,
    ];
    for ((op, fields), expected) in yields.into_iter().zip(expected) {
        let code = [
            Op::For { base, list: In(0), to: To(1) },
            op,
            Op::Next { base, item: Out(5), back: Back(2) },
            Op::Collect { dst: Out(2), base },
            Op::Return { src: In(2) },
        ];
        let mut asm = Asm::new(&["a", "b", "c", "d"]);
        asm.shape(fields);
        asm.function("f", &["a", "b"], PLAIN, 6, &code);
        let found = short(&outcome(asm, &[l(&[i(1), l(&[i(2)]), i(3)]), t("-")], NO_TOOLS));
        assert_eq!(found, expected);
    }
}

/// A second record in each pass exceeds the reserved room.
#[test]
fn more_records_than_passes_are_yielded() {
    let base = LoopBase(2);
    let op = Op::YieldTwo { base, a: In(5), b: In(1), shape: FieldsId(0) };
    let code = [
        Op::For { base, list: In(0), to: To(2) },
        op,
        op,
        Op::Next { base, item: Out(5), back: Back(3) },
        Op::Collect { dst: Out(2), base },
        Op::Len { dst: Out(2), src: In(2) },
        Op::Return { src: In(2) },
    ];
    let items: Vec<Datum<'_>> = (0..100).map(i).collect();
    let found = short(&run(&code, l(&items), NIL, |asm| {
        asm.shape(&["a", "b"]);
    }));
    assert_eq!(found, "200");
}
