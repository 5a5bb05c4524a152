//! Every instruction with every kind of operand, as data: its result or its fault.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod failures;

use crate::common::*;
use ilo_spec::isa::Op;
use ilo_spec::operand::{FieldId, NumberId};
use ilo_spec::program::{Key, Number};
use ilo_vm::Datum;

type Rows<'t> = &'t [(Datum<'t>, Datum<'t>, &'t str)];

/// The instruction's result, returned.
fn value_of(op: Op, a: Datum<'_>, b: Datum<'_>, tables: impl Fn(&mut Asm)) -> String {
    short(&run(&[op, Op::Return { src: In(2) }], a, b, tables))
}

fn check(name: &str, op: Op, rows: Rows<'_>) {
    for (a, b, expected) in rows {
        assert_eq!(value_of(op, *a, *b, |_| ()), *expected, "{name} {a:?} {b:?}");
    }
}

fn number(datum: Datum<'_>) -> Option<Number> {
    match datum {
        Datum::Int(int) => Some(Number::Int(int)),
        Datum::Double(double) => Some(Number::Double(double)),
        _ => None,
    }
}

/// The same rows for the form with two registers, and if `b` is a number, for the form with a constant.
fn check_with_constant(name: &str, op: Op, constant: Op, rows: Rows<'_>) {
    check(name, op, rows);
    for (a, b, expected) in rows {
        if let Some(b) = number(*b) {
            let found = value_of(constant, *a, NIL, |asm| {
                asm.number(b);
            });
            assert_eq!(found, *expected, "{name} with a constant {a:?} {b:?}");
        }
    }
}

#[test]
fn arithmetic() {
    let (dst, a, b, number) = (Out(2), In(0), In(1), NumberId(0));
    check_with_constant(
        "add",
        Op::Add { dst, a, b },
        Op::AddC { dst, a, number },
        &[
            (i(2), i(3), "5"),
            (i(2), d(0.5), "2.5"),
            (d(0.5), i(2), "2.5"),
            (d(0.1), d(0.2), "0.30000000000000004"),
            (MAX, i(1), "overflow"),
            (MIN, i(-1), "overflow"),
            (i(9_007_199_254_740_993), d(0.0), "9007199254740992.0"),
            (d(f64::MAX), d(f64::MAX), "not-finite"),
            (t("1"), i(1), MISMATCH),
            (i(1), t("1"), MISMATCH),
            (NIL, i(1), MISMATCH),
            (TRUE, i(1), MISMATCH),
            (l(&[]), i(1), MISMATCH),
            (r(&[]), d(1.0), MISMATCH),
        ],
    );
    check_with_constant(
        "sub",
        Op::Sub { dst, a, b },
        Op::SubC { dst, a, number },
        &[
            (i(2), i(3), "-1"),
            (d(1.0), d(1.0), "0.0"),
            (MIN, i(1), "overflow"),
            (i(1), d(0.5), "0.5"),
            (d(-f64::MAX), d(f64::MAX), "not-finite"),
            (t("a"), t("a"), MISMATCH),
        ],
    );
    check_with_constant(
        "mul",
        Op::Mul { dst, a, b },
        Op::MulC { dst, a, number },
        &[
            (i(6), i(7), "42"),
            (d(20.5), i(10), "205.0"),
            (d(-0.0), i(1), "-0.0"),
            (MAX, i(2), "overflow"),
            (MIN, i(-1), "overflow"),
            (d(1e300), d(1e300), "not-finite"),
            (FALSE, i(1), MISMATCH),
        ],
    );
    check_with_constant(
        "div",
        Op::Div { dst, a, b },
        Op::DivC { dst, a, number },
        &[
            (i(6), i(3), "2"),
            (i(7), i(2), "3.5"),
            (i(-7), i(2), "-3.5"),
            (i(0), i(5), "0"),
            (d(6.0), i(3), "2.0"),
            (i(1), d(4.0), "0.25"),
            (i(1), i(0), "division-by-zero"),
            (d(1.0), d(0.0), "division-by-zero"),
            (i(1), d(-0.0), "division-by-zero"),
            (MIN, i(-1), "overflow"),
            (MIN, i(1), "-9223372036854775808"),
            (i(9_007_199_254_740_993), i(2), "4503599627370496.0"),
            (d(1e300), d(1e-300), "not-finite"),
            (NIL, i(0), MISMATCH),
        ],
    );
    check_with_constant(
        "mod",
        Op::Mod { dst, a, b },
        Op::ModC { dst, a, number },
        &[
            (i(7), i(3), "1"),
            (i(-7), i(3), "-1"),
            (i(7), i(-3), "1"),
            (MIN, i(-1), "0"),
            (d(-4.0), d(2.0), "-0.0"),
            (d(5.5), i(2), "1.5"),
            (i(-5), d(2.0), "-1.0"),
            (i(1), i(0), "division-by-zero"),
            (i(1), d(0.0), "division-by-zero"),
            (t(""), i(1), MISMATCH),
        ],
    );
}

/// Pairs with their order (`<`, `=`, `>`, or `x` if there is none) and whether they are equal.
const ORDERED: Rows<'static> = &[
    (i(1), i(2), "<"),
    (i(2), i(2), "="),
    (i(1), d(1.0), "="),
    (d(0.0), d(-0.0), "="),
    (d(1.5), i(1), ">"),
    (d(-1.5), i(-1), "<"),
    (i(-2), d(-1.5), "<"),
    // The double nearest to the integer is another number.
    (i(9_007_199_254_740_993), d(9_007_199_254_740_992.0), ">"),
    (MAX, d(9_223_372_036_854_775_808.0), "<"),
    (MIN, d(-9_223_372_036_854_775_808.0), "="),
    (MIN, d(-1e300), ">"),
    (t("a"), t("b"), "<"),
    (t("a"), t("a"), "="),
    (t("a"), t(""), ">"),
    // By code point the order is the opposite of that in UTF-16.
    (t("\u{ffff}"), t("\u{10000}"), "<"),
    (t("1"), i(1), "x"),
    (NIL, NIL, "x="),
    (NIL, FALSE, "x"),
    (TRUE, TRUE, "x="),
    (TRUE, FALSE, "x"),
    (l(&[]), l(&[]), "x="),
    (l(&[i(1), t("x")]), l(&[d(1.0), t("x")]), "x="),
    (l(&[i(1)]), l(&[i(1), i(2)]), "x"),
    (l(&[l(&[i(1)]), NIL]), l(&[l(&[i(2)]), NIL]), "x"),
    (r(&[]), r(&[]), "x="),
    (r(&[]), l(&[]), "x"),
    (r(&[("a", i(1)), ("z", i(2))]), r(&[("z", i(2)), ("a", d(1.0))]), "x="),
    (r(&[("a", i(1)), ("z", i(2))]), r(&[("a", i(1)), ("y", i(2))]), "x"),
    (r(&[("a", i(1))]), r(&[("a", i(1)), ("z", i(2))]), "x"),
    (r(&[("a", l(&[r(&[("q", NIL)])]))]), r(&[("a", l(&[r(&[("q", NIL)])]))]), "x="),
    (r(&[("a", l(&[r(&[("q", NIL)])]))]), r(&[("a", l(&[r(&[("q", FALSE)])]))]), "x"),
];

/// Whether a jump was not taken, for instructions that jump unless.
fn stays(op: Op, a: Datum<'_>, b: Datum<'_>, tables: impl Fn(&mut Asm)) -> String {
    let code = [
        op,
        Op::True { dst: Out(2) },
        Op::Return { src: In(2) },
        Op::False { dst: Out(2) },
        Op::Return { src: In(2) },
    ];
    short(&run(&code, a, b, tables))
}

#[test]
fn comparison() {
    let (dst, a, b, number_id, to) = (Out(2), In(0), In(1), NumberId(0), To(2));
    // The instruction, its jump, its jump with a constant, and the orders for which it holds.
    let relations: [(Op, Op, Op, &str); 6] = [
        (Op::Lt { dst, a, b }, Op::UnlessLt { a, b, to }, Op::UnlessLtC { a, number: number_id, to }, "<"),
        (Op::Le { dst, a, b }, Op::UnlessLe { a, b, to }, Op::UnlessLeC { a, number: number_id, to }, "<="),
        (Op::Gt { dst, a, b }, Op::UnlessGt { a, b, to }, Op::UnlessGtC { a, number: number_id, to }, ">"),
        (Op::Ge { dst, a, b }, Op::UnlessGe { a, b, to }, Op::UnlessGeC { a, number: number_id, to }, ">="),
        (Op::Eq { dst, a, b }, Op::UnlessEq { a, b, to }, Op::UnlessEqC { a, number: number_id, to }, "eq"),
        (Op::Ne { dst, a, b }, Op::UnlessNe { a, b, to }, Op::UnlessNeC { a, number: number_id, to }, "ne"),
    ];
    for (x, y, order) in ORDERED {
        for (op, jump, with_constant, holds) in relations {
            let equal = order.contains('=');
            let expected = match holds {
                "eq" => equal.to_string(),
                "ne" => (!equal).to_string(),
                _ if order.starts_with('x') => MISMATCH.to_string(),
                _ => holds.contains(order).to_string(),
            };
            assert_eq!(value_of(op, *x, *y, |_| ()), expected, "{op:?} {x:?} {y:?}");
            assert_eq!(stays(jump, *x, *y, |_| ()), expected, "{jump:?} {x:?} {y:?}");
            if let Some(constant) = number(*y) {
                let found = stays(with_constant, *x, NIL, |asm| {
                    asm.number(constant);
                });
                assert_eq!(found, expected, "{with_constant:?} {x:?} {y:?}");
            }
        }
    }
}

#[test]
fn conditions() {
    let (dst, src, to) = (Out(2), In(0), To(2));
    let field = FieldId(0);
    let none = "condition-type";
    for (value, truth) in [
        (NIL, Some(false)),
        (FALSE, Some(false)),
        (TRUE, Some(true)),
        (i(0), None),
        (d(1.0), None),
        (t(""), None),
        (l(&[]), None),
        (r(&[]), None),
    ] {
        let is = |expected: bool| truth.map_or(none.to_string(), |truth| (truth == expected).to_string());
        assert_eq!(value_of(Op::Truth { dst, src }, value, NIL, |_| ()), is(true), "truth {value:?}");
        assert_eq!(value_of(Op::Not { dst, src }, value, NIL, |_| ()), is(false), "not {value:?}");
        assert_eq!(stays(Op::JumpUnless { src, to }, value, NIL, |_| ()), is(true), "unless {value:?}");
        assert_eq!(stays(Op::JumpIf { src, to }, value, NIL, |_| ()), is(false), "if {value:?}");
        let fields = [("a", value)];
        let found = stays(Op::UnlessField { src, field, to }, r(&fields), NIL, |_| ());
        assert_eq!(found, is(true), "unless field {value:?}");
        assert_eq!(
            stays(Op::IfField { src, field, to }, r(&fields), NIL, |_| ()),
            is(false),
            "if field {value:?}"
        );
    }
    for op in [Op::UnlessField { src, field, to }, Op::IfField { src, field, to }] {
        assert_eq!(stays(op, r(&[("b", TRUE)]), NIL, |_| ()), "missing-field");
        assert_eq!(stays(op, l(&[]), NIL, |_| ()), MISMATCH);
    }
}

#[test]
fn constants_and_moves() {
    let dst = Out(2);
    let text = |asm: &mut Asm| {
        asm.text("a\"b\\\n\u{1}é\u{1f600}");
    };
    assert_eq!(value_of(Op::Nil { dst }, i(1), NIL, |_| ()), "null");
    assert_eq!(value_of(Op::False { dst }, i(1), NIL, |_| ()), "false");
    assert_eq!(value_of(Op::True { dst }, i(1), NIL, |_| ()), "true");
    assert_eq!(value_of(Op::Int { dst, value: Imm(-7) }, i(1), NIL, |_| ()), "-7");
    let found = value_of(Op::Number { dst, number: NumberId(0) }, NIL, NIL, |asm| {
        asm.double(-0.0);
    });
    assert_eq!(found, "-0.0");
    let id = ilo_spec::operand::StringId(3);
    assert_eq!(value_of(Op::Text { dst, text: id }, NIL, NIL, text), "\"a\\\"b\\\\\\n\\u0001é\u{1f600}\"");
    check(
        "move",
        Op::Move { dst, src: In(0) },
        &[
            (NIL, NIL, "null"),
            (TRUE, NIL, "true"),
            (i(3), NIL, "3"),
            (d(0.5), NIL, "0.5"),
            (t("x"), NIL, "\"x\""),
            (l(&[i(1)]), NIL, "[1]"),
            (r(&[("k", NIL)]), NIL, "{\"k\":null}"),
        ],
    );
}

#[test]
fn lists() {
    let (dst, list) = (Out(2), In(0));
    check(
        "at",
        Op::At { dst, list, index: In(1) },
        &[
            (l(&[i(7), t("x")]), i(0), "7"),
            (l(&[i(7), t("x")]), d(1.0), "\"x\""),
            (l(&[i(7)]), i(1), "index-out-of-range"),
            (l(&[i(7), t("x")]), i(-1), "\"x\""),
            (l(&[i(7), t("x")]), d(-2.0), "7"),
            (l(&[i(7)]), i(-2), "index-out-of-range"),
            (l(&[i(7)]), MIN, "index-out-of-range"),
            (l(&[i(7)]), MAX, "index-out-of-range"),
            (l(&[i(7)]), d(0.5), "index-out-of-range"),
            (l(&[i(7)]), d(1e300), "index-out-of-range"),
            (l(&[]), i(0), "index-out-of-range"),
            (l(&[i(7)]), t("0"), MISMATCH),
            (t("abc"), i(0), MISMATCH),
            (r(&[("a", i(1))]), i(0), MISMATCH),
            (r(&[("a", i(1))]), t("a"), "1"),
            (r(&[("own", NIL)]), t("own"), "null"),
            (r(&[("a", i(1))]), t("own"), "missing-field"),
            (r(&[]), t(""), "missing-field"),
            (NIL, i(0), MISMATCH),
            (NIL, t("a"), MISMATCH),
        ],
    );
    check(
        "append",
        Op::Append { dst, list, item: In(1) },
        &[
            (l(&[]), i(1), "[1]"),
            (l(&[i(1)]), l(&[]), "[1,[]]"),
            (l(&[i(1), i(2)]), NIL, "[1,2,null]"),
            (NIL, i(1), MISMATCH),
            (t("a"), t("b"), MISMATCH),
        ],
    );
    check(
        "len",
        Op::Len { dst, src: In(0) },
        &[
            (t("aé\u{1f600}"), NIL, "3"),
            (t(""), NIL, "0"),
            (l(&[NIL, NIL]), NIL, "2"),
            (r(&[("a", NIL)]), NIL, "1"),
            (i(1), NIL, MISMATCH),
            (NIL, NIL, MISMATCH),
            (TRUE, NIL, MISMATCH),
        ],
    );
    check(
        "list",
        Op::List { dst, first: First(0), count: Count(2) },
        &[(i(1), t("x"), "[1,\"x\"]"), (l(&[l(&[])]), r(&[]), "[[[]],{}]")],
    );
    // The items of two lists; else as before.
    let (a, b) = (In(0), In(1));
    for op in [Op::Add { dst, a, b }, Op::ConcatTwo { dst, a, b }] {
        check(
            "two lists",
            op,
            &[(l(&[i(1)]), l(&[t("x"), l(&[NIL])]), "[1,\"x\",[null]]"), (l(&[]), l(&[]), "[]")],
        );
    }
    assert_eq!(short(&run(&[Op::ReturnAdd { a, b }], l(&[i(1)]), l(&[i(2)]), |_| {})), "[1,2]");
    check("a list and none", Op::Add { dst, a, b }, &[(l(&[]), i(1), MISMATCH), (i(1), l(&[]), MISMATCH)]);
    check(
        "concat.two",
        Op::ConcatTwo { dst, a, b },
        &[(l(&[i(1)]), t("x"), r#""[1]x""#), (NIL, d(1.5), r#""nil1.5""#), (t(""), t(""), r#""""#)],
    );
    check("no items", Op::List { dst, first: First(0), count: Count(0) }, &[(NIL, NIL, "[]")]);
}

#[test]
fn records() {
    let (dst, src, field) = (Out(2), In(0), FieldId(0));
    let wide: Vec<(String, Datum<'_>)> = (0..300).map(|n| (format!("f{n}"), i(n))).collect();
    let mut wide: Vec<(&str, Datum<'_>)> = wide.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    wide.push(("a", t("far")));
    check(
        "field",
        Op::Field { dst, src, field },
        &[
            (r(&[("z", i(1)), ("a", i(2))]), NIL, "2"),
            (r(&[("a", NIL)]), NIL, "null"),
            (r(&wide), NIL, "\"far\""),
            (r(&[("z", i(1))]), NIL, "missing-field"),
            (r(&[]), NIL, "missing-field"),
            (l(&[]), NIL, MISMATCH),
            (NIL, NIL, MISMATCH),
            (t("a"), NIL, MISMATCH),
        ],
    );
    check(
        "has",
        Op::Has { dst, src, field },
        &[
            (r(&[("a", NIL)]), NIL, "true"),
            (r(&wide), NIL, "true"),
            (r(&[("z", NIL)]), NIL, "false"),
            (l(&[]), NIL, "false"),
            (l(&[i(1), t("a")]), NIL, "true"),
            (t("cab"), NIL, "true"),
            (t("bc"), NIL, "false"),
            (i(1), NIL, MISMATCH),
            (NIL, NIL, MISMATCH),
        ],
    );
    check(
        "has.name",
        Op::HasName { dst, src, name: In(1) },
        &[
            (r(&[("a", NIL)]), t("a"), "true"),
            (r(&[("other", NIL)]), t("other"), "true"),
            (r(&[("other", NIL)]), t("a"), "false"),
            (r(&[("other", NIL)]), t("never seen"), "false"),
            (r(&wide), t("f299"), "true"),
            (r(&[]), i(1), MISMATCH),
            (l(&[]), t("a"), "false"),
            (l(&[NIL, d(1.0)]), i(1), "true"),
            (l(&[l(&[i(1)])]), l(&[i(1)]), "true"),
            (l(&[t("ab")]), t("a"), "false"),
            (t("añb"), t("ñ"), "true"),
            (t("abc"), t(""), "true"),
            (t("abc"), t("abcd"), "false"),
            (t("1"), i(1), MISMATCH),
            (NIL, t("a"), MISMATCH),
            (i(1), i(1), MISMATCH),
        ],
    );
    let shape = ilo_spec::operand::ShapeId(0);
    let tables = |asm: &mut Asm| {
        asm.shape(&["c", "a"]);
    };
    let made = value_of(Op::Record { dst, first: First(0), shape }, i(1), l(&[r(&[])]), tables);
    assert_eq!(made, r#"{"c":1,"a":[{}]}"#);
    // The window is (the old record, b), set as the fields c and a.
    for (old, expected) in [
        (r(&[]), r#"{"c":{},"a":9}"#),
        (r(&[("a", i(1)), ("z", i(2))]), r#"{"a":9,"z":2,"c":{"a":1,"z":2}}"#),
        (r(&[("c", i(1)), ("a", i(2))]), r#"{"c":{"c":1,"a":2},"a":9}"#),
        (l(&[]), MISMATCH),
        (NIL, MISMATCH),
    ] {
        let op = Op::Merge { dst, src, first: First(0), shape };
        assert_eq!(value_of(op, old, i(9), tables), expected, "merge {old:?}");
    }
}

#[test]
fn text() {
    let op = Op::Concat { dst: Out(2), first: First(0), count: Count(2) };
    check(
        "concat",
        op,
        &[
            (t("a"), t("b"), "\"ab\""),
            (t(""), t(""), "\"\""),
            (t("n="), i(-5), "\"n=-5\""),
            (d(1.0), TRUE, "\"1true\""),
            (NIL, FALSE, "\"nilfalse\""),
            (l(&[NIL, t("q\"")]), t("!"), r#""[null,\"q\\\"\"]!""#),
            (r(&[("k\n", l(&[d(0.5), r(&[])]))]), NIL, r#""{\"k\\n\":[0.5,{}]}nil""#),
        ],
    );
}

#[test]
fn switches() {
    let keys = [
        Key::Nil,
        Key::Bool(false),
        Key::Bool(true),
        Key::Number(NumberId(0)),
        Key::Text(ilo_spec::operand::StringId(3)),
    ];
    // Few cases, then enough for a binary search.
    for more in [0, 20] {
        for (value, expected) in [
            (NIL, "0"),
            (FALSE, "1"),
            (TRUE, "2"),
            (d(1.0), "3"),
            (i(1), "3"),
            (t("gold"), "4"),
            (t("iron"), "99"),
            (i(2), "99"),
            (d(1.5), "99"),
            (l(&[]), "99"),
            (r(&[]), "99"),
        ] {
            for default in [true, false] {
                let mut asm = Asm::new(&["a", "b", "c"]);
                asm.int(1);
                asm.text("gold");
                let mut cases: Vec<(Key, u16)> =
                    keys.iter().zip((0..).step_by(2)).map(|(&k, to)| (k, to)).collect();
                let map_default = if default { Some(10) } else { None };
                for n in 0..more {
                    cases.push((Key::Number(asm.int(1_000 + n)), 0));
                }
                let map = asm.map(cases, map_default);
                let mut code = vec![Op::Switch { src: In(0), map }];
                for n in [0, 1, 2, 3, 4, 99] {
                    if n == 99 && !default {
                        break;
                    }
                    code.push(Op::Int { dst: Out(2), value: Imm(n) });
                    code.push(Op::Return { src: In(2) });
                }
                asm.function("f", &["a", "b"], PLAIN, 3, &code);
                let found = short(&outcome(asm, &[value, NIL], NO_TOOLS));
                let expected = if expected == "99" && !default { "no-case" } else { expected };
                assert_eq!(found, expected, "{value:?} among {more} more, default {default}");
            }
        }
    }
}

#[test]
fn loops_take_lists_only() {
    for (value, expected) in [
        (l(&[i(1), i(2)]), "[1,2]"),
        (t("ab"), MISMATCH),
        (r(&[]), MISMATCH),
        (NIL, MISMATCH),
        (i(3), MISMATCH),
    ] {
        let code = [
            Op::For { base: LoopBase(2), list: In(0), to: To(1) },
            Op::Yield { base: LoopBase(2), src: In(5) },
            Op::Next { base: LoopBase(2), item: Out(5), back: Back(2) },
            Op::Collect { dst: Out(2), base: LoopBase(2) },
            Op::Return { src: In(2) },
        ];
        assert_eq!(short(&run(&code, value, NIL, |_| ())), expected, "{value:?}");
    }
}

#[test]
fn a_pass_may_yield_more_than_once() {
    let code = [
        Op::For { base: LoopBase(2), list: In(0), to: To(3) },
        Op::Yield { base: LoopBase(2), src: In(5) },
        Op::Yield { base: LoopBase(2), src: In(1) },
        Op::YieldRecord { base: LoopBase(2), first: First(5), shape: ilo_spec::operand::ShapeId(0) },
        Op::Next { base: LoopBase(2), item: Out(5), back: Back(4) },
        Op::Collect { dst: Out(2), base: LoopBase(2) },
        Op::Return { src: In(2) },
    ];
    let found = short(&run(&code, l(&[i(1), i(2)]), t("-"), |asm| {
        asm.shape(&["c"]);
    }));
    assert_eq!(found, r#"[1,"-",{"c":1},2,"-",{"c":2}]"#);
}

#[test]
fn appending_leaves_other_lists_as_they_were() {
    // Two lists grow from one: [1] then [1,a] and [1,b].
    let code = [
        Op::List { dst: Out(2), first: First(0), count: Count(1) },
        Op::Append { dst: Out(2), list: In(2), item: In(0) },
        Op::Append { dst: Out(3), list: In(2), item: In(1) },
        Op::Append { dst: Out(4), list: In(2), item: In(0) },
        Op::Append { dst: Out(5), list: In(3), item: In(0) },
        Op::List { dst: Out(2), first: First(2), count: Count(4) },
        Op::Return { src: In(2) },
    ];
    let found = short(&run(&code, i(1), t("x"), |_| ()));
    assert_eq!(found, r#"[[1,1],[1,1,"x"],[1,1,1],[1,1,"x",1]]"#);
}
