//! Which reading of a block counts (semantics 2.2, 2.3), and where reading continues after an error.

use crate::common::{codes, diagnose, function, read, tree};
use ilo_asm::ast::{Control, If, Stmt, StmtKind};

/// Both bodies mean the same. The first gets these codes, the second none.
#[track_caller]
fn same(body: &str, expected: &[&str], plain: &str) {
    let (one, other) = (function(body), function(plain));
    assert_eq!(codes(&other), Vec::<&str>::new(), "the plain form is right");
    assert_eq!(codes(&one), expected, "{body}");
    assert_eq!(tree(&one), tree(&other), "{body}");
}

/// A body gets these codes.
#[track_caller]
fn says(body: &str, expected: &[&str]) {
    assert_eq!(codes(&function(body)), expected, "{body}");
}

#[test]
fn line_breaks_are_not_needed() {
    same(
        "IF EQ REF 0 LIT 2 nil 2\n  LET 2 LIT 1 5\n  RET REF 2\nRET REF 1",
        &[],
        "IF EQ REF 0 LIT 2 nil 2 LET 2 LIT 1 5 RET REF 2 RET REF 1",
    );
    same("LET\n2\nADD\nREF\n1\nLIT\n1\n5", &[], "LET 2 ADD REF 1 LIT 1 5");
}

#[test]
fn indentation_decides_over_the_count() {
    let plain = "IF REF 0 2 LET 2 REF 0 RET REF 2 RET REF 1";
    same("IF REF 0 5\n  LET 2 REF 0\n  RET REF 2\nRET REF 1", &["count-mismatch"], plain);
    same("IF REF 0 1\n  LET 2 REF 0\n  RET REF 2\nRET REF 1", &["count-mismatch"], plain);
    same("IF REF 0 0\n\t; note\n\n  LET 2 REF 0\n \n  RET REF 2\nRET REF 1", &["count-mismatch"], plain);
}

#[test]
fn the_fix_of_a_count_is_the_number_of_children() {
    let found =
        diagnose(&function("IF REF 0 9\n  LET 2 REF 0\n  IF REF 2 1\n    RET REF 1\n  RET REF 2\nRET REF 1"));
    let edits = &found[0].fix.as_ref().unwrap().edits;
    assert_eq!((found.len(), edits[0].text.as_str()), (1, "3"));
}

#[test]
fn the_count_decides_without_deeper_lines() {
    let plain = "IF REF 0 1 RET REF 0 RET REF 1";
    same("IF REF 0 1\nRET REF 0\nRET REF 1", &[], plain);
    same("  IF REF 0 1\nRET REF 0\nRET REF 1", &[], plain);
    same(
        "LET 2 REF 0 IF REF 2 1\n    RET REF 0\n    RET REF 1",
        &[],
        "LET 2 REF 0 IF REF 2 1 RET REF 0 RET REF 1",
    );
}

#[test]
fn a_statement_that_the_end_of_its_block_cuts_is_an_error() {
    says("IF REF 0 1\n  LET 2 ADD REF 1\nREF 1\nRET REF 2", &["incomplete-block"]);
    says("IF REF 0 1\n  LET 2 ADD REF 1\nRET REF 1", &["incomplete-block"]);
    says("IF REF 0 1\n  IF REF 0 1\n    LET 2 ADD REF 1\nRET REF 1", &["incomplete-block"]);
    says("IF REF 0 2 RET REF 1", &["incomplete-block"]);
    says("FOR 2 REF 0 1", &["incomplete-block"]);
    let found = diagnose(&function("IF REF 0 1\n  LET 2 ADD REF 1\nRET REF 1"));
    assert_eq!(found[0].found.as_deref(), Some("the end of the block"));
    assert_eq!(found[0].related.len(), 1, "the header is shown");
}

#[test]
fn an_error_in_one_block_does_not_hide_the_next() {
    says(
        "IF REF 0 2\n  LET 2 ADD REF 1\n  LET 2 NOPE\nRET REF 1\nIF REF 0 1\n  LET 2 LIT 0 5\nRET",
        &["expected-operand", "expected-operand", "bad-literal", "expected-operand"],
    );
}

#[test]
fn mixed_indents_are_refused() {
    says("IF REF 0 2\n\tRET REF 0\n  RET REF 1\n", &["mixed-indent"]);
    says("\tIF REF 0 1\n  RET REF 0", &["mixed-indent"]);
    says("IF REF 0 1\n\tIF REF 1 1\n\t  RET REF 0\nRET REF 1", &[]);
}

#[test]
fn a_line_less_deep_than_the_first_ends_the_block() {
    same(
        "IF REF 0 1\n    LET 2 REF 0\n  LET 2 REF 1\nRET REF 2",
        &[],
        "IF REF 0 1 LET 2 REF 0 LET 2 REF 1 RET REF 2",
    );
}

