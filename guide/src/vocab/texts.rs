//! Tokens within texts: for each place in a text a mask of those that stay in it, and those that end it by
//! what they have behind.

use super::{Vocab, trie};
use crate::automaton::texts::{Inside, Led, PLACES, Step, run, step};
use std::collections::HashMap;

/// A token that ends the text: the number of its tail, and itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closer {
    pub(crate) tail: u32,
    pub(crate) token: u32,
}

/// The tables.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    /// By place.
    stays: Vec<Box<[u32]>>,
    /// Of those at a plain place, those that lead to one again.
    plain: Box<[u32]>,
    closers: Vec<Vec<Closer>>,
    /// What tokens have behind the end of a text.
    tails: Vec<Box<[u8]>>,
    numbers: HashMap<Box<[u8]>, u32>,
}

impl Texts {
    pub(super) fn new(sorted: &[u32], vocab: &Vocab) -> Texts {
        let (mut texts, mut plain) = (Texts::default(), Vec::new());
        // Few tokens begin with what may follow an escape or half a character.
        let first = |byte: u8| {
            let from = sorted.partition_point(|&token| vocab.token(token).first() < Some(&byte));
            let rest = sorted.get(from..).unwrap_or_default();
            let length = rest.partition_point(|&token| vocab.token(token).first() == Some(&byte));
            rest.get(..length).unwrap_or_default()
        };
        for &inside in &PLACES {
            let mut stays = vec![0_u32; vocab.mask_len()].into_boxed_slice();
            let mut closers = Vec::new();
            for &token in (0..=u8::MAX).filter(|&byte| step(inside, byte) != Step::Refused).flat_map(first) {
                let bytes = vocab.token(token);
                match run(inside, bytes) {
                    Led::Refused => {}
                    Led::On(next) => {
                        if inside == Inside::Plain && next == Inside::Plain {
                            plain.push(token);
                        }
                        if let Some(word) = stays.get_mut(token as usize / 32) {
                            *word |= 1 << (token % 32);
                        }
                    }
                    Led::Closed(at) => {
                        let tail = bytes.get(at..).unwrap_or_default();
                        closers.extend(texts.tail(tail).map(|tail| Closer { tail, token }));
                    }
                }
            }
            texts.stays.push(stays);
            texts.closers.push(closers);
        }
        texts.plain = vec![0; vocab.mask_len()].into_boxed_slice();
        for token in plain {
            if let Some(word) = texts.plain.get_mut(token as usize / 32) {
                *word |= 1 << (token % 32);
            }
        }
        texts
    }

    /// The number of a tail; `None` where nothing like it can follow a text.
    pub(super) fn tail(&mut self, tail: &[u8]) -> Option<u32> {
        let plausible =
            tail.is_empty() || (matches!(tail.first(), Some(b' ' | b'\n')) && trie::is_plausible(tail));
        if !plausible {
            return None;
        }
        if let Some(&number) = self.numbers.get(tail) {
            return Some(number);
        }
        let number = u32::try_from(self.tails.len()).ok()?;
        self.tails.push(tail.into());
        self.numbers.insert(tail.into(), number);
        Some(number)
    }

    /// The mask of the tokens that stay in a text at a place.
    pub(crate) fn stays(&self, place: usize) -> &[u32] {
        self.stays.get(place).map_or(&[], |mask| mask)
    }

    /// The mask of the tokens that stay at a plain place.
    pub(crate) fn plain(&self) -> &[u32] {
        &self.plain
    }

    pub(crate) fn closers(&self, place: usize) -> &[Closer] {
        self.closers.get(place).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn tails(&self) -> &[Box<[u8]>] {
        &self.tails
    }

    pub(super) fn memory(&self) -> usize {
        let masks: usize = self.stays.iter().map(|mask| 4 * mask.len()).sum();
        let closers: usize = self.closers.iter().map(|all| 8 * all.len()).sum();
        masks + closers + self.tails.iter().map(|tail| 2 * (tail.len() + 24)).sum::<usize>()
    }
}
