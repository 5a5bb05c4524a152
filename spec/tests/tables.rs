//! The tables in the specification are printed from the tables in the code, and are current.
//!
//! `UPDATE=1 cargo test -p ilo-spec --test tables` rewrites them.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test may panic")]

use ilo_spec::node::{Origin, Shape};
use ilo_spec::pure::Omitted;
use ilo_spec::{isa, limits, node, pure};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Puts `table` between the markers of that name in a page, or fails if it is not there.
fn hold(page: &str, name: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("doc").join(page);
    let text = fs::read_to_string(&path).unwrap();
    let (begin, end) = (format!("<!-- generated: {name} -->\n"), "<!-- end generated -->");
    let (before, rest) = text.split_once(&begin).unwrap_or_else(|| panic!("{page} has no marker {begin}"));
    let (old, after) = rest.split_once(end).unwrap_or_else(|| panic!("{page} has no marker {end}"));
    if old == table {
        return;
    }
    assert!(
        std::env::var_os("UPDATE").is_some(),
        "the table `{name}` of {page} is not current: run with UPDATE=1"
    );
    fs::write(&path, format!("{before}{begin}{table}{end}{after}")).unwrap();
}

fn shape(shape: Shape) -> &'static str {
    match shape {
        Shape::Slot => "*slot*",
        Shape::Expr => "*value*",
        Shape::Bound => "(*value* or *block*)",
        Shape::Literal => "*kind* *literal*",
        Shape::Path => "(*slot* or *path*)",
        Shape::Field => "*field*",
        Shape::FieldOrName => "(*field* or *value*)",
        Shape::Tool => "*tool*",
        Shape::Pairs => "*n* (*field* *value*)…",
        Shape::OpenPairs => "(*field* *value*)…",
        Shape::Exprs => "*n* *value*…",
        Shape::Cases => "*n* (*key* *value*)…",
        Shape::Block => "*n* *statement*…",
        Shape::Arms => "*n* *arm*…",
        Shape::Otherwise => "[ELSE …]",
        Shape::Handler => "ERR …",
        Shape::Call => "CALL …",
    }
}

#[test]
fn text_instructions() {
    let mut table = String::from("| instruction | operands | from | meaning |\n|---|---|---|---|\n");
    for row in node::TABLE {
        let operands: Vec<&str> = row.operands.iter().map(|&operand| shape(operand)).collect();
        let origin = match row.origin {
            Origin::Seed => "original",
            Origin::Added => "added",
        };
        writeln!(table, "| `{}` | {} | {origin} | {} |", row.mnemonic, operands.join(" "), row.meaning)
            .unwrap();
    }
    hold("notation-id.md", "instructions", &table);
}

#[test]
fn bytecode_instructions() {
    let mut table =
        String::from("| number | mnemonic | operands | fuel | meaning |\n|---|---|---|---|---|\n");
    for row in isa::TABLE {
        let operands: Vec<String> =
            row.operands.iter().map(|(name, kind)| format!("{name}: {kind}")).collect();
        let (number, mnemonic, cost, meaning) = (row.number, row.mnemonic, row.cost, row.meaning);
        writeln!(table, "| `{number:#04x}` | `{mnemonic}` | {} | {cost} | {meaning} |", operands.join(", "))
            .unwrap();
    }
    hold("bytecode.md", "bytecode", &table);
}

#[test]
fn ceilings_and_defaults() {
    let source = include_str!("../src/limits.rs");
    let mut table = String::from("| limit | value | why |\n|---|---|---|\n");
    let mut why = String::new();
    for line in source.lines() {
        if let Some(doc) = line.strip_prefix("///") {
            why.push_str(doc);
        } else if let Some(rest) = line.strip_prefix("pub const ") {
            let (name, rest) = rest.split_once(':').unwrap();
            let value = rest.split_once('=').unwrap().1.trim().trim_end_matches(';');
            writeln!(table, "| `{name}` | `{value}` |{why} |").unwrap();
            why.clear();
        }
    }
    assert!(table.contains("| `REGISTERS` | `256` |") && limits::REGISTERS == 256);
    hold("limits.md", "limits", &table);
}

#[test]
fn pure_functions() {
    let mut table = String::from(
        "| number | function | operands | result | fails | fuel | meaning |\n|---|---|---|---|---|---|---|\n",
    );
    for row in pure::TABLE {
        let operand = |operand: &pure::Operand| match operand.omitted {
            Omitted::Never => format!("{}: {}", operand.name, operand.kinds),
            Omitted::Nil => format!("[{}: {}, else nil]", operand.name, operand.kinds),
            Omitted::Zero => format!("[{}: {}, else 0]", operand.name, operand.kinds),
        };
        let operands: Vec<String> = row.operands.iter().map(operand).collect();
        let fails = if row.fails { "yes" } else { "" };
        writeln!(
            table,
            "| {} | `{}` | {} | {} | {fails} | {} | {} |",
            row.function as u8,
            row.name,
            operands.join(", "),
            row.result,
            row.function.fuel(),
            row.function.meaning()
        )
        .unwrap();
    }
    hold("functions.md", "functions", &table);
}
