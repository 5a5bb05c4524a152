//! The concatenated bytes of the tokens, and the position of each token in them.

/// The bytes of all tokens.
#[derive(Debug)]
pub(super) struct TokenBytes {
    all: Vec<u8>,
    /// Where each token begins, and where the last one ends.
    starts: Vec<u32>,
}

impl TokenBytes {
    /// Tokens of these lengths, concatenated. `None` if the bytes are fewer or more, or over 4 GB.
    pub(super) fn new(all: Vec<u8>, lengths: &[u32]) -> Option<TokenBytes> {
        let mut starts = Vec::with_capacity(lengths.len() + 1);
        let mut at = 0_u32;
        starts.push(at);
        for &length in lengths {
            at = at.checked_add(length)?;
            starts.push(at);
        }
        (all.len() == at as usize).then_some(TokenBytes { all, starts })
    }

    /// The number of tokens.
    pub(super) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The bytes of a token; none if there is no such token.
    #[inline]
    pub(super) fn of(&self, token: usize) -> &[u8] {
        match self.starts.get(token..) {
            Some([start, end, ..]) => self.all.get(*start as usize..*end as usize).unwrap_or_default(),
            _ => &[],
        }
    }

    /// All tokens in order.
    pub(super) fn each(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.count()).map(|token| self.of(token))
    }

    /// The approximate number of bytes of the tokens and of their positions.
    pub(super) fn memory(&self) -> usize {
        self.all.len() + 4 * self.starts.len()
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
            let tokens =
                (b'a'..).zip(lengths).map(|(byte, length)| vec![byte; length as usize]).collect::<Vec<_>>();
            let bytes = TokenBytes::new(tokens.concat(), &lengths).unwrap();
            for (token, expected) in tokens.iter().enumerate() {
                assert_eq!(bytes.of(token), expected, "{token}");
            }
            assert!(bytes.each().eq(&tokens));
            assert_eq!(bytes.of(tokens.len()), b"");
            assert_eq!(bytes.of(usize::MAX), b"");
        }
        let bytes = vec![0; 100];
        assert!(TokenBytes::new(bytes.clone(), &[99]).is_none(), "a byte is left");
        assert!(TokenBytes::new(bytes.clone(), &[99, 2]).is_none(), "a byte is missing");
        assert!(TokenBytes::new(bytes, &[4_000_000_000, 4_000_000_000]).is_none());
    }
}
