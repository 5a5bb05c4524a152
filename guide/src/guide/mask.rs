//! Masks of bodies in ID text: which tokens of a vocabulary may come next, by the tables of the vocabulary.

use super::lex::{InToken, LineMachine};
use crate::automaton::offers::NUMBER;
use crate::automaton::{formats, integers, keys};
use crate::surface::digits::{number_digits, set_path};
use crate::surface::walk::{ANY, Walks, with_tails};
use crate::surface::{Bytes, Steps};
use crate::vocab::bits::{set, set_all};
use crate::vocab::{Opening, Vocab, outside};
use ilo_spec::json::quoted;

impl LineMachine<'_> {
    /// Sets the bits of the tokens that may come next, without a limit on the tokens after them.
    pub(super) fn fill_tokens(&mut self, vocab: &Vocab, bits: &mut [u32]) {
        bits.fill(0);
        if let InToken::Text(start, inside) = self.lex {
            return match keys::texts(&self.core) {
                Some(_) => self.listed(vocab, start, b"", bits),
                None => self.fill_in_text(vocab, (start, inside), self.room() > vocab.longest, bits),
            };
        }
        if self.may_end() {
            set(bits, vocab.eos());
        }
        self.prepare();
        let tree = &vocab.outside.tree;
        self.walk_tree(tree, ANY, &|token| outside(vocab.token(token)));
        for token in self.walk.entries().to_vec() {
            let Some(opening) = vocab.outside.opening(token) else {
                set(bits, token);
                continue;
            };
            self.tried(|this| {
                if outside(vocab.token(token)).iter().all(|&byte| this.byte(byte)) {
                    this.open(vocab, opening, bits);
                }
            });
        }
        tree.set_equal(bits);
        digits(self, vocab, bits);
    }

    /// Sets the tokens that continue a text of which only some are allowed. Each begins with `begun`, bytes
    /// that the text has already; the text began at `start`.
    fn listed(&mut self, vocab: &Vocab, start: usize, begun: &[u8], bits: &mut [u32]) {
        let written = self.text.get(start..).unwrap_or_default().to_vec();
        for text in keys::texts(&self.core).into_iter().flatten() {
            let quoted = quoted(text);
            let Some(rest) = quoted.as_bytes().strip_prefix(written.as_slice()) else { continue };
            let mut token = begun.to_vec();
            for length in 0..=rest.len() {
                token.truncate(begun.len());
                token.extend_from_slice(rest.get(..length).unwrap_or_default());
                let range = vocab.beginning(&token);
                if range.is_empty() {
                    break;
                }
                // Tokens may continue after the end of the text.
                let fits = |one: &&u32| length == rest.len() || vocab.token(**one).len() == token.len();
                self.each(vocab, range.iter().take_while(fits).copied(), begun.len(), bits);
            }
        }
    }

    /// Sets the tokens that begin a text, after their quote.
    fn open(&mut self, vocab: &Vocab, opening: &Opening, bits: &mut [u32]) {
        let InToken::Text(start, _) = self.lex else { return };
        if keys::texts(&self.core).is_some() {
            let from = self.text.len().saturating_sub(opening.skipped);
            let begun = self.text.get(from..).unwrap_or_default().to_vec();
            return self.listed(vocab, start, &begun, bits);
        }
        let has_room = self.room() > vocab.longest && formats::format(&self.core).is_none();
        if has_room {
            set_all(bits, &opening.stays);
        } else {
            self.each(vocab, opening.stays.iter().copied(), opening.skipped, bits);
        }
        if !(has_room && self.text_is_free()) {
            let closers = opening.closers.iter().map(|it| it.token);
            return self.each(vocab, closers, opening.skipped, bits);
        }
        let fits = self.tried(|this| {
            this.end_any_text();
            this.tails(vocab)
        });
        with_tails(&opening.closers, &fits).for_each(|it| set(bits, it.token));
    }
}

/// Sets the tokens that are digits alone.
fn digits(machine: &mut LineMachine<'_>, vocab: &Vocab, bits: &mut [u32]) {
    match machine.lex {
        InToken::Start if machine.core.takes_kind(NUMBER) => number_digits(&machine.core, vocab, b"", bits),
        InToken::Number(start) => {
            number_digits(&machine.core, vocab, machine.text.get(start..).unwrap_or_default(), bits);
        }
        InToken::Start => integer_digits(machine, vocab, None, bits),
        InToken::Integer(value) => integer_digits(machine, vocab, Some(value), bits),
        _ => {}
    }
}

/// Sets the digits that lead to integers that may come next, after those that are written.
fn integer_digits(machine: &mut LineMachine<'_>, vocab: &Vocab, written: Option<u32>, bits: &mut [u32]) {
    let integers = machine.integers();
    let (mut of_begun, mut of_number) = ([0; 10], [0; 10]);
    let begun = written.map_or(&[][..], |number| digits_of(number, &mut of_begun));
    integers::each(&machine.core, integers, |number| {
        if let Some(rest) = digits_of(number, &mut of_number).strip_prefix(begun) {
            set_path(vocab, rest, bits);
        }
    });
    vocab.digits.tree.set_equal(bits);
}

/// The digits of an integer, written to the end of a list.
fn digits_of(mut number: u32, all: &mut [u8; 10]) -> &[u8] {
    let mut start = all.len();
    for place in all.iter_mut().rev() {
        *place = b'0' + u8::try_from(number % 10).unwrap_or_default();
        (start, number) = (start - 1, number / 10);
        if number == 0 {
            break;
        }
    }
    all.get(start..).unwrap_or_default()
}
