//! The tokens of a model, and tables of them that make masks fast: a trie of those that are written outside
//! texts, one of digits, and for each place in a text those that stay in it or end it.

mod json;
mod lengths;
mod texts;
mod trie;

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) use json::JsonTokens;
pub(crate) use lengths::{Length, Lengths};
pub(crate) use texts::{Closer, Texts};
pub(crate) use trie::{Digits, NO_NODE, Opening, Trie};

/// The most tokens.
const MOST: usize = 1 << 24;

/// Why a list of tokens is no vocabulary.
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
    bytes: Vec<u8>,
    /// Where each token begins, and where the last ends.
    starts: Vec<u32>,
    eos: u32,
    /// Tokens that are not empty and not the end, in the order of their bytes.
    pub(crate) sorted: Vec<u32>,
    /// The most bytes of a token.
    pub(crate) longest: usize,
    pub(crate) trie: Trie,
    pub(crate) digits: Digits,
    pub(crate) texts: Texts,
    /// Found when a budget is near its end.
    lengths: OnceLock<Lengths>,
    /// Found when a body in `constrained` asks for a mask.
    json: OnceLock<JsonTokens>,
    /// Where in `sorted` the tokens begin that have a first byte, and where the last end.
    first: Vec<u32>,
    /// Tells vocabularies apart.
    pub(crate) id: u64,
    /// The most words and numbers that a token ends.
    pub(crate) crossings: usize,
}

/// The first bytes of a token, which order it among most others.
fn beginning(token: &[u8]) -> u64 {
    let mut first = [0; 8];
    first.iter_mut().zip(token).for_each(|(to, from)| *to = *from);
    u64::from_be_bytes(first)
}

impl Vocab {
    /// A vocabulary: the bytes of each token, and the number of the token that ends a text. Special tokens
    /// have no bytes and are never allowed. Several tokens may have the same bytes.
    ///
    /// # Errors
    /// Without tokens, with more than 16,777,216 tokens or 4 GB of bytes, or where `eos` is none of them.
    pub fn new(tokens: &[impl AsRef<[u8]>], eos: u32) -> Result<Vocab, VocabError> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        if tokens.is_empty() {
            return Err(VocabError("a vocabulary has at least one token".to_owned()));
        }
        if tokens.len() > MOST {
            return Err(VocabError(format!("{} tokens; at most {MOST} can be used", tokens.len())));
        }
        if eos as usize >= tokens.len() {
            let last = tokens.len() - 1;
            return Err(VocabError(format!("the end is token {eos}, but the last token is {last}")));
        }
        let (mut bytes, mut starts) = (Vec::new(), vec![0]);
        for token in tokens {
            bytes.extend_from_slice(token.as_ref());
            let end = u32::try_from(bytes.len());
            starts.push(end.map_err(|_| VocabError("the tokens have more than 4 GB".to_owned()))?);
        }
        let mut vocab = Vocab {
            bytes,
            starts,
            eos,
            sorted: Vec::new(),
            longest: 0,
            trie: Trie::default(),
            digits: Digits::default(),
            texts: Texts::default(),
            lengths: OnceLock::new(),
            json: OnceLock::new(),
            first: Vec::new(),
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            crossings: 0,
        };
        vocab.index();
        Ok(vocab)
    }

    fn index(&mut self) {
        let count = u32::try_from(self.len()).unwrap_or_default();
        let tokens = (0..count).filter(|&token| token != self.eos && !self.token(token).is_empty());
        let mut begun: Vec<(u64, u32)> = tokens.map(|token| (beginning(self.token(token)), token)).collect();
        begun.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0).then_with(|| self.token(a.1).cmp(self.token(b.1))).then(a.1.cmp(&b.1))
        });
        let sorted: Vec<u32> = begun.into_iter().map(|it| it.1).collect();
        self.longest = sorted.iter().map(|&token| self.token(token).len()).max().unwrap_or_default();
        let mut texts = Texts::new(&sorted, self);
        self.trie = Trie::new(&sorted, self, &mut texts);
        self.texts = texts;
        self.digits = Digits::new(&sorted, self);
        self.crossings = self.trie.crossings();
        let first = (0..=256_u16).map(|byte| {
            let begins_before =
                |&token: &u32| self.token(token).first().is_some_and(|&it| u16::from(it) < byte);
            u32::try_from(sorted.partition_point(begins_before)).unwrap_or(u32::MAX)
        });
        self.first = first.collect();
        self.sorted = sorted;
    }

    /// How many tokens there are.
    #[allow(clippy::len_without_is_empty, reason = "a vocabulary is never empty")]
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The words of a mask: bit `t % 32` of word `t / 32` is set where token `t` may come next.
    pub fn mask_len(&self) -> usize {
        self.len().div_ceil(32)
    }

    /// The token that ends a text.
    pub fn eos(&self) -> u32 {
        self.eos
    }

    /// The bytes of a token; none where there is no such token.
    pub fn token(&self, token: u32) -> &[u8] {
        let at = |number: usize| self.starts.get(number).map(|&start| start as usize);
        let number = token as usize;
        at(number).zip(at(number + 1)).and_then(|(from, to)| self.bytes.get(from..to)).unwrap_or_default()
    }

    /// The sorted tokens that begin with these bytes, as a range of places.
    pub(crate) fn beginning(&self, prefix: &[u8]) -> (usize, usize) {
        let from = self.sorted.partition_point(|&token| self.token(token) < prefix);
        let rest = self.sorted.get(from..).unwrap_or_default();
        (from, from + rest.partition_point(|&token| self.token(token).starts_with(prefix)))
    }

    /// How many tokens the pieces of an end take.
    pub(crate) fn lengths(&self) -> &Lengths {
        self.lengths.get_or_init(|| Lengths::new(self))
    }

    /// Tokens within the texts and names of JSON.
    pub(crate) fn json(&self) -> &JsonTokens {
        self.json.get_or_init(|| JsonTokens::new(self))
    }

    /// The longest token that a text begins with, and its length.
    fn longest_at(&self, text: &[u8]) -> Option<(u32, usize)> {
        let first = usize::from(*text.first()?);
        let at = |place: usize| self.first.get(place).map(|&at| at as usize);
        let (mut from, mut to) = (at(first)?, at(first + 1)?);
        let mut found = None;
        for (depth, &byte) in text.iter().enumerate().take(self.longest) {
            let at = |place: &u32| self.token(*place).get(depth).copied();
            if depth > 0 {
                let range = self.sorted.get(from..to)?;
                let low = range.partition_point(|token| at(token) < Some(byte));
                let high = range.partition_point(|token| at(token) <= Some(byte));
                (from, to) = (from + low, from + high);
            }
            // What has no more bytes comes first.
            let Some(&first) = self.sorted.get(from).filter(|_| from < to) else { break };
            if self.token(first).len() == depth + 1 {
                found = Some((first, depth + 1));
            }
        }
        found
    }

    /// Cuts a text into tokens, the longest first. `None` where no token has the next byte.
    pub fn cut(&self, text: &[u8]) -> Option<Vec<u32>> {
        let mut found = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (token, length) = self.longest_at(rest)?;
            found.push(token);
            rest = rest.get(length..)?;
        }
        Some(found)
    }

    /// How many bytes the vocabulary and its tables have, nearly.
    pub fn memory(&self) -> usize {
        self.bytes.len()
            + 4 * (self.starts.len() + self.sorted.len())
            + self.trie.memory()
            + self.texts.memory()
            + self.lengths.get().map_or(0, Lengths::memory)
            + self.json.get().map_or(0, JsonTokens::memory)
    }
}
