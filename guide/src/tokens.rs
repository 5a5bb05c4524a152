//! Shared by the guides of all notations: tokens of a text that is followed, and the check of a whole file.

use crate::vocab::Vocab;
use ilo_asm::build;
use ilo_asm::catalog::Catalog;
use ilo_asm::notation::Notation;
use std::fmt;

/// Bytes that may not come next. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The number of bytes that could have come.
    pub at: usize,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {} may not come next", self.at)
    }
}

impl std::error::Error for Refused {}

/// A text that can be continued byte by byte, and taken back.
pub(crate) trait Follows {
    type Mark;
    fn mark(&self) -> Self::Mark;
    fn rollback(&mut self, mark: &Self::Mark);
    /// Whether it may end here.
    fn is_whole(&mut self) -> bool;
    fn accept_bytes(&mut self, bytes: &[u8]) -> Result<(), Refused>;
    /// The bytes that must come next.
    fn forced(&mut self) -> Vec<u8>;
}

/// Takes a token. The end token changes nothing.
pub(crate) fn accept(text: &mut impl Follows, vocab: &Vocab, token: u32) -> Result<(), Refused> {
    let bytes = vocab.usable(token);
    match token == vocab.eos() {
        true if text.is_whole() => Ok(()),
        false if !bytes.is_empty() => text.accept_bytes(bytes),
        _ => Err(Refused { at: 0 }),
    }
}

/// The number of these tokens, from the first, that may come next in order. Nothing changes.
pub(crate) fn validate(text: &mut impl Follows, vocab: &Vocab, tokens: &[u32]) -> usize {
    let mark = text.mark();
    let mut ended = false;
    let valid = tokens.iter().take_while(|&&token| {
        let fits = !ended && accept(text, vocab, token).is_ok();
        ended |= token == vocab.eos();
        fits
    });
    let count = valid.count();
    text.rollback(&mark);
    count
}

/// The tokens that must come next, as `encode` splits the forced bytes, without those at the end that a
/// longer token could cover together with what follows.
pub(crate) fn forced(
    text: &mut impl Follows,
    vocab: &Vocab,
    encode: impl FnOnce(&[u8]) -> Option<Vec<u32>>,
) -> Vec<u32> {
    let bytes = text.forced();
    let mut tokens = encode(&bytes).unwrap_or_default();
    let mark = text.mark();
    let mut at = 0;
    for place in 0..tokens.len() {
        let rest = bytes.get(at..).unwrap_or_default();
        let own = tokens.get(place).map(|&token| vocab.usable(token).to_vec()).unwrap_or_default();
        if own.is_empty() || covers(text, vocab, rest) || text.accept_bytes(&own).is_err() {
            tokens.truncate(place);
            break;
        }
        at += own.len();
    }
    text.rollback(&mark);
    tokens
}

/// A known end of a text, as tokens.
#[derive(Clone, Debug)]
pub(crate) struct End {
    vocab: u64,
    /// The length of the text when the end was found.
    at: usize,
    /// The text at that time, with its end.
    whole: Vec<u8>,
    tokens: Vec<u32>,
}

impl End {
    /// The end of a text, and its tokens.
    pub(crate) fn new(vocab: &Vocab, text: &[u8], end: &[u8], tokens: Vec<u32>) -> End {
        End { vocab: vocab.id, at: text.len(), whole: [text, end].concat(), tokens }
    }

    pub(crate) fn is_of(&self, vocab: &Vocab) -> bool {
        self.vocab == vocab.id
    }

    /// The text that it ends.
    pub(crate) fn text(&self) -> &[u8] {
        self.whole.get(..self.at).unwrap_or_default()
    }

    /// The first bytes of the text with its end.
    pub(crate) fn beginning(&self, length: usize) -> Option<&[u8]> {
        self.whole.get(..length)
    }

    /// The number of its tokens.
    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The tokens of it that a text still needs, if the text has continued with the others.
    pub(crate) fn rest(&self, vocab: &Vocab, text: &[u8]) -> Option<&[u32]> {
        if !self.is_of(vocab) || !self.whole.starts_with(text) {
            return None;
        }
        let mut at = self.at;
        let mut rest = self.tokens.as_slice();
        while at < text.len()
            && let Some((&token, behind)) = rest.split_first()
        {
            at += vocab.token(token).len();
            rest = behind;
        }
        (at == text.len()).then_some(rest)
    }
}

/// Whether a token that may come next begins with these bytes and has more.
fn covers(text: &mut impl Follows, vocab: &Vocab, rest: &[u8]) -> bool {
    let (from, to) = vocab.beginning(rest);
    let range = vocab.sorted.get(from..to).unwrap_or_default();
    let mut longer = range.iter().map(|&token| vocab.token(token)).filter(|it| it.len() > rest.len());
    let mark = text.mark();
    longer.any(|token| {
        let fits = text.accept_bytes(token).is_ok();
        text.rollback(&mark);
        fits
    })
}

/// The first error of a whole file.
pub(crate) fn check(file: &str, notation: Notation, catalog: &Catalog) -> Result<(), String> {
    let options =
        build::Options { from: Some(notation), catalog: Some(catalog), ..build::Options::default() };
    let (_, found) = build::build(file, &options);
    let error = found.as_slice().iter().find(|found| found.is_error());
    error.map_or(Ok(()), |error| Err(format!("{}: {}\n{file}", error.code.as_str(), error.message)))
}
