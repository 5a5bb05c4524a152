//! Vocabularies of many tokens and of long ones, for both guides: bounded in time and memory.

#![allow(clippy::unwrap_used, clippy::panic, clippy::missing_panics_doc, reason = "a test may panic")]

use crate::both::{Follow, allowed, bytes, catalog, for_both, has, session};
use ilo_asm::notation::Notation;
use ilo_guide::{Guide, Vocab};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The processor time of this thread, so that what else the machine does is not counted; the wall time if the
/// system does not provide it.
fn clock() -> Duration {
    static BEGUN: OnceLock<Instant> = OnceLock::new();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let worked = text.as_deref().and_then(|text| text.split(' ').next()?.parse().ok());
    worked.map_or_else(|| BEGUN.get_or_init(Instant::now).elapsed(), Duration::from_nanos)
}

fn mask_within(guide: &mut impl Follow, body: &str, vocab: &Vocab, limit: Duration) {
    let mut bits = vec![0; vocab.mask_len()];
    let before = guide.memory();
    let begun = clock();
    let mut masks = 0;
    for at in (0..body.len()).step_by(19) {
        let mark = guide.mark();
        guide.accept_bytes(&body.as_bytes()[..at]).unwrap();
        for left in [u32::MAX, 150] {
            guide.fill_mask(vocab, left, &mut bits).unwrap();
            let next = 1 + usize::from(body.as_bytes()[at]);
            // With a budget, a mask may leave out tokens that fit.
            let fits = if left == u32::MAX { has(&bits, next) } else { !allowed(&bits).is_empty() };
            assert!(fits, "after {at} bytes, {left} left");
            masks += 1;
        }
        guide.rollback(&mark);
    }
    let (took, grown) = (clock().saturating_sub(begun), guide.memory() - before);
    assert!(took < limit * masks, "{masks} masks took {took:?}");
    assert!(grown < 1 << 20, "{grown} bytes");
}

#[test]
fn a_million_tokens_are_bounded_in_time_and_memory() {
    // Words, texts with a quote, JSON, digits, and some twice.
    let word = |mut number: u32| {
        let mut word = Vec::new();
        while number > 0 {
            word.push(b"aeinorst"[number as usize % 8]);
            number /= 8;
        }
        word
    };
    let mut tokens = bytes();
    tokens.extend((257..1_000_000_u32).map(|number| match number % 8 {
        0 => [b" ", &*word(number)].concat(),
        1 => [&*word(number), b"\","].concat(),
        2 => number.to_string().into_bytes(),
        3 => [b"{\"", &*word(number / 64), b"\":"].concat(),
        4 => [" größe ".as_bytes(), &*word(number)].concat(),
        _ => word(number / 3),
    }));
    let begun = clock();
    let vocab = Vocab::new(&tokens, 0).unwrap();
    let took = clock().saturating_sub(begun);
    assert!(took < Duration::from_secs(20), "{took:?}");
    let catalog = catalog();
    let session = session(&catalog);
    for_both!(&session, |guide, body| mask_within(guide, body, &vocab, Duration::from_secs(2)));
    assert!(vocab.memory() < 100 << 20, "{}", vocab.memory());
}

fn refuse_long(guide: &mut impl Follow, body: &str, vocab: &Vocab, count: usize) {
    let mut bits = vec![0; vocab.mask_len()];
    for at in (0..body.len()).step_by(11) {
        let mark = guide.mark();
        guide.accept_bytes(&body.as_bytes()[..at]).unwrap();
        let before = guide.memory();
        for left in [u32::MAX, 150] {
            guide.fill_mask(vocab, left, &mut bits).unwrap();
            for token in 257..257 + count {
                assert!(!has(&bits, token), "token {token} after {at} bytes");
                assert!(guide.accept(vocab, u32::try_from(token).unwrap()).is_err());
                assert_eq!(guide.text(), &body.as_bytes()[..at]);
            }
        }
        assert!(guide.memory() - before < 4 << 20, "{} bytes after {at} bytes", guide.memory());
        guide.rollback(&mark);
    }
}

#[test]
fn tokens_of_ten_megabytes_are_bounded() {
    const LENGTH: usize = 10_000_000;
    let repeated = |length: usize, part: &str| part.bytes().cycle().take(length).collect::<Vec<u8>>();
    // One that could be in a text, blanks, and digits; shorter ones that are less plausible.
    let mut long = vec![repeated(LENGTH, "a"), repeated(LENGTH, " "), repeated(LENGTH, "1")];
    for part in [
        "\n  ",
        "\"a",
        "a\",\"",
        "{\"",
        "\\u0024",
        "ö",
        "REF 0 ",
        "LET 1 LIT 1 1\n",
        "{\"let\":\"a\",\"expr\":1},",
    ] {
        long.push(repeated(1 << 20, part));
    }
    let count = long.len();
    let mut tokens = bytes();
    tokens.extend(long);
    let begun = clock();
    let vocab = Vocab::new(&tokens, 0).unwrap();
    let took = clock().saturating_sub(begun);
    assert!(took < Duration::from_secs(20), "{took:?}");
    let catalog = catalog();
    let session = session(&catalog);
    for_both!(&session, |guide, body| refuse_long(guide, body, &vocab, count));
    // Their own bytes, and little more.
    assert!(vocab.memory() < 45 << 20, "{} bytes", vocab.memory());
}

