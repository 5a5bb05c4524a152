//! Grammars, read and run by a small recogniser that shares nothing with their writer. The corpus is in its
//! grammars, and no text of a grammar's language breaks a rule that the grammar claims to express.
//!
//! `WALKS=1500 cargo test --release -p ilo-guide --test all grammars::` for more texts.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test may panic")]

use crate::common::recognise::Grammar;
use crate::common::samples::samples;
use crate::common::{Random, catalog, number, signature};
use ilo_asm::catalog::{Catalog, ToolSignature};
use ilo_asm::compile::{Options as Build, compile};
use ilo_asm::notation::Notation;
use ilo_guide::export::{self, Syntax};
use ilo_guide::{Options, Session};
use serde_json::json;
use std::collections::BTreeMap;

fn gbnf(session: &Session<'_>) -> Grammar {
    Grammar::read(&export::grammar(session, Syntax::Ebnf, 10).unwrap())
}

/// The number of functions of the corpus that a grammar refuses: constants of 19 digits or with an exponent
/// of three, counts above eight, blocks deeper than ten, MATCH_MAP without a case, arguments in another
/// order or left out, a FAIL of another type in a TRY, a value as a statement that others follow, MERGE
/// without a count that is not last in its line.
const BEYOND: usize = 25;

#[test]
fn the_corpus_is_in_the_grammar() {
    let samples = samples();
    let (mut whole, mut beyond) = (0, Vec::new());
    for sample in &samples {
        let Ok((session, body)) = Session::of_file(&sample.catalog, None, &sample.text) else { continue };
        if gbnf(&session).accepts(&sample.text[body..]) {
            whole += 1;
        } else {
            beyond.push(sample.name.as_str());
        }
    }
    println!("{whole} functions, {} beyond", beyond.len());
    assert!(whole > 600 && beyond.len() == BEYOND, "{whole} functions, beyond: {}", beyond.join(", "));
}

/// The errors of rules that no grammar expresses. An ELSE without an IF can end an arm, and the schema of a
/// record is enforced only if the record itself is written. All other errors must be impossible.
const NOT_HELD: [&str; 16] = [
    "bad-value",
    "break-nowhere",
    "condition-type",
    "duplicate-case",
    "duplicate-field",
    "expected-arm",
    "match-unchecked",
    "missing-argument",
    "missing-return",
    "missing-value",
    "orphan-else",
    "rollback-argument",
    "rollback-required",
    "type-mismatch",
    "unknown-argument",
    "unset-slot",
];

#[test]
fn sentences_have_only_errors_that_no_grammar_could_prevent() {
    let count = number("WALKS", 40);
    let (mut built, mut found) = (0, BTreeMap::new());
    for seed in 0..count {
        let mut random = Random::new(seed);
        let catalog = catalog(&mut random);
        let session = Session::new(&catalog, &signature(&mut random), &Options::default()).unwrap();
        let grammar = gbnf(&session);
        for _ in 0..10 {
            let text = grammar.sentence(&mut |limit| random.below(limit), 60);
            assert!(grammar.accepts(&text), "{text}");
            let whole = session.prefix() + &text;
            let options = Build { from: Some(Notation::Id), catalog: Some(&catalog), ..Build::default() };
            let (program, diagnostics) = compile(&whole, &options);
            built += usize::from(program.is_some());
            // Further errors may follow an error.
            if let Some(error) = diagnostics.as_slice().iter().find(|it| it.is_error()) {
                found.entry(error.code.as_str()).or_insert_with(|| format!("{}\n{whole}", error.message));
            }
        }
    }
    println!("{built} of {} build", count * 10);
    let others: Vec<_> = found.iter().filter(|(code, _)| !NOT_HELD.contains(code)).collect();
    for (code, shown) in &others {
        println!("{code}: {shown}");
    }
    assert!(others.is_empty(), "{:?}", found.keys());
}

fn tools() -> Catalog {
    let input = json!({"type": "object", "required": ["id"], "properties": {
        "id": {"type": "string"},
        "state": {"type": "string", "enum": ["open", "closed"]},
        "page": {"type": "integer"},
        "deep": {"type": "object", "properties": {"on": {"const": true}}, "required": ["on"]},
    }, "additionalProperties": false});
    let output = json!({"type": "array", "items": {"type": "string"}});
    let mut catalog = Catalog::default();
    catalog.insert(ToolSignature::new("list-orders", None, Some(&input), Some(&output)));
    catalog
}