#[test]
fn else_belongs_to_the_nearest_open_if() {
    let source = function("IF REF 0 1\n  IF REF 1 1\n    RET REF 0\nELSE 1\n  RET REF 1");
    read(&source, |file, found| {
        assert!(found.as_slice().is_empty());
        let [Stmt { kind: StmtKind::Control(Control::If(outer)), .. }] = file.functions[0].body.statements
        else {
            panic!("one IF");
        };
        assert!(outer.otherwise.is_some(), "the inner IF ended with its indent");
        assert!(matches!(
            outer.then.statements[0].kind,
            StmtKind::Control(Control::If(If { otherwise: None, .. }))
        ));
    });
}

#[test]
fn else_on_one_line_goes_to_the_inner_if() {
    same(
        "IF REF 0 1\n  IF REF 1 1\n    RET REF 0\n  ELSE 1\n    RET REF 1",
        &[],
        "IF REF 0 1 IF REF 1 1 RET REF 0 ELSE 1 RET REF 1",
    );
    same(
        "IF REF 0 1\n  IF REF 1 1\n    RET REF 0\n  ELSE 1\n    RET REF 1\nELSE 1\n  RET LIT 1 5",
        &[],
        "IF REF 0 1 IF REF 1 1 RET REF 0 ELSE 1 RET REF 1 ELSE 1 RET LIT 1 5",
    );
    says("ELSE 1\n  RET REF 1", &["orphan-else"]);
    says("RET REF 0 ELSE 1 RET REF 1", &["orphan-else"]);
}

#[test]
fn the_block_of_a_let_is_measured_from_its_let() {
    same(
        "LET 2 FOR 3 REF 0 7\n  LET 4 REF 3\n  REF 4\nRET REF 2",
        &["count-mismatch"],
        "LET 2 FOR 3 REF 0 2 LET 4 REF 3 REF 4 RET REF 2",
    );
    same(
        "LET 2 IF REF 0 1\n  LIT 1 1\nELSE 1\n  LIT 1 2\nRET REF 2",
        &[],
        "LET 2 IF REF 0 1 LIT 1 1 ELSE 1 LIT 1 2 RET REF 2",
    );
    same(
        "LET 2 CALL 0 0\nLET 3 MATCH 2 9\n  OK 4 9\n    REF 4\n  ERR 5 9\n    LIT 1 0\nRET REF 3",
        &["count-mismatch"; 3],
        "LET 2 CALL 0 0 LET 3 MATCH 2 2 OK 4 1 REF 4 ERR 5 1 LIT 1 0 RET REF 3",
    );
}

#[test]
fn arms_are_counted_like_statements() {
    let plain = "LET 2 CALL 0 0 MATCH 2 2 ERR 3 1 RET REF 3 OK 4 1 RET REF 4";
    same(
        "LET 2 CALL 0 0\nMATCH 2 1\n  ERR 3 1\n    RET REF 3\n  OK 4 1\n    RET REF 4",
        &["count-mismatch"],
        plain,
    );
    same("LET 2 CALL 0 0\nMATCH 2 2\nERR 3 1\n  RET REF 3\nOK 4 1\n  RET REF 4", &[], plain);
    says("MATCH 2 0\nRET REF 1", &["expected-arm"]);
    says("MATCH 2 2 ERR 3 1 RET REF 3 RET REF 1", &["expected-arm"]);
    says("MATCH 2 2\n  ERR 3 1\n    RET REF 3\n  ERR 3 1\n    RET REF 4", &["duplicate-arm"]);
    says("MATCH 2 1\n  RET REF 3", &["expected-arm"]);
    says("OK 3 1\n  RET REF 3", &["expected-statement"]);
}

#[test]
fn an_empty_arm_is_an_arm() {
    read(&function("MATCH 2 2\n  ERR 3 0\n  OK 4 0\nRET REF 4"), |file, diagnostics| {
        assert!(diagnostics.as_slice().is_empty());
        assert_eq!(file.functions[0].body.statements.len(), 2);
    });
}

#[test]
fn a_count_is_needed_and_must_be_possible() {
    says("IF REF 0\n  RET REF 0\nRET REF 1", &["expected-count"]);
    says("IF REF 0 RET REF 1", &["expected-count"]);
    says("IF REF 0 -1\n  RET REF 0\nRET REF 1", &["count-range"]);
    says("IF REF 0 18446744073709551616 RET REF 0", &["count-range"]);
    says("LET 2 OBJ 18446744073709551615 0 REF 0", &["count-range"]);
    says("LET 2 LIST 4294967295 REF 0", &["count-range"]);
    says("LET 2 LIST 1.0 REF 0", &["expected-count"]);
}
