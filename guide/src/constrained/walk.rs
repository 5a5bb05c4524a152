//! Walks along the common prefixes of tokens: which of them may come next. Between choices and in them, both
//! the tree of tokens and the choices are in the order of their bytes, so that only common bytes are looked
//! at, and the machine takes only whole choices.

use super::choices::View;
use super::machine::{Lex, Look, Machine, Point};
use crate::vocab::Prefixes;
use core::ops::RangeInclusive;

/// Of a node with at most so many children, each is looked for among the choices; otherwise the other way.
const FEW: u32 = 6;

/// How a walk goes back to before some bytes, to a body of a certain length.
#[derive(Debug)]
struct Back {
    length: usize,
    /// The position in a choice, a text or a number; if more has changed, the last of [`Walk::points`].
    lex: Option<Lex>,
}

/// A position on the path of a walk.
#[derive(Debug)]
struct Step {
    rest: Rest,
    back: Back,
}

/// The data of a walk, whose memory the next one uses again.
#[derive(Default)]
pub(super) struct Walk {
    path: Vec<Step>,
    /// Positions to go back to.
    points: Vec<Point>,
    wholes: Vec<Whole>,
    open: Vec<Common>,
}

impl Clone for Walk {
    fn clone(&self) -> Walk {
        Walk::default()
    }
}

/// What is left to be tried at a position.
#[derive(Debug)]
enum Rest {
    /// Byte by byte, these children of a node.
    Bytes(u32, u32),
    /// The whole choices from this index on of those that were found, which begin after this number of bytes
    /// of a choice.
    Whole(usize, usize),
}

/// The end of a choice within tokens.
struct Whole {
    /// The place of the choice.
    choice: usize,
    tokens: Tokens,
}

/// The tokens that go on behind a choice.
enum Tokens {
    /// Those below a node.
    Node(u32),
    /// One, from this byte on.
    One(u32, usize),
}

/// Some choices that begin alike, and a node of the tree with the same bytes.
#[derive(Clone, Copy)]
struct Common {
    node: u32,
    low: usize,
    high: usize,
    /// The bytes of the choices so far.
    depth: usize,
}

/// A tree of entries, with the bytes of each.
struct Tree<'v, T> {
    prefixes: &'v Prefixes,
    text: T,
}

