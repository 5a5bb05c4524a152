//! A program printed in any notation and read back gives the same code, or is reported as not expressible.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use ilo_asm::build::Notation;
use ilo_fuzz::conversion::{Turned, turn};
use ilo_fuzz::generate::{bytes, case};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

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
                match turn(source, from, to) {
                    Ok(Turned::Same(_)) => same += 1,
                    Ok(Turned::NoProgram) => {}
                    Ok(Turned::Settled(printed)) => wrong.push(format!("{}\n{printed}", place())),
                    Ok(Turned::NotExpressible(why)) => refused.push(format!("{}: {why}", place())),
                    Err(what) => wrong.push(format!("{}\n{what}", place())),
                }
            }
        }
    }
    println!("{same} the same, {} not expressible\n{}", refused.len(), refused.join("\n"));
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn random_programs_survive_every_notation() {
    let seeds = std::env::var("SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(300_u64);
    let (mut refused, mut wrong): (BTreeMap<String, u32>, Vec<String>) = (BTreeMap::new(), Vec::new());
    let (mut same, mut settled) = (0, 0);
    for seed in 0..seeds {
        let source = case(&bytes(seed)).source;
        for (to, name) in Notation::ALL {
            match turn(&source, Notation::Id, to) {
                Ok(Turned::Same(_)) => same += 1,
                Ok(Turned::NoProgram) => {}
                Ok(Turned::Settled(_)) => settled += 1,
                Ok(Turned::NotExpressible(why)) => *refused.entry(why).or_default() += 1,
                Err(what) => wrong.push(format!("{name} seed {seed}\n{source}\n{what}")),
            }
        }
    }
    println!("{same} the same, {settled} settled\n{refused:#?}");
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(settled * 30 < same, "{settled} of {same} differ where slots are used for several things");
}
