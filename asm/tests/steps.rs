//! What steps are as instructions, by the rules of section 5.5 of the specification: a table for each kind of
//! steps, with the instructions or the findings that the rule in its first column asks for.

use ilo_asm::arena::Arena;
use ilo_asm::compile::{Options, read_and_check};
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::notation::Notation;
use ilo_asm::print::print;

/// A rule, steps, and their instructions without registries, or the codes of their findings.
type Row = (&'static str, &'static str, &'static str);

/// The steps of a function with the inputs `xs` (0) and `n` (1), as instructions; the codes if there are any.
fn read(steps: &str) -> String {
    let source = format!(
        r#"{{"function": "f", "input": {{"xs": "list number", "n": "number"}}, "output": "any", "steps": [{steps}]}}"#
    );
    let (arena, mut found) = (Arena::new(), Diagnostics::default());
    let options = Options { from: Some(Notation::ToolCalling), ..Options::default() };
    let (file, _) = read_and_check(&source, &arena, &options, &mut found);
    if !found.as_slice().is_empty() {
        return found.as_slice().iter().map(|found| found.code.as_str()).collect::<Vec<_>>().join(" ");
    }
    let text = print(&file, Notation::Id, &mut found);
    assert!(found.as_slice().is_empty(), "{steps}");
    text.lines().filter(|line| !line.starts_with(';')).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check(rows: &[Row]) {
    let wrong = rows.iter().filter_map(|(rule, steps, expected)| {
        let found = read(steps);
        (found != *expected).then(|| format!("{rule}: {steps}\nexpected\n{expected}\nfound\n{found}\n"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn loops() {
    check(&[
        (
            "5.5.4: a loop yields the value of its last step",
            r#"{"let": "ys", "for": "x", "in": "$xs", "do": [{"value": "$x"}]}, {"return": "$ys"}"#,
            "LET 3 FOR 2 REF 0 1\n  REF 2\nRET REF 3",
        ),
        (
            "5.5.4: `where` leaves elements out",
            r#"{"let": "ys", "for": "x", "in": "$xs", "where": "x > 1", "do": [{"yield": "$x"}]}, {"return": "$ys"}"#,
            "LET 3 FOR 2 REF 0 1\n  IF GT REF 2 LIT 1 1 1\n    YIELD REF 2\nRET REF 3",
        ),
        (
            "5.5.4: `index` is a position from 0, and what `where` leaves out counts",
            r#"{"let": "ys", "for": "x", "in": "$xs", "index": "i", "where": "x > 1", "do": [{"yield": "$i"}]}, {"return": "$ys"}"#,
            "LET 3 LIT 1 -1\nLET 4 FOR 2 REF 0 2\n  LET 3 ADD REF 3 LIT 1 1\n  IF GT REF 2 LIT 1 1 1\n    YIELD REF 3\nRET REF 4",
        ),
        (
            "5.5.4: two names over `enumerate` are an index and an element",
            r#"{"for": "i, x", "in": "${enumerate(xs)}", "do": [{"if": "x > i", "return": "$x"}]}, {"return": 0}"#,
            "LET 3 LIT 1 -1\nFOR 2 REF 0 2\n  LET 3 ADD REF 3 LIT 1 1\n  IF GT REF 2 REF 3 1\n    RET REF 2\nRET LIT 1 0",
        ),
        (
            "5.5.4: other two names could be anything",
            r#"{"for": "a, b", "in": "$xs", "do": [{"return": "$a"}]}, {"return": 0}"#,
            "bad-shape",
        ),
        (
            "5.5.4: a loop that never yields has no value",
            r#"{"let": "ys", "for": "x", "in": "$xs", "do": [{"if": "x > n", "return": "$x"}]}, {"return": "$ys"}"#,
            "missing-value",
        ),
        (
            "5.5.13: `else` runs if no `break` ended the loop",
            r#"{"for": "x", "in": "$xs", "do": [{"if": "x > n", "break": true}], "else": [{"return": 1}]}, {"return": 2}"#,
            "FOR 2 REF 0 1\n  IF GT REF 2 REF 1 1\n    BREAK\nELSE 1\n  RET LIT 1 1\nRET LIT 1 2",
        ),
        (
            "5.5.15: `skip` ends the pass",
            r#"{"let": "ys", "for": "x", "in": "$xs", "do": [{"if": "x > n", "skip": true}, {"yield": "$x"}]}, {"return": "$ys"}"#,
            "LET 3 FOR 2 REF 0 2\n  IF GT REF 2 REF 1 1\n    SKIP\n  YIELD REF 2\nRET REF 3",
        ),
        ("5.5.15: it needs a loop", r#"{"if": "n > 1", "skip": true}, {"return": 1}"#, "skip-nowhere"),
        ("5.5.13: so does `break`", r#"{"if": "n > 1", "break": true}, {"return": 1}"#, "break-nowhere"),
        ("5.5.16: and `yield`", r#"{"yield": 1}, {"return": 1}"#, "yield-nowhere"),
        (
            "5.5.18: `while` tests before each pass and once after the last",
            r#"{"let": "k", "expr": 0}, {"while": "k < n", "max": 3, "do": [{"let": "k", "expr": "${k + 1}"}]}, {"return": "$k"}"#,
            "LET 2 LIT 1 0\nFOR 3 RANGE LIT 1 3 2\n  IF NOT LT REF 2 REF 1 1\n    BREAK\n  LET 2 ADD REF 2 LIT 1 1\nELSE 1\n  IF LT REF 2 REF 1 1\n    FAIL LIT 0 \"the loop did not end within 3 passes\"\nRET REF 2",
        ),
        (
            "5.5.18: `until` tests after each pass",
            r#"{"let": "k", "expr": 0}, {"until": "k >= n", "max": 3, "do": [{"let": "k", "expr": "${k + 1}"}]}, {"return": "$k"}"#,
            "LET 2 LIT 1 0\nFOR 3 RANGE LIT 1 3 2\n  LET 2 ADD REF 2 LIT 1 1\n  IF GTE REF 2 REF 1 1\n    BREAK\nELSE 1\n  FAIL LIT 0 \"the loop did not end within 3 passes\"\nRET REF 2",
        ),
    ]);
}

#[test]
fn choices() {
    check(&[
        (
            "5.5.1: a return beside `if`",
            r#"{"if": "n > 1", "return": 1}, {"return": 2}"#,
            "IF GT REF 1 LIT 1 1 1\n  RET LIT 1 1\nRET LIT 1 2",
        ),
        (
            "5.5.1: blocks",
            r#"{"if": "n > 1", "then": [{"return": 1}], "else": [{"return": 2}]}"#,
            "IF GT REF 1 LIT 1 1 1\n  RET LIT 1 1\nELSE 1\n  RET LIT 1 2",
        ),
        (
            "5.5.2: with `let`, `then` and `else` are values",
            r#"{"let": "k", "if": "n > 1", "then": "a", "else": "b"}, {"return": "$k"}"#,
            "LET 2 IF GT REF 1 LIT 1 1 1\n  LIT 0 \"a\"\nELSE 1\n  LIT 0 \"b\"\nRET REF 2",
        ),
        (
            "5.5.2: `value` alone is a record there",
            r#"{"let": "k", "if": "n > 1", "then": {"value": 1}, "else": {"value": 2}}, {"return": "$k"}"#,
            "value-record value-record",
        ),
        (
            "5.5.3: a key that is a rendered number is that number and that text",
            r#"{"let": "k", "match": "${get(xs, n)}", "cases": {"404": "gone", "007": "spy"}, "default": "other"}, {"return": "$k"}"#,
            "LET 2 MATCH_MAP GET REF 0 REF 1 LIT 2 nil 4 \"404\" LIT 0 \"gone\" 404 LIT 0 \"gone\" \"007\" LIT 0 \"spy\" ELSE LIT 0 \"other\"\nRET REF 2",
        ),
        (
            "5.5.3: keys of pairs are as they are written",
            r#"{"let": "k", "match": "$n", "cases": [[1, "one"], [2, "two"]], "default": "other"}, {"return": "$k"}"#,
            "LET 2 MATCH_MAP REF 1 3 1 LIT 0 \"one\" 2 LIT 0 \"two\" ELSE LIT 0 \"other\"\nRET REF 2",
        ),
        (
            "5.5.3: a text never equals a number",
            r#"{"let": "k", "match": "$n", "cases": [["1", "one"]], "default": "other"}, {"return": "$k"}"#,
            "never-equal",
        ),
        (
            "5.5.3: two values for everything else",
            r#"{"let": "k", "match": "$n", "cases": {"1": "one", "_": "any"}, "default": "other"}, {"return": "$k"}"#,
            "duplicate-case",
        ),
        (
            "5.5.3: a case is a value",
            r#"{"let": "k", "match": "$n", "cases": {"1": {"let": "a", "expr": 1}}, "default": 0}, {"return": "$k"}"#,
            "bad-step",
        ),
    ]);
}

#[test]
fn binding() {
    check(&[
        (
            "5.5: `expr` evaluates",
            r#"{"let": "k", "expr": "${n + 1}"}, {"return": "$k"}"#,
            "LET 2 ADD REF 1 LIT 1 1\nRET REF 2",
        ),
        (
            "5.5.5, 5.5.4: binding a variable from outside a loop changes it, and the pass yields it",
            r#"{"let": "sum", "expr": 0}, {"for": "x", "in": "$xs", "do": [{"let": "sum", "expr": "${sum + x}"}]}, {"return": "$sum"}"#,
            "LET 2 LIT 1 0\nFOR 3 REF 0 2\n  LET 2 ADD REF 2 REF 3\n  REF 2\nRET REF 2",
        ),
        (
            "5.5.20: `push` appends",
            r#"{"let": "ys", "expr": []}, {"for": "x", "in": "$xs", "do": [{"push": "$x", "let": "ys"}]}, {"return": "$ys"}"#,
            "LET 2 LIST 0\nFOR 3 REF 0 1\n  LET 2 APPEND REF 2 REF 3\nRET REF 2",
        ),
        (
            "5.2.7: the name of the failure cannot be bound",
            r#"{"let": "error", "expr": 1}, {"return": 1}"#,
            "reserved-name",
        ),
    ]);
}

#[test]
fn scope() {
    check(&[
        (
            "5.5.5: the element is in scope only in the loop",
            r#"{"for": "item", "in": "$xs", "do": [{"let": "y", "expr": "${item + 1}"}]}, {"return": "$item"}"#,
            "unknown-reference",
        ),
        (
            "5.2.6: a name that is bound further down",
            r#"{"let": "a", "expr": "$total"}, {"let": "total", "expr": 1}, {"return": "$a"}"#,
            "later-reference",
        ),
        ("5.2.6: a name that nothing binds", r#"{"return": "$zebra"}"#, "unknown-reference"),
        (
            "5.5.5: a name that some path has not bound",
            r#"{"if": "n > 1", "then": [{"let": "k", "expr": 1}]}, {"return": "$k"}"#,
            "unset-slot",
        ),
        (
            "5.2.7: the failure is in its handler",
            r#"{"try": [{"call": "t"}], "on_error": [{"return": "$error"}]}, {"return": 2}"#,
            "TRY 1\n  CALL 0 0\nERR 2 1\n  RET REF 2\nRET LIT 1 2",
        ),
    ]);
}

#[test]
fn calls() {
    check(&[
        (
            "5.6: arguments and an answer",
            r#"{"let": "k", "call": "t", "arguments": {"a": "$n", "b": "x"}}, {"return": "$k"}"#,
            "LET 2 CALL 0 2 0 REF 1 1 LIT 0 \"x\"\nRET REF 2",
        ),
        (
            "5.6.2: a default in place of a failure",
            r#"{"let": "k", "call": "t", "on_error": {"default": 0}}, {"return": "$k"}"#,
            "LET 2 CALL 0 0\nMATCH 2 1\n  ERR 3 1\n    LET 2 LIT 1 0\nRET REF 2",
        ),
        (
            "5.8: a rollback is registered after the call",
            r#"{"let": "k", "call": "t", "rollback": {"call": "u", "arguments": {"b": "$k"}}}, {"return": "$k"}"#,
            "LET 2 CALL 0 0\nROLLBACK CALL 1 1 0 REF 2\nRET REF 2",
        ),
        (
            "5.5.19: `then` runs on success",
            r#"{"let": "k", "call": "t", "then": [{"call": "u"}], "on_error": {"return": 0}}, {"return": "$k"}"#,
            "LET 2 CALL 0 0\nMATCH 2 2\n  ERR 3 1\n    RET LIT 1 0\n  OK 2 1\n    CALL 1 0\nRET REF 2",
        ),
    ]);
}
