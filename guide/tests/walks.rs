//! Random programs: those that a guide lets end build, and each can always be ended.
//!
//! `WALKS=1000000 cargo test --release -p ilo-guide --test all walks::` tests more of them, `SEED` others.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test may panic")]

use crate::common::{Random, catalog, number, signature, step, widened};
use ilo_asm::catalog::{Catalog, ToolSignature};
use ilo_asm::compile::{Options as Build, compile};
use ilo_asm::notation::Notation;
use ilo_guide::{Guide, Options, Session};
use serde_json::json;
use std::collections::BTreeMap;

/// Warnings that a guide does not prevent; `guide/README.md` says why.
const WARNINGS: [&str; 11] = [
    "nil-in-text",
    "count-mismatch",
    "implicit-undo",
    "unknown-field",
    "text-order",
    "text-reference",
    "double-rollback",
    "unreachable",
    "lost-value",
    "maybe-nil",
    "never-equal",
];

/// Seeds of walks that were once wrong.
const FOUND: [u64; 1] = [1_144_930];

#[test]
fn what_ends_builds() {
    let (first, count) = (number("SEED", 0), number("WALKS", 300));
    let mut codes: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in FOUND.into_iter().chain(first..first + count) {
        let mut random = Random::new(seed);
        let catalog = catalog(&mut random);
        let (signature, options) = widened(&signature(&mut random), seed);
        let session = Session::new(&catalog, &signature, &options).unwrap();
        let mut guide = Guide::new(&session);
        let steps = 1 + random.below(120);
        for _ in 0..steps {
            if !step(&mut guide, &mut random) {
                break;
            }
            if random.chance(25) {
                let text = guide.text().to_vec();
                let close = guide.close();
                assert_eq!(guide.text(), text, "seed {seed}: close changes nothing");
                builds(&session, &catalog, &text, close, seed, &mut codes);
            }
        }
        let text = guide.text().to_vec();
        let close = guide.close();
        builds(&session, &catalog, &text, close, seed, &mut codes);
    }
    if count > 300 {
        println!("{count} walks; warnings: {codes:?}");
    }
    let others: Vec<_> = codes.iter().filter(|code| !WARNINGS.contains(code.0)).collect();
    assert!(others.is_empty(), "{others:?}");
}

/// A read of a field that a schema without others does not list is an error.
#[test]
fn a_constant_that_names_a_field_of_a_closed_record_is_listed() {
    let output = json!({"properties": {"a": {"type": "string"}}, "additionalProperties": false});
    let mut catalog = Catalog::default();
    catalog.insert(ToolSignature::new("t", None, None, Some(&output)));
    for (signature, begun, named) in [
        ("f() -> any", "RET AT CALL 0 0 ", "LIT 0 \"a\""),
        ("f(p: text) -> any", "RET AT CALL 0 0 ", "LIT 0 \"a\""),
        ("f(p: {a: text}) -> text", "RET AT REF 0 ", "LIT 0 \"a\""),
        ("f(p: {a: text}) -> text", "RET FIELD 0 ", "0"),
        ("f(p: list {a: text}) -> any", "RET SORT REF 0 ", "LIT 0 \"a\""),
        ("f(p: list {a: text}) -> any", "RET FIND REF 0 ", "0"),
    ] {
        let options = Options { fields: Some(["a", "b"].map(str::to_owned).into()), ..Options::default() };
        let session = Session::new(&catalog, signature, &options).unwrap();
        let mut guide = Guide::new(&session);
        guide.accept_bytes(begun.as_bytes()).unwrap();
        let other = named.replace("\"a", "\"b").replace('0', if named == "0" { "1" } else { "0" });
        let mut refused = guide.clone();
        assert!(refused.accept_bytes(format!("{other} ").as_bytes()).is_err(), "{signature}: {begun}{other}");
        let mut guide = guide.clone();
        guide.accept_bytes(named.as_bytes()).unwrap();
        builds(&session, &catalog, guide.text().to_vec().as_slice(), guide.close(), 0, &mut BTreeMap::new());
    }
}

/// An input whose type lists fields has these fields when it is read, and arguments of calls must have them.
#[test]
fn inputs_that_list_fields_are_read_as_the_check_does() {
    let catalog = Catalog::default();
    let above = "; fn g(order: {id: number}) -> number\n; Fields: 0=id\nRET FIELD 0 0\n";
    for (signature, above, wrong, right) in [
        ("f(order: {id: text}) -> any", "", "RET MUL FIELD 0 0 ", "RET CONCAT FIELD 0 0 "),
        ("f(order: {id: text}) -> number", "", "RET FIELD 0 0\n", "RET LEN FIELD 0 0\n"),
        ("f(x: text) -> number", above, "RET CALL 0 1 0 OBJ 0\n", "RET CALL 0 1 0 OBJ 1 1 LIT 1 7\n"),
        (
            "f(x: text) -> number",
            above,
            "RET CALL 0 1 0 OBJ 1 1 REF 0\n",
            "RET CALL 0 1 0 OBJ 1 1 LEN REF 0\n",
        ),
    ] {
        let options = Options { above: above.to_owned(), ..Options::default() };
        let session = Session::new(&catalog, signature, &options).unwrap();
        assert!(Guide::new(&session).accept_bytes(wrong.as_bytes()).is_err(), "{signature}: {wrong}");
        assert_eq!(Guide::new(&session).accept_bytes(right.as_bytes()), Ok(()), "{signature}: {right}");
    }
}

fn builds(
    session: &Session<'_>,
    catalog: &Catalog,
    text: &[u8],
    close: Option<Vec<u8>>,
    seed: u64,
    codes: &mut BTreeMap<&'static str, u64>,
) {
    let shown = String::from_utf8_lossy(text);
    let close = close.unwrap_or_else(|| panic!("seed {seed}: no end of\n{}{shown}", session.prefix()));
    let body = [text, &close].concat();
    let whole = session.prefix() + core::str::from_utf8(&body).unwrap();
    let options = Build { from: Some(Notation::Id), catalog: Some(catalog), ..Build::default() };
    let (program, found) = compile(&whole, &options);
    for found in found.as_slice() {
        assert!(
            !found.is_error(),
            "seed {seed}: {}: {}\n{whole}\nat {:?}",
            found.code.as_str(),
            found.message,
            whole.get(found.span.range())
        );
        let code = found.code.as_str();
        if !WARNINGS.contains(&code) && std::env::var_os("SHOW").is_some() {
            println!("seed {seed}: {code} {} {:?}\n{whole}", found.message, whole.get(found.span.range()));
        }
        *codes.entry(code).or_default() += 1;
    }
    assert!(program.is_some());
}
