//! Tokens within texts: for each position in a text those that stay in it, and those that end it, by the
//! bytes after the end.

use super::tails::Seen;
use super::{Closer, Vocab, bits};
use crate::automaton::texts::{Inside, Led, PLACES, Step, place, run, step};

/// The mask of some tokens.
pub(super) fn mask(tokens: impl IntoIterator<Item = u32>, vocab: &Vocab) -> Box<[u32]> {
    let mut mask = vec![0; vocab.mask_len()];
    tokens.into_iter().for_each(|token| bits::set(&mut mask, token));
    mask.into()
}

/// The tables.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    /// The masks of the tokens that stay in a text, by position.
    stays: Vec<Box<[u32]>>,
    /// The mask of the tokens at a plain position that lead to one again.
    pub(crate) plain: Box<[u32]>,
    /// By position, in the order of their tails.
    pub(super) closers: Vec<Vec<Closer>>,
}

impl Texts {
    pub(super) fn new<'v>(vocab: &'v Vocab, seen: &mut Seen<'v>) -> Texts {
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
                    Led::Closed(at) => closers.push(Closer::new(vocab, token, at, seen)),
                }
            }
            texts.stays.push(mask(stays, vocab));
            texts.closers.push(closers);
        }
        texts.plain = mask(plain, vocab);
        texts
    }

    /// Sets a mask to the tokens that stay in a text at a position.
    pub(crate) fn fill(&self, inside: Inside, bits: &mut [u32]) {
        bits::copy(self.stays.get(place(inside)).map_or(&[], |mask| mask), bits);
    }

    /// The tokens that end a text at a position, in the order of their tails.
    pub(crate) fn closers(&self, inside: Inside) -> &[Closer] {
        self.closers.get(place(inside)).map_or(&[], Vec::as_slice)
    }

    pub(super) fn memory(&self) -> usize {
        let closers: usize = self.closers.iter().map(|all| 8 * all.len()).sum();
        4 * (self.stays.len() + 1) * self.plain.len() + closers
    }
}
