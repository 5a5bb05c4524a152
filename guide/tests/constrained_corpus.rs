//! Every function of the corpus that the guide of ID text allows, in the canonical layout of `constrained`,
//! byte by byte; the refused ones are in `constrained_exceptions.txt`, with the reasons. And mutants: those
//! that a guide allows must build.
//!
//! `UPDATE=1` rewrites the places of the exceptions; reasons are written by hand.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test may panic")]

use crate::common::Random;
use crate::common::canonical::body;
use crate::common::samples::{Sample, samples};
use ilo_asm::catalog::Catalog;
use ilo_asm::compile::{Options as Build, compile, read};
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::notation::Notation;
use ilo_guide::{ConstrainedGuide, Guide, Session};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// How far a body is allowed, if it is refused.
fn refused(session: &Session<'_>, text: &str) -> Option<usize> {
    let mut guide = ConstrainedGuide::new(session);
    let error = guide.accept_bytes(text.as_bytes()).err();
    error.map(|error| error.at).or_else(|| (!guide.may_end()).then_some(text.len()))
}

/// A function that the guide of ID text allows, its session, and its bodies in `constrained` with paths of
/// several fields and of one.
fn bodies(mut run: impl FnMut(&Sample, &Session<'_>, Result<[String; 2], &'static str>)) -> usize {
    let mut count = 0;
    for sample in samples() {
        let Ok((session, start)) = Session::of_file(&sample.catalog, None, &sample.text) else { continue };
        let mut guide = Guide::new(&session);
        if guide.accept_bytes(&sample.text.as_bytes()[start..]).is_err() || !guide.may_end() {
            continue;
        }
        count += 1;
        let arena = ilo_asm::arena::Arena::new();
        let options = Build { from: Some(Notation::Id), ..Build::default() };
        let file = read(&sample.text, &arena, &options, &mut Diagnostics::default());
        let function = file.functions.last().unwrap();
        let both = body(function, true).and_then(|deep| Ok([deep, body(function, false)?]));
        run(&sample, &session, both);
    }
    count
}

#[test]
fn the_corpus_is_allowed() {
    let mut exceptions = BTreeMap::new();
    let mut forms = BTreeMap::<&str, usize>::new();
    let count = bodies(|sample, session, texts| {
        let [deep, flat] = match texts {
            Ok(texts) => texts,
            Err(form) => return *forms.entry(form).or_default() += 1,
        };
        let Some(at) = refused(session, &deep) else {
            return assert!(builds(session, &sample.catalog, &deep), "{}: {deep}", sample.name);
        };
        if refused(session, &flat).is_none() {
            return assert!(builds(session, &sample.catalog, &flat), "{}: {flat}", sample.name);
        }
        let (before, after) = deep.split_at(deep.floor_char_boundary(at));
        let from = before.char_indices().rev().nth(60).map_or(0, |it| it.0);
        let rest: String = after.chars().take(30).collect();
        exceptions.insert(sample.name.clone(), format!("{}<HERE>{rest}", &before[from..]));
    });
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/constrained_exceptions.txt");
    let listed = fs::read_to_string(&page).unwrap_or_default();
    let mut text = String::new();
    for (form, count) in &forms {
        writeln!(text, "{count} functions -- {form}").unwrap();
    }
    for (name, place) in &exceptions {
        let reason = listed.lines().find(|line| line.starts_with(&format!("{name}: ")));
        let reason = reason.and_then(|line| line.split(" -- ").nth(1)).unwrap_or("?");
        writeln!(text, "{name}: {place} -- {reason}").unwrap();
    }
    let formless: usize = forms.values().sum();
    println!("{} of {count} functions", count - exceptions.len() - formless);
    if text != listed {
        assert!(std::env::var_os("UPDATE").is_some(), "the exceptions are others now:\n{text}");
        fs::write(page, text).unwrap();
    }
}

fn builds(session: &Session<'_>, catalog: &Catalog, body: &str) -> bool {
    let whole = session.constrained_prefix() + body;
    let options = Build { from: Some(Notation::Constrained), catalog: Some(catalog), ..Build::default() };
    compile(&whole, &options).0.is_some()
}

#[test]
fn mutants_that_are_allowed_build() {
    let mut random = Random::new(7);
    let (mut wrong, mut allowed) = (0, 0);
    bodies(|sample, session, texts| {
        let Ok([text, _]) = texts else { return };
        let tokens: Vec<&str> = text.split_inclusive(['{', '}', '[', ']', ',', ':']).collect();
        for _ in 0..4 {
            let mutant = random.mutant(&tokens);
            let builds = builds(session, &sample.catalog, &mutant);
            let is_allowed = refused(session, &mutant).is_none();
            assert!(builds || !is_allowed, "{}: {mutant}", sample.name);
            wrong += usize::from(!builds);
            allowed += usize::from(is_allowed);
        }
    });
    println!("{wrong} mutants do not build; {allowed} are allowed");
    assert!(wrong > 1000 && allowed > 100, "{wrong} {allowed}");
}
