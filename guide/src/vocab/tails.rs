//! The bytes of tokens after a quote, which may end a text, each with a number.

use super::{Prefixes, Vocab};
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
    pub(crate) tree: Prefixes,
}

impl Tails {
    /// The bytes after each quote of a token.
    pub(super) fn new(vocab: &Vocab) -> Tails {
        let tails = |&token: &u32| {
            let bytes = vocab.token(token);
            let quotes = (1..).zip(bytes).filter(|it| *it.1 == b'"');
            quotes.filter_map(|(behind, _)| bytes.get(behind..))
        };
        let mut all: Vec<&[u8]> = vocab.sorted.iter().flat_map(tails).collect();
        sort_by(&mut all, Ord::cmp);
        all.dedup();
        let numbers: Vec<u32> = (0..).take(all.len()).collect();
        let tree = Prefixes::new(&numbers, |tail| all.get(tail as usize).copied().unwrap_or_default());
        Tails { all: all.into_iter().map(Into::into).collect(), tree }
    }

    /// A token that ends the text with the byte before this one.
    pub(super) fn closer(&self, vocab: &Vocab, token: u32, behind: usize) -> Closer {
        let tail = vocab.token(token).get(behind..).unwrap_or_default();
        let place = self.all.binary_search_by(|it| (**it).cmp(tail)).unwrap_or_default();
        Closer { tail: u32::try_from(place).unwrap_or_default(), token }
    }

    pub(crate) fn bytes(&self, tail: u32) -> &[u8] {
        self.all.get(tail as usize).map_or(&[], |tail| tail)
    }

    pub(super) fn memory(&self) -> usize {
        self.tree.memory() + self.all.iter().map(|it| it.len() + 16).sum::<usize>()
    }
}
