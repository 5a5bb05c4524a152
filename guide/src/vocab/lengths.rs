//! The number of tokens of the parts of an end. Each is computed once.

use super::Vocab;
use hashbrown::HashMap;
use std::sync::RwLock;

/// The most parts whose lengths are kept.
const PARTS: usize = 4096;

/// In tokens; `None` if the vocabulary cannot write a part.
#[derive(Debug, Default)]
pub(crate) struct Lengths(RwLock<HashMap<Box<[u8]>, Option<usize>>>);

impl Lengths {
    fn of(&self, vocab: &Vocab, part: &[u8]) -> Option<usize> {
        let known = self.0.read().ok().and_then(|known| known.get(part).copied());
        known.unwrap_or_else(|| {
            let length = vocab.length(part);
            if let Ok(mut known) = self.0.write()
                && known.len() < PARTS
            {
                known.insert(part.into(), length);
            }
            length
        })
    }

    pub(super) fn memory(&self) -> usize {
        self.0.read().map_or(0, |known| 48 * known.len())
    }
}

/// The length of an end in tokens, as long as it is within a limit.
pub(crate) struct Length<'v> {
    vocab: &'v Vocab,
    /// The rest of the limit.
    pub(crate) left: usize,
}

impl<'v> Length<'v> {
    pub(crate) fn new(vocab: &'v Vocab, limit: usize) -> Length<'v> {
        Length { vocab, left: limit }
    }

    /// Takes the tokens of these bytes. Returns whether they are within the limit.
    pub(crate) fn takes(&mut self, bytes: &[u8]) -> bool {
        if bytes.is_empty() {
            return true;
        }
        let length = self.vocab.lengths.of(self.vocab, bytes);
        let left = length.and_then(|length| self.left.checked_sub(length));
        self.left = left.unwrap_or_default();
        left.is_some()
    }
}
