//! Pure functions (`apply`): each with every kind of operand, its results, failures, faults, limits and fuel.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod limits;

use crate::common::*;
use ilo_spec::isa::Op;
use ilo_spec::operand::PureId;
use ilo_spec::pure::{Kinds, Pure, TABLE};
use ilo_vm::{Datum, FunctionId, Limits, Run};

const MISSING: &str = "missing-field";
const DEPTH: &str = "depth";
const TOO_LARGE: &str = "too-large";
const OVERFLOW: &str = "overflow";

/// f(a, b, c) that returns what the function gives for them, or fails with its failure.
fn program(function: Pure) -> Asm {
    let row = function.row();
    let count = u8::try_from(row.operands.len()).unwrap();
    let handler = OnFail(u16::from(row.fails));
    let (first, function) = (First(0), PureId(function as u8));
    let mut code = vec![
        Op::Apply { dst: Out(4), first, count: Count(count), function, fail: handler },
        Op::Return { src: In(4) },
    ];
    code.extend(row.fails.then_some(Op::Fail { src: In(4) }));
    // The program has the names `a` to `c` and `x`; all others are the run's own.
    let mut asm = Asm::new(&["a", "b", "c", "x"]);
    asm.function("f", &["a", "b", "c"][..row.operands.len()], RESULT, 8, &code);
    asm
}

