//! The lengths of ends in tokens. A text is cut from its beginning, the longest token first, so that two ends
//! that have a boundary in common, and the same bytes behind it, have the same tokens there.

use crate::vocab::Vocab;

/// The end that was cut last.
#[derive(Debug, Default)]
pub(super) struct Cuts {
    end: Vec<u8>,
    /// Its boundaries, each as the number of bytes and of tokens behind it; the last one first.
    behind: Vec<(usize, usize)>,
}

impl Cuts {
    /// The number of tokens of an end; `None` if the vocabulary cannot write it.
    pub(super) fn length(&mut self, vocab: &Vocab, end: &[u8]) -> Option<usize> {
        let both = end.iter().rev().zip(self.end.iter().rev());
        let alike = both.take_while(|(a, b)| a == b).count();
        let (mut rest, mut before) = (end, Vec::new());
        let known = loop {
            if rest.is_empty() {
                self.behind.clear();
                break 0;
            }
            if rest.len() <= alike
                && let Ok(at) = self.behind.binary_search_by_key(&rest.len(), |it| it.0)
            {
                self.behind.truncate(at + 1);
                break self.behind.get(at)?.1;
            }
            before.push(rest.len());
            let (_, length) = vocab.longest_at(rest)?;
            rest = rest.get(length..)?;
        };
        self.behind.extend(before.iter().rev().zip(known + 1..).map(|(&bytes, tokens)| (bytes, tokens)));
        end.clone_into(&mut self.end);
        Some(known + before.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_ends_that_are_cut_alone() {
        let tokens = ["a", "b", "ab", "abb", "bba", "aa", ""].map(|it| it.as_bytes().to_vec());
        let vocab = Vocab::new(&tokens, 6).unwrap();
        let mut cuts = Cuts::default();
        // All texts of two letters with up to nine bytes, each after one with another beginning.
        for number in 0..1_u32 << 10 {
            let number = number.wrapping_mul(389) % (1 << 10);
            let bits = (0..number.checked_ilog2().unwrap_or_default()).map(|at| number >> at & 1);
            let text: Vec<u8> = bits.map(|bit| if bit == 0 { b'a' } else { b'b' }).collect();
            assert_eq!(cuts.length(&vocab, &text), vocab.cut(&text).map(|tokens| tokens.len()), "{text:?}");
        }
        assert_eq!(cuts.length(&vocab, b"abcab"), None);
        assert_eq!(cuts.length(&vocab, b"bbaab"), vocab.cut(b"bbaab").map(|tokens| tokens.len()));
    }
}