#[test]
fn a_grammar_holds_what_it_claims() {
    let tools = tools();
    let session = Session::new(&tools, "f(id: text) -> result list text, text", &Options::default()).unwrap();
    let prefix = session.prefix();
    for (number, name) in ["id", "state", "page", "deep", "on"].iter().enumerate() {
        assert!(prefix.contains(name), "{number} {prefix}");
    }
    let of = |name: &str| (0..99).find(|&number| session.field(number) == Some(name)).unwrap().to_string();
    let filled = |text: &str| {
        ["id", "state", "page", "deep", "on"]
            .iter()
            .fold(text.to_owned(), |text, name| text.replace(&format!("<{name}>"), &of(name)))
    };
    let grammar = gbnf(&session);
    for right in [
        "RET_OK CALL 0 1 <id> REF 0\n",
        "LET 1 CALL 0 2 <id> LIT 0 \"a\\u00e9\\\"\" <state> LIT 0 \"open\"\nMATCH 1 2\n  ERR 2 1\n    RET_ERR REF 2\n  OK 2 1\n    RET_OK REF 2\n",
        "FOR 1 REF 0 1\n  IF EQ REF 1 LIT 2 nil 1\n    BREAK\n  ELSE 1\n    REF 1\nELSE 0\nRET_OK LIST 2 LIT 0 \"\" LIT 0 \"b\"\n",
        "RET_OK CALL 0 3 <id> REF 0 <page> LIT 1 2 <deep> OBJ 1 <on> LIT 3 true\n",
        "FAIL MATCH_MAP REF 0 2 \"a\" LIT 0 \"x\" ELSE UPPER REF 0\n",
    ] {
        assert!(grammar.accepts(&filled(right)), "{right}");
    }
    for wrong in [
        "",
        "RET_OK CALL 0 1 <id> REF 0",
        // The required argument is missing, the count is another, the tool is unknown.
        "RET_OK CALL 0 1 <state> LIT 0 \"open\"\n",
        "RET_OK CALL 0 2 <id> REF 0\n",
        "RET_OK CALL 1 1 <id> REF 0\n",
        // None of the constants, a fraction for an integer, a number for a text.
        "RET_OK CALL 0 2 <id> REF 0 <state> LIT 0 \"ope\"\n",
        "RET_OK CALL 0 2 <id> REF 0 <page> LIT 1 2.5\n",
        "RET_OK CALL 0 1 <id> LIT 1 5\n",
        "RET_OK CALL 0 2 <id> REF 0 <deep> OBJ 1 <on> LIT 3 false\n",
        "RET_OK CALL 0 2 <id> REF 0 <deep> OBJ 0\n",
        // RET is for functions that cannot fail, and nothing follows a way out.
        "RET REF 0\n",
        "RET_OK LIST 0\nRET_OK LIST 0\n",
        "RET_OK LEN REF 0\n",
        "RET_OK LIST 3 REF 0\n",
        // Indents, a slot beyond 63, a text that is not closed, half of a pair.
        "IF LIT 3 true 1\nRET_OK LIST 0\n",
        "IF LIT 1 1 0\nRET_OK LIST 0\n",
        "LET 64 REF 0\nRET_OK LIST 0\n",
        "RET_ERR LIT 0 \"a\n",
        "RET_ERR LIT 0 \"\\ud800\"\n",
        "BREAK\n",
    ] {
        assert!(!grammar.accepts(&filled(wrong)), "{wrong}");
    }
}

#[test]
fn sizes_and_depths_have_limits() {
    let tools = tools();
    let session = Session::new(&tools, "f() -> nil", &Options::default()).unwrap();
    for (depth, nearest) in [(0, 1), (11, 10), (255, 10)] {
        let grammar = |depth| export::grammar(&session, Syntax::Gbnf, depth).unwrap();
        assert_eq!(grammar(depth), grammar(nearest));
    }
    let shallow = Grammar::read(&export::grammar(&session, Syntax::Gbnf, 1).unwrap());
    assert!(shallow.accepts("IF LIT 3 true 1\n  RET LIT 2 nil\n"));
    assert!(!shallow.accepts("IF LIT 3 true 1\n  IF LIT 3 true 1\n    RET LIT 2 nil\n"));
    let mut many = Catalog::default();
    for number in 0..2000 {
        let input =
            json!({"type": "object", "properties": {format!("field-of-tool-{number}"): {"type": "string"}}});
        many.insert(ToolSignature::new(&format!("tool-{number}"), None, Some(&input), None));
    }
    let session = Session::new(&many, "f() -> nil", &Options::default()).unwrap();
    let error = export::grammar(&session, Syntax::Gbnf, 4).unwrap_err();
    assert!(error.to_string().contains("llama.cpp"), "{error}");
    assert!(export::grammar(&session, Syntax::Lark, 4).unwrap().contains("start: block0"));
}

#[test]
fn hostile_names_stay_in_the_comment() {
    let mut catalog = Catalog::default();
    for name in ["a b", "\"", "\\", "0=x", "x\ny", "\u{202e}", "*/ root ::= \"x\""] {
        let input =
            json!({"type": "object", "required": [name], "properties": {name: {"enum": [name, "b\nc"]}}});
        catalog.insert(ToolSignature::new(name, None, Some(&input), None));
    }
    let session = Session::new(&catalog, "f() -> nil", &Options::default()).unwrap();
    let text = export::grammar(&session, Syntax::Ebnf, 2).unwrap();
    let rules = text.lines().filter(|line| line.starts_with("root ")).count();
    assert_eq!(rules, 1, "{text}");
    let grammar = Grammar::read(&text);
    let number = (0..99).find(|&number| session.tool(number) == Some("x\ny")).unwrap();
    let field = (0..99).find(|&number| session.field(number) == Some("x\ny")).unwrap();
    let call = |text| format!("CALL {number} 1 {field} LIT 0 {text}\nRET LIT 2 nil\n");
    assert!(grammar.accepts(&call(r#""x\ny""#)) && grammar.accepts(&call(r#""b\nc""#)), "{text}");
    assert!(!grammar.accepts(&call(r#""x""#)));
}
