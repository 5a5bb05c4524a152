//! The bytes of tokens after the end of a text, each with a number.

use super::{Prefixes, Vocab, beginning};
use hashbrown::HashMap;
use ilo_asm::sorting::sort_by_key;

/// A token that ends the text: the number of its tail, and itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closer {
    pub(crate) tail: u32,
    pub(crate) token: u32,
}

/// Tails with the order in which they were found, which is the number of each until all are known.
pub(super) type Seen<'v> = HashMap<&'v [u8], u32>;

impl Closer {
    /// A token that ends the text with the byte before this one.
    pub(super) fn new<'v>(vocab: &'v Vocab, token: u32, behind: usize, seen: &mut Seen<'v>) -> Closer {
        let next = u32::try_from(seen.len()).unwrap_or_default();
        let tail = vocab.token(token).get(behind..).unwrap_or_default();
        Closer { tail: *seen.entry(tail).or_insert(next), token }
    }
}

/// The tails, in the order of their bytes.
#[derive(Debug, Default)]
pub(crate) struct Tails {
    all: Vec<Box<[u8]>>,
    pub(crate) tree: Prefixes,
}

impl Tails {
    /// Numbers the tails of all lists of tokens in the order of their bytes, and sorts the lists by them.
    pub(super) fn new<'l>(seen: Seen<'_>, lists: impl Iterator<Item = &'l mut Vec<Closer>>) -> Tails {
        let mut all: Vec<(u64, &[u8], u32)> =
            seen.into_iter().map(|it| (beginning(it.0), it.0, it.1)).collect();
        all.sort_unstable();
        let mut numbers = vec![0; all.len()];
        for (number, (.., place)) in (0..).zip(&all) {
            numbers.get_mut(*place as usize).into_iter().for_each(|it| *it = number);
        }
        for list in lists {
            for closer in list.iter_mut() {
                closer.tail = numbers.get(closer.tail as usize).copied().unwrap_or_default();
            }
            sort_by_key(list, |closer| closer.tail);
        }
        numbers.sort_unstable();
        let tree = Prefixes::new(&numbers, |tail| all.get(tail as usize).map_or(&[], |it| it.1));
        Tails { all: all.into_iter().map(|it| it.1.into()).collect(), tree }
    }

    /// A token that ends the text with the byte before this one, if a list had its tail.
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
