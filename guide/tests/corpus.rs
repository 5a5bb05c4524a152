//! Every program of the corpus that builds without warnings, in canonical layout, byte by byte; what is not
//! allowed is in `corpus_exceptions.txt`, with its reason. And mutants: what a guide lets through must build.
//!
//! `UPDATE=1` writes the places of the exceptions anew; reasons are written by hand.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test may panic")]

mod common;

use bumpalo::Bump;
use common::Random;
use ilo_asm::build::{Options as Build, build, read_and_check};
use ilo_asm::case::Case;
use ilo_asm::catalog::{Catalog, Tool};
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::notation::Notation;
use ilo_asm::print;
use ilo_guide::{Guide, Session};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "case" || ending == "ilo") {
            found.push(path);
        }
    }
}

/// A function as text that ends with its body, and the catalogue that it was checked with.
struct Sample {
    name: String,
    text: String,
    catalog: Catalog,
}

fn samples() -> Vec<Sample> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut paths = Vec::new();
    for folder in ["spec/corpus", "spec/programs", "examples"] {
        files(&root.join(folder), &mut paths);
    }
    paths.sort();
    let mut samples = Vec::new();
    for path in paths {
        let name = path.strip_prefix(&root).unwrap().to_string_lossy().replace("guide/../", "");
        let text = fs::read_to_string(&path).unwrap();
        if path.extension().is_some_and(|ending| ending == "ilo") {
            functions(&name, &text, None, &mut samples);
            continue;
        }
        let Ok(case) = Case::read(&text) else { continue };
        let catalog = case.section("catalog").and_then(|text| Catalog::from_json(text).ok());
        if let Some(source) = case.section("source id") {
            functions(&name, source, catalog.as_ref(), &mut samples);
        }
    }
    samples
}

fn functions(name: &str, source: &str, catalog: Option<&Catalog>, samples: &mut Vec<Sample>) {
    let arena = Bump::new();
    let mut found = Diagnostics::default();
    let options = Build { from: Some(Notation::Id), catalog, ..Build::default() };
    let (file, checked) = read_and_check(source, &arena, &options, &mut found);
    if !found.as_slice().is_empty() {
        return;
    }
    // Callees first.
    let mut ordered = Vec::new();
    for index in &checked.order {
        ordered.push(file.functions[*index as usize]);
    }
    let mut whole = catalog.cloned().unwrap_or_default();
    if catalog.is_none() {
        for function in &ordered {
            function.body.each_call(&mut |call| {
                whole.insert(Tool::new(call.tool.text, None, None, None));
            });
        }
    }
    for last in 1..=ordered.len() {
        let file = ilo_asm::ast::File { functions: &ordered[..last] };
        samples.push(Sample {
            name: format!("{name} {}", ordered[last - 1].name.text),
            text: print::id(&file),
            catalog: whole.clone(),
        });
    }
}

#[test]
fn the_corpus_is_allowed() {
    let samples = samples();
    assert!(samples.len() > 500, "{}", samples.len());
    let mut refused = BTreeMap::new();
    for sample in &samples {
        let (session, body) = match Session::of_file(&sample.catalog, None, &sample.text) {
            Ok(found) => found,
            Err(error) => {
                refused.insert(sample.name.clone(), error.to_string());
                continue;
            }
        };
        let mut guide = Guide::new(&session);
        let text = &sample.text[body..];
        if let Err(error) = guide.accept_bytes(text.as_bytes()) {
            let (before, after) = text.split_at(text.floor_char_boundary(error.at));
            let line = before.rsplit('\n').next().unwrap();
            let rest: String = after.chars().take_while(|&c| c != '\n').take(40).collect();
            refused.insert(sample.name.clone(), format!("{line}<HERE>{rest}"));
        } else if !guide.may_end() {
            refused.insert(sample.name.clone(), "the end".to_owned());
        }
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus_exceptions.txt");
    let listed = fs::read_to_string(&page).unwrap_or_default();
    let mut text = String::new();
    for (name, place) in &refused {
        let reason = listed.lines().find(|line| line.starts_with(&format!("{name}: ")));
        let reason = reason.and_then(|line| line.split(" -- ").nth(1)).unwrap_or("?");
        writeln!(text, "{name}: {place} -- {reason}").unwrap();
    }
    println!("{} of {} functions", samples.len() - refused.len(), samples.len());
    if text != listed {
        assert!(std::env::var_os("UPDATE").is_some(), "the exceptions are others now:\n{text}");
        fs::write(page, text).unwrap();
    }
}

#[test]
fn mutants_that_are_allowed_build() {
    let mut random = Random::new(7);
    let (mut wrong, mut refused) = (0, 0);
    for sample in samples().iter().step_by(4) {
        let Ok((session, body)) = Session::of_file(&sample.catalog, None, &sample.text) else { continue };
        let text = &sample.text[body..];
        let tokens: Vec<&str> = text.split_inclusive([' ', '\n']).collect();
        for _ in 0..6 {
            let mut mutant = tokens.clone();
            let place = random.below(mutant.len());
            let other = *random.pick(&tokens);
            match random.below(3) {
                0 => drop(mutant.remove(place)),
                1 => mutant.insert(place, other),
                _ => mutant[place] = other,
            }
            let mutant = mutant.concat();
            let whole = sample.text[..body].to_owned() + &mutant;
            let options =
                Build { from: Some(Notation::Id), catalog: Some(&sample.catalog), ..Build::default() };
            let (program, _) = build(&whole, &options);
            let mut guide = Guide::new(&session);
            let allowed = guide.accept_bytes(mutant.as_bytes()).is_ok() && guide.may_end();
            assert!(program.is_some() || !allowed, "{whole}");
            wrong += usize::from(program.is_none());
            refused += usize::from(program.is_none() && !allowed);
        }
    }
    assert_eq!(wrong, refused);
    assert!(wrong > 300, "{wrong}");
}
