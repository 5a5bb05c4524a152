//! Walks along the common prefixes of tokens: which of them may come next. Between choices and in them a
//! notation may find whole choices, and the tokens that are shorter. What masks in one text have in common is
//! found once.

use crate::automaton::formats;
use crate::automaton::state::Phase;
use crate::automaton::texts::Inside;
use crate::surface::Bytes;
use crate::vocab::bits::set;
use crate::vocab::{Closer, Prefixes, Vocab};
use core::ops::RangeInclusive;
use ilo_asm::ast::Literal;
use std::sync::Arc;

/// All first bytes of tokens.
pub(crate) const ANY: RangeInclusive<u8> = 0..=u8::MAX;

/// The effect of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    Refused,
    /// It was taken, and changed only the position in an unfinished part.
    On,
    /// It must be tried.
    Unknown,
}

/// The end of a choice within tokens.
pub(crate) struct Whole {
    /// The place of the choice.
    pub(crate) choice: usize,
    pub(crate) tokens: Tokens,
}

/// The tokens that go on behind a choice.
pub(crate) enum Tokens {
    /// Those below a node.
    Node(u32),
    /// One, from this byte on.
    One(u32, usize),
}

/// Some choices that begin alike, and a node of the tree with the same bytes.
#[derive(Clone, Copy)]
pub(crate) struct Common {
    pub(crate) node: u32,
    pub(crate) low: usize,
    pub(crate) high: usize,
    /// The bytes of the choices so far.
    pub(crate) depth: usize,
}

/// What was found.
#[derive(Default)]
pub struct Found {
    /// Entries that may come next.
    pub(crate) entries: Vec<u32>,
    pub(crate) wholes: Vec<Whole>,
    pub(crate) open: Vec<Common>,
}

/// A tree of entries, with the bytes of each.
pub struct Tree<'a, 't> {
    pub(crate) prefixes: &'a Prefixes,
    pub(crate) text: &'a dyn Fn(u32) -> &'t [u8],
}

/// How a walk goes back to before some bytes, to a body of a certain length: to the last of [`Walk::lexes`]
/// or, if more has changed, of [`Walk::points`].
#[derive(Clone, Copy)]
struct Back {
    length: usize,
    all: bool,
}

/// A position on the path of a walk.
struct Visit {
    rest: Rest,
    back: Back,
}

/// What is left to be tried at a position.
enum Rest {
    /// Byte by byte, these children of a node.
    Bytes(u32, u32),
    /// The whole choices from this index on of those that were found, which begin after this number of bytes
    /// of a choice.
    Whole(usize, usize),
}

/// Tokens that all masks in one text, name or number have in common.
pub(crate) struct Kept {
    vocab: u64,
    /// Where the text, name or number begins.
    start: usize,
    /// The length of the body when these tokens were found.
    at: usize,
    /// Those after which the text or name has ended, as tails or, for a number, as tokens.
    ends: Option<Arc<[u32]>>,
    /// Those that begin a reference.
    pub(crate) holes: Option<Arc<[u32]>>,
}

/// The data of a walk, whose memory the next one uses again, and what masks keep.
pub struct Walk<L, P> {
    path: Vec<Visit>,
    /// Positions to go back to.
    lexes: Vec<L>,
    points: Vec<P>,
    found: Found,
    kept: Option<Kept>,
}

impl<L, P> Walk<L, P> {
    /// The entries that were found.
    pub(crate) fn entries(&self) -> &[u32] {
        &self.found.entries
    }

    /// Removes what is kept if the body becomes shorter than it was.
    pub(crate) fn forget(&mut self, length: usize) {
        if self.kept.as_ref().is_some_and(|kept| length < kept.at) {
            self.kept = None;
        }
    }
}

impl<L, P> Default for Walk<L, P> {
    fn default() -> Self {
        Walk { path: Vec::new(), lexes: Vec::new(), points: Vec::new(), found: Found::default(), kept: None }
    }
}

impl<L, P> Clone for Walk<L, P> {
    fn clone(&self) -> Self {
        Walk::default()
    }
}

/// Those of some tokens, in the order of their tails, that have one of these, in order.
pub(crate) fn with_tails<'v>(closers: &'v [Closer], tails: &[u32]) -> impl Iterator<Item = &'v Closer> {
    let mut rest = closers;
    tails.iter().flat_map(move |&tail| {
        let behind = rest.get(rest.partition_point(|closer| closer.tail < tail)..).unwrap_or_default();
        let (found, next) = behind.split_at(behind.partition_point(|closer| closer.tail == tail));
        rest = next;
        found
    })
}

impl<S: Bytes> Walks for S {}

