//! Masks of tokens that consist of digits, in both notations: by tables if any number may be written, by
//! search if only some integers may.

use crate::automaton::keys::{self, Numbers};
use crate::automaton::numbers::{Begun, Room, WHOLE, room};
use crate::automaton::state::{Core, Phase};
use crate::vocab::bits::{clear, set, set_all};
use crate::vocab::{Prefixes, Vocab};

/// Sets the tokens of digits that continue a number with this beginning.
pub(crate) fn number_digits(core: &Core<'_>, vocab: &Vocab, written: &[u8], bits: &mut [u32]) {
    match keys::numbers(core) {
        Numbers::All => {
            if let Some(room) = room(written) {
                any_digits(core, vocab, written, room, bits);
            }
        }
        Numbers::Integers(low, high) => {
            if let Some(begun) = Begun::of(written) {
                ranged_digits(vocab, begun, low, high, bits);
            }
        }
        Numbers::Listed(all) => {
            let texts: Vec<String> = all.iter().map(ToString::to_string).collect();
            let rests = texts.iter().filter_map(|text| text.as_bytes().strip_prefix(written));
            rests.for_each(|rest| set_path(vocab, rest, bits));
        }
    }
    vocab.digits.tree.set_equal(bits);
}

/// Sets the digits that continue any number, or any that differs from the keys of other cases.
fn any_digits(core: &Core<'_>, vocab: &Vocab, written: &[u8], room: Room, bits: &mut [u32]) {
    let is_key = core.state.phase == Phase::CaseKey;
    let (left, leading) = match room {
        Room::First => (WHOLE, true),
        Room::More(left) | Room::Exponent(left) => (left, false),
    };
    // With so many digits it certainly can go on.
    let sure = match room {
        Room::Exponent(_) => 0,
        _ if is_key => left.min(keys::SURE.saturating_sub(keys::count_digits(written))),
        _ => left.saturating_sub(1),
    };
    let goes_on = |token: u32| keys::number_goes_on(core, &[written, vocab.token(token)].concat());
    let tokens = vocab.digits.up_to(left, leading);
    let (sure, others) = tokens.split_at(vocab.digits.up_to(sure, leading).len());
    set_all(bits, sure);
    others.iter().filter(|&&token| goes_on(token)).for_each(|&token| set(bits, token));
    if is_key {
        let zeros = sure.iter().filter(|&&token| vocab.token(token) == b"0" && !goes_on(token));
        zeros.for_each(|&zero| clear(bits, zero));
    }
}

/// Sets the tokens that these digits begin with, up to the first byte that is not a digit.
pub(crate) fn set_path(vocab: &Vocab, digits: &[u8], bits: &mut [u32]) {
    let (tree, mut node) = (&vocab.digits.tree, Prefixes::ROOT);
    for &byte in digits {
        let Some(child) = tree.child(tree.children(node), byte) else { break };
        node = child;
        let token = tree.entry(node).filter(|&token| digits.starts_with(vocab.token(token)));
        token.iter().for_each(|&token| set(bits, token));
    }
}

/// Sets the digits that lead to integers of a range.
fn ranged_digits(vocab: &Vocab, begun: Begun, low: i64, high: i64, bits: &mut [u32]) {
    let tree = &vocab.digits.tree;
    let longer = |begun: Begun, byte: u8| {
        let longer = begun.with(byte.wrapping_sub(b'0'));
        longer.may_be_within(low, high).then_some(longer)
    };
    let mut rest = vec![(Prefixes::ROOT, begun)];
    while let Some((node, before)) = rest.pop() {
        let (from, to) = tree.children(node);
        for child in from..to {
            let Some(next) = longer(before, tree.byte(child)) else { continue };
            let fits = |&token: &u32| vocab.token(token).iter().copied().try_fold(begun, longer).is_some();
            let token = tree.entry(child).filter(|token| tree.rest(child) == 0 || fits(token));
            token.iter().for_each(|&token| set(bits, token));
            rest.push((child, next));
        }
    }
}
