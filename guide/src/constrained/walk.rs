//! Walks along the common prefixes of tokens: which of them may come next. Between choices and in them the
//! machine takes only whole choices; `within` finds those, and the tokens that are shorter.

use super::machine::{Lex, Look, Machine, Point};
use super::views::{Sorted, View, with};
use super::within::{Common, Found, Tokens, Tree, Whole};
use crate::vocab::Prefixes;
use core::ops::RangeInclusive;

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
    found: Found,
}

impl Walk {
    /// The entries that were found.
    pub(super) fn entries(&self) -> &[u32] {
        &self.found.entries
    }
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

impl Machine<'_, '_> {
    /// Finds which entries of a tree with these first bytes may come next, in any order:
    /// [`Walk::entries`].
    pub(super) fn walk_tree<'t>(
        &mut self,
        prefixes: &Prefixes,
        first: RangeInclusive<u8>,
        text: &dyn Fn(u32) -> &'t [u8],
    ) {
        let tree = Tree { prefixes, text };
        let start = self.text.len();
        let mut walk = core::mem::take(&mut self.walk);
        walk.found.entries.clear();
        let (from, to) = tree.prefixes.children(Prefixes::ROOT);
        if let Some(entry) = tree.prefixes.entry(Prefixes::ROOT) {
            let bytes = (tree.text)(entry);
            if bytes.first().is_none_or(|byte| first.contains(byte)) && self.takes(bytes) {
                walk.found.entries.push(entry);
            }
        }
        let children = tree.prefixes.within(from, to, first);
        let back = Back { length: start, lex: Some(self.place.lex) };
        self.enter(&tree, start, children, back, &mut walk);
        while let Some(step) = walk.path.last_mut() {
            let next = match &mut step.rest {
                Rest::Bytes(next, end) => self.next_child(tree.prefixes, next, *end, &mut walk.points),
                Rest::Whole(from, _) if walk.found.wholes.len() == *from => None,
                Rest::Whole(_, depth) => {
                    let depth = *depth;
                    let Some(whole) = walk.found.wholes.pop() else { break };
                    if let Some((node, back)) = self.take_whole(&tree, &whole, depth, &mut walk) {
                        if let Some(entry) = tree.prefixes.entry(node) {
                            walk.found.entries.push(entry);
                        }
                        let children = tree.prefixes.children(node);
                        self.enter(&tree, start, children, back, &mut walk);
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
                    walk.found.entries.push(entry);
                }
            }
            self.enter(&tree, start, children, back, &mut walk);
        }
        self.walk = walk;
    }

    /// Goes on to the children of a node, if there are any, or back. Between choices and in them, finds what
    /// does not need the machine.
    fn enter(
        &mut self,
        tree: &Tree<'_, '_>,
        start: usize,
        children: (u32, u32),
        back: Back,
        walk: &mut Walk,
    ) {
        if children.0 == children.1 {
            return self.undo(&back, &mut walk.points);
        }
        let Lex::Choice { low, high, depth } = self.place.lex else {
            return walk.path.push(Step { rest: Rest::Bytes(children.0, children.1), back });
        };
        let from = walk.found.wholes.len();
        // The choices began `depth` bytes before this position.
        let before = (self.text.len() - start).wrapping_sub(depth);
        let view = self.choices();
        let high = high.min(view.len());
        let first = Common { node: Prefixes::ROOT, low, high, depth };
        with!(view, choices => tree.within(choices, children, first, before, &mut walk.found));
        if walk.found.wholes.len() == from {
            return self.undo(&back, &mut walk.points);
        }
        walk.path.push(Step { rest: Rest::Whole(from, depth), back });
    }

    /// Takes a whole choice, of which some bytes were taken. Returns the node behind it, and how to go back.
    fn take_whole(
        &mut self,
        tree: &Tree<'_, '_>,
        whole: &Whole,
        depth: usize,
        walk: &mut Walk,
    ) -> Option<(u32, Back)> {
        let back = Back { length: self.text.len(), lex: None };
        walk.points.push(self.point());
        let taken = self.take_choice(whole.choice, depth);
        match whole.tokens {
            Tokens::Node(node) if taken => return Some((node, back)),
            Tokens::One(entry, from) => {
                if taken && self.takes((tree.text)(entry).get(from..).unwrap_or_default()) {
                    walk.found.entries.push(entry);
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
