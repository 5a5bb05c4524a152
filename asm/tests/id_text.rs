//! Headers, registries, operands and constants of the integer-ID notation (semantics 2.1, 2.4 to 2.6, 2.9).

#![allow(clippy::format_collect, reason = "brevity matters more than speed here")]

use crate::common::{NOTIFY, codes, diagnose, function, read, tree};
use ilo_asm::ast::{Binary, Bound, Expr, ExprKind, Literal, Stmt, StmtKind};
use ilo_asm::diagnostic::Diagnostic;
use ilo_spec::error::Code;
use ilo_spec::node::{Place, Shape, TABLE, Word};
use ilo_spec::program::Number;

/// The value that `LET 2 <text>` binds.
fn bound<T>(text: &str, with: impl FnOnce(&Expr<'_>) -> T) -> T {
    read(&function(&format!("LET 2 {text}")), |file, diagnostics| {
        assert!(diagnostics.as_slice().is_empty(), "{text}: {:?}", diagnostics.as_slice());
        match file.functions[0].body.statements {
            [Stmt { kind: StmtKind::Let { value: Bound::Expr(expr), .. }, .. }] => with(expr),
            other => panic!("{other:?}"),
        }
    })
}

#[track_caller]
fn says(body: &str, expected: &[&str]) {
    assert_eq!(codes(&function(body)), expected, "{body}");
}

/// The one fix of a body, applied to it.
#[track_caller]
fn fixed(body: &str) -> String {
    let source = function(body);
    let found = diagnose(&source);
    let met = |d: &&Diagnostic| d.is_error() || d.code == Code::OtherNotation;
    assert_eq!(found.iter().filter(met).count(), 1, "{body}: {found:?}");
    let (fixed, applied) = ilo_asm::diagnostic::fix::apply(&source, &found);
    assert_eq!(applied, 1, "{body}: {found:?}");
    let empty = function("");
    fixed[empty.len() - 1..].trim().to_owned()
}

#[test]
fn the_example_has_the_printed_names() {
    read(NOTIFY, |file, _| {
        let function = &file.functions[0];
        assert_eq!(function.name.text, "notify");
        let parameters: Vec<_> =
            function.parameters.iter().map(|p| (p.name.text, p.ty.ty.to_string())).collect();
        assert_eq!(parameters, [("user-id", "text".to_owned()), ("message", "text".to_owned())]);
        assert_eq!(function.output.output().to_string(), "result nil, text");
        assert_eq!((function.calls, function.loops), (2, 0));
        let slots: Vec<_> = function.slots.iter().map(|slot| (slot.number, slot.name)).collect();
        let named = [(Some(0), Some("user-id")), (Some(1), Some("message")), (Some(2), Some("user"))];
        assert_eq!(slots[..3], named);
        assert_eq!(
            slots[3..],
            [(Some(4), None), (Some(5), None), (Some(3), Some("sent")), (Some(6), None), (Some(7), None)]
        );
    });
}

#[test]
fn every_instruction_of_the_table_is_read_by_its_shape() {
    fn operand(shape: Shape) -> &'static str {
        match shape {
            Shape::Slot | Shape::Path | Shape::Field | Shape::FieldOrName | Shape::Tool => "0",
            Shape::Expr | Shape::Bound => "REF 0",
            Shape::Literal => "1 5",
            Shape::Pairs => "1 0 REF 0",
            Shape::OpenPairs => "0 REF 0 1 REF 1",
            Shape::Exprs => "2 REF 0 REF 1",
            Shape::Cases => "2 \"a\" REF 0 ELSE REF 1",
            Shape::Block => "1 LET 2 REF 0",
            Shape::Arms => "2 ERR 3 1 LET 2 REF 3 OK 3 1 LET 2 REF 3",
            Shape::Otherwise => "ELSE 1 LET 2 REF 1",
            Shape::Handler => "ERR 3 1 LET 2 REF 3",
            Shape::Call => "CALL 0 0",
        }
    }
    for row in TABLE.iter().filter(|row| row.place != Place::Part) {
        // The ELSE of a FOR needs a BREAK.
        let of =
            |shape| if row.word == Word::For && shape == Shape::Block { "1 BREAK" } else { operand(shape) };
        let operands: Vec<_> = row.operands.iter().copied().map(of).collect();
        let text = format!("{} {}", row.mnemonic, operands.join(" "));
        read(&function(&text), |file, diagnostics| {
            assert!(diagnostics.as_slice().is_empty(), "{text}: {:?}", diagnostics.as_slice());
            assert_eq!(file.functions[0].body.statements.len(), 1, "{text}");
        });
    }
}

