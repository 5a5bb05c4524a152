//! Tokens outside texts: a trie of those that could be written there, and one of those that consist of
//! digits.

use super::Vocab;
use super::texts::{Closer, Texts};
use crate::automaton::texts::{Inside, Led, run};
use ilo_asm::sorting::sort_numbers;
use ilo_spec::node::TABLE;

/// No node.
pub(crate) const NO_NODE: u32 = u32::MAX;

const NAMES: [&str; 3] = ["nil", "true", "false"];

/// A node: a byte after those of its parents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrieNode {
    pub(crate) byte: u8,
    pub(crate) child: u32,
    pub(crate) sibling: u32,
    /// Its tokens: a range of the list.
    tokens: (u32, u32),
    /// The text that it opens, if its byte begins a text.
    pub(crate) opens: u32,
}

/// The tokens that begin a text with the same bytes.
#[derive(Debug, Default)]
pub(crate) struct Opening {
    /// The bytes up to the quote.
    pub(crate) prefix: Vec<u8>,
    /// Those that stay in the text.
    pub(crate) stays: Vec<u32>,
    /// Those that end it.
    pub(crate) closers: Vec<Closer>,
}

#[derive(Debug)]
pub(crate) struct Trie {
    nodes: Vec<TrieNode>,
    tokens: Vec<u32>,
    openings: Vec<Opening>,
    first: u32,
    /// The nodes of the tokens' first bytes, with these.
    roots: Vec<(u8, u32)>,
    /// The most words and numbers that a token ends.
    crossings: usize,
}

impl Default for Trie {
    fn default() -> Trie {
        Trie {
            nodes: Vec::new(),
            tokens: Vec::new(),
            openings: Vec::new(),
            first: NO_NODE,
            roots: Vec::new(),
            crossings: 0,
        }
    }
}

/// Whether a token could be written outside texts, and begin one. The rest is checked when a mask is made.
pub(crate) fn is_plausible(token: &[u8]) -> bool {
    let quote = token.iter().position(|&byte| byte == b'"').unwrap_or(token.len());
    let (before, behind) = token.split_at(quote);
    if !before.iter().all(|byte| matches!(byte, b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b' ' | b'\n' | b'.' | b'-' | b'+' | b'_'))
    {
        return false;
    }
    let parts = before.split(|byte| matches!(byte, b' ' | b'\n'));
    let count = parts.clone().count();
    let fits = parts.enumerate().all(|(at, part)| is_part(part, at == 0, at + 1 == count));
    let opens = match behind.split_first() {
        Some((_, rest)) => {
            let starts = before.last().is_none_or(|byte| matches!(byte, b' ' | b'\n'));
            starts && run(Inside::Plain, rest) != Led::Refused
        }
        None => true,
    };
    // A line has a word, and no blank at its end.
    let broken = |pair: &[u8]| matches!(pair, b"\n\n" | b" \n");
    fits && opens && !before.windows(2).any(broken)
}

/// The number of words and numbers that a token ends: each has a blank or a line end after it, and the blanks
/// of an indent end nothing.
fn crossings(token: &[u8]) -> usize {
    let mut before = b'A';
    let ends = |&byte: &u8| {
        let is_end = byte == b'\n' || (byte == b' ' && !matches!(before, b' ' | b'\n'));
        before = byte;
        is_end
    };
    token.iter().copied().filter(ends).count()
}

/// Whether bytes between blanks are a part of a word or a number; those at the ends may be cut off.
fn is_part(part: &[u8], first: bool, last: bool) -> bool {
    if part.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E')) {
        return true;
    }
    let is_name = part.iter().all(u8::is_ascii_lowercase);
    if !is_name && !part.iter().all(|&byte| byte.is_ascii_uppercase() || byte == b'_') {
        return false;
    }
    let (mnemonics, names) = if is_name { (&[][..], &NAMES[..]) } else { (TABLE, &[][..]) };
    let mut words = mnemonics.iter().map(|row| row.mnemonic).chain(names.iter().copied()).map(str::as_bytes);
    match (first, last) {
        (true, true) => words.any(|word| word.windows(part.len()).any(|window| window == part)),
        (true, false) => words.any(|word| word.ends_with(part)),
        (false, true) => words.any(|word| word.starts_with(part)),
        (false, false) => words.any(|word| word == part),
    }
}

fn is_digits(token: &[u8]) -> bool {
    token.iter().all(u8::is_ascii_digit)
}

