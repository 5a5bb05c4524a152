//! A program printed in any notation and read back gives the same code, or is reported as not expressible.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use bumpalo::Bump;
use ilo_asm::build::{Notation, Options, build, read_and_check};
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::print;
use ilo_spec::program::Program;
use std::fs;
use std::path::{Path, PathBuf};

/// What becomes of a program in a notation.
enum Turned {
    Same,
    NotExpressible(String),
    Wrong(String),
}

fn stripped(source: &str, notation: Notation) -> Result<Program, String> {
    let options = Options { from: Some(notation), strip: true, ..Options::default() };
    let (program, diagnostics) = build(source, &options);
    program.ok_or_else(|| format!("{source}\n{:#?}", diagnostics.as_slice()))
}

/// Prints a source in a notation and reads that back.
fn turned(source: &str, from: Notation, to: Notation) -> Turned {
    let arena = Bump::new();
    let mut diagnostics = Diagnostics::default();
    let options = Options { from: Some(from), ..Options::default() };
    let (file, _) = read_and_check(source, &arena, &options, &mut diagnostics);
    let mut refused = Diagnostics::default();
    let printed = print::print(&file, to, &mut refused);
    if refused.has_errors() {
        return Turned::NotExpressible(refused.as_slice()[0].message.clone());
    }
    match (stripped(source, from), stripped(&printed, to)) {
        (Ok(before), Ok(after)) if before == after => Turned::Same,
        (Ok(before), Ok(after)) => {
            let list = |program: &Program| ilo_asm::disasm::disassemble(program);
            Turned::Wrong(format!("{printed}\n{}\n{}", list(&before), list(&after)))
        }
        (Err(why), _) => panic!("{source}\n{why}"),
        (_, Err(why)) => Turned::Wrong(format!("{printed}\n{why}")),
    }
}

fn cases(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            cases(&path, found);
        } else {
            found.push(path);
        }
    }
    found.sort();
}

/// The source of a case that is a program, and its notation.
fn source(case: &str) -> Option<(Notation, &str)> {
    if !case.contains("\n=== outcome\n") {
        return None;
    }
    let (_, rest) = case.split_once("\n=== source ")?;
    let (notation, rest) = rest.split_once('\n')?;
    let source = rest.split("\n=== ").next()?;
    Some((notation.parse().ok()?, source))
}

#[test]
fn every_case_of_the_corpus_survives_every_notation() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec/corpus");
    let mut paths = Vec::new();
    cases(&root, &mut paths);
    let only = std::env::var("CASE").unwrap_or_default();
    let (mut same, mut refused, mut wrong) = (0, Vec::new(), Vec::new());
    for path in paths.iter().filter(|path| path.to_string_lossy().contains(&only)) {
        let text = fs::read_to_string(path).unwrap();
        let Some((from, source)) = source(&text) else { continue };
        for (to, name) in Notation::ALL {
            match turned(source, from, to) {
                Turned::Same => same += 1,
                Turned::NotExpressible(why) => refused.push(format!("{name} {}: {why}", path.display())),
                Turned::Wrong(what) => wrong.push(format!("{name} {}\n{what}", path.display())),
            }
        }
    }
    println!("{same} the same, {} not expressible\n{}", refused.len(), refused.join("\n"));
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n\n"));
}
