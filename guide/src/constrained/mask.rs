//! Masks of bodies in `constrained`: tokens along their common prefixes. Those in texts and names are in
//! `ends`.

use super::choices::Begins;
use super::machine::{JsonMachine, Lex};
use super::{ends, texts};
use crate::automaton::keys;
use crate::automaton::offers::NUMBER;
use crate::automaton::state::Phase;
use crate::surface::Steps;
use crate::surface::digits;
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

/// Sets the tokens that may come next, and clears all others.
pub(super) fn fill_tokens(machine: &mut JsonMachine<'_>, vocab: &Vocab, bits: &mut [u32]) {
    match machine.place.lex {
        Lex::Text { start, inside } => {
            let has_room = machine.text.len() - start + vocab.longest < ROOM;
            machine.fill_in_text(vocab, (start, inside), has_room, bits);
        }
        Lex::Bare { inside, dollar } if texts::written_text(machine).len() + vocab.longest < ROOM => {
            ends::fill_bare(machine, vocab, inside, dollar, bits);
        }
        Lex::Name { start, of } => ends::fill_name(machine, vocab, start, of, bits),
        Lex::Number { start } => fill_number(machine, vocab, start, bits),
        Lex::Choice { depth: 0, .. } => fill_first(machine, vocab, bits),
        Lex::Bare { .. } => {
            bits.fill(0);
            machine.walk_from(vocab, vocab.all(), ANY, 0, bits);
        }
        Lex::Choice { .. } => {
            bits.fill(0);
            walk_all(machine, vocab, ANY, bits);
        }
    }
}

/// Sets the tokens that may come next between choices: those that begin a number or a text mostly from
/// the tables.
fn fill_first(machine: &mut JsonMachine<'_>, vocab: &Vocab, bits: &mut [u32]) {
    let Begins { text: has_text, key: has_key, number: has_number } = machine.choices().begins();
    let is_any_number = has_number && begins_any_number(machine);
    let mut known = Vec::new();
    if has_text && is_any_number {
        bits::copy(&vocab.json().values, bits);
    } else {
        bits.fill(0);
    }
    if has_text {
        machine.tried(|this| {
            if this.byte(b'"') {
                ends::fill_opening(this, vocab, !is_any_number, bits);
            }
        });
        known.push(b'"'..=b'"');
    }
    if has_number || has_key {
        if !(has_text && is_any_number) {
            machine.tried(|this| {
                if has_number {
                    this.literal(NUMBER);
                }
                digits::number_digits(&this.core, vocab, b"", bits);
            });
        }
        machine.walk_from(vocab, &vocab.json().mixed, ANY, 0, bits);
        known.push(DIGITS);
    }
    walk_but(machine, vocab, &known, bits);
}

/// Whether any number may be the next value.
pub(super) fn begins_any_number(machine: &mut JsonMachine<'_>) -> bool {
    machine.tried(|this| {
        this.literal(NUMBER);
        keys::takes_any_number(&this.core)
    })
}

/// Sets the tokens that continue a number or end it.
fn fill_number(machine: &mut JsonMachine<'_>, vocab: &Vocab, start: usize, bits: &mut [u32]) {
    bits.fill(0);
    let written = machine.text.get(start..).unwrap_or_default();
    digits::number_digits(&machine.core, vocab, written, bits);
    machine.walk_from(vocab, &vocab.json().mixed, ANY, 0, bits);
    if machine.core.state.phase == Phase::CaseKey {
        return walk_but(machine, vocab, &[DIGITS], bits);
    }
    for byte in IN_NUMBERS {
        walk_all(machine, vocab, byte..=byte, bits);
    }
    // What follows a number that is no key does not depend on it.
    if !machine.tried(|this| this.end_number(start)) {
        return;
    }
    let ends = machine.kept_ends(vocab, start, |this| {
        this.tried(|this| {
            let mut ends = Vec::new();
            if this.end_number(start) {
                for byte in BEHIND_NUMBERS {
                    this.walk_tree(tokens(this, vocab), byte..=byte, &|token| vocab.token(token));
                    ends.extend(this.walk.entries());
                }
            }
            ends
        })
    });
    set_all(bits, &ends);
    tokens(machine, vocab).set_equal(bits);
}

/// Sets those of all tokens that may come next, except for some first bytes, which are in order.
fn walk_but(machine: &mut JsonMachine<'_>, vocab: &Vocab, known: &[RangeInclusive<u8>], bits: &mut [u32]) {
    let mut from = Some(0);
    for bytes in known {
        if let Some((from, to)) = from.zip(bytes.start().checked_sub(1)) {
            walk_all(machine, vocab, from..=to, bits);
        }
        from = bytes.end().checked_add(1);
    }
    if let Some(from) = from {
        walk_all(machine, vocab, from..=u8::MAX, bits);
    }
}

/// Sets those of all tokens with these first bytes that may come next. The position is not in a text.
pub(super) fn walk_all(
    machine: &mut JsonMachine<'_>,
    vocab: &Vocab,
    first: RangeInclusive<u8>,
    bits: &mut [u32],
) {
    machine.walk_from(vocab, tokens(machine, vocab), first, 0, bits);
}

/// The tokens that may come outside texts.
fn tokens<'v>(machine: &JsonMachine<'_>, vocab: &'v Vocab) -> &'v Prefixes {
    if machine.core.session.json().plain { &vocab.json().plain } else { vocab.all() }
}
