//! Tokens by their prefixes: a tree whose nodes are stored in breadth-first order, so that the children of a
//! node are neighbours.

use super::bits::{has, set};
use core::ops::RangeInclusive;
use std::collections::VecDeque;

/// No entry.
const NONE: u32 = u32::MAX;

/// A tree of byte strings, each with a number: its entry.
#[derive(Debug, Default)]
pub(crate) struct Prefixes {
    /// The last byte of the prefix of each node.
    bytes: Vec<u8>,
    nodes: Vec<Branching>,
    /// The byte that the entry of each node has after the prefix; 0 if it has none.
    rests: Vec<u8>,
    /// Entries with equal bytes: each with the one that has a node.
    equal: Vec<(u32, u32)>,
}

/// A node, with what a walk needs of it together.
#[derive(Debug)]
struct Branching {
    /// The first child. The last child is before the first one of the next node.
    first: u32,
    /// The entry: one with the prefix, or, where the node has no children, the only one that begins with the
    /// prefix.
    entry: u32,
}

impl Prefixes {
    /// The tree of these entries, which are in the order of their bytes.
    pub(crate) fn new<'t>(sorted: &[u32], text: impl Fn(u32) -> &'t [u8]) -> Prefixes {
        let mut tree = Prefixes::default();
        // The entries below each node that was added but has no children yet, and the length of its prefix.
        let mut open = VecDeque::from([(sorted, 0)]);
        tree.bytes.push(0);
        while let Some((mut below, depth)) = open.pop_front() {
            let (first, mut entry) = (tree.len(), NONE);
            while let Some((&one, rest)) = below.split_first().filter(|it| text(*it.0).len() <= depth) {
                if entry == NONE {
                    entry = one;
                } else {
                    tree.equal.push((entry, one));
                }
                below = rest;
            }
            let mut rest = 0;
            if let ([only], NONE, 1..) = (below, entry, depth) {
                rest = text(*only).get(depth).copied().unwrap_or_default();
                if rest != 0 {
                    entry = *only;
                    below = &[];
                }
            }
            tree.nodes.push(Branching { first, entry });
            tree.rests.push(rest);
            let byte = |entry: &u32| text(*entry).get(depth).copied().unwrap_or_default();
            for child in below.chunk_by(|a, b| byte(a) == byte(b)) {
                tree.bytes.push(child.first().map(byte).unwrap_or_default());
                open.push_back((child, depth + 1));
            }
        }
        tree.nodes.push(Branching { first: tree.len(), entry: NONE });
        tree
    }

    fn len(&self) -> u32 {
        u32::try_from(self.bytes.len()).unwrap_or(NONE)
    }

    /// The node of the empty prefix.
    pub(crate) const ROOT: u32 = 0;

    /// The entry at a node, if it has one.
    pub(crate) fn entry(&self, node: u32) -> Option<u32> {
        self.nodes.get(node as usize).map(|node| node.entry).filter(|&entry| entry != NONE)
    }

    /// The byte that the entry of a node has after the prefix; 0 if it has none.
    pub(crate) fn rest(&self, node: u32) -> u8 {
        self.rests.get(node as usize).copied().unwrap_or_default()
    }

    /// The children of a node: the first one, and the one after the last.
    pub(crate) fn children(&self, node: u32) -> (u32, u32) {
        match self.nodes.get(node as usize..) {
            Some([node, next, ..]) => (node.first, next.first),
            _ => (0, 0),
        }
    }

    /// The last byte of the prefix of a node.
    pub(crate) fn byte(&self, node: u32) -> u8 {
        self.bytes.get(node as usize).copied().unwrap_or_default()
    }

    /// The first of some children with at least this byte; the end if there is none.
    pub(crate) fn seek(&self, from: u32, to: u32, byte: u8) -> u32 {
        let bytes = self.bytes.get(from as usize..to as usize).unwrap_or_default();
        let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else { return from };
        if byte <= first {
            return from;
        }
        let Some(above) = last.checked_sub(byte) else { return to };
        // They differ, so that at most so many are less than the byte, or above it. In nodes with nearly all
        // bytes this leaves few places.
        let most = u32::from(byte - first).min(to - from);
        let least = (to - from - 1).saturating_sub(u32::from(above));
        let places = bytes.get(least as usize..most as usize).unwrap_or_default();
        from + least + u32::try_from(places.partition_point(|&it| it < byte)).unwrap_or_default()
    }

    /// The one of some children with this byte.
    pub(crate) fn child(&self, (from, to): (u32, u32), byte: u8) -> Option<u32> {
        let child = self.seek(from, to, byte);
        (child < to && self.byte(child) == byte).then_some(child)
    }

    /// Those of some children with these bytes.
    pub(crate) fn within(&self, from: u32, to: u32, bytes: RangeInclusive<u8>) -> (u32, u32) {
        if bytes.is_empty() {
            return (from, from);
        }
        let next = self.seek(from, to, *bytes.start());
        (next, bytes.end().checked_add(1).map_or(to, |end| self.seek(next, to, end)))
    }

    /// Sets the entries with the bytes of others, in a mask of entries that have a node.
    pub(crate) fn set_equal(&self, bits: &mut [u32]) {
        for &(entry, equal) in &self.equal {
            if has(bits, entry) {
                set(bits, equal);
            }
        }
    }

    /// The approximate number of bytes of the tree.
    pub(crate) fn memory(&self) -> usize {
        self.bytes.len() + self.rests.len() + self.nodes.len() * size_of::<Branching>() + 8 * self.equal.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The entries of a tree with their bytes.
    fn entries(tree: &Prefixes, texts: &[&str]) -> Vec<(u32, String)> {
        let mut found = Vec::new();
        let mut open = vec![(Prefixes::ROOT, String::new())];
        while let Some((node, prefix)) = open.pop() {
            let (from, to) = tree.children(node);
            if let Some(entry) = tree.entry(node) {
                let text = texts[entry as usize];
                assert!(text.starts_with(&prefix) && (text == prefix || from == to), "{text} {prefix}");
                found.push((entry, text.to_owned()));
            }
            for child in from..to {
                open.push((child, format!("{prefix}{}", char::from(tree.byte(child)))));
            }
        }
        found.extend(tree.equal.iter().map(|&(_, it)| (it, texts[it as usize].to_owned())));
        found.sort();
        found
    }

    #[test]
    fn a_tree_has_each_entry_once() {
        for texts in [
            &[][..],
            &["a"],
            &["a", "a"],
            &["a", "a", "ab", "abc", "abd", "b", "bcdef", "bcdefg", "bcdefg"],
            &["abcdef", "abcdxy"],
        ] {
            let sorted: Vec<u32> = (0..).take(texts.len()).collect();
            let tree = Prefixes::new(&sorted, |entry| texts[entry as usize].as_bytes());
            let all: Vec<_> = (0..).zip(texts.iter().map(|it| (*it).to_owned())).collect();
            assert_eq!(entries(&tree, texts), all);
        }
        let texts = ["ax", "b", "dy"];
        let tree = Prefixes::new(&[0, 1, 2], |entry| texts[entry as usize].as_bytes());
        let (from, to) = tree.children(Prefixes::ROOT);
        let seek = |byte| tree.seek(from, to, byte) - from;
        assert_eq!([seek(b'a'), seek(b'b'), seek(b'c'), seek(b'e')], [0, 1, 2, 3]);
    }

    #[test]
    fn children_are_sought_in_all_sets_of_some_bytes() {
        // Close together and far apart.
        const BYTES: [&str; 10] = ["!", "\"", "#", "A", "B", "m", "x", "y", "z", "~"];
        for set in 0..1_u32 << BYTES.len() {
            let texts: Vec<&str> =
                (0..BYTES.len()).filter(|at| set >> at & 1 == 1).map(|at| BYTES[at]).collect();
            if texts.len() < 2 {
                continue;
            }
            let sorted: Vec<u32> = (0..).take(texts.len()).collect();
            let tree = Prefixes::new(&sorted, |entry| texts[entry as usize].as_bytes());
            let (from, to) = tree.children(Prefixes::ROOT);
            for byte in 0..=u8::MAX {
                let less = texts.iter().filter(|text| text.as_bytes()[0] < byte).count();
                assert_eq!(
                    tree.seek(from, to, byte) - from,
                    u32::try_from(less).unwrap(),
                    "{texts:?} {byte}"
                );
            }
        }
    }
}
