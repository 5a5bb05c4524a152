//! The rules of the check are those of the guide. Each case of the corpus that is refused names its first
//! error and the place of it; the guide refuses that program at this place or before, at the latest where the
//! statement ends that has the place, with its blocks. Exceptions are in [`LATER`], each with its reason.
//!
//! For each code of an error some case must show that only the faulty line (or step) is refused, and all
//! before it is allowed: else a guide that refuses everything would pass. Codes without one are in
//! [`WITHOUT`].
//!
//! `corpus`, `constrained_corpus` and `every_program` test the converse: the guide has no rules of its own
//! but those that are listed.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test may panic")]

use crate::common::samples::cases;
use ilo_asm::case::Case;
use ilo_asm::catalog::{Catalog, ToolSignature};
use ilo_asm::compile::{Options as Build, compile};
use ilo_asm::notation::Notation;
use ilo_guide::{ConstrainedGuide, Guide, Session};
use ilo_spec::error::{Code, Severity};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The first code of faults and of the host. A guide knows only the codes before it.
const FAULTS: u16 = 700;

/// Programs with an error that the corpus does not have, or only in another layout: each with the code and
/// the line of the error.
const MORE: &[(Notation, &str, &str)] = &[
    (
        Notation::Id,
        "duplicate-arm 7",
        "; fn f() -> nil\n; Tools: 0=t\nLET 0 CALL 0 0\nMATCH 0 2\n  ERR 1 1\n    RET LIT 2 nil\n  ERR 2 1\n    RET LIT 2 nil\nRET LIT 2 nil\n",
    ),
    (
        Notation::Id,
        "rollback-function 6",
        "; fn g() -> nil\nRET LIT 2 nil\n; fn f() -> nil\n; Tools: 0=t 1=g\nCALL 0 0\nROLLBACK CALL 1 0\nRET LIT 2 nil\n",
    ),
    (
        Notation::Constrained,
        "duplicate-key 2",
        r#"{"fn":"f","in":{},"out":"nil","body":[
            {"ret":null,"ret":null}]}"#,
    ),
    (
        Notation::Constrained,
        "unknown-operator 2",
        r#"{"fn":"f","in":{"n":"num"},"out":"num","body":[
            {"ret":{"**":["n",2]}}]}"#,
    ),
    (
        Notation::Constrained,
        "missing-key 2",
        r#"{"fn":"f","in":{"xs":"list num"},"out":"nil","body":[
            {"for":"x","in":"xs"},
            {"ret":null}]}"#,
    ),
    (
        Notation::Constrained,
        "handler-nowhere 2",
        r#"{"fn":"f","in":{},"out":"nil","body":[
            {"let":"x","expr":{"+":[1,2]},"err":{"ignore":true}},
            {"ret":null}]}"#,
    ),
    (
        Notation::Constrained,
        "later-reference 2",
        r#"{"fn":"f","in":{},"out":"nil","body":[
            {"let":"y","expr":"x.a"},
            {"let":"x","call":"t"},
            {"ret":null}]}"#,
    ),
    (
        Notation::Constrained,
        "continue-in-loop 3",
        r#"{"fn":"f","in":{"xs":"list num"},"out":"nil","body":[
            {"for":"x","in":"xs","yield":[
                {"let":"y","call":"t","err":{"continue":true}}]},
            {"ret":null}]}"#,
    ),
];

/// Cases whose program is refused only after the statement of its error, and why.
const LATER: &[(&str, &str)] = &[
    ("4-failure/rollback-unset", UNMATCHED),
    ("2-control/skip-with-checked-slot", UNMATCHED),
    ("4-failure/dropped-by-for-item", UNMATCHED),
    ("4-failure/leave-by-ret-ok", UNMATCHED),
    ("4-failure/leave-by-ret", UNMATCHED),
    ("4-failure/match-after-loop", UNMATCHED),
    ("4-failure/rebind-checked", UNMATCHED),
    ("6-checks/checked-loop-ret", UNMATCHED),
    ("6-checks/checked-rebound-by-arm", UNMATCHED),
    ("2-text/registries-are-own", "a guide writes the registry of a function, with the fields that it uses"),
    (
        "4-try/value-missing",
        "the handler of a TRY may still have the value, so the end of its block is refused",
    ),
    (
        "first-try/constrained/operator-infix",
        "the check reports the text; its name is refused where it is returned as a number",
    ),
];

const UNMATCHED: &str = "a result may be read or lost as long as no MATCH takes it, so that MATCH is refused";