#[test]
fn registries_come_in_many_forms() {
    let body = "RET CALL 0 1 0 REF 1";
    let usual = format!("; fn f(a: text) -> nil\n; Vars: 0=a 1=b\n; Tools: 0=t\n; Fields: 0=k\n{body}\n");
    assert_eq!(codes(&usual), Vec::<&str>::new());
    for registries in [
        "; Fields: 0=k\n; Tools: 0=t\n; Vars: 0=a 1=b",
        "; Vars: 0=a 1=b Tools: 0=t Fields: 0=k",
        "; Registry: Vars: 0=a 1=b Tools: 0=t\n; Registry: Fields: 0=k",
        ";Var: 1=b\n;tool:0=t\n;; FIELDS : 0 = k",
        "; vars: 1=b, tools: 0=t; fields: 0=k",
        "; Vars: 0=order(input) 1=b (the second, of two)\n; Tools: 0=t\n; Fields: 0=\"k\"",
        "; Vars: 1=b 1=b\n; Tools: 0=t\n; Fields:\n; Fields: 0=k",
        "; a comment\n; Vars: 1=b\n; Tools: 0=t 7=other\n; Tools: none\n; Fields: 0=k",
    ] {
        let source = format!("; fn f(a: text) -> nil\n{registries}\n{body}\n");
        assert_eq!(codes(&source), Vec::<&str>::new(), "{registries}");
        assert_eq!(tree(&source), tree(&usual), "{registries}");
        let after = format!("; fn f(a: text) -> nil\n{body}\n{registries}\n");
        assert_eq!(tree(&after), tree(&usual), "after the instructions: {registries}");
        let before = format!("{registries}\n; fn f(a: text) -> nil\n{body}\n");
        assert_eq!(tree(&before), tree(&usual), "before the header: {registries}");
    }
    assert_eq!(
        tree(&format!("; fn f(a: text) -> nil ; Vars: 1=b Tools: 0=t Fields: 0=k\n{body}\n")),
        tree(&usual)
    );
}

#[test]
fn quoted_names_are_json_strings() {
    let source = "; fn f(a: text) -> text\n; Fields: 0=\"First Name\" 1=\"q\\\"\\u00e9\"\nLET 1 OBJ 2 0 REF 0 1 REF 0\nRET REF 1";
    assert_eq!(codes(source), Vec::<&str>::new());
    let tree = tree(source);
    assert!(tree.contains("\"First Name\"") && tree.contains("q\\\"é"), "{tree}");
}

#[test]
fn registries_belong_to_their_function() {
    let source = "; fn f() -> nil\n; Tools: 0=t\nCALL 0 0\n; fn g() -> nil\nCALL 0 0\n";
    assert_eq!(codes(source), ["unnamed-id"]);
}

