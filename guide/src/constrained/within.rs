//! Which tokens are within choices, and which choices end within tokens. Both the tree of the tokens and the
//! choices are in the order of their bytes, so that only common bytes are looked at.

use super::choices::View;
use crate::surface::walk::{Common, Found, Tokens, Tree, Whole};

/// Of a node with at most so many children, each is looked for among the choices; otherwise the other way.
const FEW: u32 = 6;

impl Tree<'_, '_> {
    /// Finds the entries within some choices, and the choices that end within entries, among these children
    /// of a node. `before` is the number of bytes of entries minus that of the choices, modulo 2^64.
    pub(super) fn within(
        &self,
        choices: View<'_>,
        children: (u32, u32),
        first: Common,
        before: usize,
        found: &mut Found,
    ) {
        self.branch(choices, children, first, &mut found.open);
        while let Some(mut common) = found.open.pop() {
            let Some(bytes) = choices.text(common.low) else { continue };
            loop {
                let next = bytes.get(common.depth).copied();
                let children = self.prefixes.children(common.node);
                if children.0 == children.1 {
                    self.leaf(choices, common, (next, before), found);
                    break;
                }
                let Some(next) = next else {
                    found.wholes.push(Whole { choice: common.low, tokens: Tokens::Node(common.node) });
                    break;
                };
                if let Some(entry) = self.prefixes.entry(common.node) {
                    found.entries.push(entry);
                }
                if common.low + 1 < common.high {
                    self.branch(choices, children, common, &mut found.open);
                    break;
                }
                let Some(node) = self.prefixes.child(children, next) else { break };
                common = Common { node, depth: common.depth + 1, ..common };
            }
        }
    }

    /// Decides about the entry of a node without children, which may be longer than its prefix. The first of
    /// the choices has this byte next.
    fn leaf(
        &self,
        choices: View<'_>,
        common: Common,
        (next, before): (Option<u8>, usize),
        found: &mut Found,
    ) {
        let Some(entry) = self.prefixes.entry(common.node) else { return };
        let rest = self.prefixes.rest(common.node);
        if rest == 0 {
            return found.entries.push(entry);
        }
        // Most are refused by one byte.
        if common.low + 1 == common.high && next.is_some_and(|next| next != rest) {
            return;
        }
        let taken = before.wrapping_add(common.depth);
        match goes_on(choices, common, (self.text)(entry).get(taken..).unwrap_or_default()) {
            Some(GoesOn::Within) => found.entries.push(entry),
            Some(GoesOn::Behind(choice, length)) => {
                found.wholes.push(Whole { choice, tokens: Tokens::One(entry, taken + length) });
            }
            None => {}
        }
    }

    /// Finds the children of a node with the next byte of some choices.
    fn branch(&self, choices: View<'_>, (mut from, to): (u32, u32), common: Common, open: &mut Vec<Common>) {
        let Common { low, high, depth, .. } = common;
        let mut low = choices.from(low);
        if to - from <= FEW {
            for node in from..to {
                let byte = self.prefixes.byte(node);
                if low < high && choices.byte(low, depth) < Some(byte) {
                    low = choices.from(choices.seek(low + 1, high, depth, byte));
                }
                if low >= high {
                    return;
                }
                if choices.byte(low, depth) == Some(byte) {
                    let end = choices.alike(low, high, depth, byte);
                    open.push(Common { node, low, high: end, depth: depth + 1 });
                    low = choices.from(end);
                }
            }
            return;
        }
        while low < high && from < to {
            let Some(byte) = choices.byte(low, depth) else { return };
            let end = choices.alike(low, high, depth, byte);
            from = self.prefixes.seek(from, to, byte);
            if from < to && self.prefixes.byte(from) == byte {
                open.push(Common { node: from, low, high: end, depth: depth + 1 });
                from += 1;
            }
            low = choices.from(end);
        }
    }
}

/// How bytes continue some choices.
enum GoesOn {
    Within,
    /// Behind this choice, which takes this number of them.
    Behind(usize, usize),
}

/// How these bytes continue some choices, if one begins with them or is at their beginning.
fn goes_on(choices: View<'_>, common: Common, bytes: &[u8]) -> Option<GoesOn> {
    let Common { mut low, mut high, depth, .. } = common;
    for (at, &byte) in bytes.iter().enumerate() {
        if choices.text(low)?.len() == depth + at {
            return Some(GoesOn::Behind(low, at));
        }
        (low, high) = choices.narrow(low, high, depth + at, byte)?;
    }
    Some(GoesOn::Within)
}