/// Codes of errors for which no case shows that only the faulty line is refused, and why.
const WITHOUT: &[(&str, &str)] = &[
    ("not-utf8", "a case is text; `masks` compares masks with tokens that split characters"),
    ("bad-yaml", "of YAML only"),
    ("quote-it", "of YAML only"),
    ("yaml-feature", "of YAML only"),
    ("bad-expression", "of infix text, which only workflows have"),
    ("unknown-notation", "of the command line"),
    ("missing-header", "of what is before the body: `Session` reads it"),
    ("bad-header", "of what is before the body: `Session` reads it"),
    ("bad-type", "of what is before the body: `Session` reads it"),
    ("bad-registry", "of what is before the body: the guide writes registries"),
    ("duplicate-id", "of what is before the body: the guide writes registries"),
    ("duplicate-function", "of what is before the body: `Session` reads it"),
    ("duplicate-parameter", "of what is before the body: `Session` reads it"),
    ("empty-file", "of a file without a function"),
    ("other-signature", "of what is before the body: `Session` has the signature"),
    ("unknown-function", "of the start of a run"),
    ("no-single-entry", "of the start of a run"),
    (
        "rollback-required",
        "of a tools file; `bad` tests that such a call is offered only where its ROLLBACK can follow",
    ),
    ("source-too-large", "the budget of tokens limits a program; without one it may become too long"),
    ("line-too-long", "the budget of tokens limits a program; without one it may become too long"),
    ("function-too-long", "the budget of tokens limits a program; without one it may become too long"),
    ("too-many-entries", "the budget of tokens limits a program; without one it may become too long"),
];

/// The tools of a case, by default those that its source names.
fn catalog(case: &Case, source: &str) -> Catalog {
    if let Some(catalog) = case.section("catalog") {
        return Catalog::from_json(catalog).unwrap_or_default();
    }
    let mut catalog = Catalog::default();
    let tools = case.section("tools").and_then(|text| serde_json::from_str(text).ok());
    if let Some(Value::Object(tools)) = tools {
        for (name, tool) in &tools {
            catalog.insert(ToolSignature::new(
                name,
                None,
                tool.get("input_schema"),
                tool.get("output_schema"),
            ));
        }
        return catalog;
    }
    let registry = source.lines().find_map(|line| line.strip_prefix("; Tools:")).unwrap_or_default();
    let called = source.split("\"call\":").skip(1).filter_map(|rest| rest.trim_start().split('"').nth(1));
    for name in registry.split(['=', ' ']).chain(called).filter(|name| !name.is_empty()) {
        catalog.insert(ToolSignature::new(name, None, None, None));
    }
    catalog
}

/// JSON without white space between its tokens.
fn minified(source: &str) -> String {
    let (mut out, mut quoted, mut escaped) = (String::new(), false, false);
    for c in source.chars() {
        if quoted || !c.is_ascii_whitespace() {
            out.push(c);
        }
        quoted ^= c == '"' && !escaped;
        escaped = quoted && c == '\\' && !escaped;
    }
    out
}

/// Where the statement that has a place ends, with its blocks: at the first byte after it, or after the
/// blanks of the next line.
fn end_of_statement(text: &str, place: usize) -> usize {
    let start = text[..place].rfind('\n').map_or(0, |end| end + 1);
    let blanks = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let own = blanks(&text[start..]);
    let mut at = start;
    for line in text[start..].split_inclusive('\n') {
        let is_behind = at > start && !line.trim().is_empty() && blanks(line) <= own;
        if is_behind && !(line.trim_start().starts_with("ELSE") && blanks(line) == own) {
            return at + blanks(line);
        }
        at += line.len();
    }
    text.len()
}

/// The same for a step of `constrained`.
fn end_of_step(text: &str, place: usize) -> usize {
    // A place at the bracket of a step is one in the step.
    let place = place + usize::from(text[place..].starts_with('{'));
    // Open brackets, and whether each is that of a block or of a step.
    let mut open: Vec<(bool, bool)> = Vec::new();
    let (mut quoted, mut escaped, mut since, mut key) = (false, false, 0, "");
    let mut depth = None;
    for (at, byte) in text.bytes().enumerate() {
        if at == place {
            depth = open.iter().rposition(|it| it.1);
        }
        match byte {
            b'"' if !escaped => {
                quoted = !quoted;
                if quoted {
                    since = at + 1;
                } else {
                    key = &text[since..at];
                }
            }
            b'[' if !quoted => {
                open.push((matches!(key, "body" | "then" | "else" | "yield" | "do" | "try"), false));
            }
            b'{' if !quoted => open.push((false, open.last().is_some_and(|it| it.0))),
            b']' | b'}' if !quoted => {
                open.pop();
                if at >= place && depth.is_none_or(|depth| open.len() <= depth) {
                    return at + 1;
                }
            }
            _ => {}
        }
        escaped = quoted && byte == b'\\' && !escaped;
    }
    text.len()
}

/// What the guide says of a file: where its body begins, where it is refused, and the file that it completes.
struct Said {
    start: usize,
    refused: Option<usize>,
    whole: Option<String>,
}

