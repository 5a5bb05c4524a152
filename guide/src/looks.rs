//! Which tokens leave an end of the program within a budget. The end behind each token that may come next is
//! found, node by node, and its nodes must fit. The end behind a node that several tokens begin is found
//! once.

use crate::surface::{Class, Surface};
use crate::vocab::Vocab;
use crate::vocab::bits::{has, set};
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
    classes: HashMap<(bool, Class<'v>), Option<usize>>,
    /// The class of the last token: most digits follow each other.
    last: Option<((bool, Class<'v>), Option<usize>)>,
    counted: usize,
}

/// Clears the tokens of a mask that leave no end with `left` tokens, which are at least two.
pub(crate) fn keep<S: Surface>(machine: &mut S, vocab: &Vocab, left: usize, bits: &mut [u32]) {
    let here = machine.here();
    // Without this token, and the one that ends the text.
    let limit = left.saturating_sub(2);
    let (nodes, classes) = (HashMap::new(), HashMap::new());
    let mut looks = Looks::<S> { vocab, limit, here, nodes, classes, last: None, counted: 0 };
    let mut kept = Vec::new();
    if let Some(groups) = machine.groups(&here, vocab) {
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
        let spent = self.length(&rest);
        if spent > self.limit {
            return None;
        }
        let node = machine.node(&self.here, becomes, crosses);
        let behind = match node.and_then(|node| self.nodes.get(&node)) {
            Some(&behind) => behind,
            None if self.counted >= MOST => return None,
            None => {
                let mut all = 0;
                let ends = machine.complete(becomes, &rest)
                    && machine.close_all(&mut |part| {
                        all += self.length(part);
                        all <= self.limit
                    });
                self.counted += all.min(self.limit);
                let behind = ends.then_some(all);
                if let Some(node) = node {
                    self.nodes.insert(node, behind);
                }
                behind
            }
        };
        behind.map(|behind| behind + spent).filter(|&all| all <= self.limit)
    }
    /// The tokens of a part of an end; more than the limit if the vocabulary cannot write it.
    fn length(&self, part: &[u8]) -> usize {
        self.vocab.part(part, <[u32]>::len).unwrap_or(self.limit + 1)
    }
}
