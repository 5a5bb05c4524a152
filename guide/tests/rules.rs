//! The rules of the check are those of the guide: no program of the corpus that has an error is allowed. For
//! each error code, `rules.txt` counts those that are refused although the text before the faulty line (in
//! `constrained`, the faulty place) is allowed; a code without one needs a reason there. They are refused
//! before the end of the faulty statement and its blocks; those that are refused later are listed, with a
//! reason.
//!
//! `corpus`, `constrained_corpus` and `every_program` test the converse: the guide has no rules of its own
//! but those that are listed.
//!
//! `UPDATE=1` rewrites the numbers; reasons are written by hand.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test may panic")]

use crate::common::samples::cases;
use ilo_asm::case::Case;
use ilo_asm::catalog::{Catalog, ToolSignature};
use ilo_asm::compile::{Options as Build, compile};
use ilo_asm::notation::Notation;
use ilo_guide::{ConstrainedGuide, Guide, Session};
use ilo_spec::error::{Code, Severity};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// The first code of faults and of the host. A guide knows only the codes before it.
const FAULTS: u16 = 700;

/// Programs with an error that the corpus does not have, or only in another layout.
const MORE: &[(Notation, &str)] = &[
    (
        Notation::Id,
        "; fn f() -> nil\n; Tools: 0=t\nLET 0 CALL 0 0\nMATCH 0 2\n  ERR 1 1\n    RET LIT 2 nil\n  ERR 2 1\n    RET LIT 2 nil\nRET LIT 2 nil\n",
    ),
    (
        Notation::Id,
        "; fn g() -> nil\nRET LIT 2 nil\n; fn f() -> nil\n; Tools: 0=t 1=g\nCALL 0 0\nROLLBACK CALL 1 0\nRET LIT 2 nil\n",
    ),
    (Notation::Constrained, r#"{"fn":"f","in":{},"out":"nil","body":[{"ret":null,"ret":null}]}"#),
    (Notation::Constrained, r#"{"fn":"f","in":{"n":"num"},"out":"num","body":[{"ret":{"**":["n",2]}}]}"#),
    (
        Notation::Constrained,
        r#"{"fn":"f","in":{"xs":"list num"},"out":"nil","body":[{"for":"x","in":"xs"},{"ret":null}]}"#,
    ),
    (
        Notation::Constrained,
        r#"{"fn":"f","in":{},"out":"nil","body":[{"let":"x","expr":{"+":[1,2]},"err":{"ignore":true}},{"ret":null}]}"#,
    ),
    (
        Notation::Constrained,
        r#"{"fn":"f","in":{},"out":"nil","body":[{"let":"y","expr":"x.a"},{"let":"x","call":"t"},{"ret":null}]}"#,
    ),
    (
        Notation::Constrained,
        r#"{"fn":"f","in":{"xs":"list num"},"out":"nil","body":[{"for":"x","in":"xs","yield":[{"let":"y","call":"t","err":{"continue":true}}]},{"ret":null}]}"#,
    ),
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

/// The result of a guide for a file.
enum Said {
    /// The text before the body does not make a session.
    NoSession,
    /// The guide refuses it at a place; its body begins at `start`.
    Refused { start: usize, at: usize },
    /// The guide allows it; this is the file with its registries.
    Allowed(String),
}

fn said(notation: Notation, catalog: &Catalog, text: &str) -> Said {
    let body = |start: usize| &text.as_bytes()[start..];
    let (start, refused, whole) = if notation == Notation::Id {
        let Ok((session, start)) = Session::of_file(catalog, None, text) else { return Said::NoSession };
        let mut guide = Guide::new(&session);
        (start, guide.accept_bytes(body(start)).err(), guide.finish().ok())
    } else {
        let Ok((session, start)) = Session::of_constrained(catalog, text) else { return Said::NoSession };
        let mut guide = ConstrainedGuide::new(&session);
        (start, guide.accept_bytes(body(start)).err(), guide.finish().ok())
    };
    match (refused, whole) {
        (Some(error), _) => Said::Refused { start, at: start + error.at },
        (None, None) => Said::Refused { start, at: text.len() },
        (None, Some(whole)) => Said::Allowed(whole),
    }
}

/// Where the statement that has a place ends, with its blocks: at the first byte after it, or after the
/// blanks of the next line.
fn end_of_statement(notation: Notation, text: &str, place: usize) -> usize {
    if notation != Notation::Id {
        return end_of_step(text, place);
    }
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
            b'[' if !quoted => open.push((matches!(key, "body" | "then" | "else" | "yield"), false)),
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

#[test]
fn every_error_of_the_check_is_refused_by_the_guide() {
    // For each code: programs in ID text and in `constrained` of which only the faulty part is refused.
    let mut counts: BTreeMap<u16, [usize; 2]> = BTreeMap::new();
    // For each code: the cases that are refused after the faulty statement.
    let mut later: BTreeMap<u16, Vec<String>> = BTreeMap::new();
    let mut look = |path: &str, notation: Notation, catalog: &Catalog, text: &str| {
        let options = Build { from: Some(notation), catalog: Some(catalog), ..Build::default() };
        let (program, found) = compile(text, &options);
        let Some(first) = found.as_slice().iter().find(|it| it.is_error()) else { return };
        assert!(program.is_none(), "{path}");
        let (start, at) = match said(notation, catalog, text) {
            Said::NoSession => return,
            Said::Refused { start, at } => (start, at),
            Said::Allowed(whole) => {
                // The error was in a registry, which the guide writes itself.
                assert!(compile(&whole, &options).0.is_some(), "{path}: allowed, but {}", first.message);
                return;
            }
        };
        let place = (first.span.start as usize).min(text.len());
        let (which, begin) = match notation {
            Notation::Id => (0, text[..place].rfind('\n').map_or(0, |end| end + 1)),
            _ => (1, text[..place].trim_end_matches(['{', '[', ',', ':', '"']).len()),
        };
        // An error that is reported at the header is one of the whole function.
        let end = if place < start { text.len() } else { end_of_statement(notation, text, place) };
        if at > end {
            let name = path.rsplit_once("corpus/").map_or(path, |it| it.1).trim_end_matches(".case");
            later.entry(first.code as u16).or_default().push(name.to_owned());
        }
        counts.entry(first.code as u16).or_default()[which] += usize::from(at >= begin);
    };
    for (path, case) in cases() {
        for source in case.sources() {
            match source.notation {
                Notation::Id => look(&path, Notation::Id, &catalog(&case, source.text), source.text),
                Notation::Constrained => {
                    let text = minified(source.text);
                    look(&path, Notation::Constrained, &catalog(&case, &text), &text);
                }
                _ => {}
            }
        }
    }
    let mut tools = Catalog::default();
    tools.insert(ToolSignature::new("t", None, None, None));
    for (notation, text) in MORE {
        look(text, *notation, &tools, text);
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rules.txt");
    let listed = fs::read_to_string(&page).unwrap_or_default();
    let mut text = String::new();
    for &code in Code::ALL {
        // A warning that is an error in some places counts where it is one.
        let refuses = code.severity() == Severity::Error || counts.contains_key(&(code as u16));
        if !refuses || code as u16 >= FAULTS {
            continue;
        }
        let name = code.as_str();
        let line = listed.lines().find(|line| line.starts_with(&format!("{name}: ")));
        let reason = line.and_then(|line| line.split(" -- ").nth(1)).unwrap_or("?");
        match counts.get(&(code as u16)).copied().unwrap_or_default() {
            [0, 0] => writeln!(text, "{name}: none -- {reason}").unwrap(),
            [id, constrained] => {
                write!(text, "{name}: {id} in ID text, {constrained} in constrained").unwrap();
                if let Some(cases) = later.get(&(code as u16)) {
                    write!(text, "; after the statement {} -- {reason}", cases.join(", ")).unwrap();
                }
                text.push('\n');
            }
        }
    }
    if text != listed {
        assert!(std::env::var_os("UPDATE").is_some(), "the codes are held otherwise now:\n{text}");
        fs::write(page, &text).unwrap();
    }
    assert!(!text.contains("-- ?"), "codes without a reason:\n{text}");
}
