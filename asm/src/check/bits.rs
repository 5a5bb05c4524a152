//! Sets of slots of one function.

use crate::ast::Slot;
use ilo_spec::limits::REGISTERS;

const WORD: u32 = u64::BITS;
const WORDS: usize = REGISTERS.div_ceil(WORD as usize);

/// A set of slots below [`REGISTERS`]; a larger slot is never in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bits([u64; WORDS]);

impl Bits {
    fn place(slot: Slot) -> (usize, u64) {
        ((slot.0 / WORD) as usize, 1 << (slot.0 % WORD))
    }

    /// The slots with these numbers.
    pub(super) fn range(numbers: core::ops::Range<usize>) -> Bits {
        let mut bits = Bits::default();
        for slot in numbers.take(REGISTERS).filter_map(|number| u32::try_from(number).ok()) {
            bits.insert(Slot(slot));
        }
        bits
    }

    pub(super) fn has(&self, slot: Slot) -> bool {
        let (word, bit) = Bits::place(slot);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }

    pub(super) fn insert(&mut self, slot: Slot) {
        let (word, bit) = Bits::place(slot);
        if let Some(word) = self.0.get_mut(word) {
            *word |= bit;
        }
    }

    pub(super) fn remove(&mut self, slot: Slot) {
        let (word, bit) = Bits::place(slot);
        if let Some(word) = self.0.get_mut(word) {
            *word &= !bit;
        }
    }

    pub(super) fn extend(&mut self, other: &Bits) {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word |= other;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Slot> {
        (0..).map(Slot).take(REGISTERS).filter(|&slot| self.has(slot))
    }
}