#[test]
fn wrong_registries_and_headers_are_named() {
    let head = |line: &str| codes(&format!("{line}\nLET 0 LIT 1 1\nRET REF 0\n"));
    let none: [&str; 0] = [];
    for (line, expected) in [
        ("; fn f() -> number", &none[..]),
        (";fn f()->number", &none),
        ("; fn f() -> list list num", &none),
        ("; fn f(a: Order, \"First Name\": any) -> list Order", &none),
        ("; fn f() -> result nil text", &none),
        ("; fn f() -> result list text, list list text", &none),
        ("; fn is short for function\n; fn f() -> number", &none),
        ("; fn f(a: string) -> number", &["type-synonym"]),
        ("; fn f(a: Text) -> number", &["type-synonym"]),
        ("; fn f(a: array int) -> boolean", &["type-synonym"; 3]),
        ("; fn f(a: list) -> number", &["type-synonym"]),
        ("; fn f(a: list<text>) -> number", &none),
        ("; fn f(a: text[]) -> list<list[text]>", &none),
        ("; fn f(a: map<text, text>) -> number", &["bad-type"]),
        ("; fn f(a: text|number) -> number", &["bad-type"]),
        ("; fn f() -> text?", &["bad-header"]),
        ("; fn f(a: result text, text) -> number", &["bad-type"; 1]),
        ("; fn f(a: ) -> number", &["bad-type"]),
        ("; fn f() -> result nil", &["bad-type"]),
        ("; fn f() -> list result nil text", &["bad-type"]),
        ("; fn f() -> result<nil, text>", &none),
        ("; fn f(a) -> number", &["bad-header"]),
        ("; fn f(a: text -> number", &["bad-header"]),
        ("; fn f(a: text)", &["bad-header"]),
        ("; fn f", &["bad-header"; 2]),
        ("; fn f(a: text) => number", &none),
        ("; fn f(a: text): number", &none),
        ("; function f(a: text) -> number", &none),
        ("; fn (a: text) -> number", &["bad-header"]),
        ("; fn f(a: text) -> number and more", &["bad-header"]),
        ("; fn f(a: text, a: text) -> number", &["duplicate-parameter"]),
        ("; fn f() -> nil\n; Vars: 0=a 0=b", &["duplicate-id"]),
        ("; fn f() -> nil\n; Vars: 0:a", &none),
        ("; fn f() -> nil\n; Vars: a=0", &["bad-registry"]),
        ("; fn f() -> nil\n; Vars: 0=", &["bad-registry"]),
        ("; fn f() -> nil\n; Vars: 0=a and", &["bad-registry"]),
        ("; fn f() -> nil\n; Vars: 0=\"a", &["bad-string"]),
        ("; fn f() -> nil\n; Vars: 4294967296=a", &["id-range"]),
        ("; fn f() -> nil\n; Vars: 4294967295=a", &none),
        ("RET REF 0\n; fn f() -> nil", &["missing-header"]),
    ] {
        assert_eq!(head(line), expected, "{line}");
    }
    assert_eq!(codes("RET LIT 1 1"), ["missing-header"]);
    assert_eq!(codes(""), ["empty-file"]);
    assert_eq!(codes("; just a comment\n\n"), ["empty-file"]);
}

#[test]
fn field_reads_from_slots_and_paths() {
    let same =
        ["FIELD 1 0", "FIELD REF 1 0"].map(|text| bound(text, |e| crate::common::plain(&format!("{e:?}"))));
    assert_eq!(same[0], same[1]);
    bound("FIELD FIELD 0 0 2", |expr| match expr.kind {
        ExprKind::Field(Expr { kind: ExprKind::Field(_, inner), .. }, outer) => {
            assert_eq!((inner.text, outer.text), ("k", "m"));
        }
        other => panic!("{other:?}"),
    });
    bound("FIELD AT REF 0 LIT 1 0 2", |expr| {
        assert!(matches!(expr.kind, ExprKind::Field(Expr { kind: ExprKind::Binary(Binary::At, ..), .. }, _)));
    });
    says("LET 2 FIELD CALL 0 0 1", &["expected-operand"]);
    says("LET 2 FIELD \"x\" 1", &["expected-id"]);
}

