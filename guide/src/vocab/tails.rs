//! The bytes of tokens after a quote, which may end a text, each with a number.

use super::{Prefixes, Vocab};
use hashbrown::{HashMap, HashSet};
use ilo_asm::sorting::sort_by;

/// A token that ends the text: the number of its tail, and itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closer {
    pub(crate) tail: u32,
    pub(crate) token: u32,
}

/// The tails, in the order of their bytes.
#[derive(Debug, Default)]
pub(crate) struct Tails {
    all: Vec<Box<[u8]>>,
    /// The number of each.
    numbers: HashMap<Box<[u8]>, u32>,
    pub(crate) tree: Prefixes,
}

impl Tails {
    /// The bytes after each quote of a token.
    pub(super) fn new(vocab: &Vocab) -> Tails {
        let mut seen = HashSet::new();
        for bytes in vocab.sorted.iter().map(|&token| vocab.token(token)) {
            if bytes.contains(&b'"') {
                let quotes = (1..).zip(bytes).filter(|it| *it.1 == b'"');
                seen.extend(quotes.filter_map(|(behind, _)| bytes.get(behind..)));
            }
        }
        let mut all: Vec<&[u8]> = seen.into_iter().collect();
        sort_by(&mut all, Ord::cmp);
        let tails: Vec<u32> = (0..).take(all.len()).collect();
        let tree = Prefixes::new(&tails, |tail| all.get(tail as usize).copied().unwrap_or_default());
        let all: Vec<Box<[u8]>> = all.into_iter().map(Into::into).collect();
        Tails { numbers: all.iter().cloned().zip(0..).collect(), all, tree }
    }

    /// A token that ends the text with the byte before this one.
    pub(super) fn closer(&self, vocab: &Vocab, token: u32, behind: usize) -> Closer {
        let tail = vocab.token(token).get(behind..).unwrap_or_default();
        Closer { tail: self.numbers.get(tail).copied().unwrap_or_default(), token }
    }

    pub(crate) fn bytes(&self, tail: u32) -> &[u8] {
        self.all.get(tail as usize).map_or(&[], |tail| tail)
    }

    pub(super) fn memory(&self) -> usize {
        self.tree.memory() + self.all.iter().map(|it| 2 * it.len() + 44).sum::<usize>()
    }
}