/// `None` if the text before the body makes no session.
fn said(notation: Notation, catalog: &Catalog, text: &str) -> Option<Said> {
    let body = |start: usize| &text.as_bytes()[start..];
    let (start, error, whole) = if notation == Notation::Id {
        let (session, start) = Session::of_file(catalog, None, text).ok()?;
        let mut guide = Guide::new(&session);
        (start, guide.accept_bytes(body(start)).err(), guide.finish().ok())
    } else {
        let (session, start) = Session::of_constrained(catalog, text).ok()?;
        let mut guide = ConstrainedGuide::new(&session);
        (start, guide.accept_bytes(body(start)).err(), guide.finish().ok())
    };
    let at = error.map(|error| start + error.at);
    Some(Said { start, refused: at.or_else(|| whole.is_none().then_some(text.len())), whole })
}

/// The byte at `LINE` or `LINE:COLUMN`, the blanks before which are left out if there is no column.
fn byte_at(text: &str, place: &str) -> usize {
    let (line, column) = place.split_once(':').unwrap_or((place, ""));
    let line: usize = line.parse().unwrap();
    let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let rest = &text[start..];
    let column = column.parse().map_or(rest.len() - rest.trim_start_matches(' ').len(), |column: usize| {
        rest.char_indices().nth(column - 1).map_or(rest.len(), |it| it.0)
    });
    (start + column).min(text.len())
}

#[test]
fn every_error_of_the_check_is_refused_by_the_guide() {
    let later: BTreeMap<&str, &str> = LATER.iter().copied().collect();
    let own = |code: &&Code| code.severity() == Severity::Error && (**code as u16) < FAULTS;
    let codes: BTreeSet<&str> = Code::ALL.iter().filter(own).map(|code| code.as_str()).collect();
    let (mut shown, mut wrong, mut programs) = (BTreeSet::new(), Vec::new(), 0);
    let mut unused: BTreeSet<&str> = later.keys().copied().collect();
    let mut look = |name: &str, notation: Notation, catalog: &Catalog, error: &str, source: &str| {
        let (code, place) = error.split_once(' ').unwrap_or((error, ""));
        // A warning that a strict check raises is none that a guide avoids.
        if !codes.contains(code) {
            return;
        }
        // A case without a place is about the whole source.
        let place = if place.is_empty() { 0 } else { byte_at(source, place) };
        let (text, place) = match notation {
            Notation::Id => (source.to_owned(), place),
            _ => (minified(source), minified(&source[..place]).len()),
        };
        programs += 1;
        let Some(Said { start, refused, whole }) = said(notation, catalog, &text) else { return };
        // An error that is reported before the body is one of the whole function, or in a registry: that is
        // written by the guide itself, so that its file builds.
        let in_body = place >= start;
        if let Some(whole) = whole.filter(|_| !in_body) {
            let options = Build { from: Some(notation), catalog: Some(catalog), ..Build::default() };
            assert!(
                compile(&whole, &options).0.is_some(),
                "{name}: {code} is in the file of the guide: {whole}"
            );
            return;
        }
        let (begin, end) = match notation {
            Notation::Id => {
                (text[..place].rfind('\n').map_or(0, |end| end + 1), end_of_statement(&text, place))
            }
            _ => (text[..place].trim_end_matches(['{', '[', ',', ':', '"']).len(), end_of_step(&text, place)),
        };
        let end = if in_body { end } else { text.len() };
        if refused.is_none_or(|at| at > end) {
            unused.remove(name);
            if !later.contains_key(name) {
                let rest = text.get(refused.unwrap_or(text.len())..).unwrap_or_default();
                wrong.push(format!("{name}: {code} is refused only before {rest:?}"));
            }
        } else if refused.is_some_and(|at| at >= begin) {
            shown.insert(code.to_owned());
        }
    };
    for (path, case) in cases() {
        let name = path.rsplit_once("corpus/").map_or(&*path, |it| it.1).trim_end_matches(".case");
        for source in case.sources() {
            let notation = source.notation;
            let diagnostics = case.section_for("diagnostics", notation).unwrap_or_default();
            let Some(error) = diagnostics.lines().find_map(|line| line.strip_prefix("error ")) else {
                continue;
            };
            // Most columns and messages are left out.
            let error = error.split(' ').take(2).collect::<Vec<_>>().join(" ");
            match notation {
                Notation::Id => look(name, notation, &catalog(&case, source.text), &error, source.text),
                Notation::Constrained => {
                    look(name, notation, &catalog(&case, &minified(source.text)), &error, source.text);
                }
                _ => {}
            }
        }
    }
    let mut tools = Catalog::default();
    tools.insert(ToolSignature::new("t", None, None, None));
    for (notation, error, text) in MORE {
        look(text, *notation, &tools, error, text);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(unused.is_empty(), "no later than their errors: {unused:?}");
    assert!(programs > 300, "{programs}");
    let missing: BTreeSet<&str> = codes.into_iter().filter(|&code| !shown.contains(code)).collect();
    assert_eq!(missing, WITHOUT.iter().map(|it| it.0).collect(), "codes without a case");
}
