//! Sets of the slots of a function, and lists by the numbers of its slots, calls and loops.

use crate::ast::Slot;
use ilo_spec::limits::REGISTERS;

const WORD: u32 = u64::BITS;

/// The slots that fit in one word: enough for most functions.
pub(super) const FEW: usize = WORD as usize;
/// The words that hold the slots of any function.
pub(super) const WORDS: usize = REGISTERS.div_ceil(FEW);

/// Sets the item with a number, if there is one.
#[inline]
pub(super) fn put<T>(list: &mut [T], number: u32, item: T) {
    if let Some(place) = list.get_mut(number as usize) {
        *place = item;
    }
}

/// A set of slots of the given number of words. A slot beyond them is never in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bits<const W: usize>([u64; W]);

impl<const W: usize> Default for Bits<W> {
    fn default() -> Bits<W> {
        Bits([0; W])
    }
}

impl<const W: usize> Bits<W> {
    fn place(slot: Slot) -> (usize, u64) {
        ((slot.0 / WORD) as usize, 1 << (slot.0 % WORD))
    }

    /// The slots with these numbers.
    pub(super) fn range(numbers: core::ops::Range<usize>) -> Bits<W> {
        let mut bits = Bits::default();
        for (word, bits) in bits.0.iter_mut().enumerate() {
            let below = |number: usize| match number.saturating_sub(word * FEW) {
                all if all >= FEW => u64::MAX,
                some => (1 << some) - 1,
            };
            *bits = below(numbers.end) & !below(numbers.start);
        }
        bits
    }

    pub(super) fn has(&self, slot: Slot) -> bool {
        let (word, bit) = Self::place(slot);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }

    pub(super) fn insert(&mut self, slot: Slot) {
        let (word, bit) = Self::place(slot);
        if let Some(word) = self.0.get_mut(word) {
            *word |= bit;
        }
    }

    pub(super) fn remove(&mut self, slot: Slot) {
        let (word, bit) = Self::place(slot);
        if let Some(word) = self.0.get_mut(word) {
            *word &= !bit;
        }
    }

    pub(super) fn extend(&mut self, other: &Bits<W>) {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word |= other;
        }
    }

    /// Whether each of its slots is in `other`.
    pub(super) fn is_within(&self, other: &Bits<W>) -> bool {
        self.0.iter().zip(other.0).all(|(word, other)| word & !other == 0)
    }

    /// Keeps only the slots of `other`.
    pub(super) fn keep(&mut self, other: &Bits<W>) {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word &= other;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0 == [0; W]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Slot> {
        (0..).map(Slot).take(W * FEW).filter(|&slot| self.has(slot))
    }
}
