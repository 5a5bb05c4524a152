//! Tokens that could be written outside texts, by what they have up to the quote of a text that they begin.

use super::{Closer, Prefixes, Vocab};
use crate::automaton::texts::{Inside, Led, run};
use ilo_spec::node::TABLE;

const NAMES: [&str; 3] = ["nil", "true", "false"];

/// The tokens that begin a text with the same bytes.
#[derive(Debug)]
pub(crate) struct Opening {
    part: u32,
    /// The number of bytes up to the quote.
    pub(crate) skipped: usize,
    /// Those that stay in the text.
    pub(crate) stays: Vec<u32>,
    /// Those that end it, in the order of their tails.
    pub(crate) closers: Vec<Closer>,
}

/// The tokens, in the order of their bytes; those with the same bytes up to a quote are one part.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    tokens: Vec<u32>,
    /// Where each part begins in the list of the tokens, and where the last one ends.
    starts: Vec<u32>,
    /// The tree of the parts.
    pub(crate) tree: Prefixes,
    pub(super) openings: Vec<Opening>,
    /// The most words and numbers that a token ends.
    pub(crate) crossings: usize,
}

/// What a token has outside texts, with the quote of a text that it begins.
fn outside(token: &[u8]) -> &[u8] {
    let quote = token.iter().position(|&byte| byte == b'"');
    quote.and_then(|quote| token.get(..=quote)).unwrap_or(token)
}

impl Outside {
    pub(super) fn new(vocab: &Vocab) -> Outside {
        let fits = |token: &u32| {
            let bytes = vocab.token(*token);
            !bytes.iter().all(u8::is_ascii_digit) && is_plausible(bytes)
        };
        let tokens: Vec<u32> = vocab.sorted.iter().copied().filter(fits).collect();
        let mut found = Outside { starts: vec![0], ..Outside::default() };
        let (mut end, mut first) = (0, Vec::new());
        for part in tokens.chunk_by(|a, b| outside(vocab.token(*a)) == outside(vocab.token(*b))) {
            let bytes = part.first().map_or(&[][..], |&token| outside(vocab.token(token)));
            found.crossings = found.crossings.max(crossings(bytes));
            if bytes.ends_with(b"\"") {
                let number = u32::try_from(first.len()).unwrap_or_default();
                found.openings.push(Opening::new(vocab, number, bytes.len(), part));
            }
            end += part.len();
            first.push(bytes);
            found.starts.push(u32::try_from(end).unwrap_or_default());
        }
        let parts: Vec<u32> = (0..).take(first.len()).collect();
        found.tree = Prefixes::new(&parts, |part| first.get(part as usize).copied().unwrap_or_default());
        Outside { tokens, ..found }
    }

    /// The tokens of a part.
    pub(crate) fn tokens(&self, part: u32) -> &[u32] {
        let Some([from, to, ..]) = self.starts.get(part as usize..) else { return &[] };
        self.tokens.get(*from as usize..*to as usize).unwrap_or_default()
    }

    /// The bytes of a part.
    pub(crate) fn bytes<'v>(&self, vocab: &'v Vocab, part: u32) -> &'v [u8] {
        self.tokens(part).first().map_or(&[], |&token| outside(vocab.token(token)))
    }

    /// The text that the tokens of a part begin.
    pub(crate) fn opening(&self, part: u32) -> Option<&Opening> {
        let place = self.openings.binary_search_by_key(&part, |it| it.part).ok()?;
        self.openings.get(place)
    }

    pub(super) fn memory(&self) -> usize {
        let openings = self.openings.iter().map(|it| 4 * it.stays.len() + 8 * it.closers.len());
        4 * (self.tokens.len() + self.starts.len()) + self.tree.memory() + openings.sum::<usize>()
    }
}

impl Opening {
    /// The tokens have the places of their tails in place of numbers.
    fn new(vocab: &Vocab, part: u32, skipped: usize, tokens: &[u32]) -> Opening {
        let mut found = Opening { part, skipped, stays: Vec::new(), closers: Vec::new() };
        for &token in tokens {
            match run(Inside::Plain, vocab.token(token).get(skipped..).unwrap_or_default()) {
                Led::Refused => {}
                Led::On(_) => found.stays.push(token),
                Led::Closed(at) => {
                    let tail = u32::try_from(skipped + at).unwrap_or_default();
                    found.closers.push(Closer { tail, token });
                }
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
