//! Every short program of some statements, under some signatures. All that the guide allows build. Of those
//! that check without a diagnostic, it refuses only those with a reason in the README. An end is known from
//! each place in those that it allows.
//!
//! `LINES=5 cargo test --release -p ilo-guide --test all every_program:: -- --nocapture` tests longer ones.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test may panic, and prints")]

use ilo_asm::catalog::Catalog;
use ilo_asm::compile::{Options as Build, compile};
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::format;
use ilo_asm::notation::Notation;
use ilo_asm::source::SourceLimits;
use ilo_guide::{Guide, Options, Session};
use std::collections::BTreeMap;

const CATALOG: &str = r#"[{"name": "get"}, {"name": "name-of", "inputSchema": {"type": "object"},
    "outputSchema": {"type": "string"}}]"#;

const SIGNATURES: [&str; 4] = [
    "f(p: any) -> any",
    "f(p: number) -> number",
    "f(p: list text) -> result text, text",
    "f(p: record) -> result nil, any",
];

/// A statement, and whether a block follows.
type Statement = (&'static str, bool);

const STATEMENTS: &[Statement] = &[
    ("RET REF 0", false),
    ("RET REF 1", false),
    ("RET LIT 1 1", false),
    ("RET_OK REF 1", false),
    ("RET_ERR LIT 0 \"no\"", false),
    ("FAIL REF 2", false),
    ("BREAK", false),
    ("REF 0", false),
    ("LET 1 LIT 1 1", false),
    ("LET 1 CALL 0 0", false),
    ("LET 1 CALL 1 0", false),
    ("LET 2 CONCAT REF 0 REF 1", false),
    ("CALL 0 0", false),
    ("IF REF 0 1", true),
    ("ELSE 1", true),
    ("MATCH 1 2", true),
    ("ERR 2 1", true),
    ("OK 2 1", true),
    ("FOR 1 REF 0 1", true),
    ("LET 1 FOR 2 REF 0 1", true),
    ("LET 1 IF REF 0 1", true),
];

/// Statements of loops that collect, of blocks whose failures are caught, and of compensations.
const COLLECTING: &[Statement] = &[
    ("RET REF 0", false),
    ("RET REF 1", false),
    ("RET LIT 1 1", false),
    ("RET_OK REF 1", false),
    ("RET_ERR LIT 0 \"no\"", false),
    ("FAIL LIT 0 \"no\"", false),
    ("BREAK", false),
    ("SKIP", false),
    ("YIELD REF 0", false),
    ("YIELD REF 1", false),
    ("UNDO CALL 0 0", false),
    ("ROLLBACK CALL 0 0", false),
    ("REF 0", false),
    ("REF 1", false),
    ("LET 1 LIT 1 1", false),
    ("LET 1 CALL 0 0", false),
    ("CALL 0 0", false),
    ("IF REF 0 1", true),
    ("ELSE 1", true),
    ("TRY 1", true),
    ("LET 1 TRY 1", true),
    ("ERR 1 1", true),
    ("ERR 2 1", true),
    ("MATCH 1 2", true),
    ("OK 1 1", true),
    ("FOR 1 REF 0 1", true),
    ("LET 1 FOR 2 REF 0 1", true),
];

/// The reasons for which the guide refuses a program that checks without a diagnostic, as in the README.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    Layout,
    SlotBoundTwice,
    SlotNotTheNext,
    ListBesideAnother,
}

/// The results of the programs.
#[derive(Debug, Default)]
struct Found {
    programs: u64,
    both: u64,
    allowed: u64,
    /// Programs that build, and that the guide refuses.
    refused: BTreeMap<Reason, u64>,
}

/// Whether a slot is bound before one with a smaller number that is new too. Slot 0 is the parameter.
fn leaves_out_a_slot(body: &str) -> bool {
    let words: Vec<&str> = body.split_whitespace().collect();
    let bound = words.windows(2).filter(|pair| matches!(pair[0], "LET" | "FOR" | "ERR" | "OK"));
    let mut next = 1;
    bound.map(|pair| pair[1].parse().unwrap()).any(|slot: u32| {
        next += u32::from(slot == next);
        slot > next
    })
}