/// Walks over a notation.
pub(crate) trait Walks: Bytes + Sized {
    /// Finds which entries of a tree with these first bytes may come next, in any order: [`Walk::entries`].
    fn walk_tree<'t>(
        &mut self,
        prefixes: &Prefixes,
        first: RangeInclusive<u8>,
        text: &dyn Fn(u32) -> &'t [u8],
    ) {
        let tree = Tree { prefixes, text };
        let start = self.text().len();
        let mut walk = core::mem::take(self.walk());
        walk.found.entries.clear();
        let (from, to) = prefixes.children(Prefixes::ROOT);
        // It has no bytes.
        walk.found.entries.extend(prefixes.entry(Prefixes::ROOT));
        walk.lexes.push(self.lex());
        let back = Back { length: start, all: false };
        enter(self, &tree, start, prefixes.within(from, to, first), back, &mut walk);
        while let Some(step) = walk.path.last_mut() {
            let next = match &mut step.rest {
                Rest::Bytes(next, end) => {
                    next_child(self, prefixes, (next, *end), (&mut walk.lexes, &mut walk.points))
                }
                Rest::Whole(from, _) if walk.found.wholes.len() == *from => None,
                Rest::Whole(_, depth) => {
                    let depth = *depth;
                    let Some(whole) = walk.found.wholes.pop() else { break };
                    if let Some((node, back)) = take_whole(self, &tree, &whole, depth, &mut walk) {
                        walk.found.entries.extend(prefixes.entry(node));
                        enter(self, &tree, start, prefixes.children(node), back, &mut walk);
                    }
                    continue;
                }
            };
            let Some((node, back)) = next else {
                let Some(step) = walk.path.pop() else { break };
                undo(self, step.back, &mut walk);
                continue;
            };
            let children = prefixes.children(node);
            if let Some(entry) = prefixes.entry(node) {
                // Without children, it may be longer. Most are refused by one byte.
                let written = self.text().len() - start;
                let fits = match prefixes.rest(node) {
                    0 => true,
                    next if self.refuses(next) => false,
                    _ => self.takes(text(entry).get(written..).unwrap_or_default()),
                };
                if fits {
                    walk.found.entries.push(entry);
                }
            }
            enter(self, &tree, start, children, back, &mut walk);
        }
        *self.walk() = walk;
    }

    /// Sets those of the tokens of a tree with these first bytes that may come next, after the first bytes of
    /// each.
    fn walk_from(
        &mut self,
        vocab: &Vocab,
        tree: &Prefixes,
        first: RangeInclusive<u8>,
        skipped: usize,
        bits: &mut [u32],
    ) {
        self.walk_tree(tree, first, &|token| vocab.token(token).get(skipped..).unwrap_or_default());
        self.walk().entries().iter().for_each(|&token| set(bits, token));
        tree.set_equal(bits);
    }

    /// Whether a byte certainly may not come next.
    fn refuses(&mut self, byte: u8) -> bool {
        let (length, lex) = (self.text().len(), self.lex());
        let look = self.look(byte);
        if look == Look::On {
            self.relex(lex, length);
        }
        look == Look::Refused
    }

    /// Whether these bytes may come next.
    fn takes(&mut self, bytes: &[u8]) -> bool {
        let (length, lex) = (self.text().len(), self.lex());
        let mut point = None;
        let fits = bytes.iter().all(|&byte| match self.look(byte) {
            Look::Refused => false,
            Look::On => true,
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
        self.relex(lex, length);
        fits
    }

    /// Sets those of these tokens that may come next, after the first bytes of each.
    fn each(
        &mut self,
        vocab: &Vocab,
        tokens: impl IntoIterator<Item = u32>,
        skipped: usize,
        bits: &mut [u32],
    ) {
        for token in tokens {
            if self.takes(vocab.token(token).get(skipped..).unwrap_or_default()) {
                set(bits, token);
            }
        }
    }

    /// The tails that may come next, in order.
    fn tails(&mut self, vocab: &Vocab) -> Vec<u32> {
        self.walk_tree(&vocab.tails.tree, ANY, &|tail| vocab.tails.bytes(tail));
        let mut fits = self.walk().entries().to_vec();
        fits.sort_unstable();
        fits
    }

    /// What is kept of masks in the text, name or number that begins here.
    fn kept(&mut self, vocab: &Vocab, start: usize) -> &mut Kept {
        let at = self.text().len();
        let kept = self.walk().kept.take();
        let kept = kept.filter(|kept| (kept.vocab, kept.start) == (vocab.id, start));
        self.walk().kept.insert(kept.unwrap_or(Kept { vocab: vocab.id, start, at, ends: None, holes: None }))
    }

    /// The tokens after which a text, name or number has ended, found once.
    fn kept_ends(
        &mut self,
        vocab: &Vocab,
        start: usize,
        find: impl FnOnce(&mut Self) -> Vec<u32>,
    ) -> Arc<[u32]> {
        if let Some(ends) = &self.kept(vocab, start).ends {
            return Arc::clone(ends);
        }
        let ends: Arc<[u32]> = find(self).into();
        self.kept(vocab, start).ends = Some(Arc::clone(&ends));
        ends
    }

    /// Sets the tokens that continue a text whose quote is at `start`, or end it: from the tables, if it has
    /// room for any of them.
    fn fill_in_text(
        &mut self,
        vocab: &Vocab,
        (start, inside): (usize, Inside),
        has_room: bool,
        bits: &mut [u32],
    ) {
        if !has_room || formats::format(self.core()).is_some() {
            bits.fill(0);
            return self.walk_from(vocab, vocab.all(), ANY, 0, bits);
        }
        vocab.texts.fill(inside, bits);
        let closers = vocab.texts.closers(inside);
        let written = self.text().get(start + 1..).unwrap_or_default().to_vec();
        // What follows a literal does not depend on its content.
        let is_key = self.core().state.phase == Phase::CaseKey;
        let fits = self.kept_ends(vocab, start, |this| {
            if !is_key && !this.core().takes_constant(Literal::Text("")) {
                return Vec::new();
            }
            this.tried(|this| {
                this.end_any_text();
                this.tails(vocab)
            })
        });
        let fit = with_tails(closers, &fits);
        if !is_key {
            return fit.for_each(|it| set(bits, it.token));
        }
        let as_it_is = self.may_be_key(&written);
        for closer in fit {
            let bytes = vocab.token(closer.token);
            let fits = match bytes.iter().position(|&byte| byte == b'"') {
                Some(0) if inside == Inside::Plain => as_it_is,
                Some(at) => self.may_be_key(&[&written, bytes.get(..at).unwrap_or_default()].concat()),
                None => None,
            };
            if fits.unwrap_or_else(|| self.takes(bytes)) {
                set(bits, closer.token);
            }
        }
    }

    /// Whether a text may be the key of the case; `None` if it has escapes.
    fn may_be_key(&self, text: &[u8]) -> Option<bool> {
        let text = core::str::from_utf8(text).ok().filter(|text| !text.contains('\\'))?;
        Some(self.core().takes_constant(Literal::Text(text)) && !self.meets_more(text))
    }
}

/// Goes on to the children of a node, if there are any, or back.
#[inline]
fn enter<S: Bytes>(
    surface: &mut S,
    tree: &Tree<'_, '_>,
    start: usize,
    children: (u32, u32),
    back: Back,
    walk: &mut Walk<S::Lex, S::Point>,
) {
    if children.0 == children.1 {
        return undo(surface, back, walk);
    }
    let from = walk.found.wholes.len();
    let rest = match surface.within(tree, children, start, &mut walk.found) {
        None => Rest::Bytes(children.0, children.1),
        Some(_) if walk.found.wholes.len() == from => return undo(surface, back, walk),
        Some(depth) => Rest::Whole(from, depth),
    };
    walk.path.push(Visit { rest, back });
}

/// Takes a whole choice, of which some bytes were taken. Returns the node behind it, and how to go back.
fn take_whole<S: Bytes>(
    surface: &mut S,
    tree: &Tree<'_, '_>,
    whole: &Whole,
    depth: usize,
    walk: &mut Walk<S::Lex, S::Point>,
) -> Option<(u32, Back)> {
    let back = Back { length: surface.text().len(), all: true };
    walk.points.push(surface.point());
    let taken = surface.take_choice(whole.choice, depth);
    match whole.tokens {
        Tokens::Node(node) if taken => return Some((node, back)),
        Tokens::One(entry, from) => {
            if taken && surface.takes((tree.text)(entry).get(from..).unwrap_or_default()) {
                walk.found.entries.push(entry);
            }
        }
        Tokens::Node(_) => {}
    }
    undo(surface, back, walk);
    None
}

/// Takes the byte of the next child that may come next. Returns the child, and how to go back.
#[inline]
fn next_child<S: Bytes>(
    surface: &mut S,
    tree: &Prefixes,
    (next, end): (&mut u32, u32),
    (lexes, points): (&mut Vec<S::Lex>, &mut Vec<S::Point>),
) -> Option<(u32, Back)> {
    let length = surface.text().len();
    lexes.push(surface.lex());
    while *next < end {
        let (node, byte) = (*next, tree.byte(*next));
        *next += 1;
        match surface.look(byte) {
            Look::Refused => match surface.next_byte(byte) {
                Some(above) if above == byte + 1 => {}
                Some(above) => *next = tree.seek(*next, end, above),
                None => *next = end,
            },
            Look::On => return Some((node, Back { length, all: false })),
            Look::Unknown => {
                let point = surface.point();
                if surface.byte(byte) {
                    lexes.pop();
                    points.push(point);
                    return Some((node, Back { length, all: true }));
                }
                surface.back(&point);
            }
        }
    }
    lexes.pop();
    None
}

/// Goes back to before some bytes.
#[inline]
fn undo<S: Bytes>(surface: &mut S, back: Back, walk: &mut Walk<S::Lex, S::Point>) {
    if back.all {
        walk.points.pop().iter().for_each(|point| surface.back(point));
    } else {
        walk.lexes.pop().iter().for_each(|&lex| surface.relex(lex, back.length));
    }
}
