//! Bodies in `constrained`: random walks that build, ends from random states, masks against each token tried
//! alone, and the corpus.
//!
//! `WALKS` and `SEED` set how many and where from.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test may panic")]

mod common;

use common::Random;
use ilo_asm::build::{Options as Build, build};
use ilo_asm::catalog::Catalog;
use ilo_asm::notation::Notation;
use ilo_guide::{ConstrainedGuide, Options, Piece, Session, Vocab};
use std::collections::BTreeMap;

/// Goes on by one piece; `false` where the program ended.
fn step(guide: &mut ConstrainedGuide<'_, '_>, random: &mut Random) -> bool {
    let pieces = guide.next();
    assert!(!pieces.is_empty(), "nothing may follow {}", String::from_utf8_lossy(guide.text()));
    let mut piece = random.pick(&pieces);
    for _ in 0..2 {
        if matches!(piece, Piece::Bytes(bytes) if bytes == "]}" || bytes.starts_with("{\"ra")) {
            piece = random.pick(&pieces);
        }
    }
    let written = match piece {
        Piece::End => return false,
        Piece::Bytes(bytes) => bytes.clone(),
        Piece::Name => format!("{}\"", random.pick(&["a", "b2", "user", "user-id", "total_sum", "len"])),
        Piece::Text => format!("{}\"", random.pick(&["", "a", "id", "12", "größe \\\"x\\\"", "${a}", "a.b"])),
        Piece::Number => (*random.pick(&["", "0", "1", ".5", "e2", "3"])).to_owned(),
    };
    if guide.accept_bytes(written.as_bytes()).is_err() {
        assert!(!matches!(piece, Piece::Bytes(_)), "{piece:?} was offered behind {}", String::from_utf8_lossy(guide.text()));
    }
    if matches!(piece, Piece::Number) {
        // What may end it.
        let ends: Vec<u8> = guide.next_bytes().into_iter().filter(|byte| b",]}".contains(byte)).collect();
        if !ends.is_empty() {
            guide.accept_bytes(&[*random.pick(&ends)]).unwrap();
        }
    }
    true
}

fn builds(session: &Session<'_>, catalog: &Catalog, body: &[u8], seed: u64, codes: &mut BTreeMap<&'static str, u64>) {
    let whole = session.constrained_prefix() + core::str::from_utf8(body).unwrap();
    let options = Build { from: Some(Notation::Constrained), catalog: Some(catalog), ..Build::default() };
    let (program, found) = build(&whole, &options);
    for found in found.as_slice() {
        let code = found.code.as_str();
        assert!(
            !found.is_error(),
            "seed {seed}: {code}: {}\n{whole}\nat {:?}",
            found.message,
            whole.get(found.span.range())
        );
        if std::env::var_os("SHOW").is_some_and(|show| show == code) {
            println!("seed {seed}: {code} {} {:?}\n{whole}", found.message, whole.get(found.span.range()));
        }
        *codes.entry(code).or_default() += 1;
    }
    assert!(program.is_some());
}

#[test]
fn random_programs_build() {
    let (start, count) = (common::number("SEED", 1), common::number("WALKS", 200));
    let mut codes = BTreeMap::new();
    let mut ended = 0;
    for seed in start..start + count {
        let mut random = Random::new(seed);
        let catalog = common::catalog(&mut random);
        let signature = common::signature(&mut random);
        let session = Session::new(&catalog, &signature, &Options::default()).unwrap();
        let mut guide = ConstrainedGuide::new(&session).unwrap();
        let steps = 1 + random.below(150);
        for at in 0..=steps {
            if at == steps || random.chance(25) {
                let text = guide.text().to_vec();
                let close = guide.close();
                assert_eq!(guide.text(), text, "seed {seed}: close changes nothing");
                let shown = String::from_utf8_lossy(&text);
                let close = close.unwrap_or_else(|| panic!("seed {seed}: no end of\n{signature}\n{shown}"));
                builds(&session, &catalog, &[&text[..], &close].concat(), seed, &mut codes);
            }
            if !step(&mut guide, &mut random) {
                guide.check(&catalog).unwrap();
                ended += 1;
                break;
            }
        }
    }
    println!("{count} walks, {ended} of them to their end; warnings: {codes:?}");
}

/// The tokens of a synthetic vocabulary, and pieces of JSON.
fn vocabulary(random: &mut Random) -> Vec<Vec<u8>> {
    const JSON: [&str; 24] = [
        "{\"", "\":\"", "\":{\"", "\"}", "\"},", "},{\"", "]}", "}]}", "[{\"", "\",\"", "let", "\"let\":\"", "ret\":", "\"ret\":{\"",
        "text\":\"", "\"}]}", ",\"args\":{", "expr\":", "raise\":", ":[", "\":[", "if\":{\"", "==\":[\"", "null}",
    ];
    let mut tokens = common::synthetic(random);
    tokens.extend(JSON.iter().map(|text| text.as_bytes().to_vec()));
    tokens
}

#[test]
fn a_mask_has_the_tokens_that_are_accepted_alone() {
    let (start, count) = (common::number("SEED", 1), common::number("WALKS", 200) / 10);
    for seed in start..start + count {
        let mut random = Random::new(seed);
        let catalog = common::catalog(&mut random);
        let signature = common::signature(&mut random);
        let session = Session::new(&catalog, &signature, &Options::default()).unwrap();
        let vocab = Vocab::new(&vocabulary(&mut random), 0).unwrap();
        let mut guide = ConstrainedGuide::new(&session).unwrap();
        let mut bits = vec![0; vocab.mask_len()];
        for _ in 0..12 {
            let text = guide.text().to_vec();
            guide.fill_mask(&vocab, &mut bits);
            assert_eq!(guide.text(), text);
            let mut allowed = Vec::new();
            for token in 0..u32::try_from(vocab.len()).unwrap() {
                let mark = guide.mark();
                let fits = guide.accept(&vocab, token).is_ok();
                guide.rollback(&mark);
                let is_set = bits[token as usize / 32] >> (token % 32) & 1 == 1;
                let shown = String::from_utf8_lossy(vocab.token(token)).into_owned();
                assert_eq!(fits, is_set, "seed {seed}: {shown:?} behind {}", String::from_utf8_lossy(&text));
                if fits {
                    allowed.push(token);
                }
            }
            let token = *random.pick(&allowed);
            guide.accept(&vocab, token).unwrap();
            if token == vocab.eos() {
                break;
            }
            for _ in 0..random.below(12) {
                step(&mut guide, &mut random);
            }
        }
    }
}
