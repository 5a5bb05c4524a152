//! A mask has exactly the tokens that each may come next when tried alone, and within a budget a program can
//! always be ended.
//!
//! `WALKS=100000 cargo test --release -p ilo-guide --test masks` for more of them; `SEED` begins elsewhere.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test may panic")]

mod common;

use common::{Random, catalog, number, signature, step, synthetic};
use ilo_asm::build::{Options as Build, build};
use ilo_asm::notation::Notation;
use ilo_guide::{Guide, Options, Session, Vocab};

fn has(bits: &[u32], token: u32) -> bool {
    bits[token as usize / 32] >> (token % 32) & 1 == 1
}

#[test]
fn a_mask_has_the_tokens_that_fit_alone() {
    let count = number("WALKS", 20);
    let first = number("SEED", 0);
    for seed in first..first + count {
        let mut random = Random::new(seed);
        let tokens = synthetic(&mut random);
        let vocab = Vocab::new(&tokens, 0).unwrap();
        let catalog = catalog(&mut random);
        let session = Session::new(&catalog, &signature(&mut random), &Options::default()).unwrap();
        let mut guide = Guide::new(&session);
        let mut bits = vec![u32::MAX; vocab.mask_len()];
        for _ in 0..12 {
            let before = guide.text().to_vec();
            guide.fill_mask(&vocab, u32::MAX, &mut bits).unwrap();
            assert_eq!(guide.text(), before);
            for token in 0..u32::try_from(tokens.len()).unwrap() {
                let alone = guide.clone().validate(&vocab, &[token]) == 1;
                let shown =
                    || (String::from_utf8_lossy(&before), String::from_utf8_lossy(&tokens[token as usize]));
                assert_eq!(alone, has(&bits, token), "seed {seed}: {:?}", shown());
            }
            // By a token or by a word, so that places within both are met.
            let allowed: Vec<u32> =
                (1..u32::try_from(tokens.len()).unwrap()).filter(|&it| has(&bits, it)).collect();
            if random.chance(2) && !allowed.is_empty() {
                guide.accept(&vocab, *random.pick(&allowed)).unwrap();
                continue;
            }
            if allowed.is_empty() {
                break;
            }
            if !before.last().is_none_or(|byte| matches!(byte, b' ' | b'\n')) || guide.next().is_empty() {
                let end = guide.close().unwrap();
                guide.accept_bytes(&end[..random.below(end.len() + 1)]).unwrap();
            } else if !step(&mut guide, &mut random) {
                break;
            }
        }
    }
}

/// Seeds of programs that could not end once.
const FOUND: [u64; 1] = [775];

#[test]
fn a_program_ends_within_its_budget() {
    let count = number("WALKS", 12);
    let first = number("SEED", 0);
    let (mut ended, mut shortest) = (0, 0);
    for seed in FOUND.into_iter().chain(first..first + count) {
        let mut random = Random::new(seed);
        let tokens = synthetic(&mut random);
        let vocab = Vocab::new(&tokens, 0).unwrap();
        let catalog = catalog(&mut random);
        let session = Session::new(&catalog, &signature(&mut random), &Options::default()).unwrap();
        let mut guide = Guide::new(&session);
        let mut bits = vec![0; vocab.mask_len()];
        let mut left = u32::try_from(8 + random.below(90)).unwrap();
        // What every program needs may be more.
        if guide.fill_mask(&vocab, left, &mut bits).is_err() {
            shortest += 1;
            continue;
        }
        loop {
            let filled = guide.fill_mask(&vocab, left, &mut bits);
            let text = || String::from_utf8_lossy(guide_text(&session, &guide).as_bytes()).into_owned();
            assert!(filled.is_ok(), "seed {seed}, {left} left: {}", text());
            let allowed: Vec<u32> =
                (0..u32::try_from(tokens.len()).unwrap()).filter(|&it| has(&bits, it)).collect();
            assert!(!allowed.is_empty(), "seed {seed}, {left} left: {}", text());
            let token = *random.pick(&allowed);
            guide.accept(&vocab, token).unwrap();
            left -= 1;
            if token == 0 {
                break;
            }
        }
        ended += 1;
        let whole = guide_text(&session, &guide);
        let options = Build { from: Some(Notation::Id), catalog: Some(&catalog), ..Build::default() };
        let (program, found) = build(&whole, &options);
        assert!(program.is_some(), "seed {seed}: {:?}\n{whole}", found.as_slice());
    }
    println!("{ended} ended, {shortest} of too small a budget");
    assert!(ended > count / 2);
}

fn guide_text(session: &Session<'_>, guide: &Guide<'_, '_>) -> String {
    session.prefix() + &String::from_utf8_lossy(guide.text())
}

#[test]
fn a_vocabulary_that_is_none_is_refused() {
    let none: [&[u8]; 0] = [];
    assert!(Vocab::new(&none, 0).unwrap_err().to_string().contains("at least one token"));
    assert!(Vocab::new(&["a"], 1).unwrap_err().to_string().contains("the last token is 0"));
    // Only special tokens, and only the end.
    let catalog = ilo_asm::catalog::Catalog::default();
    let session = Session::new(&catalog, "f() -> nil", &Options::default()).unwrap();
    let vocab = Vocab::new(&["", "", ""], 2).unwrap();
    let mut bits = [0];
    let mut guide = Guide::new(&session);
    assert!(guide.fill_mask(&vocab, u32::MAX, &mut bits).is_ok() && bits == [4]);
    assert_eq!(guide.validate(&vocab, &[2, 2]), 1);
    assert!(guide.accept(&vocab, 0).is_err() && guide.accept(&vocab, 99).is_err());
}

#[test]
fn forced_text_is_cut_as_a_tokenizer_does() {
    let catalog = ilo_asm::catalog::Catalog::default();
    let session = Session::new(&catalog, "f(n: number) -> number", &Options::default()).unwrap();
    let mut guide = Guide::new(&session);
    guide.accept_bytes(b"RET MUL REF").unwrap();
    assert_eq!(guide.forced(), b" 0 ");
    let vocab = Vocab::new(&["", " ", "0", " 0"], 0).unwrap();
    assert_eq!(guide.forced_tokens(&vocab, |text| vocab.cut(text)), [3, 1]);
    // A longer token could have the last blank and what follows.
    let vocab = Vocab::new(&["", " ", "0", " 0", " LIT"], 0).unwrap();
    assert_eq!(guide.forced_tokens(&vocab, |text| vocab.cut(text)), [3]);
    let vocab = Vocab::new(&["", " ", "0", " 0", " 0 LIT"], 0).unwrap();
    assert_eq!(guide.forced_tokens(&vocab, |text| vocab.cut(text)), Vec::<u32>::new());
}
