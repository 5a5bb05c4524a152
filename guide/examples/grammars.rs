//! Writes functions of the corpus with their grammars, a line of JSON each, for engines that are tried with
//! them.
//!
//! `cargo run --release -p ilo-guide --example grammars > FILE`

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example prints, and may panic")]

#[path = "../tests/common/mod.rs"]
mod common;

use ilo_guide::Session;
use ilo_guide::export::{Syntax, grammar};
use serde_json::json;

/// The levels of blocks in the grammars.
const DEPTH: u8 = 6;

fn main() {
    for sample in common::samples::samples() {
        let Ok((session, body)) = Session::of_file(&sample.catalog, None, &sample.text) else { continue };
        let of = |syntax| grammar(&session, syntax, DEPTH).unwrap();
        let line = json!({
            "name": sample.name,
            "body": &sample.text[body..],
            "lark": of(Syntax::Lark),
            "ebnf": of(Syntax::Ebnf),
            "gbnf": of(Syntax::Gbnf),
        });
        println!("{line}");
    }
}
