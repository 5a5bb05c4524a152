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
    /// It is no program to begin with, which is for another test.
    NoProgram,
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
        (Err(_), _) => Turned::NoProgram,
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

/// The sources of a case that is a program, each with its notation.
fn sources(case: &str) -> Vec<(Notation, &str)> {
    if !case.contains("\n=== outcome\n") {
        return Vec::new();
    }
    case.split("\n=== ").filter_map(source).collect()
}

fn source(section: &str) -> Option<(Notation, &str)> {
    let (title, text) = section.split_once('\n')?;
    Some((title.strip_prefix("source ")?.parse().ok()?, text))
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
        for (from, source) in sources(&text) {
            for (to, name) in Notation::ALL {
                let place = || format!("{name} {} of {from}", path.display());
                match turned(source, from, to) {
                    Turned::Same => same += 1,
                    Turned::NoProgram => {}
                    Turned::NotExpressible(why) => refused.push(format!("{}: {why}", place())),
                    Turned::Wrong(what) => wrong.push(format!("{}\n{what}", place())),
                }
            }
        }
    }
    println!("{same} the same, {} not expressible\n{}", refused.len(), refused.join("\n"));
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n\n"));
}
