//! Mark bits: one for each place of an arena, set if the run can still reach it.
//!
//! The number of set bits before a place is where its content moves to when the heap is compacted.

use crate::value::at;
use alloc::vec::Vec;

/// The mark bits of a heap, kept for the next collection.
#[derive(Debug, Default)]
pub(crate) struct HeapMarks {
    pub(super) values: Marks,
    pub(super) text: Marks,
}

/// A bit for each place of an arena.
#[derive(Debug, Default)]
pub(super) struct Marks {
    bits: Vec<u64>,
    /// The number of set bits before each word.
    ranks: Vec<u32>,
    /// The first place that has a bit; those before never move.
    from: usize,
}

impl Marks {
    pub(super) fn clear(&mut self, from: usize, to: usize) {
        self.from = from;
        let words = (to - from).div_ceil(64);
        self.bits.clear();
        self.bits.reserve_exact(words);
        self.bits.resize(words, 0);
        self.ranks.clear();
        self.ranks.reserve_exact(words);
    }

    pub(super) fn has(&self, place: usize) -> bool {
        let bit = place - self.from;
        self.bits[bit / 64] >> (bit % 64) & 1 != 0
    }

    pub(super) fn set(&mut self, places: core::ops::Range<usize>) {
        let (mut bit, end) = (places.start - self.from, places.end - self.from);
        while bit < end {
            let count = (64 - bit % 64).min(end - bit);
            self.bits[bit / 64] |= (u64::MAX >> (64 - count)) << (bit % 64);
            bit += count;
        }
    }

    /// Counts the marks; returns how many places are marked.
    pub(super) fn count(&mut self) -> usize {
        let mut sum = 0_u32;
        for word in &self.bits {
            self.ranks.push(sum);
            sum += word.count_ones();
        }
        at(sum)
    }

    /// Where a marked place moves to.
    pub(super) fn to(&self, place: usize) -> usize {
        let bit = place - self.from;
        let below = self.bits[bit / 64] & !(u64::MAX << (bit % 64));
        self.from + at(self.ranks[bit / 64]) + at(below.count_ones())
    }

    /// The next range of marked places, at or after `from`.
    pub(super) fn run(&self, from: usize) -> Option<core::ops::Range<usize>> {
        let start = self.seek(from, 0)?;
        let end = self.seek(start, u64::MAX).unwrap_or(self.bits.len() * 64 + self.from);
        Some(start..end)
    }

    /// The first set bit at or after `from`, after XOR with `flip`.
    fn seek(&self, from: usize, flip: u64) -> Option<usize> {
        let bit = from - self.from;
        let mut word = bit / 64;
        let mut bits = (self.bits.get(word)? ^ flip) & u64::MAX << (bit % 64);
        while bits == 0 {
            word += 1;
            bits = self.bits.get(word)? ^ flip;
        }
        Some(self.from + word * 64 + at(bits.trailing_zeros()))
    }
}
