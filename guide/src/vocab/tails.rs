//! The bytes of tokens after the end of a text, each with a number.

use super::{Prefixes, Vocab, by_bytes};

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
    /// Numbers the tails of some tokens, of which each has the place of its tail until then, and sorts the
    /// tokens of each list by them.
    pub(super) fn number(vocab: &Vocab, mut lists: Vec<&mut Vec<Closer>>) -> Tails {
        let mut closers = Vec::new();
        for (list, all) in lists.iter_mut().enumerate() {
            closers.extend(all.drain(..).map(|closer| (list, closer)));
        }
        let behind = |place: u32| {
            let closer = closers.get(place as usize).map(|it: &(usize, Closer)| it.1);
            closer.and_then(|it| vocab.token(it.token).get(it.tail as usize..)).unwrap_or_default()
        };
        let mut all: Vec<Box<[u8]>> = Vec::new();
        let places = (0..).take(closers.len()).map(|place| (place, behind(place)));
        for place in by_bytes(places, &behind) {
            if all.last().is_none_or(|last| **last != *behind(place)) {
                all.push(behind(place).into());
            }
            let tail = u32::try_from(all.len() - 1).unwrap_or_default();
            let Some(&(list, closer)) = closers.get(place as usize) else { continue };
            if let Some(list) = lists.get_mut(list) {
                list.push(Closer { tail, ..closer });
            }
        }
        let numbers: Vec<u32> = (0..).take(all.len()).collect();
        let tree = Prefixes::new(&numbers, |tail| all.get(tail as usize).map_or(&[], |tail| tail));
        Tails { all, tree }
    }

    /// The number of a tail that there is.
    pub(super) fn of(&self, tail: &[u8]) -> u32 {
        let place = self.all.binary_search_by(|it| (**it).cmp(tail)).unwrap_or_default();
        u32::try_from(place).unwrap_or_default()
    }

    pub(crate) fn bytes(&self, tail: u32) -> &[u8] {
        self.all.get(tail as usize).map_or(&[], |tail| tail)
    }

    pub(super) fn memory(&self) -> usize {
        self.tree.memory() + self.all.iter().map(|it| it.len() + 16).sum::<usize>()
    }
}