impl<'t, T: Fn(u32) -> &'t [u8]> Tree<'_, T> {
    /// Finds the entries within some choices, and the choices that end within entries. `before` is the number
    /// of bytes of entries minus that of the choices, modulo 2^64.
    fn within(
        &self,
        view: View<'_>,
        (from, to): (u32, u32),
        first: Common,
        before: usize,
        walk: &mut Walk,
        fits: &mut impl FnMut(u32),
    ) {
        let Walk { wholes, open, .. } = walk;
        self.branch(view, (from, to), first, open);
        while let Some(mut common) = open.pop() {
            let Some(bytes) = view.bytes(common.low) else { continue };
            loop {
                let next = bytes.get(common.depth).copied();
                let children = self.prefixes.children(common.node);
                if children.0 == children.1 {
                    self.leaf(view, common, (next, before), wholes, fits);
                    break;
                }
                let Some(next) = next else {
                    wholes.push(Whole { choice: common.low, tokens: Tokens::Node(common.node) });
                    break;
                };
                if let Some(entry) = self.prefixes.entry(common.node) {
                    fits(entry);
                }
                if common.low + 1 < common.high {
                    self.branch(view, children, common, open);
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
        view: View<'_>,
        common: Common,
        (next, before): (Option<u8>, usize),
        wholes: &mut Vec<Whole>,
        fits: &mut impl FnMut(u32),
    ) {
        let Some(entry) = self.prefixes.entry(common.node) else { return };
        let rest = self.prefixes.rest(common.node);
        if rest == 0 {
            return fits(entry);
        }
        // Most are refused by one byte.
        if common.low + 1 == common.high && next.is_some_and(|next| next != rest) {
            return;
        }
        let taken = before.wrapping_add(common.depth);
        match goes_on(view, common, (self.text)(entry).get(taken..).unwrap_or_default()) {
            Some(GoesOn::Within) => fits(entry),
            Some(GoesOn::Behind(choice, length)) => {
                wholes.push(Whole { choice, tokens: Tokens::One(entry, taken + length) });
            }
            None => {}
        }
    }

    /// Finds the children of a node with the next byte of some choices.
    fn branch(&self, view: View<'_>, (mut from, to): (u32, u32), common: Common, open: &mut Vec<Common>) {
        let Common { low, high, depth, .. } = common;
        if to - from <= FEW {
            for node in from..to {
                let byte = self.prefixes.byte(node);
                let at = view.from(view.seek(low, high, depth, byte));
                if at < high && view.byte(at, depth) == Some(byte) {
                    let high = view.alike(at, high, depth, byte);
                    open.push(Common { node, low: at, high, depth: depth + 1 });
                }
            }
            return;
        }
        let mut at = view.from(low);
        while at < high && from < to {
            let Some(byte) = view.byte(at, depth) else { return };
            let end = view.alike(at, high, depth, byte);
            from = self.prefixes.seek(from, to, byte);
            if from < to && self.prefixes.byte(from) == byte {
                open.push(Common { node: from, low: at, high: end, depth: depth + 1 });
                from += 1;
            }
            at = view.from(end);
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
fn goes_on(view: View<'_>, common: Common, bytes: &[u8]) -> Option<GoesOn> {
    let Common { mut low, mut high, depth, .. } = common;
    for (at, &byte) in bytes.iter().enumerate() {
        let choice = view.bytes(low).filter(|_| low < high)?;
        if choice.len() == depth + at {
            return Some(GoesOn::Behind(low, at));
        }
        if low + 1 == high {
            let rest = choice.get(depth + at..)?;
            let bytes = bytes.get(at..)?;
            let length = rest.len().min(bytes.len());
            return match bytes.starts_with(rest.get(..length)?) {
                true if length == bytes.len() => Some(GoesOn::Within),
                true => Some(GoesOn::Behind(low, at + length)),
                false => None,
            };
        }
        let next = view.from(view.seek(low, high, depth + at, byte));
        if view.byte(next, depth + at).filter(|_| next < high) != Some(byte) {
            return None;
        }
        high = view.alike(next, high, depth + at, byte);
        low = next;
    }
    Some(GoesOn::Within)
}

impl Machine<'_, '_> {
    /// Finds which entries of a tree with these first bytes may come next, in any order.
    pub(super) fn walk_tree<'t>(
        &mut self,
        tree: &Prefixes,
        first: RangeInclusive<u8>,
        text: impl Fn(u32) -> &'t [u8],
        mut fits: impl FnMut(u32),
    ) {
        let tree = Tree { prefixes: tree, text };
        let start = self.text.len();
        let (from, to) = tree.prefixes.children(Prefixes::ROOT);
        if let Some(entry) = tree.prefixes.entry(Prefixes::ROOT) {
            let bytes = (tree.text)(entry);
            if bytes.first().is_none_or(|byte| first.contains(byte)) && self.takes(bytes) {
                fits(entry);
            }
        }
        let children = tree.prefixes.within(from, to, first);
        let mut walk = core::mem::take(&mut self.walk);
        let back = Back { length: start, lex: Some(self.place.lex) };
        self.enter(&tree, start, children, back, &mut walk, &mut fits);
        while let Some(step) = walk.path.last_mut() {
            let next = match &mut step.rest {
                Rest::Bytes(next, end) => self.next_child(tree.prefixes, next, *end, &mut walk.points),
                Rest::Whole(from, _) if walk.wholes.len() == *from => None,
                Rest::Whole(_, depth) => {
                    let depth = *depth;
                    let Some(whole) = walk.wholes.pop() else { break };
                    if let Some((node, back)) = self.take_whole(&tree, &whole, depth, &mut walk, &mut fits) {
                        if let Some(entry) = tree.prefixes.entry(node) {
                            fits(entry);
                        }
                        let children = tree.prefixes.children(node);
                        self.enter(&tree, start, children, back, &mut walk, &mut fits);
                    }
                    continue;
                }
            };
            let Some((node, back)) = next else {
                let Some(step) = walk.path.pop() else { break };
                self.undo(&step.back, &mut walk.points);
                continue;
            };
            let children = tree.prefixes.children(node);
            if let Some(entry) = tree.prefixes.entry(node) {
                // Without children, it may be longer.
                let is_leaf = children.0 == children.1;
                let written = self.text.len() - start;
                let rest = if is_leaf { (tree.text)(entry).get(written..).unwrap_or_default() } else { &[] };
                if self.takes(rest) {
                    fits(entry);
                }
            }
            self.enter(&tree, start, children, back, &mut walk, &mut fits);
        }
        self.walk = walk;
    }

    /// Goes on to the children of a node, if there are any, or back. Between choices and in them, finds what
    /// does not need the machine.
    fn enter<'t, T: Fn(u32) -> &'t [u8]>(
        &mut self,
        tree: &Tree<'_, T>,
        start: usize,
        children: (u32, u32),
        back: Back,
        walk: &mut Walk,
        fits: &mut impl FnMut(u32),
    ) {
        if children.0 == children.1 {
            return self.undo(&back, &mut walk.points);
        }
        let Lex::Choice { low, high, depth } = self.place.lex else {
            return walk.path.push(Step { rest: Rest::Bytes(children.0, children.1), back });
        };
        let from = walk.wholes.len();
        // The choices began `depth` bytes before this position.
        let before = (self.text.len() - start).wrapping_sub(depth);
        let view = self.choices();
        let high = high.min(view.len());
        let first = Common { node: Prefixes::ROOT, low, high, depth };
        tree.within(view, children, first, before, walk, fits);
        if walk.wholes.len() == from {
            return self.undo(&back, &mut walk.points);
        }
        walk.path.push(Step { rest: Rest::Whole(from, depth), back });
    }

    /// Takes a whole choice, of which some bytes were taken. Returns the node behind it, and how to go back.
    fn take_whole<'t, T: Fn(u32) -> &'t [u8]>(
        &mut self,
        tree: &Tree<'_, T>,
        whole: &Whole,
        depth: usize,
        walk: &mut Walk,
        fits: &mut impl FnMut(u32),
    ) -> Option<(u32, Back)> {
        let back = Back { length: self.text.len(), lex: None };
        walk.points.push(self.point());
        let taken = self.take_choice(whole.choice, depth);
        match whole.tokens {
            Tokens::Node(node) if taken => return Some((node, back)),
            Tokens::One(entry, from) => {
                if taken && self.takes((tree.text)(entry).get(from..).unwrap_or_default()) {
                    fits(entry);
                }
            }
            Tokens::Node(_) => {}
        }
        self.undo(&back, &mut walk.points);
        None
    }

    /// Takes the byte of the next child that may come next. Returns the child, and how to go back.
    fn next_child(
        &mut self,
        tree: &Prefixes,
        next: &mut u32,
        end: u32,
        points: &mut Vec<Point>,
    ) -> Option<(u32, Back)> {
        let length = self.text.len();
        while *next < end {
            let (node, byte) = (*next, tree.byte(*next));
            *next += 1;
            match self.look(byte) {
                Look::Refused => {
                    *next = self.next_byte(byte).map_or(end, |above| tree.seek(*next, end, above));
                }
                Look::On(lex) => {
                    self.text.push(byte);
                    let lex = core::mem::replace(&mut self.place.lex, lex);
                    return Some((node, Back { length, lex: Some(lex) }));
                }
                Look::Unknown => {
                    let back = Back { length, lex: None };
                    points.push(self.point());
                    if self.byte(byte) {
                        return Some((node, back));
                    }
                    self.undo(&back, points);
                }
            }
        }
        None
    }

    /// Whether these bytes may come next.
    pub(super) fn takes(&mut self, bytes: &[u8]) -> bool {
        let (length, lex) = (self.text.len(), self.place.lex);
        let mut point = None;
        let fits = bytes.iter().all(|&byte| match self.look(byte) {
            Look::Refused => false,
            Look::On(next) => {
                self.text.push(byte);
                self.place.lex = next;
                true
            }
            Look::Unknown => {
                if point.is_none() {
                    point = Some(self.point());
                }
                self.byte(byte)
            }
        });
        if let Some(point) = point {
            self.back(&point);
        }
        self.place.lex = lex;
        self.text.truncate(length);
        fits
    }

    /// Goes back to before some bytes.
    fn undo(&mut self, back: &Back, points: &mut Vec<Point>) {
        match back.lex {
            Some(lex) => self.place.lex = lex,
            None => {
                if let Some(point) = points.pop() {
                    self.back(&point);
                }
            }
        }
        self.text.truncate(back.length);
    }
}
