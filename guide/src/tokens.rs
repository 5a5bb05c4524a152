//! Tokens of a text that is followed.

use crate::vocab::Vocab;
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

/// A known end of a text, as tokens.
#[derive(Clone, Debug)]
pub(crate) struct End {
    vocab: u64,
    /// The length of the text when the end was found.
    at: usize,
    /// The text at that time, with its end.
    whole: Vec<u8>,
    tokens: Vec<u32>,
}

impl End {
    /// The end of a text, and its tokens.
    pub(crate) fn new(vocab: &Vocab, text: &[u8], end: &[u8], tokens: Vec<u32>) -> End {
        End { vocab: vocab.id, at: text.len(), whole: [text, end].concat(), tokens }
    }

    pub(crate) fn is_of(&self, vocab: &Vocab) -> bool {
        self.vocab == vocab.id
    }

    /// Whether a text continues the one that it ends.
    pub(crate) fn precedes(&self, text: &[u8]) -> bool {
        self.whole.get(..self.at).is_some_and(|before| text.starts_with(before))
    }

    /// The number of its tokens.
    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The tokens of it that a text still needs, if the text has continued with the others.
    pub(crate) fn rest(&self, vocab: &Vocab, text: &[u8]) -> Option<&[u32]> {
        if !self.is_of(vocab) || !self.whole.starts_with(text) {
            return None;
        }
        let mut at = self.at;
        let mut rest = self.tokens.as_slice();
        while at < text.len()
            && let Some((&token, behind)) = rest.split_first()
        {
            at += vocab.token(token).len();
            rest = behind;
        }
        (at == text.len()).then_some(rest)
    }
}

/// All texts of this number of small letters.
pub(crate) fn letters(count: u32) -> impl Iterator<Item = String> {
    let letter = |number: u32| char::from(b'a' + u8::try_from(number % 26).unwrap_or_default());
    (0..26_u32.pow(count)).map(move |number| (0..count).map(|at| letter(number / 26_u32.pow(at))).collect())
}