impl Trie {
    pub(super) fn new(vocab: &Vocab, texts: &mut Texts) -> Trie {
        let mut trie = Trie::default();
        let mut path: Vec<(u8, u32)> = Vec::new();
        for &token in &vocab.sorted {
            let bytes = vocab.token(token);
            if is_digits(bytes) || !is_plausible(bytes) {
                continue;
            }
            let quote = bytes.iter().position(|&byte| byte == b'"');
            let outside = bytes.get(..quote.map_or(bytes.len(), |quote| quote + 1)).unwrap_or_default();
            trie.crossings = trie.crossings.max(crossings(outside));
            let common = path.iter().zip(outside).take_while(|(a, b)| a.0 == **b).count();
            // A child follows those that its parent has already: the last of this level is its elder sibling.
            let mut elder = path.get(common).map_or(NO_NODE, |it| it.1);
            path.truncate(common);
            for &byte in outside.get(common..).unwrap_or_default() {
                let parent = path.last().map_or(NO_NODE, |it| it.1);
                let node = trie.add(byte, parent, elder);
                elder = NO_NODE;
                path.push((byte, node));
            }
            let Some(&(_, node)) = path.last() else { continue };
            match quote {
                Some(quote) => trie.open(node, token, bytes, quote, texts),
                None => trie.give(node, token),
            }
        }
        let mut root = trie.first;
        while let Some(node) = trie.nodes.get(root as usize) {
            trie.roots.push((node.byte, root));
            root = node.sibling;
        }
        trie
    }

    fn add(&mut self, byte: u8, parent: u32, elder: u32) -> u32 {
        let node = u32::try_from(self.nodes.len()).unwrap_or(NO_NODE);
        self.nodes.push(TrieNode { byte, child: NO_NODE, sibling: NO_NODE, tokens: (0, 0), opens: NO_NODE });
        if let Some(elder) = self.nodes.get_mut(elder as usize) {
            elder.sibling = node;
        } else if let Some(parent) = self.nodes.get_mut(parent as usize) {
            parent.child = node;
        } else if self.first == NO_NODE {
            self.first = node;
        }
        node
    }

    fn give(&mut self, node: u32, token: u32) {
        let end = u32::try_from(self.tokens.len()).unwrap_or_default();
        self.tokens.push(token);
        if let Some(node) = self.nodes.get_mut(node as usize) {
            // Tokens with the same bytes are adjacent.
            let start = if node.tokens.1 == end { node.tokens.0 } else { end };
            node.tokens = (start, end + 1);
        }
    }

    fn open(&mut self, node: u32, token: u32, bytes: &[u8], quote: usize, texts: &mut Texts) {
        let Some(place) = self.nodes.get_mut(node as usize) else { return };
        if place.opens == NO_NODE {
            place.opens = u32::try_from(self.openings.len()).unwrap_or(NO_NODE);
            let prefix = bytes.get(..=quote).unwrap_or_default().to_vec();
            self.openings.push(Opening { prefix, ..Opening::default() });
        }
        let Some(opening) = self.openings.get_mut(place.opens as usize) else { return };
        let rest = bytes.get(quote + 1..).unwrap_or_default();
        match run(Inside::Plain, rest) {
            Led::Refused => {}
            Led::On(_) => opening.stays.push(token),
            Led::Closed(at) => {
                let tail = texts.tail(rest.get(at..).unwrap_or_default());
                opening.closers.extend(tail.map(|tail| Closer { tail, token }));
            }
        }
    }

    /// The nodes of the tokens' first bytes, with these.
    pub(crate) fn roots(&self) -> &[(u8, u32)] {
        &self.roots
    }

    pub(crate) fn crossings(&self) -> usize {
        self.crossings
    }

    pub(crate) fn node(&self, node: u32) -> Option<&TrieNode> {
        self.nodes.get(node as usize)
    }

    pub(crate) fn tokens(&self, node: &TrieNode) -> &[u32] {
        let (from, to) = node.tokens;
        self.tokens.get(from as usize..to as usize).unwrap_or_default()
    }

    pub(crate) fn opening(&self, node: &TrieNode) -> Option<&Opening> {
        self.openings.get(node.opens as usize)
    }

    pub(super) fn memory(&self) -> usize {
        let openings =
            self.openings.iter().map(|it| it.prefix.len() + 4 * it.stays.len() + 8 * it.closers.len());
        24 * self.nodes.len() + 4 * self.tokens.len() + openings.sum::<usize>()
    }
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
    /// By length, then by bytes; and where each length ends.
    by_length: Vec<u32>,
    ends: Vec<usize>,
    /// The tokens that may begin a number, likewise: a zero is a token of its own.
    leading: Vec<u32>,
    leading_ends: Vec<usize>,
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
        let ends = |all: &[u32]| -> Vec<usize> {
            (0..=crate::automaton::numbers::MOST_WHOLE)
                .map(|length| all.partition_point(|&token| vocab.token(token).len() <= length))
                .collect()
        };
        digits.leading = all.iter().copied().filter(leads).collect();
        digits.leading_ends = ends(&digits.leading);
        digits.ends = ends(&all);
        digits.by_length = all;
        digits
    }

    fn insert(&mut self, bytes: &[u8], token: u32) {
        // Longer tokens are not integers that can be written, nor digits of a number.
        if bytes.len() > crate::automaton::numbers::MOST_WHOLE {
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
        tokens + 4 * (self.by_length.len() + self.leading.len())
    }

    /// The tokens of at most this number of digits; if set, only those that may begin a number.
    pub(crate) fn up_to(&self, length: usize, leading: bool) -> &[u32] {
        let (all, ends) =
            if leading { (&self.leading, &self.leading_ends) } else { (&self.by_length, &self.ends) };
        let end = ends.get(length).or(ends.last()).copied().unwrap_or_default();
        all.get(..end).unwrap_or_default()
    }
}
