//! Walks along the common prefixes of tokens: which of them may come next.

use super::machine::{Lex, Look, Machine, Point};
use crate::vocab::Prefixes;
use core::ops::RangeInclusive;

/// How a walk goes back to before a byte.
enum Back {
    /// Only the position in a choice, a text or a number has changed.
    Lex(Lex),
    All(Box<Point>),
}

/// A node on the path of a walk: its next child, the end of its children, and how to go back to before it.
struct Step {
    next: u32,
    end: u32,
    back: Back,
}

impl Machine<'_, '_> {
    /// Finds which entries of a tree with these first bytes may come next.
    pub(super) fn walk_tree<'t>(
        &mut self,
        tree: &Prefixes,
        first: RangeInclusive<u8>,
        text: impl Fn(u32) -> &'t [u8],
        mut fits: impl FnMut(u32),
    ) {
        let length = self.text.len();
        let (from, to) = tree.children(Prefixes::ROOT);
        if let Some(entry) = tree.entry(Prefixes::ROOT) {
            let bytes = text(entry);
            if bytes.first().is_none_or(|byte| first.contains(byte)) && self.takes(bytes) {
                fits(entry);
            }
        }
        let (least, most) = self.bounds();
        let (next, end) = tree.within(from, to, least.max(*first.start())..=most.min(*first.end()));
        let mut path = vec![Step { next, end, back: Back::Lex(self.place.lex) }];
        while let Some(step) = path.last_mut() {
            if step.next == step.end {
                let depth = path.len() - 1;
                if let Some(step) = path.pop().filter(|_| depth > 0) {
                    self.undo(step.back, length + depth - 1);
                }
                continue;
            }
            let (node, byte) = (step.next, tree.byte(step.next));
            step.next += 1;
            let back = match self.look(byte) {
                Look::Refused => {
                    step.next = match self.next_byte(byte) {
                        Some(next) => tree.seek(step.next, step.end, next),
                        None => step.end,
                    };
                    continue;
                }
                Look::On(next) => {
                    self.text.push(byte);
                    Back::Lex(core::mem::replace(&mut self.place.lex, next))
                }
                Look::Unknown => {
                    let point = self.point();
                    if !self.byte(byte) {
                        self.back(&point);
                        continue;
                    }
                    Back::All(Box::new(point))
                }
            };
            let (from, to) = tree.children(node);
            if let Some(entry) = tree.entry(node) {
                // Without children, it may be longer.
                let rest = if from < to { &[] } else { text(entry).get(path.len()..).unwrap_or_default() };
                if self.takes(rest) {
                    fits(entry);
                }
            }
            let (least, most) = if from < to { self.bounds() } else { (1, 0) };
            let (next, end) = tree.within(from, to, least..=most);
            if next < end {
                path.push(Step { next, end, back });
            } else {
                self.undo(back, length + path.len() - 1);
            }
        }
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
        self.undo(Back::Lex(lex), length);
        fits
    }

    /// Goes back to before a byte, to a text of this length.
    fn undo(&mut self, back: Back, length: usize) {
        match back {
            Back::Lex(lex) => self.place.lex = lex,
            Back::All(point) => self.back(&point),
        }
        self.text.truncate(length);
    }
}
