//! Tokens that split characters or have no bytes, masks of the wrong size, and budgets without room, for both
//! guides: an error or a bounded answer, never a panic.

#![allow(clippy::unwrap_used, clippy::panic, clippy::missing_panics_doc, reason = "a test may panic")]

use crate::both::{Follow, allowed, bytes, catalog, for_both, has, session};
use ilo_guide::{ConstrainedGuide, Guide, Vocab};

/// Takes a text in pieces of a few bytes, wherever they split characters and names.
fn take_in_pieces(guide: &mut impl Follow, body: &str, length: usize) {
    let pieces: Vec<&[u8]> = body.as_bytes().chunks(length).collect();
    let mut tokens = bytes();
    tokens.extend(pieces.iter().map(|piece| piece.to_vec()));
    // Halves of characters, characters that are none, and bytes that are in no text.
    let wrong: [&[u8]; 6] = [b"\xb6", b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\0", b"\xf4\x90\x80\x80"];
    let first_wrong = tokens.len();
    tokens.extend(wrong.iter().map(|piece| piece.to_vec()));
    let vocab = Vocab::new(&tokens, 0).unwrap();
    let mut bits = vec![0; vocab.mask_len()];
    let all: Vec<u32> = (0..pieces.len()).map(|at| u32::try_from(257 + at).unwrap()).collect();
    assert_eq!(guide.validate(&vocab, &all), all.len());
    for (&token, piece) in all.iter().zip(&pieces) {
        guide.fill_mask(&vocab, u32::MAX, &mut bits).unwrap();
        assert!(has(&bits, token as usize), "{piece:?} of {body}");
        let is_inside = body.is_char_boundary(guide.text().len());
        for (number, wrong) in (first_wrong..).zip(wrong).filter(|_| is_inside) {
            assert!(!has(&bits, number), "{wrong:?} after {:?}", String::from_utf8_lossy(guide.text()));
        }
        guide.accept(&vocab, token).unwrap();
    }
    assert_eq!(guide.text(), body.as_bytes());
    assert!(guide.accept(&vocab, 0).is_ok());
}

#[test]
fn tokens_may_split_characters_and_names_anywhere() {
    let catalog = catalog();
    let session = session(&catalog);
    for length in 1..8 {
        for_both!(&session, |guide, body| take_in_pieces(guide, body, length));
    }
}

fn ignore_tokens_without_bytes(guide: &mut impl Follow, body: &str) {
    let mut tokens = bytes();
    tokens.extend(vec![Vec::new(); 70]);
    let vocab = Vocab::new(&tokens, 0).unwrap();
    let mut bits = vec![u32::MAX; vocab.mask_len()];
    for at in 0..=body.len() {
        guide.fill_mask(&vocab, u32::MAX, &mut bits).unwrap();
        assert!(allowed(&bits).iter().all(|&token| token < 257), "after {at} bytes");
        assert_eq!(guide.validate(&vocab, &[300, 257]), 0);
        assert!(guide.accept(&vocab, 300).is_err());
        assert_eq!(guide.text(), &body.as_bytes()[..at]);
        // A token of no byte, and one beyond all words of the mask.
        for token in [u32::try_from(vocab.len()).unwrap(), 1 << 20, u32::MAX] {
            assert!(guide.accept(&vocab, token).is_err());
            assert_eq!(guide.validate(&vocab, &[token, token]), 0);
        }
        if let Some(&byte) = body.as_bytes().get(at) {
            assert!(has(&bits, 1 + usize::from(byte)));
            assert_eq!(guide.validate(&vocab, &[1 + u32::from(byte), u32::MAX]), 1);
            guide.accept(&vocab, 1 + u32::from(byte)).unwrap();
        }
    }
    assert!(has(&bits, 0) && !has(&bits, 300));
    assert_eq!(guide.validate(&vocab, &[0, 0]), 1);
}

#[test]
fn tokens_without_bytes_and_numbers_of_none_are_never_allowed() {
    let catalog = catalog();
    let session = session(&catalog);
    for_both!(&session, ignore_tokens_without_bytes);
}

fn fill_any_size(guide: &mut impl Follow, body: &str) {
    let vocab = Vocab::new(&bytes(), 0).unwrap();
    let mut right = vec![0; vocab.mask_len()];
    for at in 0..=body.len() {
        for left in [u32::MAX, 200] {
            guide.fill_mask(&vocab, left, &mut right).unwrap();
            for size in [0, 1, 3, right.len() - 1, right.len() + 1, 3 * right.len()] {
                let mut bits = vec![u32::MAX; size];
                let _ = guide.fill_mask(&vocab, left, &mut bits);
                let common = size.min(right.len());
                assert_eq!(bits[..common], right[..common], "{size} words after {at} bytes, {left} left");
                assert!(bits[common..].iter().all(|&word| word == 0), "{size} words after {at} bytes");
            }
        }
        let rest = &body.as_bytes()[at..];
        guide.accept_bytes(&rest[..rest.len().min(1)]).unwrap();
    }
}

#[test]
fn masks_of_a_wrong_size_have_the_tokens_for_which_there_is_room() {
    let catalog = catalog();
    let session = session(&catalog);
    for_both!(&session, fill_any_size);
}

fn fall_short(guide: &mut impl Follow, body: &str) {
    let vocab = Vocab::new(&bytes(), 0).unwrap();
    let mut bits = vec![0; vocab.mask_len()];
    for at in 0..=body.len() {
        let end = guide.close().unwrap();
        for left in [0, 1] {
            let filled = guide.fill_mask(&vocab, left, &mut bits);
            let first = end.first().map_or(0, |&byte| 1 + usize::from(byte));
            match filled {
                Ok(()) => assert!(end.is_empty() && left == 1, "after {at} bytes, {left} left"),
                Err(short) => {
                    let needed = short.needed.expect("all bytes are tokens");
                    assert!(needed > left as usize && needed <= end.len() + 1, "{needed} for {end:?}");
                }
            }
            let all = allowed(&bits);
            assert_eq!(all.len(), 1, "after {at} bytes, {left} left");
            assert!(!end.is_empty() || all == [first]);
        }
        let rest = &body.as_bytes()[at..];
        guide.accept_bytes(&rest[..rest.len().min(1)]).unwrap();
    }
}

#[test]
fn a_budget_of_no_or_one_token_allows_only_the_way_to_the_end() {
    let catalog = catalog();
    let session = session(&catalog);
    for_both!(&session, fall_short);
    // No end can be written at all.
    let vocab = Vocab::new(&["", "X", "é"], 0).unwrap();
    let mut bits = [u32::MAX];
    for left in [0, 1, 100] {
        let mut guide = Guide::new(&session);
        assert_eq!(guide.fill_mask(&vocab, left, &mut bits).unwrap_err().needed, None);
        assert_eq!(bits, [0]);
        let mut guide = ConstrainedGuide::new(&session);
        assert_eq!(guide.fill_mask(&vocab, left, &mut bits).unwrap_err().needed, None);
        assert_eq!(bits, [0]);
    }
}
