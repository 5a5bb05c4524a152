//! The concatenated bytes of the tokens, and the position of each token in them.

use std::collections::HashMap;

/// The size of a block of tokens. The position of its first token is stored; from there lengths are summed.
const BLOCK: usize = 8;
/// The length that is stored for longer tokens.
const LONG: u8 = u8::MAX;

/// The bytes of all tokens.
#[derive(Debug, Default)]
pub(super) struct Bytes {
    all: Vec<u8>,
    count: usize,
    /// Where the first token of each block begins, and the lengths of its tokens.
    blocks: Vec<(u32, [u8; BLOCK])>,
    /// The lengths of long tokens.
    long: HashMap<usize, u32>,
}

/// The sum of the first lengths of a block.
fn sum(lengths: [u8; BLOCK], count: usize) -> usize {
    const EVERY_OTHER: u64 = 0x00ff_00ff_00ff_00ff;
    let first = u64::from_le_bytes(lengths) & !(u64::MAX << (8 * count));
    let pairs = (first & EVERY_OTHER) + (first >> 8 & EVERY_OTHER);
    usize::from(u16::try_from(pairs.wrapping_mul(0x0001_0001_0001_0001) >> 48).unwrap_or_default())
}

impl Bytes {
    /// Tokens of these lengths, concatenated. `None` if the bytes are fewer or more, or over 4 GB.
    pub(super) fn new(all: Vec<u8>, lengths: impl ExactSizeIterator<Item = usize>) -> Option<Bytes> {
        let count = lengths.len();
        let mut bytes =
            Bytes { count, blocks: Vec::with_capacity(count.div_ceil(BLOCK)), ..Bytes::default() };
        let mut at = 0_u32;
        for (token, length) in lengths.enumerate() {
            if token.is_multiple_of(BLOCK) {
                bytes.blocks.push((at, [0; BLOCK]));
            }
            let short = u8::try_from(length).unwrap_or(LONG);
            let length = u32::try_from(length).ok()?;
            if short == LONG {
                bytes.long.insert(token, length);
            }
            *bytes.blocks.last_mut()?.1.get_mut(token % BLOCK)? = short;
            at = at.checked_add(length)?;
        }
        bytes.all = all;
        (bytes.all.len() == at as usize).then_some(bytes)
    }

    /// The number of tokens.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    fn length(&self, token: usize, short: u8) -> usize {
        if short == LONG { self.long.get(&token).map_or(0, |&it| it as usize) } else { short.into() }
    }

    /// The bytes of a token; none if there is no such token.
    #[inline]
    pub(super) fn of(&self, token: usize) -> &[u8] {
        let Some(&(start, lengths)) = self.blocks.get(token / BLOCK) else { return &[] };
        let place = token % BLOCK;
        let last = lengths.get(place).map_or(0, |&short| self.length(token, short));
        let before = if self.long.is_empty() {
            sum(lengths, place)
        } else {
            (token - place..token).zip(lengths).map(|(token, short)| self.length(token, short)).sum()
        };
        let start = start as usize + before;
        self.all.get(start..start + last).unwrap_or_default()
    }

    /// All tokens in order.
    pub(super) fn each(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.all.as_slice();
        let lengths = self.blocks.iter().flat_map(|block| block.1).take(self.count);
        (0..).zip(lengths).map(move |(token, short)| {
            let (bytes, behind) = rest.split_at_checked(self.length(token, short)).unwrap_or_default();
            rest = behind;
            bytes
        })
    }

    /// The approximate number of bytes of the tokens and of their positions.
    pub(super) fn memory(&self) -> usize {
        self.all.len() + (4 + BLOCK) * self.blocks.len() + 16 * self.long.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_token_has_its_bytes_whatever_its_length() {
        let long = [0, 3, 254, 255, 256, 1, 0, 70_000, 2, 5, 0, 300, 7, 1, 1, 1, 255, 4];
        let short = [254, 254, 254, 254, 254, 254, 254, 254, 9, 0, 0, 1, 2, 3, 200, 1, 5, 0];
        for lengths in [long, short] {
            let tokens = (b'a'..).zip(lengths).map(|(byte, length)| vec![byte; length]).collect::<Vec<_>>();
            let bytes = Bytes::new(tokens.concat(), lengths.into_iter()).unwrap();
            for (token, expected) in tokens.iter().enumerate() {
                assert_eq!(bytes.of(token), expected, "{token}");
            }
            assert!(bytes.each().eq(&tokens));
            assert_eq!(bytes.of(tokens.len()), b"");
            assert_eq!(bytes.of(usize::MAX), b"");
        }
        let bytes = vec![0; 100];
        assert!(Bytes::new(bytes.clone(), [99].into_iter()).is_none(), "a byte is left");
        assert!(Bytes::new(bytes.clone(), [99, 2].into_iter()).is_none(), "a byte is missing");
        assert!(Bytes::new(bytes, [4_000_000_000, 4_000_000_000].into_iter()).is_none());
    }
}
