//! The tokens of a model, and tables that make masks fast: trees of the tokens that are written outside
//! texts, one of digits, and for each position in a text the tokens that stay in it or end it.

pub(crate) mod bits;
mod bytes;
mod digits;
mod json;
mod lacks;
mod lengths;
mod outside;
mod prefixes;
mod tails;
mod texts;

use ilo_asm::sorting::sort_by;
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::TokenBytes;
pub(crate) use digits::Digits;
pub(crate) use json::{JsonTokens, TextTokens};
pub use lacks::Lacks;
use lengths::Parts;
pub(crate) use outside::{Opening, Outside, outside};
pub(crate) use prefixes::Prefixes;
pub(crate) use tails::{Closer, Tails};
pub(crate) use texts::Texts;

/// The most tokens.
const MOST: usize = 1 << 24;
/// The most bytes of a token that may be allowed. Those of usual models are far shorter.
const LONGEST: usize = 4096;

/// The reason why a list of tokens is not a vocabulary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VocabError(pub String);

impl fmt::Display for VocabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for VocabError {}

/// The tokens of a model. Many guides share one.
#[derive(Debug)]
pub struct Vocab {
    bytes: TokenBytes,
    eos: u32,
    /// Tokens that are not empty, not too long and not the end, in the order of their bytes.
    pub(crate) sorted: Vec<u32>,
    /// No token that may be allowed has more bytes.
    pub(crate) longest: usize,
    pub(crate) outside: Outside,
    pub(crate) digits: Digits,
    pub(crate) texts: Texts,
    pub(crate) tails: Tails,
    /// Those that were needed near the ends of budgets.
    parts: Parts,
    /// Computed when a body in `constrained` needs a mask.
    json: OnceLock<JsonTokens>,
    /// The tree of all tokens, computed when one needs a mask whose names are not plain.
    all: OnceLock<Prefixes>,
    /// The index in `sorted` of the first token with each first byte, and the end of the last.
    first: Vec<u32>,
    /// Identifies the vocabulary.
    pub(crate) id: u64,
    /// Whether some token ends within a character.
    splits: bool,
}

/// The first bytes of a token, which order it among most others.
fn beginning(token: &[u8]) -> u64 {
    let mut first = [0; 8];
    first.iter_mut().zip(token).for_each(|(to, from)| *to = *from);
    u64::from_be_bytes(first)
}

/// Whether this number of tokens with this number of bytes can be a vocabulary.
fn is_vocabulary(count: usize, bytes: usize, eos: u32) -> Result<(), VocabError> {
    let wrong = match count.checked_sub(1) {
        None => "a vocabulary has at least one token".to_owned(),
        Some(_) if count > MOST => format!("{count} tokens; at most {MOST} can be used"),
        Some(last) if eos as usize > last => format!("the end is token {eos}, but the last token is {last}"),
        Some(_) if u32::try_from(bytes).is_err() => "the tokens have more than 4 GB".to_owned(),
        Some(_) => return Ok(()),
    };
    Err(VocabError(wrong))
}

impl Vocab {
    /// A vocabulary: the bytes of each token, and the number of the token that ends a text. Special tokens
    /// have no bytes and are never allowed, nor are tokens of more than 4096 bytes. Several tokens may have
    /// the same bytes.
    ///
    /// # Errors
    /// Without tokens, with more than 16,777,216 tokens or 4 GB of bytes, or if `eos` is not one of them.
    pub fn new(tokens: &[impl AsRef<[u8]>], eos: u32) -> Result<Vocab, VocabError> {
        let lengths = tokens.iter().map(|token| token.as_ref().len());
        let length = lengths.clone().fold(0, usize::saturating_add);
        is_vocabulary(tokens.len(), length, eos)?;
        let mut bytes = Vec::with_capacity(length);
        tokens.iter().for_each(|token| bytes.extend_from_slice(token.as_ref()));
        let lengths: Vec<u32> = lengths.map(|length| u32::try_from(length).unwrap_or(u32::MAX)).collect();
        Vocab::from_bytes(bytes, &lengths, eos)
    }

