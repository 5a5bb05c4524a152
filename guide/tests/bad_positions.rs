//! Marks of other positions, many clones and random bytes, for both guides: never a panic, and nothing that
//! one position does to another.

#![allow(clippy::unwrap_used, clippy::panic, clippy::missing_panics_doc, reason = "a test may panic")]

use crate::both::{Follow, bytes, catalog, for_both, session};
use crate::common::{Random, catalog as random_catalog, number, signature};
use ilo_guide::{Options, Session, Vocab};

/// Statements without effect, in either notation.
const LONGER: [&str; 2] = ["IF LIT 3 true 1\n  LET 1 LIT 1 1\n", r#"{"let":"a","expr":1},"#];

/// Uses everything that a guide offers; there is always an end.
fn use_all(guide: &mut impl Follow, vocab: &Vocab) {
    let mut bits = vec![0; vocab.mask_len()];
    for left in [u32::MAX, 3, 60] {
        let _ = guide.fill_mask(vocab, left, &mut bits);
    }
    let _ = (guide.next_bytes(), guide.ends(), guide.memory());
    assert!(guide.close().is_some());
    for piece in ["\"", "a", " ", "1", "\n", "RET REF 0", "{\"ret\":\"id\"}]}", "\",\"b\"]}"] {
        let mark = guide.mark();
        let before = guide.text().to_vec();
        if guide.accept_bytes(piece.as_bytes()).is_ok() {
            assert!(guide.close().is_some());
            guide.rollback(&mark);
        }
        assert_eq!(guide.text(), before);
    }
}

fn go_back_to_all(guide: &mut impl Follow, body: &str) {
    let vocab = Vocab::new(&bytes(), 0).unwrap();
    let mut whole = guide.clone();
    let mut marks = vec![whole.mark()];
    for byte in body.bytes() {
        whole.accept_bytes(&[byte]).unwrap();
        marks.push(whole.mark());
    }
    for at in (0..=body.len()).step_by(7) {
        for (later, mark) in marks.iter().enumerate().skip(at + 1).step_by(5) {
            let mut guide = guide.clone();
            guide.accept_bytes(&body.as_bytes()[..at]).unwrap();
            guide.rollback(mark);
            // There is no such position.
            assert_eq!(guide.text(), &body.as_bytes()[..at], "back to {later} from {at}");
            guide.accept_bytes(&body.as_bytes()[at..]).unwrap();
            assert_eq!(guide.text(), body.as_bytes());
        }
    }
    // Marks of a text, from another that is longer.
    let mut other = guide.clone();
    while other.text().len() <= body.len() {
        let piece = LONGER.iter().find(|piece| other.accept_bytes(piece.as_bytes()).is_ok());
        piece.expect("one of them continues the other text");
    }
    for (at, mark) in marks.iter().enumerate().step_by(3) {
        let mut guide = other.clone();
        guide.rollback(mark);
        // Only the same text has that position.
        let begun = &body.as_bytes()[..at];
        assert_eq!(guide.text(), if other.text().starts_with(begun) { begun } else { other.text() });
        use_all(&mut guide, &vocab);
    }
}

#[test]
fn a_mark_of_another_position_does_no_harm() {
    let catalog = catalog();
    let session = session(&catalog);
    for_both!(&session, go_back_to_all);
}

fn fork_often(guide: &mut impl Follow, body: &str) {
    let vocab = Vocab::new(&bytes(), 0).unwrap();
    let mut expected = vec![0; vocab.mask_len()];
    let mut bits = expected.clone();
    let mut forks = Vec::new();
    let mut whole = guide.clone();
    for at in 0..=body.len() {
        for _ in 0..4 {
            forks.push((at, whole.clone()));
        }
        let rest = &body.as_bytes()[at..];
        whole.accept_bytes(&rest[..rest.len().min(1)]).unwrap();
    }
    // Each continues on its own, in turns; one in two to another end.
    for (number, (at, fork)) in forks.iter_mut().enumerate() {
        let end = if number % 2 == 0 { fork.close().unwrap() } else { body.as_bytes()[*at..].to_vec() };
        fork.accept_bytes(&end).unwrap();
    }
    for (number, (at, fork)) in forks.iter_mut().enumerate() {
        let mut alone = guide.clone();
        alone.accept_bytes(&body.as_bytes()[..*at]).unwrap();
        let end = if number % 2 == 0 { alone.close().unwrap() } else { body.as_bytes()[*at..].to_vec() };
        alone.accept_bytes(&end).unwrap();
        assert_eq!(fork.text(), alone.text());
        assert!(fork.ends() && alone.ends());
        alone.fill_mask(&vocab, u32::MAX, &mut expected).unwrap();
        fork.fill_mask(&vocab, u32::MAX, &mut bits).unwrap();
        assert_eq!(bits, expected);
    }
    assert_eq!(whole.text(), body.as_bytes());
}

#[test]
fn many_clones_continue_independently() {
    let catalog = catalog();
    let session = session(&catalog);
    for_both!(&session, fork_often);
}

/// Bytes of programs, and others.
fn random_bytes(random: &mut Random, body: &str) -> Vec<u8> {
    const PARTS: [&str; 24] = [
        "\n", "  ", " ", "\"", "{\"", "\":", "},{", "]}", ",", "[", "0", "1", "-", ".", "e", "\\u", "\\",
        "$", "${", "id", "ü", "\"}", "REF", "LIT",
    ];
    let mut bytes = Vec::new();
    for _ in 0..=random.below(6) {
        match random.below(8) {
            0 => bytes.push(u8::try_from(random.below(256)).unwrap()),
            1 => bytes.extend((0..random.below(5)).map(|_| b' ' + u8::try_from(random.below(95)).unwrap())),
            2 | 3 => {
                let from = random.below(body.len());
                let to = from + 1 + random.below(body.len() - from);
                bytes.extend_from_slice(&body.as_bytes()[from..to]);
            }
            _ => bytes.extend_from_slice(random.pick(&PARTS).as_bytes()),
        }
    }
    bytes
}

/// Walks through bytes, most of which are refused; now and then some that may come next.
fn walk_through_bytes(guide: &mut impl Follow, body: &str, seed: u64) -> usize {
    let mut random = Random::new(seed);
    let mut longest = 0;
    for _ in 0..20 {
        let mut guide = guide.clone();
        for _ in 0..60 {
            let (before, next) = (guide.text().to_vec(), guide.next_bytes());
            let bytes = if random.chance(3) || next.is_empty() {
                random_bytes(&mut random, body)
            } else {
                vec![*random.pick(&next)]
            };
            match guide.accept_bytes(&bytes) {
                Ok(()) => assert_eq!(guide.text(), [before, bytes].concat()),
                Err(error) => {
                    assert!(error.at < bytes.len());
                    assert_eq!(guide.text(), before);
                    // The bytes before the refused one may come, and that one is not among the next.
                    let mark = guide.mark();
                    guide.accept_bytes(&bytes[..error.at]).unwrap();
                    assert!(!guide.next_bytes().contains(&bytes[error.at]));
                    guide.rollback(&mark);
                    assert_eq!(guide.next_bytes(), next);
                }
            }
        }
        longest = longest.max(guide.text().len());
        let end = guide.close().unwrap();
        guide.accept_bytes(&end).unwrap();
        assert!(guide.ends());
    }
    longest
}

#[test]
fn random_bytes_are_taken_or_refused_without_effect() {
    let known = catalog();
    let (first, count) = (number("SEED", 0), number("WALKS", 20).div_ceil(10));
    for seed in first..first + count {
        let session = session(&known);
        for_both!(&session, |guide, body| assert!(walk_through_bytes(guide, body, seed) > 20));
        let mut random = Random::new(seed);
        let (catalog, signature) = (random_catalog(&mut random), signature(&mut random));
        let session = Session::new(&catalog, &signature, &Options::default()).unwrap();
        for_both!(&session, |guide, body| walk_through_bytes(guide, body, seed));
    }
}
