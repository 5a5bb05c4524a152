//! Every function of the corpus that the guide of ID text allows, in the canonical layout of `constrained`,
//! byte by byte; the refused ones are listed in `constrained_exceptions.txt`, each with its reason. And
//! mutants: those that a guide allows must build.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test may panic")]

use crate::common::Random;
use crate::common::canonical::body;
use crate::common::samples::{Sample, are_the_listed, samples};
use ilo_asm::catalog::Catalog;
use ilo_asm::compile::{Options as Build, compile, read};
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::notation::Notation;
use ilo_guide::{ConstrainedGuide, Guide, Session};
use std::collections::BTreeMap;

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
    let count = bodies(|sample, session, texts| {
        let [deep, flat] = match texts {
            Ok(texts) => texts,
            Err(form) => return drop(exceptions.insert(sample.name.clone(), format!("has no form: {form}"))),
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
    println!("{} of {count} functions", count - exceptions.len());
    are_the_listed(&exceptions, include_str!("constrained_exceptions.txt"));
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
