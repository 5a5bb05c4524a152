//! Sets of registers, as bits.

/// A set of registers: one word for functions with at most 64 registers, which nearly all have, else four
/// words.
pub(crate) trait RegisterSet: Copy + Default + PartialEq {
    fn has(&self, register: u8) -> bool;
    /// Like `has`, for a register that fits in a set of this width.
    fn has_low(&self, register: u8) -> bool;
    /// Whether a set of this width can hold some registers. `registers` is the bitwise OR of their numbers.
    fn can_have(registers: u8) -> bool;
    /// The set with one more register, which fits in a set of this width.
    fn and_low(self, register: u8) -> Self;
    fn add(&mut self, register: u8);
    fn remove(&mut self, register: u8);
    /// The first `count` registers.
    fn first(count: usize) -> Self;
    /// Whether it contains `count` registers from `first` on; `count` must not be 0.
    fn has_window(&self, first: u8, count: usize) -> bool;
    /// Combines two sets word by word.
    fn with(self, other: &Self, word: impl Fn(u64, u64) -> u64) -> Self;

    #[inline(always)]
    fn join(&mut self, other: &Self) {
        *self = self.with(other, |a, b| a | b);
    }

    #[inline(always)]
    fn without(self, other: &Self) -> Self {
        self.with(other, |a, b| a & !b)
    }

    #[inline(always)]
    fn meet(&mut self, other: &Self) {
        *self = self.with(other, |a, b| a & b);
    }
}

/// One word; registers from 64 on are never in the set.
impl RegisterSet for u64 {
    #[inline(always)]
    fn has(&self, register: u8) -> bool {
        u64::can_have(register) && self.has_low(register)
    }

    #[inline(always)]
    fn has_low(&self, register: u8) -> bool {
        self >> (register & 63) & 1 != 0
    }

    #[inline(always)]
    fn can_have(registers: u8) -> bool {
        registers < 64
    }

    #[inline(always)]
    fn and_low(self, register: u8) -> u64 {
        self | 1 << (register & 63)
    }

    #[inline(always)]
    fn add(&mut self, register: u8) {
        if register < 64 {
            *self |= 1 << (register & 63);
        }
    }

    #[inline(always)]
    fn remove(&mut self, register: u8) {
        if register < 64 {
            *self &= !(1 << (register & 63));
        }
    }

    #[inline(always)]
    fn first(count: usize) -> u64 {
        match count {
            0 => 0,
            1..64 => u64::MAX >> (64 - count),
            _ => u64::MAX,
        }
    }

    #[inline(always)]
    fn has_window(&self, first: u8, count: usize) -> bool {
        let wanted = u64::first(count);
        first < 64 && (1..=64).contains(&count) && self >> (first & 63) & wanted == wanted
    }

    #[inline(always)]
    fn with(self, other: &u64, word: impl Fn(u64, u64) -> u64) -> u64 {
        word(self, *other)
    }
}

impl RegisterSet for [u64; 4] {
    fn has(&self, register: u8) -> bool {
        self[usize::from(register >> 6)] >> (register & 63) & 1 != 0
    }

    fn has_low(&self, register: u8) -> bool {
        self.has(register)
    }

    fn can_have(_: u8) -> bool {
        true
    }

    fn and_low(mut self, register: u8) -> [u64; 4] {
        self.add(register);
        self
    }

    fn add(&mut self, register: u8) {
        self[usize::from(register >> 6)] |= 1 << (register & 63);
    }

    fn remove(&mut self, register: u8) {
        self[usize::from(register >> 6)] &= !(1 << (register & 63));
    }

    fn first(count: usize) -> [u64; 4] {
        let mut set = [0; 4];
        (0..=255).take(count).for_each(|register| set.add(register));
        set
    }

    fn has_window(&self, first: u8, count: usize) -> bool {
        count > 0
            && usize::from(first) + count <= 256
            && (first..=255).take(count).all(|register| self.has(register))
    }

    fn with(mut self, other: &[u64; 4], word: impl Fn(u64, u64) -> u64) -> [u64; 4] {
        for (one, other) in self.iter_mut().zip(other) {
            *one = word(*one, *other);
        }
        self
    }
}

/// A set wide enough for any function.
pub(crate) type WideSet = [u64; 4];

/// The registers of a set in ascending order.
#[inline]
pub(crate) fn registers(mut words: WideSet) -> impl Iterator<Item = u8> {
    core::iter::from_fn(move || {
        for (high, word) in (0_u8..).zip(&mut words) {
            if *word != 0 {
                // At most 63.
                let low = u8::try_from(word.trailing_zeros()).unwrap_or(0);
                *word &= *word - 1;
                return Some(high << 6 | low);
            }
        }
        None
    })
}