fn reason(signature: &str, whole: &str, body: &str) -> Option<Reason> {
    let formatted = format::id_text(whole, &SourceLimits::default(), &mut Diagnostics::default());
    let binds = |words: &[&str]| words.iter().map(|word| body.matches(word).count()).sum::<usize>() > 1;
    if formatted.is_none_or(|formatted| !formatted.ends_with(&format!("\n{body}"))) {
        Some(Reason::Layout)
    } else if leaves_out_a_slot(body) {
        Some(Reason::SlotNotTheNext)
    } else if binds(&["LET 1", "FOR 1"]) || binds(&["LET 2", "ERR 2", "OK 2"]) {
        Some(Reason::SlotBoundTwice)
    } else if signature.contains("list") && body.contains("CONCAT") {
        Some(Reason::ListBesideAnother)
    } else {
        None
    }
}

/// The signature and the catalogue.
type Given<'g> = (&'g str, &'g Catalog);

/// A line: its level and its statement.
type Line = (usize, Statement);

fn text(lines: &[Line]) -> String {
    lines
        .iter()
        .fold(String::new(), |all, &(level, statement)| all + &"  ".repeat(level) + statement.0 + "\n")
}

/// Where the guide refuses a body.
fn refused(session: &Session<'_>, body: &str) -> Option<usize> {
    let mut guide = Guide::new(session);
    let error = guide.accept_bytes(body.as_bytes()).err();
    error.map(|error| error.at).or_else(|| (!guide.may_end()).then_some(body.len()))
}

/// From each place between the tokens of a program that is allowed, an end is known.
fn ends_from_everywhere(session: &Session<'_>, body: &str) {
    let mut guide = Guide::new(session);
    for token in body.split_inclusive([' ', '\n']) {
        guide.accept_bytes(token.as_bytes()).unwrap();
        let begun = String::from_utf8_lossy(guide.text()).into_owned();
        let end = guide.close().unwrap_or_else(|| panic!("no end of {}{begun}", session.prefix()));
        let mark = guide.mark();
        guide.accept_bytes(&end).unwrap_or_else(|error| panic!("{begun} {error}"));
        assert!(guide.may_end(), "{begun}");
        guide.rollback(&mark);
    }
}

fn look(session: &Session<'_>, (signature, catalog): Given<'_>, lines: &[Line], counts: &mut Found) {
    counts.programs += 1;
    let body = text(lines);
    let refused = refused(session, &body);
    let allowed = refused.is_none();
    // From all of them if longer programs are tested too.
    if allowed && (counts.allowed.is_multiple_of(16) || most() > 3) {
        ends_from_everywhere(session, &body);
    }
    counts.allowed += u64::from(allowed);
    let options = Build { from: Some(Notation::Id), catalog: Some(catalog), ..Build::default() };
    let whole = session.prefix() + &body;
    let (_, found) = compile(&whole, &options);
    if let Some(error) = found.as_slice().iter().find(|found| found.is_error()).filter(|_| allowed) {
        panic!("the guide allows what does not build: {}: {}\n{whole}", error.code.as_str(), error.message);
    }
    match (allowed, found.as_slice().is_empty()) {
        (true, true) => counts.both += 1,
        (false, true) => {
            let reason = reason(signature, &whole, &body);
            let reason = reason.unwrap_or_else(|| panic!("refused at {refused:?}, but builds:\n{whole}"));
            *counts.refused.entry(reason).or_default() += 1;
        }
        _ => {}
    }
}

/// Looks at the programs of these lines, and of at most so many more.
fn every(
    session: &Session<'_>,
    given: Given<'_>,
    (statements, left): (&[Statement], usize),
    lines: &mut Vec<Line>,
    counts: &mut Found,
) {
    let (deepest, opens) = lines.last().map_or((0, false), |&(level, it)| (level, it.1));
    if !lines.is_empty() && !opens {
        look(session, given, lines, counts);
    }
    if left == 0 {
        return;
    }
    let levels = if opens { deepest + 1..=deepest + 1 } else { 0..=deepest };
    for level in levels {
        for &statement in statements {
            lines.push((level, statement));
            every(session, given, (statements, left - 1), lines, counts);
            lines.pop();
        }
    }
}

