//! A mask has exactly the tokens that each may come next when tried alone, and within a budget a program can
//! always be ended.
//!
//! `WALKS=100000 cargo test --release -p ilo-guide --test all masks::` tests more of them, `SEED` others.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test may panic")]

use crate::common::{Random, catalog, number, signature, step, synthetic};
use ilo_asm::catalog::{Catalog, ToolSignature};
use ilo_asm::compile::{Options as Build, compile};
use ilo_asm::notation::Notation;
use ilo_guide::{Guide, Options, Session, Vocab};
use serde_json::json;

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
            // By a token or by a word, so that positions within both are tested.
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

/// Where a number may be written: any number, a key that no other case has, an integer of a range, one of a
/// list.
const NUMBERS: [&str; 5] = [
    "RET LIT 1 ",
    "RET MATCH_MAP REF 0 5 1 REF 0 20.5 REF 0 -3 REF 0 123456789012345678.5 REF 0 ",
    "RET MATCH_MAP REF 0 5 0 REF 0 1e300 REF 0 1e2 REF 0 ",
    "RET CALL 0 1 0 LIT 1 ",
    "RET CALL 0 1 1 LIT 1 ",
];

/// The digits that are written of it.
const BEGUN: [&str; 22] = [
    "",
    "-",
    "0",
    "-0",
    "0.",
    "1",
    "1.",
    "2",
    "20",
    "20.",
    "20.5",
    "-3.",
    "12345678901234567",
    "1234567890123",
    "123456789012345678.",
    "123456789012345678.00",
    "1e",
    "1e-",
    "1e30",
    "1E+3",
    "0e",
    "1234567890123e",
];

#[test]
fn digits_are_allowed_as_they_are_alone() {
    let input = json!({"type": "object", "properties": {
        "ranged": {"type": "integer", "minimum": -30, "maximum": 1200},
        "listed": {"type": "number", "enum": [-3, 2, 20.5, 1234]},
    }});
    let mut catalog = Catalog::default();
    catalog.insert(ToolSignature::new("t", None, Some(&input), None));
    let session = Session::new(&catalog, "f(n: any) -> any", &Options::default()).unwrap();
    let digits = (1..=3).flat_map(|length| (0..10_u32.pow(length)).map(move |it| (it, length as usize)));
    let tokens = digits.map(|(number, length)| format!("{number:0length$}"));
    let tokens: Vec<String> =
        [String::new(), "1234567890123456789".to_owned()].into_iter().chain(tokens).collect();
    let vocab = Vocab::new(&tokens, 0).unwrap();
    let (mut bits, mut states) = (vec![0; vocab.mask_len()], 0);
    for place in NUMBERS {
        for begun in BEGUN {
            let mut guide = Guide::new(&session);
            guide.accept_bytes(place.as_bytes()).unwrap();
            if guide.accept_bytes(begun.as_bytes()).is_err() {
                continue;
            }
            states += 1;
            guide.fill_mask(&vocab, u32::MAX, &mut bits).unwrap();
            for (token, digits) in (1..).zip(&tokens[1..]) {
                let alone = guide.clone().validate(&vocab, &[token]) == 1;
                assert_eq!(alone, has(&bits, token), "{place}{begun} and {digits}");
            }
        }
    }
    assert!(states > 60, "{states} states");
}

/// Seeds of programs that once could not end.
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
        // The minimum of every program may be larger.
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
        let (program, found) = compile(&whole, &options);
        assert!(program.is_some(), "seed {seed}: {:?}\n{whole}", found.as_slice());
    }
    println!("{ended} ended, {shortest} of too small a budget");
    assert!(ended > count / 2);
}

fn guide_text(session: &Session<'_>, guide: &Guide<'_>) -> String {
    session.prefix() + &String::from_utf8_lossy(guide.text())
}

#[test]
fn a_vocabulary_that_is_none_is_refused() {
    let none: [&[u8]; 0] = [];
    assert!(Vocab::new(&none, 0).unwrap_err().to_string().contains("at least one token"));
    assert!(Vocab::new(&["a"], 1).unwrap_err().to_string().contains("the last token is 0"));
    let lengths = Vocab::from_bytes(b"abc".to_vec(), &[1, 1], 0).unwrap_err().to_string();
    assert!(lengths.contains("do not add up to 3 bytes"), "{lengths}");
    assert_eq!(Vocab::from_bytes(b"abc".to_vec(), &[1, 2], 0).unwrap().token(1), b"bc");
    // Only special tokens, and only the end.
    let catalog = Catalog::default();
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
    let catalog = Catalog::default();
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
