//! Every program of the corpus that builds without warnings, in canonical layout, byte by byte; the refused
//! ones are listed in `corpus_exceptions.txt`, each with its reason. And mutants: those that a guide allows
//! must build.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test may panic")]

use crate::common::Random;
use crate::common::samples::{are_the_listed, samples};
use ilo_asm::compile::{Options as Build, compile};
use ilo_asm::notation::Notation;
use ilo_guide::{Guide, Session};
use std::collections::BTreeMap;

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
    println!("{} of {} functions", samples.len() - refused.len(), samples.len());
    are_the_listed(&refused, include_str!("corpus_exceptions.txt"));
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
            let mutant = random.mutant(&tokens);
            let whole = sample.text[..body].to_owned() + &mutant;
            let options =
                Build { from: Some(Notation::Id), catalog: Some(&sample.catalog), ..Build::default() };
            let (program, _) = compile(&whole, &options);
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
