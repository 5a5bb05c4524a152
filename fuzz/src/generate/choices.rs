//! Choices read from a byte string, which a fuzzer can change and shorten.
//!
//! A choice of 0 is the plainest, and after the last byte every choice is 0, so a shorter string is a smaller
//! program.

/// The bytes that are not read yet.
#[derive(Clone, Debug)]
pub(super) struct Choices<'b>(&'b [u8]);

impl<'b> Choices<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Choices<'b> {
        Choices(bytes)
    }

    fn byte(&mut self) -> usize {
        match self.0.split_first() {
            Some((&first, rest)) => {
                self.0 = rest;
                usize::from(first)
            }
            None => 0,
        }
    }

    /// A number below `n`, which is at most 256.
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.byte() % n.max(1)
    }

    /// True in this number of 256 cases.
    pub(super) fn chance(&mut self, of_256: usize) -> bool {
        self.byte() >= 256_usize.saturating_sub(of_256)
    }

    /// One of several.
    ///
    /// # Panics
    /// If there are none.
    pub(super) fn pick<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        let at = self.below(of.len());
        &of[at]
    }

    /// An index, chosen with these weights.
    pub(super) fn weighted(&mut self, weights: &[usize]) -> usize {
        let mut left = self.below(weights.iter().sum());
        for (place, &weight) in weights.iter().enumerate() {
            match left.checked_sub(weight) {
                Some(rest) => left = rest,
                None => return place,
            }
        }
        0
    }
}
