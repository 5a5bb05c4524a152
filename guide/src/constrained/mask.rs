//! Masks of a body in `constrained`: the tokens in the order of their bytes, from one that fits to the next.

use super::machine::{Lex, Machine, Point};
use crate::automaton::texts::{Inside, place};
use crate::vocab::Vocab;

pub(super) fn set(bits: &mut [u32], token: u32) {
    if let Some(word) = bits.get_mut(token as usize / 32) {
        *word |= 1 << (token % 32);
    }
}

/// A text with more bytes than this is looked at token by token, since it may have no room.
const ROOM: usize = 8 << 10;

impl Machine<'_, '_> {
    /// Sets the tokens that may come next.
    pub(super) fn fill(&mut self, vocab: &Vocab, bits: &mut [u32]) {
        if let Lex::Text { start, inside, .. } = self.place.lex
            && self.text.len() - start + vocab.longest < ROOM
        {
            return self.fill_text(vocab, inside, bits);
        }
        self.walk(vocab, &vocab.sorted, bits);
    }

    /// The tokens that stay in a text, as they are known, and those that end it.
    fn fill_text(&mut self, vocab: &Vocab, inside: Inside, bits: &mut [u32]) {
        let ready = vocab.texts.stays(place(inside));
        bits.iter_mut().zip(ready).for_each(|(to, from)| *to |= from);
        let ends = |token: &&u32| vocab.token(**token).contains(&b'"');
        let closers: Vec<u32> = vocab.sorted.iter().filter(ends).copied().collect();
        self.walk(vocab, &closers, bits);
    }

    /// Sets those of the tokens, in the order of their bytes, that fit.
    fn walk(&mut self, vocab: &Vocab, tokens: &[u32], bits: &mut [u32]) {
        let mut path: Vec<(u8, Point)> = Vec::new();
        let mut at = 0;
        while let Some(&token) = tokens.get(at) {
            let bytes = vocab.token(token);
            let common = path.iter().zip(bytes).take_while(|(known, byte)| known.0 == **byte).count();
            if let Some((_, point)) = path.get(common) {
                let point = point.clone();
                self.back(&point);
                path.truncate(common);
            }
            let mut refused = None;
            for (place, &byte) in bytes.iter().enumerate().skip(common) {
                let point = self.point();
                if !self.byte(byte) {
                    self.back(&point);
                    refused = Some(place);
                    break;
                }
                path.push((byte, point));
            }
            let Some(place) = refused else {
                set(bits, token);
                at += 1;
                continue;
            };
            // All that begin as this one does are refused as well.
            let prefix = bytes.get(..=place).unwrap_or_default();
            let begins = |token: &u32| vocab.token(*token).starts_with(prefix);
            at += tokens.get(at..).unwrap_or_default().partition_point(begins);
        }
        if let Some((_, first)) = path.first() {
            let first = first.clone();
            self.back(&first);
        }
    }
}