/// The value as JSON, the code of the fault, or `err` and the failure.
fn apply_within(function: Pure, operands: &[Datum<'_>], limits: Limits) -> String {
    let outcome = outcome_within(program(function), operands, NO_TOOLS, limits);
    let failure = outcome.strip_prefix(r#"{"status":"err","error":"#).and_then(|rest| rest.strip_suffix('}'));
    failure.map_or_else(|| short(&outcome), |failure| format!("err {failure}"))
}

fn apply(function: Pure, operands: &[Datum<'_>]) -> String {
    apply_within(function, operands, Limits::default())
}

/// Checks rows of operands and their results.
fn check(function: Pure, rows: &[(&[Datum<'_>], &str)]) {
    for (operands, expected) in rows {
        assert_eq!(apply(function, operands), *expected, "{function:?} {operands:?}");
    }
}

/// Operands that every function takes.
fn fitting(function: Pure) -> Vec<Datum<'static>> {
    const ITEMS: &[Datum<'_>] = &[Datum::Int(1), Datum::Int(2)];
    const FIELDS: &[(&str, Datum<'_>)] = &[("a", Datum::Int(1))];
    const ENTRIES: &[Datum<'_>] = &[Datum::Record(&[("key", Datum::Text("a")), ("value", Datum::Nil)])];
    let row = function.row();
    let by_items = matches!(function, Pure::Get | Pure::Sort | Pure::SortDown | Pure::Unique | Pure::Group);
    let of_records = matches!(function, Pure::Column | Pure::Find | Pure::Record);
    let operand = |kinds: Kinds| match () {
        () if kinds.meets(Kinds::TEXT) && !by_items => t("1970-01-01"),
        () if kinds.meets(Kinds::LIST) && of_records => l(ENTRIES),
        () if kinds.meets(Kinds::LIST) => l(ITEMS),
        () if kinds.meets(Kinds::RECORD) => r(FIELDS),
        () if kinds.meets(Kinds::NUMBER) => i(1),
        () => NIL,
    };
    row.operands.iter().map(|operand_row| operand(operand_row.kinds)).collect()
}

#[test]
fn every_operand_of_a_wrong_kind_is_a_type_mismatch() {
    let kinds = [
        (Kinds::NIL, NIL),
        (Kinds::BOOL, TRUE),
        (Kinds::NUMBER, i(1)),
        (Kinds::NUMBER, d(0.5)),
        (Kinds::TEXT, t("a")),
        (Kinds::LIST, l(&[])),
        (Kinds::RECORD, r(&[])),
    ];
    for row in TABLE {
        let operands = fitting(row.function);
        assert_ne!(apply(row.function, &operands), MISMATCH, "{} {operands:?}", row.name);
        for (place, operand) in row.operands.iter().enumerate() {
            for (kind, value) in kinds {
                let mut wrong = operands.clone();
                wrong[place] = value;
                // PARSE gives a value that is no text unchanged.
                if !operand.kinds.meets(kind) && row.function != Pure::Parse {
                    assert_eq!(apply(row.function, &wrong), MISMATCH, "{} {wrong:?}", row.name);
                }
            }
        }
    }
}

#[test]
fn get_and_put_and_keys() {
    let list = l(&[Datum::Int(10), Datum::Nil, Datum::Int(30)]);
    let record = r(&[("a", Datum::Int(1)), ("own", Datum::Nil), ("x", Datum::Bool(false))]);
    check(
        Pure::Get,
        &[
            (&[list, i(0), i(7)], "10"),
            (&[list, i(-1), i(7)], "30"),
            (&[list, i(-3), i(7)], "10"),
            (&[list, i(-4), i(7)], "7"),
            (&[list, i(3), i(7)], "7"),
            (&[list, MIN, i(7)], "7"),
            (&[list, MAX, i(7)], "7"),
            (&[list, i(1), i(7)], "7"),
            (&[list, d(2.0), i(7)], "30"),
            (&[list, d(0.5), i(7)], "7"),
            (&[list, d(1e300), i(7)], "7"),
            (&[list, t("a"), i(7)], MISMATCH),
            (&[l(&[]), i(0), NIL], "null"),
            (&[record, t("a"), i(7)], "1"),
            (&[record, t("x"), i(7)], "false"),
            (&[record, t("own"), i(7)], "7"),
            (&[record, t("none"), i(7)], "7"),
            (&[record, t(""), i(7)], "7"),
            (&[record, i(0), i(7)], MISMATCH),
            (&[NIL, t("a"), i(7)], "7"),
            (&[NIL, i(0), i(7)], "7"),
            (&[NIL, NIL, i(7)], MISMATCH),
            (&[t("abc"), i(0), i(7)], MISMATCH),
        ],
    );
    check(
        Pure::Put,
        &[
            (&[record, t("a"), i(2)], r#"{"a":2,"own":null,"x":false}"#),
            (&[record, t("x"), list], r#"{"a":1,"own":null,"x":[10,null,30]}"#),
            (&[record, t("new"), i(2)], r#"{"a":1,"own":null,"x":false,"new":2}"#),
            (&[r(&[]), t(""), NIL], r#"{"":null}"#),
            (&[r(&[("a", list)]), t("b"), i(1)], r#"{"a":[10,null,30],"b":1}"#),
        ],
    );
    check(
        Pure::Keys,
        &[(&[record], r#"["a","own","x"]"#), (&[r(&[])], "[]"), (&[r(&[("é\"", NIL)])], r#"["é\""]"#)],
    );
}

#[test]
fn texts_are_split_joined_and_replaced() {
    check(
        Pure::Split,
        &[
            (&[t("a,b,,c"), t(",")], r#"["a","b","","c"]"#),
            (&[t(","), t(",")], r#"["",""]"#),
            (&[t(""), t(",")], r#"[""]"#),
            (&[t("abc"), t("abc")], r#"["",""]"#),
            (&[t("aaa"), t("aa")], r#"["","a"]"#),
            (&[t("abc"), t("abcd")], r#"["abc"]"#),
            (&[t("aé日😀"), t("")], r#"["a","é","日","😀"]"#),
            (&[t(""), t("")], "[]"),
            (&[t("1é2é3"), t("é")], r#"["1","2","3"]"#),
            (&[t("a.b"), t(".")], r#"["a","b"]"#),
        ],
    );
    check(
        Pure::Replace,
        &[
            (&[t("a-b-c"), t("-"), t("+")], r#""a+b+c""#),
            (&[t("aaa"), t("aa"), t("b")], r#""ba""#),
            (&[t("aaa"), t("a"), t("")], r#""""#),
            (&[t("aaa"), t("a"), t("aa")], r#""aaaaaa""#),
            (&[t("abc"), t(""), t("x")], r#""abc""#),
            (&[t(""), t("a"), t("x")], r#""""#),
            (&[t("日本日"), t("日"), t("é")], r#""é本é""#),
            (&[t("abc"), t("x"), t("y")], r#""abc""#),
        ],
    );
    check(
        Pure::Join,
        &[
            (&[l(&[t("a"), t("b")]), t(", ")], r#""a, b""#),
            (&[l(&[i(1), TRUE, NIL, t("x"), l(&[t("y")])]), t("-")], r#""1-true-nil-x-[\"y\"]""#),
            (&[l(&[]), t(",")], r#""""#),
            (&[l(&[t("a")]), t(",")], r#""a""#),
            (&[l(&[t("a"), t("b")]), t("")], r#""ab""#),
        ],
    );
}

#[test]
fn texts_are_trimmed_and_change_case() {
    check(
        Pure::Trim,
        &[
            (&[t(" \t\n a b \u{a0}\u{3000}")], r#""a b""#),
            (&[t("\u{200b}a")], "\"\u{200b}a\""),
            (&[t("   ")], r#""""#),
            (&[t("")], r#""""#),
            (&[t("a")], r#""a""#),
        ],
    );
    check(
        Pure::Lower,
        &[(&[t("ÀÉ ΣΑΣ İ K")], r#""àé σασ i k""#), (&[t("abc")], r#""abc""#), (&[t("")], r#""""#)],
    );
    check(
        Pure::Upper,
        &[(&[t("straße ŉ ﬁ ᾀ ÿ")], r#""STRAßE ŉ ﬁ ᾈ Ÿ""#), (&[t("ABC")], r#""ABC""#), (&[t("")], r#""""#)],
    );
}

#[test]
fn slices_are_clamped() {
    let list = l(&[Datum::Int(0), Datum::Int(1), Datum::Int(2)]);
    check(
        Pure::Slice,
        &[
            (&[list, i(1), NIL], "[1,2]"),
            (&[list, i(0), i(2)], "[0,1]"),
            (&[list, i(-2), NIL], "[1,2]"),
            (&[list, i(-2), i(-1)], "[1]"),
            (&[list, i(2), i(1)], "[]"),
            (&[list, i(9), NIL], "[]"),
            (&[list, MIN, MAX], "[0,1,2]"),
            (&[list, d(-1e300), d(1e300)], "[0,1,2]"),
            (&[list, d(1.0), d(2.0)], "[1]"),
            (&[list, d(0.5), NIL], MISMATCH),
            (&[list, i(0), d(0.5)], MISMATCH),
            (&[l(&[]), i(0), NIL], "[]"),
            (&[l(&[l(&[Datum::Int(1)]), Datum::Int(2)]), i(0), i(1)], "[[1]]"),
            (&[t("aé日😀"), i(1), i(3)], r#""é日""#),
            (&[t("aé日😀"), i(-1), NIL], r#""😀""#),
            (&[t("aé日😀"), i(3), i(1)], r#""""#),
            (&[t("abc"), i(0), NIL], r#""abc""#),
            (&[t("abc"), i(0), i(-3)], r#""""#),
            (&[t("abc"), MAX, MAX], r#""""#),
            (&[t("abc"), MIN, MAX], r#""abc""#),
            (&[t("abc"), d(1.5), NIL], MISMATCH),
            (&[t("abc"), i(0), d(1.5)], MISMATCH),
            (&[t(""), i(0), NIL], r#""""#),
        ],
    );
}

#[test]
fn lists_are_sorted_and_reversed() {
    let (one, two) = (Datum::Int(1), Datum::Int(2));
    let by = |a: &'static [(&'static str, Datum<'static>)]| r(a);
    let people = [
        by(&[("a", Datum::Int(2)), ("x", Datum::Text("first"))]),
        by(&[("x", Datum::Text("second")), ("a", Datum::Int(1))]),
        by(&[("a", Datum::Double(2.0)), ("x", Datum::Text("third"))]),
    ];
    check(
        Pure::Sort,
        &[
            (
                &[l(&[two, d(1.5), one, MIN, MAX, d(-1e300)]), NIL],
                "[-1e300,-9223372036854775808,1,1.5,2,9223372036854775807]",
            ),
            (
                &[l(&[d(9_007_199_254_740_992.0), i(9_007_199_254_740_993), i(9_007_199_254_740_991)]), NIL],
                "[9007199254740991,9007199254740992.0,9007199254740993]",
            ),
            (&[l(&[d(1.0), one, i(0)]), NIL], "[0,1.0,1]"),
            (
                &[l(&[t("b"), t("a"), t("\u{ffff}"), t("😀"), t(""), t("ab")]), NIL],
                "[\"\",\"a\",\"ab\",\"b\",\"\u{ffff}\",\"😀\"]",
            ),
            (&[l(&[]), NIL], "[]"),
            (&[l(&[]), t("a")], "[]"),
            (&[l(&[one]), NIL], "[1]"),
            (&[l(&[TRUE]), NIL], MISMATCH),
            (&[l(&[one, t("a")]), NIL], MISMATCH),
            (&[l(&[t("a"), one]), NIL], MISMATCH),
            (&[l(&[one, NIL]), NIL], MISMATCH),
            (&[l(&people), t("a")], r#"[{"x":"second","a":1},{"a":2,"x":"first"},{"a":2.0,"x":"third"}]"#),
            (&[l(&people), t("none")], MISSING),
            (&[l(&[r(&[("a", NIL)])]), t("a")], MISMATCH),
            (&[l(&[one]), t("a")], MISMATCH),
        ],
    );
    let many: Vec<Datum<'_>> = (0..1_000).map(|n| i((n * 7_919) % 1_000)).collect();
    let sorted: Vec<String> = (0..1_000).map(|n: i64| n.to_string()).collect();
    assert_eq!(apply(Pure::Sort, &[l(&many), NIL]), format!("[{}]", sorted.join(",")));
    check(
        Pure::Reverse,
        &[
            (&[l(&[one, two, t("a")])], r#"["a",2,1]"#),
            (&[l(&[])], "[]"),
            (&[l(&[l(&[one]), two])], "[2,[1]]"),
        ],
    );
}

#[test]
fn numbers_are_counted_and_compared() {
    let one = Datum::Int(1);
    check(
        Pure::Range,
        &[
            (&[i(0)], "[]"),
            (&[i(3)], "[0,1,2]"),
            (&[d(2.0)], "[0,1]"),
            (&[i(-1)], MISMATCH),
            (&[d(-0.0)], "[]"),
            (&[d(1.5)], MISMATCH),
            (&[MIN], MISMATCH),
            (&[MAX], TOO_LARGE),
            (&[d(1e300)], TOO_LARGE),
            (&[d(-1e300)], MISMATCH),
        ],
    );
    check(
        Pure::Sum,
        &[
            (&[l(&[])], "0"),
            (&[l(&[one, i(2)])], "3"),
            (&[l(&[one, d(0.5)])], "1.5"),
            (&[l(&[d(0.1), d(0.2), d(0.3)])], "0.6000000000000001"),
            (&[l(&[MAX, one, i(-1)])], OVERFLOW),
            (&[l(&[d(f64::MAX), d(f64::MAX)])], "not-finite"),
            (&[l(&[d(-0.0)])], "-0.0"),
            (&[l(&[t("a")])], MISMATCH),
            (&[l(&[one, NIL])], MISMATCH),
            (&[l(&[l(&[]), l(&[])])], MISMATCH),
        ],
    );
    for (function, rows) in [
        (
            Pure::Min,
            [
                (&[l(&[i(2), one, d(1.0)])][..], "1"),
                (&[l(&[d(1.0), one])], "1.0"),
                (&[l(&[t("b"), t("a")])], r#""a""#),
                (&[l(&[])], r#"err "the least of an empty list""#),
                (&[l(&[one, t("a")])], MISMATCH),
                (&[l(&[NIL])], MISMATCH),
            ],
        ),
        (
            Pure::Max,
            [
                (&[l(&[i(2), one, d(2.0)])][..], "2"),
                (&[l(&[d(1.0), one])], "1.0"),
                (&[l(&[t("b"), t("😀"), t("\u{ffff}")])], r#""😀""#),
                (&[l(&[])], r#"err "the greatest of an empty list""#),
                (&[l(&[t("a"), one])], MISMATCH),
                (&[l(&[TRUE])], MISMATCH),
            ],
        ),
    ] {
        check(function, &rows);
    }
}

#[test]
fn numbers_are_rounded() {
    check(
        Pure::Round,
        &[
            (&[d(2.675), i(2)], "2.68"),
            (&[d(-2.5), i(0)], "-3"),
            (&[d(2.4), d(0.0)], "2"),
            (&[i(1250), i(-2)], "1300"),
            (&[i(7), i(2)], "7"),
            (&[d(1e300), i(0)], OVERFLOW),
            (&[MAX, i(-1)], OVERFLOW),
            (&[MAX, MIN], "0"),
            (&[d(0.5), MAX], "0.5"),
            (&[d(0.5), d(0.5)], MISMATCH),
            (&[d(9.223_372_036_854_776e18), i(0)], OVERFLOW),
            (&[d(-9.223_372_036_854_775e18), i(0)], "-9223372036854775000"),
        ],
    );
    check(
        Pure::Fixed,
        &[
            (&[d(2.675), i(2)], r#""2.68""#),
            (&[i(3), i(2)], r#""3.00""#),
            (&[d(-0.001), i(2)], r#""0.00""#),
            (&[d(1.5), i(0)], r#""2""#),
            (&[i(1), i(20)], r#""1.00000000000000000000""#),
            (&[i(1), i(21)], MISMATCH),
            (&[i(1), i(-1)], MISMATCH),
            (&[i(1), d(1.5)], MISMATCH),
            (&[i(1), MAX], MISMATCH),
            (&[MIN, i(1)], r#""-9223372036854775808.0""#),
        ],
    );
    check(
        Pure::Number,
        &[
            (&[t("42")], "42"),
            (&[t(" \u{a0}-1.50\n")], "-1.5"),
            (&[t("1e2")], "100.0"),
            (&[t("-0")], "-0.0"),
            (&[i(5)], "5"),
            (&[d(5.0)], "5.0"),
            (&[t("")], r#"err "expected a number, found \"\"""#),
            (&[t("0x10")], r#"err "expected a number, found \"0x10\"""#),
            (&[t("1,5")], r#"err "expected a number, found \"1,5\"""#),
            (
                &[t("9223372036854775808")],
                r#"err "expected an integer within 64 bits, found \"9223372036854775808\"""#,
            ),
            (&[t("1e999")], r#"err "expected a finite number, found \"1e999\"""#),
            (&[t("NaN")], r#"err "expected a number, found \"NaN\"""#),
        ],
    );
}

#[test]
fn times_are_read_and_written() {
    let not_a_time = |text: &str| {
        let found = apply(Pure::Time, &[t(text)]);
        assert!(found.starts_with("err \"expected a time"), "{text}: {found}");
    };
    check(
        Pure::Time,
        &[
            (&[t("1970-01-01")], "0"),
            (&[t("1970-01-01T00:00:00Z")], "0"),
            (&[t("2000-02-29t12:30:15z")], "951827415"),
            (&[t("2000-02-29 12:30:15")], "951827415"),
            (&[t("2026-11-22T20:00:00+01:30")], "1795372200"),
            (&[t("1969-12-31T23:59:59.5Z")], "-0.5"),
            (&[t("1970-01-01T00:00:00.000Z")], "0"),
            (&[t("1970-01-01T00:00:01.25-00:00")], "1.25"),
            (&[t("2016-12-31T23:59:60Z")], "1483228800"),
            (&[t("0001-01-01")], "-62135596800"),
            (&[t("9999-12-31T23:59:59Z")], "253402300799"),
            (&[t("2024-01-01T00:00:00.1234567890123456789999Z")], "1704067200.1234567"),
        ],
    );
    for text in [
        "",
        "1970",
        "1970-1-1",
        "1970-13-01",
        "1970-00-01",
        "1970-02-29",
        "1900-02-29",
        "1970-01-32",
        "1970-01-00",
        "0000-01-01",
        "10000-01-01",
        "1970-01-01T",
        "1970-01-01T24:00:00Z",
        "1970-01-01T00:60:00Z",
        "1970-01-01T00:00:60Z",
        "1970-01-01T00:00:61Z",
        "1970-01-01T00:00Z",
        "1970-01-01T00:00:00.Z",
        "1970-01-01T00:00:00+1:00",
        "1970-01-01T00:00:00+24:00",
        "1970-01-01T00:00:00Zx",
        " 1970-01-01",
        "١٩٧٠-٠١-٠١",
    ] {
        not_a_time(text);
    }
    not_a_time(&format!("1970-01-01T00:00:00.{}Z", "1".repeat(100)));
    check(
        Pure::Iso,
        &[
            (&[i(0)], r#""1970-01-01T00:00:00Z""#),
            (&[d(1.5)], r#""1970-01-01T00:00:01.5Z""#),
            (&[d(-0.5)], r#""1969-12-31T23:59:59.5Z""#),
            (&[d(1e-10)], r#""1970-01-01T00:00:00Z""#),
            (&[i(951_827_415)], r#""2000-02-29T12:30:15Z""#),
            (&[i(-62_135_596_800)], r#""0001-01-01T00:00:00Z""#),
            (&[i(253_402_300_799)], r#""9999-12-31T23:59:59Z""#),
            (&[i(-62_135_596_801)], MISMATCH),
            (&[i(253_402_300_800)], MISMATCH),
            (&[MIN], MISMATCH),
            (&[MAX], MISMATCH),
            (&[d(1e300)], MISMATCH),
        ],
    );
}

#[test]
fn json_is_parsed_and_written() {
    let err = |message: &str| format!("err {message:?}");
    for (text, expected) in [
        (
            r#"{"a":[1,2.0,true,null],"own":{"x":"é\n"}}"#,
            r#"{"a":[1,2.0,true,null],"own":{"x":"é\n"}}"#.to_string(),
        ),
        (r#"[{"own":1},{"own":2},{"\u006fwn":3}]"#, r#"[{"own":1},{"own":2},{"own":3}]"#.to_string()),
        (" 9223372036854775807 ", "9223372036854775807".to_string()),
        ("[[],{}]", "[[],{}]".to_string()),
        (r#""""#, r#""""#.to_string()),
        ("", err("not JSON: expected a value at character 0")),
        ("[1,", err("not JSON: expected a value at character 3")),
        ("\"é\" x", err("not JSON: expected the end at character 4")),
        (r#"{"own":1,"own":2}"#, err("the field own is given twice")),
        (r#"{"a":1,"\u0061":2}"#, err("the field a is given twice")),
        ("9223372036854775808", err("not JSON: an integer beyond 64 bits at character 0")),
        ("[1e999]", err("not JSON: a number that is not finite at character 1")),
    ] {
        assert_eq!(apply(Pure::Parse, &[t(text)]), expected, "{text}");
    }
    check(
        Pure::Json,
        &[
            (&[NIL], r#""null""#),
            (&[t("a\"b")], r#""\"a\\\"b\"""#),
            (&[d(1.0)], r#""1.0""#),
            (&[r(&[("own", l(&[TRUE, i(1)]))])], r#""{\"own\":[true,1]}""#),
            (&[l(&[])], r#""[]""#),
        ],
    );
}

#[test]
fn a_failure_without_a_handler_ends_the_function() {
    let apply = |fail| Op::Apply {
        dst: Out(1),
        first: First(0),
        count: Count(1),
        function: PureId(Pure::Number as u8),
        fail: OnFail(fail),
    };
    let mut asm = Asm::new(&["a"]);
    let inner = asm.function("inner", &["a"], PLAIN, 2, &[apply(0), Op::Return { src: In(1) }]);
    let invoke = |fail| Op::Invoke { dst: Out(1), first: First(0), function: inner, fail: OnFail(fail) };
    asm.function("handles", &["a"], PLAIN, 2, &[invoke(1), Op::ReturnNil {}, Op::Return { src: In(1) }]);
    asm.function("passes", &["a"], PLAIN, 2, &[invoke(0), Op::Return { src: In(1) }]);
    let program = asm.build();
    for (function, expected) in [
        (
            0,
            r#"{"status":"fault","code":"tool-failed","message":"expected a number, found \"x\"","at":{"function":"inner","instruction":0}}"#,
        ),
        (1, r#"{"status":"ok","value":"expected a number, found \"x\""}"#),
        (
            2,
            r#"{"status":"fault","code":"tool-failed","message":"expected a number, found \"x\"","at":{"function":"passes","instruction":5}}"#,
        ),
    ] {
        let mut run = Run::new(&program, Limits::default());
        run.start(FunctionId(function), &[t("x")]).unwrap();
        assert_eq!(drive(&mut run, NO_TOOLS), expected);
    }
}

#[test]
fn a_field_of_a_json_text_names_parse() {
    let field = |text: &str| {
        let mut asm = Asm::new(&["a"]);
        let op = Op::Field { dst: Out(1), src: In(0), field: asm.field("a") };
        asm.function("f", &["a"], PLAIN, 2, &[op, Op::Return { src: In(1) }]);
        outcome(asm, &[t(text)], NO_TOOLS)
    };
    for text in ["{\"a\":1}", " { } "] {
        assert!(field(text).contains("found a text that is a JSON document; PARSE"), "{text}");
    }
    for text in ["", "{", "{\"a\":1}x", "[1]", "plain"] {
        assert!(field(text).contains("expected a record to read a field of, found text\""), "{text}");
    }
}