/// The bytes of ASCII and others, each as a token, except for some; a token that ends a text is first.
fn bytes_but(without: &[u8]) -> Vec<Vec<u8>> {
    let rest = bytes().into_iter().skip(1).filter(|it| !without.contains(&it[0]));
    core::iter::once(Vec::new()).chain(rest).collect()
}

#[test]
fn what_a_vocabulary_lacks_is_said_before_the_first_token() {
    let catalog = catalog();
    let session = session(&catalog);
    let lacks = |notation, tokens: &[Vec<u8>]| {
        let vocab = Vocab::new(tokens, 0).unwrap();
        vocab.can_write(&session, notation).err().map(|lacks| lacks.0.concat())
    };
    assert_eq!(lacks(Notation::Id, &bytes()), None);
    assert_eq!(lacks(Notation::Constrained, &bytes()), None);
    // A tokenizer of words has some bytes only within longer tokens.
    let mut words = bytes_but(b"{\nQ");
    words.extend([b"{\"".to_vec(), b"\n  ".to_vec(), b"EQ".to_vec()]);
    assert_eq!(lacks(Notation::Id, &words), Some("\nQ".to_owned()));
    assert_eq!(lacks(Notation::Constrained, &words), Some("Q{".to_owned()));
    let vocab = Vocab::new(&words, 0).unwrap();
    let mut bits = vec![0; vocab.mask_len()];
    let short = Guide::new(&session).fill_mask(&vocab, 200, &mut bits).unwrap_err();
    assert_eq!(short.needed, None);
    // Only what continues characters that some token leaves unfinished is needed of the other bytes.
    let high: Vec<u8> = (0x80..=u8::MAX).collect();
    let mut ascii = bytes_but(&high);
    ascii.push("\u{f6}".as_bytes().to_vec());
    assert_eq!(lacks(Notation::Id, &ascii), None);
    ascii.push(vec![0xE6, 0x97]);
    let missing = lacks(Notation::Id, &ascii).unwrap();
    assert!(missing.contains("the byte 0x80"), "{missing}");
}

#[test]
fn a_name_needs_its_characters() {
    let mut catalog = ilo_asm::catalog::Catalog::default();
    catalog.insert(ilo_asm::catalog::ToolSignature::new("gr\u{f6}\u{df}e", None, None, None));
    let session = ilo_guide::Session::new(&catalog, "f() -> any", &ilo_guide::Options::default()).unwrap();
    let high: Vec<u8> = (0x80..=u8::MAX).collect();
    let mut tokens = bytes_but(&high);
    tokens.push("\u{f6}".as_bytes().to_vec());
    let vocab = Vocab::new(&tokens, 0).unwrap();
    assert!(vocab.can_write(&session, Notation::Id).is_ok());
    let lacks = vocab.can_write(&session, Notation::Constrained).unwrap_err();
    assert_eq!(lacks.to_string().split(',').next(), Some("the vocabulary has no token for `\u{df}`"));
}

/// Invalid bytes, bytes that end a character that has not begun, and halves of characters that are none.
const NOT_UTF8: [&[u8]; 6] = [b"\xff", b"\xc0\x80", b"a\x80", b"\xed\xa0\x80", b"\xf5", b"\xe6\x97\x97\x97"];

fn refuse_what_is_not_utf8(guide: &mut impl Follow, body: &str, vocab: &Vocab) {
    let (mut bits, mut halves) = (vec![0; vocab.mask_len()], 0);
    let half = 257 + NOT_UTF8.len();
    for at in 0..body.len() {
        let mark = guide.mark();
        guide.accept_bytes(&body.as_bytes()[..at]).unwrap();
        for left in [u32::MAX, 300] {
            guide.fill_mask(vocab, left, &mut bits).unwrap();
            for token in (257..half).chain([1 + 0xFF, 1 + 0xC0]) {
                assert!(!has(&bits, token), "token {token} after {at} bytes");
            }
            halves += usize::from(has(&bits, half));
        }
        guide.rollback(&mark);
    }
    assert!(halves > 0);
}

#[test]
fn tokens_that_are_not_utf8_are_allowed_only_within_characters() {
    let catalog = catalog();
    let session = session(&catalog);
    let mut tokens = bytes();
    tokens.extend(NOT_UTF8.map(<[u8]>::to_vec));
    tokens.push(vec![0xE6, 0x97]);
    let vocab = Vocab::new(&tokens, 0).unwrap();
    for_both!(&session, |guide, body| refuse_what_is_not_utf8(guide, body, &vocab));
}
