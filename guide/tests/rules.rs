//! Every rule of the check is one of the guide: for each error code, the programs of the corpus that have it are
//! refused, and the text before the faulty line (in `constrained`, the faulty place) is allowed.
//!
//! `rules.txt` has a line for each code; a code without such a program needs a reason there. That the guide has no
//! rule of its own is what `corpus`, `constrained_corpus` and `every_program` test.
//!
//! `UPDATE=1` writes the numbers anew; reasons are written by hand.

#![allow(clippy::unwrap_used, clippy::panic, clippy::missing_panics_doc, reason = "a test may panic")]

use crate::common::samples::cases;
use ilo_asm::build::{Options as Build, build};
use ilo_asm::case::Case;
use ilo_asm::catalog::{Catalog, Tool};
use ilo_asm::notation::Notation;
use ilo_guide::{ConstrainedGuide, Guide, Session};
use ilo_spec::error::{Code, Severity};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// The codes of faults and of the host begin here; a guide knows only those before.
const FAULTS: u16 = 700;

/// The tools of a case; where it names none, those that its source names.
fn catalog(case: &Case, source: &str) -> Catalog {
    if let Some(catalog) = case.section("catalog") {
        return Catalog::from_json(catalog).unwrap_or_default();
    }
    let mut catalog = Catalog::default();
    let tools = case.section("tools").and_then(|text| serde_json::from_str(text).ok());
    if let Some(Value::Object(tools)) = tools {
        for (name, tool) in &tools {
            catalog.insert(Tool::new(name, None, tool.get("input_schema"), tool.get("output_schema")));
        }
        return catalog;
    }
    let registry = source.lines().find_map(|line| line.strip_prefix("; Tools:")).unwrap_or_default();
    let called = source.split("\"call\":").skip(1).filter_map(|rest| rest.trim_start().split('"').nth(1));
    for name in registry.split(['=', ' ']).chain(called).filter(|name| !name.is_empty()) {
        catalog.insert(Tool::new(name, None, None, None));
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

/// Where the body begins, and where it is refused; `None` if no session can be made of what is before it.
fn refused_at(notation: Notation, catalog: &Catalog, text: &str) -> Option<(usize, Option<usize>)> {
    let body = |start: usize| &text.as_bytes()[start..];
    let (start, refused, ends) = if notation == Notation::Id {
        let (session, start) = Session::of_file(catalog, None, text).ok()?;
        let mut guide = Guide::new(&session);
        (start, guide.accept_bytes(body(start)).err(), guide.may_end())
    } else {
        let (session, start) = Session::of_constrained(catalog, text).ok()?;
        let mut guide = ConstrainedGuide::new(&session).ok()?;
        (start, guide.accept_bytes(body(start)).err(), guide.may_end())
    };
    let at = refused.map(|error| start + error.at).or((!ends).then_some(text.len()));
    Some((start, at))
}

#[test]
fn every_error_of_the_check_is_refused_by_the_guide() {
    // For each code: programs in ID text and in `constrained` of which only the faulty part is refused.
    let mut counts: BTreeMap<u16, [usize; 2]> = BTreeMap::new();
    for (path, case) in cases() {
        for (which, notation) in [Notation::Id, Notation::Constrained].into_iter().enumerate() {
            let Some(source) = case.sources().iter().find(|it| it.notation == notation).map(|it| it.text)
            else {
                continue;
            };
            let text = if notation == Notation::Id { source.to_owned() } else { minified(source) };
            let catalog = catalog(&case, &text);
            let options = Build { from: Some(notation), catalog: Some(&catalog), ..Build::default() };
            let (program, found) = build(&text, &options);
            let Some(first) = found.as_slice().iter().find(|it| it.is_error()) else { continue };
            assert!(program.is_none(), "{path}");
            let Some((start, at)) = refused_at(notation, &catalog, &text) else { continue };
            let place = (first.span.start as usize).min(text.len());
            // What is before the body is not the guide's.
            if place < start && at.is_none() {
                continue;
            }
            let Some(at) = at else { panic!("{path}: allowed, but {}", first.message) };
            let begin = match notation {
                Notation::Id => text[..place].rfind('\n').map_or(0, |end| end + 1),
                _ => place,
            };
            counts.entry(first.code as u16).or_default()[which] += usize::from(at >= begin);
        }
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rules.txt");
    let listed = fs::read_to_string(&page).unwrap_or_default();
    let mut text = String::new();
    for &code in Code::ALL {
        if code.severity() != Severity::Error || code as u16 >= FAULTS {
            continue;
        }
        let name = code.as_str();
        match counts.get(&(code as u16)).copied().unwrap_or_default() {
            [0, 0] => {
                let line = listed.lines().find(|line| line.starts_with(&format!("{name}: none")));
                let reason = line.and_then(|line| line.split(" -- ").nth(1)).unwrap_or("?");
                writeln!(text, "{name}: none -- {reason}").unwrap();
            }
            [id, constrained] => {
                writeln!(text, "{name}: {id} in ID text, {constrained} in constrained").unwrap();
            }
        }
    }
    if text != listed {
        assert!(std::env::var_os("UPDATE").is_some(), "the codes are held otherwise now:\n{text}");
        fs::write(page, &text).unwrap();
    }
    assert!(!text.contains("-- ?"), "codes without a program and without a reason:\n{text}");
}