/// Looks at all programs of a beginning and at most this number of further statements, under some signatures.
/// Returns how many are allowed.
fn every_after(beginning: &[(usize, &str)], of: (&[Statement], usize), signatures: &[&str]) -> u64 {
    let statement = |text: &str| *of.0.iter().find(|it| it.0 == text).unwrap();
    let beginning: Vec<Line> = beginning.iter().map(|&(level, text)| (level, statement(text))).collect();
    println!("{}", text(&beginning));
    let catalog = Catalog::from_json(CATALOG).unwrap();
    let mut allowed = 0;
    for &signature in signatures {
        let session = Session::new(&catalog, signature, &Options::default()).unwrap();
        let mut counts = Found::default();
        every(&session, (signature, &catalog), of, &mut beginning.clone(), &mut counts);
        println!("{signature}: {counts:?}");
        allowed += counts.allowed;
    }
    allowed
}

/// The number of lines from the environment.
fn most() -> usize {
    std::env::var("LINES").map_or(3, |lines| lines.parse().unwrap())
}

#[test]
fn a_guide_allows_what_builds() {
    assert!(every_after(&[], (STATEMENTS, most()), &SIGNATURES) > 0);
}

/// Beginnings of programs in which a FOR is the value of a branch, or may become it.
const BRANCHES: [&[(usize, &str)]; 5] = [
    &[(0, "IF REF 0 1"), (1, "REF 0"), (0, "ELSE 1")],
    &[(0, "LET 1 IF REF 0 1"), (1, "REF 0"), (0, "ELSE 1")],
    &[(0, "LET 1 IF REF 0 1"), (1, "FOR 1 REF 0 1")],
    // With an ELSE that only a BREAK passes by.
    &[(0, "IF REF 0 1"), (1, "REF 0"), (0, "ELSE 1"), (1, "FOR 1 REF 0 1"), (2, "IF REF 0 1"), (3, "BREAK")],
    &[(0, "LET 1 FOR 2 REF 0 1"), (1, "IF REF 0 1"), (2, "BREAK"), (1, "REF 0"), (0, "ELSE 1")],
];

#[test]
fn loops_may_be_values_of_branches() {
    // Only in these the parameter can be a condition.
    let signatures = [SIGNATURES[0], SIGNATURES[3]];
    let after = |beginning: &[_]| every_after(beginning, (STATEMENTS, most() - 1), &signatures);
    assert!(BRANCHES.into_iter().map(after).sum::<u64>() > 50);
}

/// Beginnings of programs that collect, catch failures or compensate.
const COLLECTIONS: [&[(usize, &str)]; 10] = [
    &[],
    &[(0, "FOR 1 REF 0 1"), (1, "YIELD REF 1")],
    &[(0, "FOR 1 REF 0 1"), (1, "IF REF 0 1"), (2, "SKIP")],
    &[(0, "LET 1 FOR 2 REF 0 1"), (1, "YIELD REF 0"), (1, "IF REF 0 1"), (2, "BREAK")],
    &[(0, "LET 1 FOR 2 REF 0 1"), (1, "TRY 1"), (2, "CALL 0 0"), (1, "ERR 2 1")],
    &[(0, "TRY 1"), (1, "CALL 0 0"), (0, "ERR 1 1")],
    &[(0, "LET 1 TRY 1"), (1, "CALL 0 0"), (1, "ROLLBACK CALL 0 0"), (1, "REF 0"), (0, "ERR 2 1")],
    &[(0, "FOR 1 REF 0 1"), (1, "TRY 1"), (2, "SKIP"), (1, "ERR 2 1")],
    &[(0, "LET 1 CALL 0 0"), (0, "UNDO CALL 0 0")],
    &[(0, "LET 1 CALL 0 0"), (0, "MATCH 1 2"), (1, "ERR 2 1"), (2, "UNDO CALL 0 0")],
];

#[test]
fn programs_that_collect_catch_and_compensate() {
    let signatures = ["f(p: any) -> any", "f(p: list any) -> result any, text"];
    let after = |beginning: &[_]| every_after(beginning, (COLLECTING, most() - 1), &signatures);
    assert!(COLLECTIONS.into_iter().map(after).sum::<u64>() > 300);
}
