//! The tokens that consist of digits.

use super::Vocab;
use crate::automaton::numbers::MOST_WHOLE;
use ilo_asm::sorting::sort_numbers;

/// No node.
pub(crate) const NO_NODE: u32 = u32::MAX;

fn is_digits(token: &[u8]) -> bool {
    token.iter().all(u8::is_ascii_digit)
}

/// A node of digits.
#[derive(Clone, Debug)]
pub(crate) struct DigitNode {
    pub(crate) children: [u32; 10],
    pub(crate) tokens: Vec<u32>,
}

/// The tokens that consist of digits.
#[derive(Debug, Default)]
pub(crate) struct Digits {
    /// The first is the root.
    nodes: Vec<DigitNode>,
    /// All, and those that may begin a number: a zero is a token of its own. By length, then by bytes, and
    /// where each length ends.
    lists: [(Vec<u32>, Vec<usize>); 2],
}

impl Digits {
    pub(super) fn new(vocab: &Vocab) -> Digits {
        let root = DigitNode { children: [NO_NODE; 10], tokens: Vec::new() };
        let mut digits = Digits { nodes: vec![root], ..Digits::default() };
        let begun = (b'0'..=b'9').flat_map(|digit| vocab.with_first(digit));
        let mut all: Vec<u32> = begun.copied().filter(|&token| is_digits(vocab.token(token))).collect();
        for &token in &all {
            digits.insert(vocab.token(token), token);
        }
        sort_numbers(&mut all, &|a, b| vocab.token(a).len().cmp(&vocab.token(b).len()));
        let leads =
            |token: &u32| vocab.token(*token).len() == 1 || vocab.token(*token).first() != Some(&b'0');
        let leading = all.iter().copied().filter(leads).collect();
        digits.lists = [all, leading].map(|all: Vec<u32>| {
            let end = |length| all.partition_point(|&token| vocab.token(token).len() <= length);
            let ends = (0..=MOST_WHOLE).map(end).collect();
            (all, ends)
        });
        digits
    }

    fn insert(&mut self, bytes: &[u8], token: u32) {
        // Longer tokens are not integers that can be written, nor digits of a number.
        if bytes.len() > MOST_WHOLE {
            return;
        }
        let mut at = 0;
        for &byte in bytes {
            let digit = usize::from(byte.wrapping_sub(b'0'));
            let next = self.nodes.get(at).and_then(|node| node.children.get(digit)).copied();
            at = match next {
                Some(NO_NODE) => {
                    let new = self.nodes.len();
                    self.nodes.push(DigitNode { children: [NO_NODE; 10], tokens: Vec::new() });
                    if let Some(place) = self.nodes.get_mut(at).and_then(|node| node.children.get_mut(digit))
                    {
                        *place = u32::try_from(new).unwrap_or(NO_NODE);
                    }
                    new
                }
                Some(next) => next as usize,
                None => return,
            };
        }
        if let Some(node) = self.nodes.get_mut(at) {
            node.tokens.push(token);
        }
    }

    pub(crate) fn node(&self, node: u32) -> Option<&DigitNode> {
        self.nodes.get(node as usize)
    }

    pub(super) fn memory(&self) -> usize {
        let tokens: usize =
            self.nodes.iter().map(|node| size_of::<DigitNode>() + 4 * node.tokens.len()).sum();
        tokens + self.lists.iter().map(|it| 4 * it.0.len()).sum::<usize>()
    }

    /// The tokens of at most this number of digits; if set, only those that may begin a number.
    pub(crate) fn up_to(&self, length: usize, leading: bool) -> &[u32] {
        let [every, first] = &self.lists;
        let (all, ends) = if leading { first } else { every };
        let end = ends.get(length).or(ends.last()).copied().unwrap_or_default();
        all.get(..end).unwrap_or_default()
    }
}
