//! A set of registers.

/// A set of registers, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Set([u64; 4]);

impl Set {
    #[inline]
    pub(crate) fn has(&self, register: u8) -> bool {
        self.0[usize::from(register >> 6)] >> (register & 63) & 1 != 0
    }

    #[inline]
    pub(crate) fn add(&mut self, register: u8) {
        self.0[usize::from(register >> 6)] |= 1 << (register & 63);
    }

    #[inline]
    pub(crate) fn remove(&mut self, register: u8) {
        self.0[usize::from(register >> 6)] &= !(1 << (register & 63));
    }

    #[inline]
    pub(crate) fn join(&mut self, other: &Set) {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word |= other;
        }
    }

    #[inline]
    pub(crate) fn without(mut self, other: &Set) -> Set {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word &= !other;
        }
        self
    }

    #[inline]
    pub(crate) fn meet(&mut self, other: &Set) {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word &= other;
        }
    }

    /// The registers, from the lowest.
    #[inline]
    pub(crate) fn iter(self) -> impl Iterator<Item = u8> {
        let mut words = self.0;
        core::iter::from_fn(move || {
            for (high, word) in (0_u8..).zip(&mut words) {
                if *word != 0 {
                    // Below 64.
                    let low = u8::try_from(word.trailing_zeros()).unwrap_or(0);
                    *word &= *word - 1;
                    return Some(high << 6 | low);
                }
            }
            None
        })
    }
}
