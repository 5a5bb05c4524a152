//! The ceilings of the format, reached from a source: n builds and is decoded again, n + 1 is refused.
//!
//! Strings and maps are not here: sixteen million of them take a source of some hundred megabytes.
//! `spec/tests/limits.rs` holds those of every table where they are read.

use ilo_asm::compile::{Options, compile};
use ilo_spec::encode::encode;
use ilo_spec::{decode, limits};
use std::fmt::Write;

/// The calls of one function here. Each is at most two instructions.
const CALLS: usize = 30_000;

/// The result of building a source: nothing if it builds and its bytecode decodes to the same program, else
/// the first error.
fn found(source: &str) -> Option<&'static str> {
    let reading = ilo_asm::source::SourceLimits {
        source: 1 << 28,
        line: 1 << 28,
        ..ilo_asm::source::SourceLimits::default()
    };
    let options = Options { reading, strip: true, ..Options::default() };
    match compile(source, &options) {
        (Some(program), _) => {
            assert!(decode::decode(&encode(&program)) == Ok(program));
            None
        }
        (None, diagnostics) => diagnostics.as_slice().first().map(|first| first.code.as_str()),
    }
}

/// Functions of at most this number of statements each, which take tool and field numbers from registries of
/// their own.
fn functions(statements: impl Iterator<Item = (String, Vec<String>, Vec<String>)>) -> String {
    let mut source = String::new();
    let all: Vec<_> = statements.collect();
    for (number, part) in all.chunks(CALLS).enumerate() {
        let _ = writeln!(source, "; fn f{number}(a: thing) -> nil");
        for (word, names) in [("Tools", 1), ("Fields", 2)] {
            let _ = write!(source, "; {word}:");
            let names = part.iter().flat_map(|row| if names == 1 { &row.1 } else { &row.2 });
            for (id, name) in names.enumerate() {
                let _ = write!(source, " {id}={name}");
            }
            source.push('\n');
        }
        for (statement, ..) in part {
            let _ = writeln!(source, "{statement}");
        }
    }
    source
}

/// This number of instructions in one function: calls without arguments, and its end.
fn instructions(count: usize) -> String {
    "; fn f() -> nil\n; Tools: 0=t\n".to_owned() + &"CALL 0 0\n".repeat(count - 1)
}

fn function_count(count: usize) -> String {
    let mut source = String::new();
    for number in 0..count {
        let _ = writeln!(source, "; fn f{number}() -> nil\nLIT 2 nil");
    }
    source
}

/// A place of a function's statement in its registry: [`CALLS`] statements have one each.
fn place(number: usize) -> usize {
    number % CALLS
}

fn tools(count: usize) -> String {
    functions((0..count).map(|n| (format!("CALL {} 0", place(n)), vec![format!("t{n}")], vec![])))
}

fn fields(count: usize) -> String {
    let read = |n: usize| format!("LET 1 FIELD 0 {}", place(n));
    // The parameter's name is one, too.
    functions((1..count).map(|n| (read(n - 1), vec![], vec![format!("k{n}")])))
}

/// Pairs of 256 tools and 257 sets of argument names.
fn calls(count: usize) -> String {
    let mut source = "; fn f(a: thing) -> nil\n".to_owned();
    let registry = |word: &str, letter: char, count: usize| {
        let names: String = (0..count).fold(String::new(), |all, n| format!("{all} {n}={letter}{n}"));
        format!("; {word}:{names}\n")
    };
    for (number, part) in (0..count).collect::<Vec<_>>().chunks(CALLS).enumerate() {
        if number > 0 {
            let _ = writeln!(source, "; fn f{number}(a: thing) -> nil");
        }
        source += &registry("Tools", 't', 256);
        source += &registry("Fields", 'k', 257);
        for pair in part {
            let _ = writeln!(source, "CALL {} 1 {} REF 0", pair % 256, pair / 256);
        }
    }
    source
}

/// Records of two of 363 fields.
fn shapes(count: usize) -> String {
    let pairs = (0..363).flat_map(|a| (0..a).map(move |b| (a, b))).take(count).collect::<Vec<_>>();
    assert_eq!(pairs.len(), count);
    let mut source = String::new();
    let names: String = (0..363).fold(String::new(), |all, n| format!("{all} {n}=k{n}"));
    for (number, part) in pairs.chunks(15_000).enumerate() {
        let _ = writeln!(source, "; fn f{number}(a: thing) -> thing\n; Fields:{names}");
        for (a, b) in part {
            let _ = writeln!(source, "LET 1 OBJ 2 {a} REF 0 {b} REF 0");
        }
        source += "RET REF 1\n";
    }
    source
}

fn numbers(count: usize) -> String {
    let mut source = String::new();
    for (number, part) in (0..count).collect::<Vec<_>>().chunks(CALLS).enumerate() {
        let _ = writeln!(source, "; fn f{number}() -> thing");
        for half in part {
            let _ = writeln!(source, "LET 0 LIT 1 {half}.5");
        }
        source += "RET REF 0\n";
    }
    source
}

/// The counted items, their ceiling, the code with which a source with one more is refused, and a source with
/// this number of them.
type Row = (&'static str, usize, &'static str, fn(usize) -> String);

const ROWS: [Row; 7] = [
    ("instructions", limits::FUNCTION_CODE, "function-too-long", instructions),
    ("functions", limits::FUNCTIONS, "too-many-entries", function_count),
    ("tools", limits::TOOLS, "too-many-entries", tools),
    ("fields", limits::FIELDS, "too-many-entries", fields),
    ("calls", limits::CALLS, "too-many-entries", calls),
    ("shapes", limits::SHAPES, "too-many-entries", shapes),
    ("numbers", limits::NUMBERS, "too-many-entries", numbers),
];

#[test]
fn every_ceiling_holds_at_n_and_not_at_n_plus_1() {
    for (what, ceiling, refusal, source) in ROWS {
        assert_eq!(found(&source(ceiling)), None, "{ceiling} {what}");
        assert_eq!(found(&source(ceiling + 1)), Some(refusal), "{} {what}", ceiling + 1);
    }
}