    /// The same from the concatenated bytes of all tokens, and the length of each.
    ///
    /// # Errors
    /// Those of [`Vocab::new`], and a number of bytes that differs from the sum of the lengths.
    pub fn from_bytes(bytes: Vec<u8>, lengths: &[u32], eos: u32) -> Result<Vocab, VocabError> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let length = bytes.len();
        is_vocabulary(lengths.len(), length, eos)?;
        let Some(bytes) = TokenBytes::new(bytes, lengths) else {
            return Err(VocabError(format!("the lengths of the tokens do not add up to {length} bytes")));
        };
        let mut vocab = Vocab {
            bytes,
            eos,
            sorted: Vec::new(),
            longest: 0,
            outside: Outside::default(),
            digits: Digits::default(),
            texts: Texts::default(),
            tails: Tails::default(),
            parts: Parts::default(),
            json: OnceLock::new(),
            all: OnceLock::new(),
            first: Vec::new(),
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            splits: false,
        };
        vocab.sort();
        vocab.splits = vocab.sorted.iter().any(|&token| lacks::splits(vocab.token(token)));
        let mut seen = tails::Seen::new();
        let (mut texts, mut outside) = (Texts::new(&vocab, &mut seen), Outside::new(&vocab, &mut seen));
        let openings = outside.openings.iter_mut().map(|it| &mut it.closers);
        vocab.tails = Tails::new(seen, texts.closers.iter_mut().chain(openings));
        (vocab.texts, vocab.outside) = (texts, outside);
        vocab.digits = Digits::new(&vocab);
        Ok(vocab)
    }

    /// Sorts the tokens by their bytes.
    fn sort(&mut self) {
        let tokens = (0..).zip(self.bytes.each());
        let tokens = tokens.filter(|it| it.0 != self.eos && (1..=LONGEST).contains(&it.1.len()));
        let mut begun: Vec<(u64, u32)> = tokens.map(|(token, bytes)| (beginning(bytes), token)).collect();
        begun.sort_unstable();
        // Few have a common beginning and differ.
        for alike in begun.chunk_by_mut(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1) {
            let first = alike.first().map_or(&[][..], |it| self.token(it.1));
            if !alike.iter().all(|it| self.token(it.1) == first) {
                sort_by(alike, |a, b| self.token(a.1).cmp(self.token(b.1)));
            }
        }
        let sorted: Vec<u32> = begun.into_iter().map(|it| it.1).collect();
        let lengths = self.bytes.each().map(<[u8]>::len).filter(|&length| length <= LONGEST);
        self.longest = lengths.max().unwrap_or_default();
        let first = (0..=256_u16).map(|byte| {
            let begins_before =
                |&token: &u32| self.token(token).first().is_some_and(|&it| u16::from(it) < byte);
            u32::try_from(sorted.partition_point(begins_before)).unwrap_or(u32::MAX)
        });
        self.first = first.collect();
        self.sorted = sorted;
    }

    /// The sorted tokens with this first byte.
    pub(crate) fn with_first(&self, byte: u8) -> &[u32] {
        let at = |place: usize| self.first.get(place).map(|&at| at as usize);
        let range = at(byte.into()).zip(at(usize::from(byte) + 1));
        range.and_then(|(from, to)| self.sorted.get(from..to)).unwrap_or_default()
    }

    /// The number of tokens.
    #[allow(clippy::len_without_is_empty, reason = "a vocabulary is never empty")]
    pub fn len(&self) -> usize {
        self.bytes.count()
    }

    /// The number of words of a mask: bit `t % 32` of word `t / 32` is set if token `t` may come next.
    pub fn mask_len(&self) -> usize {
        self.len().div_ceil(32)
    }

    /// The token that ends a text.
    pub fn eos(&self) -> u32 {
        self.eos
    }

    /// The bytes of a token; none if there is no such token.
    pub fn token(&self, token: u32) -> &[u8] {
        self.bytes.of(token as usize)
    }

    /// The bytes of a token that may be allowed: none if it is too long.
    pub(crate) fn usable(&self, token: u32) -> &[u8] {
        let bytes = self.token(token);
        if bytes.len() > LONGEST { &[] } else { bytes }
    }

    /// The sorted tokens that begin with these bytes.
    pub(crate) fn beginning(&self, prefix: &[u8]) -> &[u32] {
        let from = self.sorted.partition_point(|&token| self.token(token) < prefix);
        let rest = self.sorted.get(from..).unwrap_or_default();
        let length = rest.partition_point(|&token| self.token(token).starts_with(prefix));
        rest.get(..length).unwrap_or_default()
    }

    /// Tokens within the texts and names of JSON.
    pub(crate) fn json(&self) -> &JsonTokens {
        self.json.get_or_init(|| JsonTokens::new(self))
    }

    /// The tree of all tokens.
    pub(crate) fn all(&self) -> &Prefixes {
        self.all.get_or_init(|| Prefixes::new(&self.sorted, |token| self.token(token)))
    }

    /// The longest token that a text begins with.
    fn longest_at(&self, text: &[u8]) -> Option<u32> {
        let mut range = self.with_first(*text.first()?);
        let mut found = None;
        for (depth, &byte) in text.iter().enumerate().take(self.longest) {
            if depth > 0 {
                let at = |token: &u32| self.token(*token).get(depth).copied();
                let low = range.partition_point(|token| at(token) < Some(byte));
                range = range.get(low..)?;
                let high = range.partition_point(|token| at(token) <= Some(byte));
                range = range.get(..high)?;
            }
            // A token without more bytes comes first.
            let Some(&first) = range.first() else { break };
            if self.token(first).len() == depth + 1 {
                found = Some(first);
            }
        }
        found
    }

    /// Splits a text into tokens, the longest first. `None` if no token has the next byte.
    pub fn cut(&self, text: &[u8]) -> Option<Vec<u32>> {
        let (mut tokens, mut rest) = (Vec::new(), text);
        while !rest.is_empty() {
            let token = self.longest_at(rest)?;
            rest = rest.get(self.token(token).len()..)?;
            tokens.push(token);
        }
        Some(tokens)
    }

    /// The approximate number of bytes of the vocabulary and its tables.
    pub fn memory(&self) -> usize {
        self.bytes.memory()
            + 4 * self.sorted.len()
            + self.outside.memory()
            + self.digits.memory()
            + self.texts.memory()
            + self.tails.memory()
            + self.parts.memory()
            + self.json.get().map_or(0, JsonTokens::memory)
            + self.all.get().map_or(0, Prefixes::memory)
    }
}
