//! The tokens that consist of digits.

use super::{Prefixes, Vocab};
use crate::automaton::numbers::WHOLE;
use ilo_asm::sorting::sort_numbers;

fn is_digits(token: &[u8]) -> bool {
    token.iter().all(u8::is_ascii_digit)
}

/// The tokens that consist of digits.
#[derive(Debug, Default)]
pub(crate) struct Digits {
    pub(crate) tree: Prefixes,
    /// All, and those that may begin a number: a zero is a token of its own. By length, then by bytes, and
    /// where each length ends.
    lists: [(Vec<u32>, Vec<usize>); 2],
}

impl Digits {
    pub(super) fn new(vocab: &Vocab) -> Digits {
        let begun = (b'0'..=b'9').flat_map(|digit| vocab.with_first(digit));
        let mut all: Vec<u32> = begun.copied().filter(|&token| is_digits(vocab.token(token))).collect();
        let tree = Prefixes::new(&all, |token| vocab.token(token));
        sort_numbers(&mut all, &|a, b| vocab.token(a).len().cmp(&vocab.token(b).len()));
        let leads =
            |token: &u32| vocab.token(*token).len() == 1 || vocab.token(*token).first() != Some(&b'0');
        let leading = all.iter().copied().filter(leads).collect();
        let lists = [all, leading].map(|all: Vec<u32>| {
            let end = |length| all.partition_point(|&token| vocab.token(token).len() <= length);
            let ends = (0..=WHOLE).map(end).collect();
            (all, ends)
        });
        Digits { tree, lists }
    }

    pub(super) fn memory(&self) -> usize {
        self.tree.memory() + self.lists.iter().map(|it| 4 * it.0.len()).sum::<usize>()
    }

    /// The tokens of at most this number of digits; if set, only those that may begin a number.
    pub(crate) fn up_to(&self, length: usize, leading: bool) -> &[u32] {
        let [every, first] = &self.lists;
        let (all, ends) = if leading { first } else { every };
        let end = ends.get(length).or(ends.last()).copied().unwrap_or_default();
        all.get(..end).unwrap_or_default()
    }
}
