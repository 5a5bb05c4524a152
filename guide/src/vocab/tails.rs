//! The bytes of tokens after the end of a text, each with a number.

use super::{Prefixes, Vocab};
use ilo_asm::sorting::{sort_by, sort_by_key};

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
    tree: Prefixes,
}

impl Tails {
    /// Numbers the tails of some tokens, of which each has the place of its tail until then, and sorts the
    /// tokens of each list by them.
    pub(super) fn number(vocab: &Vocab, mut lists: Vec<&mut Vec<Closer>>) -> Tails {
        let behind = |it: &Closer| vocab.token(it.token).get(it.tail as usize..).unwrap_or_default();
        let mut all: Vec<&[u8]> = lists.iter().flat_map(|list| list.iter()).map(behind).collect();
        sort_by(&mut all, Ord::cmp);
        all.dedup();
        let numbers: Vec<u32> = (0..).take(all.len()).collect();
        let tree = Prefixes::new(&numbers, |tail| all.get(tail as usize).copied().unwrap_or_default());
        let tails = Tails { all: all.into_iter().map(Into::into).collect(), tree };
        for list in &mut lists {
            for closer in list.iter_mut() {
                closer.tail = tails.of(behind(closer));
            }
            sort_by_key(list, |closer| closer.tail);
        }
        tails
    }

    /// The number of a tail that there is.
    pub(super) fn of(&self, tail: &[u8]) -> u32 {
        let place = self.all.binary_search_by(|it| (**it).cmp(tail)).unwrap_or_default();
        u32::try_from(place).unwrap_or_default()
    }

    pub(crate) fn bytes(&self, tail: u32) -> &[u8] {
        self.all.get(tail as usize).map_or(&[], |tail| tail)
    }

    /// The tree of them.
    pub(crate) fn tree(&self) -> &Prefixes {
        &self.tree
    }

    pub(super) fn memory(&self) -> usize {
        self.tree.memory() + self.all.iter().map(|it| it.len() + 16).sum::<usize>()
    }
}
