//! Which tokens leave an end of the program within a budget. The end behind each token that may come next is
//! found, node by node, and its nodes must fit. Parts that ends have in common are found once: behind the
//! node that several tokens begin, and behind the statement in which they are.

use crate::surface::{Class, STEPS, Surface};
use crate::vocab::bits::{has, set};
use crate::vocab::{Length, Vocab};
use hashbrown::HashMap;

/// The most tokens of ends that are counted for one mask, apart from the last end, and of attempts besides.
/// Tokens that need more are not allowed, so that time is bounded.
const MOST: usize = 80;

/// What is known of ends for one mask: their lengths in tokens, `None` if they exceed the limit.
struct Looks<'v, S: Surface> {
    vocab: &'v Vocab,
    limit: usize,
    here: S::Here,
    /// Behind the node that is next.
    nodes: HashMap<S::Node, Option<usize>>,
    /// Behind the operand or statement that a node begins.
    ends: HashMap<S::Key, Option<usize>>,
    classes: HashMap<(bool, Class<'v>), Option<usize>>,
    /// The class of the last token: most digits follow each other.
    last: Option<((bool, Class<'v>), Option<usize>)>,
    counted: usize,
}

/// Clears the tokens of a mask that leave no end with `left` tokens, which are at least two. A statement can
/// add `most` tokens to an end.
pub(crate) fn keep<S: Surface>(machine: &mut S, vocab: &Vocab, left: usize, most: usize, bits: &mut [u32]) {
    let here = machine.here();
    // Without this token, and the one that ends the text.
    let limit = left.saturating_sub(2);
    let (nodes, ends, classes) = (HashMap::new(), HashMap::new(), HashMap::new());
    let mut looks = Looks::<S> { vocab, limit, here, nodes, ends, classes, last: None, counted: 0 };
    let mut kept = Vec::new();
    if let Some(groups) = machine.groups(&here, vocab, most) {
        let fits = groups.slack.is_some_and(|slack| {
            let found = looks.behind(machine, groups.like, false);
            found.is_some_and(|length| length + slack <= limit)
        });
        if fits {
            kept.extend(bits.iter().zip(groups.mask).map(|(bits, mask)| bits & mask));
        }
        if let Some(others) = groups.others {
            kept.resize(bits.len(), 0);
            for closer in others.into_iter().flatten() {
                if has(bits, closer.token)
                    && !has(groups.mask, closer.token)
                    && looks.fits(machine, closer.token)
                {
                    set(&mut kept, closer.token);
                }
            }
            return bits.copy_from_slice(&kept);
        }
        bits.iter_mut().zip(groups.mask).for_each(|(bits, mask)| *bits &= !mask);
    }
    for (word, bits) in bits.iter_mut().enumerate().filter(|it| *it.1 != 0) {
        let first = u32::try_from(32 * word).unwrap_or(u32::MAX);
        let mut rest = core::mem::take(bits);
        while rest != 0 {
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            *bits |= u32::from(looks.fits(machine, first + bit)) << bit;
        }
    }
    bits.iter_mut().zip(kept).for_each(|(bits, kept)| *bits |= kept);
}

impl<S: Surface> Looks<'_, S> {
    /// Whether an end fits behind a token that may come next.
    fn fits(&mut self, machine: &mut S, token: u32) -> bool {
        if token == self.vocab.eos() {
            return true;
        }
        let bytes = self.vocab.token(token);
        let crosses = S::crosses(&self.here, bytes);
        let Some((class, slack)) = machine.class(&self.here, bytes) else {
            return self.behind(machine, bytes, crosses).is_some();
        };
        let key = (crosses, class);
        let known = self.last.filter(|last| last.0 == key).or_else(|| Some((key, *self.classes.get(&key)?)));
        self.last = known;
        match known {
            Some((_, known)) => {
                known.is_some_and(|length| length + slack <= self.limit)
                    || (slack > 0 && self.behind(machine, bytes, crosses).is_some())
            }
            None => {
                let found = self.behind(machine, bytes, crosses);
                self.classes.insert(key, found);
                found.is_some()
            }
        }
    }

    /// The length of an end behind some bytes, which may come next.
    fn behind(&mut self, machine: &mut S, bytes: &[u8], crosses: bool) -> Option<usize> {
        if self.counted >= 2 * MOST {
            return None;
        }
        self.counted += 1;
        machine.tried(|machine| {
            let taken = bytes.iter().all(|&byte| machine.byte(byte));
            if taken { self.from(machine, crosses) } else { None }
        })
    }

    /// The length of an end from here.
    fn from(&mut self, machine: &mut S, crosses: bool) -> Option<usize> {
        let (rest, becomes) = machine.completion()?;
        let mut length = Length::new(self.vocab, self.limit);
        if !length.takes(&rest) {
            return None;
        }
        let spent = self.limit - length.left;
        let node = machine.node(&self.here, becomes, crosses);
        let behind = match node.and_then(|node| self.nodes.get(&node)) {
            Some(&behind) => behind,
            None if self.counted >= MOST => return None,
            None => {
                let taken = machine.complete(becomes, &rest);
                let behind = if taken { self.look(machine, node) } else { None };
                if let Some(node) = node {
                    self.nodes.insert(node, behind);
                }
                behind
            }
        };
        behind.map(|behind| behind + spent).filter(|&all| all <= self.limit)
    }

    /// The length of an end from the end of a complete part.
    fn look(&mut self, machine: &mut S, node: Option<S::Node>) -> Option<usize> {
        let mut length = Length::new(self.vocab, self.limit);
        let mut steps = 0..STEPS;
        while !machine.is_behind(&self.here, node) {
            steps.next()?;
            if let Some(ends) = machine.close_step(&mut |part| length.takes(part)) {
                self.counted += self.limit - length.left;
                return ends.then(|| self.limit - length.left);
            }
        }
        let key = machine.key(&self.here, node);
        let behind = match key.and_then(|key| self.ends.get(&key)) {
            Some(&behind) => {
                debug_assert_eq!(behind, machine.tried(|machine| self.rest(machine)), "{key:?}");
                behind
            }
            None => {
                let behind = self.rest(machine);
                self.counted += behind.unwrap_or(self.limit);
                if let Some(key) = key {
                    self.ends.insert(key, behind);
                }
                behind
            }
        };
        let before = self.limit - length.left;
        self.counted += before;
        behind.map(|behind| behind + before).filter(|&all| all <= self.limit)
    }

    /// The length of an end from here, where a statement or operand is complete.
    fn rest(&self, machine: &mut S) -> Option<usize> {
        let mut length = Length::new(self.vocab, self.limit);
        machine.close_all(&mut |part| length.takes(part)).then(|| self.limit - length.left)
    }
}
