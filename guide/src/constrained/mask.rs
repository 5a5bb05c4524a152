//! Masks of bodies in `constrained`: tokens along their common prefixes. Those in texts and names are in
//! `ends`.

use super::machine::{Lex, Machine};
use super::views::Begins;
use crate::automaton::offers::NUMBER;
use crate::automaton::state::Phase;
use crate::surface::Steps;
use crate::surface::texts::Texts;
use crate::surface::walk::{ANY, Walks};
use crate::vocab::bits::{self, set_all};
use crate::vocab::{Prefixes, Vocab};
use core::ops::RangeInclusive;

/// A text with more bytes than this is checked token by token, since it may have no room.
const ROOM: usize = 8 << 10;

/// The first bytes of tokens that are digits.
const DIGITS: RangeInclusive<u8> = b'0'..=b'9';
/// The bytes in numbers that are no digits, and those directly after numbers.
const IN_NUMBERS: [u8; 5] = *b"+-.Ee";
const BEHIND_NUMBERS: [u8; 3] = *b",]}";

impl Machine<'_> {
    /// Sets the tokens that may come next, and clears all others.
    pub(super) fn fill_tokens(&mut self, vocab: &Vocab, bits: &mut [u32]) {
        match self.place.lex {
            Lex::Text { start, inside } => {
                let has_room = self.text.len() - start + vocab.longest < ROOM;
                self.fill_in_text(vocab, (start, inside), has_room, bits);
            }
            Lex::Bare { inside, dollar } if self.written_text().len() + vocab.longest < ROOM => {
                self.fill_bare(vocab, inside, dollar, bits);
            }
            Lex::Name { start, of } => self.fill_name(vocab, start, of, bits),
            Lex::Number { start } => self.fill_number(vocab, start, bits),
            Lex::Choice { depth: 0, .. } => self.fill_first(vocab, bits),
            Lex::Bare { .. } => {
                bits.fill(0);
                self.walk_from(vocab, vocab.all(), ANY, 0, bits);
            }
            Lex::Choice { .. } => {
                bits.fill(0);
                self.walk_all(vocab, ANY, bits);
            }
        }
    }

    /// Sets the tokens that may come next between choices: those that begin a number or a text mostly from
    /// the tables.
    fn fill_first(&mut self, vocab: &Vocab, bits: &mut [u32]) {
        let Begins { text: has_text, key: has_key, number: has_number } = self.choices().begins();
        let is_any_number = has_number && self.begins_any_number();
        let mut known = Vec::new();
        if has_text && is_any_number {
            bits::copy(&vocab.json().values, bits);
        } else {
            bits.fill(0);
        }
        if has_text {
            self.tried(|this| {
                if this.byte(b'"') {
                    this.fill_opening(vocab, !is_any_number, bits);
                }
            });
            known.push(b'"'..=b'"');
        }
        if has_number || has_key {
            if !(has_text && is_any_number) {
                self.tried(|this| {
                    if has_number {
                        this.literal(NUMBER);
                    }
                    this.core.number_digits(vocab, b"", bits);
                });
            }
            self.walk_from(vocab, &vocab.json().mixed, ANY, 0, bits);
            known.push(DIGITS);
        }
        self.walk_but(vocab, &known, bits);
    }

    /// Whether any number may be the next value.
    pub(super) fn begins_any_number(&mut self) -> bool {
        self.tried(|this| {
            this.literal(NUMBER);
            this.core.takes_any_number()
        })
    }

    /// Sets the tokens that continue a number or end it.
    fn fill_number(&mut self, vocab: &Vocab, start: usize, bits: &mut [u32]) {
        bits.fill(0);
        let written = self.text.get(start..).unwrap_or_default();
        self.core.number_digits(vocab, written, bits);
        self.walk_from(vocab, &vocab.json().mixed, ANY, 0, bits);
        if self.core.state.phase == Phase::CaseKey {
            return self.walk_but(vocab, &[DIGITS], bits);
        }
        for byte in IN_NUMBERS {
            self.walk_all(vocab, byte..=byte, bits);
        }
        // What follows a number that is no key does not depend on it.
        if !self.tried(|this| this.end_number(start)) {
            return;
        }
        let ends = self.kept_ends(vocab, start, |this| {
            this.tried(|this| {
                let mut ends = Vec::new();
                if this.end_number(start) {
                    for byte in BEHIND_NUMBERS {
                        this.walk_tree(this.tokens(vocab), byte..=byte, &|token| vocab.token(token));
                        ends.extend(this.walk.entries());
                    }
                }
                ends
            })
        });
        set_all(bits, &ends);
        self.tokens(vocab).set_equal(bits);
    }

    /// Sets those of all tokens that may come next, except for some first bytes, which are in order.
    fn walk_but(&mut self, vocab: &Vocab, known: &[RangeInclusive<u8>], bits: &mut [u32]) {
        let mut from = Some(0);
        for bytes in known {
            if let Some((from, to)) = from.zip(bytes.start().checked_sub(1)) {
                self.walk_all(vocab, from..=to, bits);
            }
            from = bytes.end().checked_add(1);
        }
        if let Some(from) = from {
            self.walk_all(vocab, from..=u8::MAX, bits);
        }
    }

    /// Sets those of all tokens with these first bytes that may come next. The position is not in a text.
    pub(super) fn walk_all(&mut self, vocab: &Vocab, first: RangeInclusive<u8>, bits: &mut [u32]) {
        self.walk_from(vocab, self.tokens(vocab), first, 0, bits);
    }

    /// The tokens that may come outside texts.
    fn tokens<'v>(&self, vocab: &'v Vocab) -> &'v Prefixes {
        if self.core.session.json().plain { &vocab.json().plain } else { vocab.all() }
    }
}
