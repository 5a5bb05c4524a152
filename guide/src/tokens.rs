//! Tokens of a text that is followed.

use std::fmt;

/// Bytes that may not come next. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The number of bytes that could have come.
    pub at: usize,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {} may not come next", self.at)
    }
}

impl std::error::Error for Refused {}

/// A text of a session, to be recognised at the beginning of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Print {
    length: usize,
    sum: u64,
}

impl Print {
    pub(crate) fn of(session: usize, text: &[u8]) -> Print {
        let sum = text.chunks(8).fold(session as u64, |sum, chunk| {
            let mut word = [0; 8];
            word.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
            (sum.rotate_left(23) ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        });
        Print { length: text.len(), sum }
    }

    /// Whether a text of a session begins with this one.
    pub(crate) fn begins(self, session: usize, text: &[u8]) -> bool {
        text.get(..self.length).is_some_and(|begun| Print::of(session, begun) == self)
    }
}

/// All texts of this number of small letters.
pub(crate) fn letters(count: u32) -> impl Iterator<Item = String> {
    let letter = |number: u32| char::from(b'a' + u8::try_from(number % 26).unwrap_or_default());
    (0..26_u32.pow(count)).map(move |number| (0..count).map(|at| letter(number / 26_u32.pow(at))).collect())
}
