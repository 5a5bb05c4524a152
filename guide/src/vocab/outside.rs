//! Tokens that could be written outside texts, by what they have up to the quote of a text that they begin.

use super::tails::Seen;
use super::{Closer, Prefixes, Vocab};
use crate::automaton::texts::{Inside, Led, run};
use ilo_asm::sorting::sort_by_key;
use ilo_spec::node::TABLE;

const NAMES: [&str; 3] = ["nil", "true", "false"];

/// The tokens that begin a text with the same bytes.
#[derive(Debug)]
pub(crate) struct Opening {
    /// The one of them that is in the tree.
    first: u32,
    /// The number of bytes up to the quote.
    pub(crate) skipped: usize,
    /// Those that stay in the text.
    pub(crate) stays: Vec<u32>,
    /// Those that end it, in the order of their tails.
    pub(crate) closers: Vec<Closer>,
}

/// The tokens; of those with the same bytes up to a quote only one.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    pub(crate) tree: Prefixes,
    /// In the order of the tokens in the tree.
    pub(super) openings: Vec<Opening>,
    /// The most words and numbers that a token ends.
    pub(crate) crossings: usize,
}

/// What a token has outside texts, with the quote of a text that it begins.
pub(crate) fn outside(token: &[u8]) -> &[u8] {
    let quote = token.iter().position(|&byte| byte == b'"');
    quote.and_then(|quote| token.get(..=quote)).unwrap_or(token)
}

impl Outside {
    pub(super) fn new<'v>(vocab: &'v Vocab, seen: &mut Seen<'v>) -> Outside {
        let fits = |token: &u32| {
            let bytes = vocab.token(*token);
            !bytes.iter().all(u8::is_ascii_digit) && is_plausible(bytes)
        };
        let tokens: Vec<u32> = vocab.sorted.iter().copied().filter(fits).collect();
        let (mut found, mut entries) = (Outside::default(), Vec::new());
        for alike in tokens.chunk_by(|a, b| outside(vocab.token(*a)) == outside(vocab.token(*b))) {
            let Some(&first) = alike.first() else { continue };
            let bytes = outside(vocab.token(first));
            found.crossings = found.crossings.max(crossings(bytes));
            if bytes.ends_with(b"\"") {
                found.openings.push(Opening::new(vocab, first, bytes.len(), alike, seen));
                entries.push(first);
            } else {
                entries.extend(alike);
            }
        }
        sort_by_key(&mut found.openings, |it| it.first);
        let mut texts: Vec<&[u8]> = vec![&[]; vocab.len()];
        for &token in &entries {
            texts.get_mut(token as usize).into_iter().for_each(|it| *it = outside(vocab.token(token)));
        }
        let text = |token| texts.get(token as usize).copied().unwrap_or_default();
        Outside { tree: Prefixes::new(&entries, text), ..found }
    }

    /// The text that the tokens begin of which this one is in the tree.
    pub(crate) fn opening(&self, token: u32) -> Option<&Opening> {
        let place = self.openings.binary_search_by_key(&token, |it| it.first).ok()?;
        self.openings.get(place)
    }

    pub(super) fn memory(&self) -> usize {
        let openings = self.openings.iter().map(|it| 4 * it.stays.len() + 8 * it.closers.len());
        self.tree.memory() + openings.sum::<usize>()
    }
}

impl Opening {
    fn new<'v>(vocab: &'v Vocab, first: u32, skipped: usize, tokens: &[u32], seen: &mut Seen<'v>) -> Opening {
        let mut found = Opening { first, skipped, stays: Vec::new(), closers: Vec::new() };
        for &token in tokens {
            match run(Inside::Plain, vocab.token(token).get(skipped..).unwrap_or_default()) {
                Led::Refused => {}
                Led::On(_) => found.stays.push(token),
                Led::Closed(at) => found.closers.push(Closer::new(vocab, token, skipped + at, seen)),
            }
        }
        found
    }
}

/// Whether a token could be written outside texts, and begin one. The rest is checked when a mask is made.
fn is_plausible(token: &[u8]) -> bool {
    let quote = token.iter().position(|&byte| byte == b'"').unwrap_or(token.len());
    let (before, behind) = token.split_at(quote);
    let fits = before.split(|byte| matches!(byte, b' ' | b'\n')).all(is_part);
    let opens = match behind.split_first() {
        Some((_, rest)) => {
            let starts = before.last().is_none_or(|byte| matches!(byte, b' ' | b'\n'));
            starts && run(Inside::Plain, rest) != Led::Refused
        }
        None => true,
    };
    // A line has a word, and no blank at its end.
    let broken = |pair: &[u8]| matches!(pair, b"\n\n" | b" \n");
    fits && opens && !before.windows(2).any(broken)
}

/// The number of words and numbers that a token ends: each has a blank or a line end after it, and the blanks
/// of an indent end nothing.
fn crossings(token: &[u8]) -> usize {
    let mut before = b'A';
    let ends = |&byte: &u8| {
        let is_end = byte == b'\n' || (byte == b' ' && !matches!(before, b' ' | b'\n'));
        before = byte;
        is_end
    };
    token.iter().copied().filter(ends).count()
}

/// Whether bytes between blanks are a part of a word or a number.
fn is_part(part: &[u8]) -> bool {
    if part.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E')) {
        return true;
    }
    let within = |word: &str| word.as_bytes().windows(part.len()).any(|window| window == part);
    if part.iter().all(u8::is_ascii_lowercase) {
        return NAMES.into_iter().any(within);
    }
    let is_mnemonic = part.iter().all(|&byte| byte.is_ascii_uppercase() || byte == b'_');
    is_mnemonic && TABLE.iter().any(|row| within(row.mnemonic))
}
