//! Tokens within texts: for each position in a text those that stay in it, and those that end it, by the
//! bytes after the end.

use super::{Vocab, bits, trie};
use crate::automaton::texts::{Inside, Led, PLACES, Step, run, step};
use std::collections::HashMap;

/// A token that ends the text: the number of its tail, and itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closer {
    pub(crate) tail: u32,
    pub(crate) token: u32,
}

/// Tokens, in the smaller of two forms.
#[derive(Debug)]
enum Tokens {
    Listed(Box<[u32]>),
    Mask(Box<[u32]>),
}

impl Tokens {
    fn new(tokens: Vec<u32>, vocab: &Vocab) -> Tokens {
        if tokens.len() < vocab.mask_len() {
            return Tokens::Listed(tokens.into());
        }
        Tokens::Mask(mask(tokens, vocab))
    }

    fn memory(&self) -> usize {
        let (Tokens::Listed(words) | Tokens::Mask(words)) = self;
        4 * words.len()
    }
}

/// The mask of some tokens.
pub(super) fn mask(tokens: impl IntoIterator<Item = u32>, vocab: &Vocab) -> Box<[u32]> {
    let mut mask = vec![0; vocab.mask_len()];
    tokens.into_iter().for_each(|token| bits::set(&mut mask, token));
    mask.into()
}

/// The tables.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    /// By position.
    stays: Vec<Tokens>,
    /// The tokens at a plain position that lead to one again.
    plain: Box<[u32]>,
    closers: Vec<Vec<Closer>>,
    /// The bytes of tokens after the end of a text.
    tails: Vec<Box<[u8]>>,
    numbers: HashMap<Box<[u8]>, u32>,
}

impl Texts {
    pub(super) fn new(vocab: &Vocab) -> Texts {
        let (mut texts, mut plain) = (Texts::default(), Vec::new());
        for &inside in &PLACES {
            let (mut stays, mut closers) = (Vec::new(), Vec::new());
            // Few tokens begin with what may follow an escape or half a character.
            let first = (0..=u8::MAX).filter(|&byte| step(inside, byte) != Step::Refused);
            for &token in first.flat_map(|byte| vocab.with_first(byte)) {
                let bytes = vocab.token(token);
                match run(inside, bytes) {
                    Led::Refused => {}
                    Led::On(next) => {
                        if inside == Inside::Plain && next == Inside::Plain {
                            plain.push(token);
                        }
                        stays.push(token);
                    }
                    Led::Closed(at) => {
                        let tail = bytes.get(at..).unwrap_or_default();
                        closers.extend(texts.tail(tail).map(|tail| Closer { tail, token }));
                    }
                }
            }
            texts.stays.push(Tokens::new(stays, vocab));
            texts.closers.push(closers);
        }
        texts.plain = mask(plain, vocab);
        texts
    }

    /// The number of a tail; `None` if nothing like it can follow a text.
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

    /// Sets a mask to the tokens that stay in a text at a position.
    pub(crate) fn fill(&self, place: usize, bits: &mut [u32]) {
        match self.stays.get(place) {
            Some(Tokens::Mask(mask)) => bits::copy(mask, bits),
            Some(Tokens::Listed(tokens)) => {
                bits.fill(0);
                bits::set_all(bits, tokens);
            }
            None => bits.fill(0),
        }
    }

    /// The mask of the tokens that stay at a plain position.
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
        let masks: usize = self.stays.iter().map(Tokens::memory).sum();
        let closers: usize = self.closers.iter().map(|all| 8 * all.len()).sum();
        masks
            + 4 * self.plain.len()
            + closers
            + self.tails.iter().map(|tail| 2 * (tail.len() + 24)).sum::<usize>()
    }
}