#[test]
fn match_map_takes_literals_and_a_default() {
    let count = |text: &str| {
        bound(text, |expr| match expr.kind {
            ExprKind::MatchMap(map) => (map.cases.len(), map.default.is_some()),
            other => panic!("{other:?}"),
        })
    };
    assert_eq!(count(r#"MATCH_MAP REF 0 3 "gold" 20 "silver" 10 "bronze" 5"#), (3, false));
    assert_eq!(count(r#"MATCH_MAP REF 0 3 LIT 0 "gold" LIT 1 20 true REF 1 ELSE CALL 0 0"#), (2, true));
    assert_eq!(count(r#"MATCH_MAP REF 0 4 nil 1 -1.5 2 false 3 "_" 4"#), (3, true));
    assert_eq!(count("MATCH_MAP REF 0 0"), (0, false));
    says(r#"LET 2 MATCH_MAP REF 0 2 1 "a" 1.0 "b""#, &["duplicate-case"]);
    says(r#"LET 2 MATCH_MAP REF 0 2 0 "a" -0.0 "b""#, &["duplicate-case"]);
    says(r#"LET 2 MATCH_MAP REF 0 2 1e3 "a" 1000 "b""#, &["duplicate-case"]);
    says(r#"LET 2 MATCH_MAP REF 0 2 9007199254740993 "a" 9007199254740992.0 "b""#, &[]);
    says(r#"LET 2 MATCH_MAP REF 0 2 "a" 1 LIT 0 "\u0061" 2"#, &["duplicate-case"]);
    says(r#"LET 2 MATCH_MAP REF 0 2 ELSE 1 "_" 2"#, &["duplicate-case"]);
    says("LET 2 MATCH_MAP REF 0 1 REF 1 2", &["expected-operand"]);
    says(r#"LET 2 MATCH_MAP REF 0 2 "a" 1"#, &["expected-operand"]);
}

#[test]
fn merge_takes_pairs_while_integers_follow() {
    let fields = |text: &str| {
        bound(text, |expr| match expr.kind {
            ExprKind::Merge(_, fields) => fields.len(),
            other => panic!("{other:?}"),
        })
    };
    assert_eq!(fields("MERGE REF 0 0 REF 1"), 1);
    assert_eq!(fields("MERGE REF 0 0 REF 1\n  1 REF 1\n2 LIT 1 5"), 3);
    assert_eq!(fields("MERGE 0 REF 0"), 0);
    assert_eq!(fields("MERGE 2 MERGE 1 REF 0 0 REF 1 0 REF 0 1 REF 1"), 2);
    // A slot number without its REF, as before.
    says("LET 2 MERGE 0 0 REF 1", &["expected-operand"]);
    for body in [
        "LET 2 OBJ 2 0 MERGE REF 0 0 REF 1 1 REF 1",
        "LET 2 LIST 2 MERGE REF 0 0 REF 1",
        "FOR 3 MERGE REF 0 0 REF 1 1\n  REF 3",
    ] {
        let found = diagnose(&function(body));
        assert_eq!(found.len(), 1, "{body}: {found:?}");
        assert!(found[0].help.as_deref().unwrap().contains("`MERGE 1 REF …`"), "{body}: {found:?}");
    }
    says("LET 2 MERGE REF 0 0 REF 1 0 REF 1", &["duplicate-field"]);
}

#[test]
fn names_are_given_once() {
    says("LET 2 OBJ 2 0 REF 0 0 REF 1", &["duplicate-field"]);
    says("LET 2 CALL 0 2 0 REF 0 0 REF 1", &["duplicate-field"]);
    let source = "; fn f(a: text) -> nil\n; Fields: 0=k 1=k\nLET 1 OBJ 2 0 REF 0 1 REF 0\n";
    assert_eq!(codes(source), ["duplicate-field"], "two ids of one name are one field");
    let many: String = (0..40).map(|n| format!(" {n} REF 0")).collect();
    let names: String = (0..40).map(|n| format!(" {n}=f{}", n % 39)).collect();
    let source = format!("; fn f(a: text) -> nil\n; Fields:{names}\nLET 1 OBJ 40{many}\n");
    assert_eq!(codes(&source), ["duplicate-field"]);
}

#[test]
fn constants_are_those_of_json() {
    let text = |text: &str| {
        bound(&format!("LIT 0 {text}"), |expr| match expr.kind {
            ExprKind::Literal(Literal::Text(text)) => text.to_owned(),
            other => panic!("{other:?}"),
        })
    };
    assert_eq!(text(r#""a\n\u0000\uD83D\uDE00; \"x\" // y""#), "a\n\0😀; \"x\" // y");
    assert_eq!(text("\"\""), "");
    let number = |text: &str| {
        bound(&format!("LIT 1 {text}"), |expr| match expr.kind {
            ExprKind::Literal(Literal::Number(number)) => number,
            other => panic!("{other:?}"),
        })
    };
    assert_eq!(number("9007199254740993"), Number::Int(9_007_199_254_740_993));
    assert_eq!(number("-1.5e-3"), Number::Double(-0.0015));
    assert_eq!(number("1E+2"), Number::Double(100.0));
    for (body, code) in [
        ("LIT 1 1e400", "number-range"),
        ("LIT 1 9223372036854775808", "number-range"),
        ("LIT 1 01", "bad-number"),
        ("LIT 1 .5", "bad-number"),
        ("LIT 1 +5", "bad-number"),
        ("LIT 1 1.", "bad-number"),
        ("LIT 1 0x10", "bad-number"),
        ("LIT 1 1_000", "bad-number"),
        ("LIT 1 NaN", "bad-literal"),
        ("LIT 0 \"\\ud800\"", "bad-string"),
        ("LIT 0 \"a\tb\"", "bad-string"),
        ("LIT 0 \"a\0b\"", "bad-string"),
        ("LIT 0 \"\\x\"", "bad-string"),
        ("LIT 0 \"abc", "bad-string"),
        ("LIT 0 \"abc\\", "bad-string"),
        ("LIT 0 'abc'", "bad-string"),
        ("LIT 0 5", "bad-literal"),
        ("LIT 1 \"5\"", "bad-literal"),
        ("LIT 2 5", "bad-literal"),
        ("LIT 3 1", "bad-literal"),
        ("LIT 4 true", "bad-literal"),
        ("LIT 2", "bad-literal"),
        ("LIT", "bad-literal"),
        ("REF 4294967296", "id-range"),
        ("REF -1", "id-range"),
        ("REF 01", ""),
        ("REF 4294967295", ""),
    ] {
        let expected = if code.is_empty() { vec![] } else { vec![code] };
        assert_eq!(codes(&function(&format!("LET 2 {body}"))), expected, "{body}");
    }
}

#[test]
fn a_first_try_is_mended() {
    for (body, right) in [
        ("let 2 REF 0", "LET 2 REF 0"),
        ("RETURN REF 0", "RET REF 0"),
        ("RETOK REF 0", "RET_OK REF 0"),
        ("Ret-Err REF 0", "RET_ERR REF 0"),
        ("RET add REF 0 REF 1", "RET ADD REF 0 REF 1"),
        ("RET LIT 3 nil", "RET LIT 2 nil"),
        ("RET LIT 2 null", "RET LIT 2 nil"),
        ("RET 77", "RET LIT 1 77"),
        ("FOR 3 0 1 REF 3", "FOR 3 REF 0 1 REF 3"),
        ("RET REF 0 # done", "RET REF 0 ; done"),
        ("RET REF 0 // done", "RET REF 0 ; done"),
        ("RET REF 0 -- done", "RET REF 0 ; done"),
        ("IF REF 0\n  RET REF 1", "IF REF 0 1\n  RET REF 1"),
        ("IF REF 0 1\n  RET REF 1\nelse 1\n  RET REF 0", "IF REF 0 1\n  RET REF 1\nELSE 1\n  RET REF 0"),
        ("RET REF\u{a0}0", "RET REF 0"),
    ] {
        assert_eq!(fixed(body), right);
    }
}

#[test]
fn what_has_one_meaning_is_read_as_that() {
    for (body, meant) in [
        ("RET \"x\"", "RET LIT 0 \"x\""),
        ("RET 1.5", "RET LIT 1 1.5"),
        ("RET -5", "RET LIT 1 -5"),
        ("RET nil", "RET LIT 2 nil"),
        ("RET True", "RET LIT 3 true"),
        ("RET a", "RET REF 0"),
        ("RET $a", "RET REF 0"),
        ("RET ${c}", "RET REF 2"),
        ("RET REF a", "RET REF 0"),
        ("LET c REF 0", "LET 2 REF 0"),
        ("LET 2 = REF 0", "LET 2 REF 0"),
        ("RET FIELD 0 k", "RET FIELD 0 0"),
        ("RET CALL t 1 0 REF 0", "RET CALL 0 1 0 REF 0"),
        ("RET CALL \"u\" 1 0 REF 0", "RET CALL 1 1 0 REF 0"),
        ("MATCH REF 2 1 OK 3 0", "MATCH 2 1 OK 3 0"),
        ("RET ADD REF 0, REF 1", "RET ADD REF 0 REF 1"),
        ("RET LIT \"x\"", "RET LIT 0 \"x\""),
        ("RET LIT 0 hello", "RET LIT 0 \"hello\""),
        ("RET LIT true", "RET LIT 3 true"),
        ("RET LIT 42", "RET LIT 1 42"),
        ("RET LIT 1.5", "RET LIT 1 1.5"),
    ] {
        assert_eq!(codes(&function(body)), Vec::<&str>::new(), "{body}");
        assert_eq!(tree(&function(body)), tree(&function(meant)), "{body}");
    }
}

#[test]
fn where_two_mends_are_possible_both_are_named() {
    for (body, count, parts) in [
        ("RET ADD 0 REF 1", 1, &["`REF 0`", "`LIT 1 0`"][..]),
        ("RET LIT 0 5", 1, &["`LIT 1 5`", "`LIT 0 \"5\"`"]),
        ("RET CALL 0 2 0 REF 0\nRET REF 1", 1, &["write `1` for the count"]),
        ("RET CALL 0 1 0 REF 0 1 REF 1", 1, &["count is too small"]),
        ("IF REF 0 == REF 1 1\n  RET REF 0", 1, &["`EQ REF 0 REF 1`"]),
        ("RET REF 0 + REF 1", 1, &["`ADD REF 0 REF 1`"]),
        ("RET ADD REF 0 REF", 1, &["`REF <slot>`"]),
        ("LET 2 ADD IF REF 0 1 REF 1 REF 0", 1, &["LET <slot> IF"]),
        ("RET FIELD OBJ 0 1", 1, &["LET <slot> OBJ"]),
        ("RET $nope", 1, &["REF <slot>"]),
        ("RET REF 0 5", 1, &["remove"]),
        ("UNDO REF 0", 1, &["UNDO CALL"]),
    ] {
        let found = diagnose(&function(body));
        assert_eq!(found.len(), count, "{body}: {found:?}");
        assert!(found[0].fix.is_none(), "{body}: {found:?}");
        for part in parts {
            assert!(found[0].help.as_deref().unwrap_or("").contains(part), "{body}: {found:?}");
        }
    }
}

#[test]
fn a_header_without_its_mark_gets_it() {
    for source in ["fn f() -> nil\nRET LIT 2 nil\n", "```\nfn f() -> nil\nRET LIT 2 nil\n```\n"] {
        let found = diagnose(source);
        assert_eq!(found.len(), 1, "{source}: {found:?}");
        let fix = found[0].fix.as_ref().unwrap();
        assert_eq!(fix.edits[0].text, "; ", "{source}: {found:?}");
        assert!(source[fix.edits[0].span.start as usize..].starts_with("fn f"), "{source}: {found:?}");
    }
}

#[test]
fn nearest_names_are_given() {
    for (body, nearest) in [("MATHC 2 1 OK 3 0", "MATCH"), ("RET FIELD 0 kk", "k"), ("RET CALL tt 0", "t")] {
        let found = diagnose(&function(body));
        assert_eq!(found[0].nearest.as_deref(), Some(nearest), "{body}: {found:?}");
    }
}

#[test]
fn bytes_that_are_not_utf8_are_placed() {
    let (program, diagnostics) =
        ilo_asm::compile::compile_bytes(b"; fn f\xff", &ilo_asm::compile::Options::default());
    let found = diagnostics.as_slice();
    assert_eq!((program, found[0].code.as_str(), found[0].span.start), (None, "not-utf8", 6));
}
