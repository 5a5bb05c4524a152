//! Masks of tokens that consist of digits, in both notations: by tables if any number may be written, by
//! search if only some integers may.

use crate::automaton::keys::{self, KEY, Numbers};
use crate::automaton::numbers::{Begun, EXACT, Room, WHOLE, room};
use crate::automaton::state::{Core, Phase};
use crate::vocab::bits::{set, set_all};
use crate::vocab::{Prefixes, Vocab};
use ilo_spec::number;

/// Sets the tokens of digits that continue a number with this beginning.
pub(crate) fn number_digits(core: &Core<'_>, vocab: &Vocab, written: &[u8], bits: &mut [u32]) {
    match keys::numbers(core) {
        Numbers::All if core.state.phase == Phase::CaseKey => {
            key_digits(core, vocab, written, bits);
        }
        Numbers::All => match room(written) {
            Some(Room::First) => digits_up_to(vocab, written, (WHOLE, true), bits),
            Some(Room::More(left) | Room::Exponent(left)) => {
                digits_up_to(vocab, written, (left, false), bits);
            }
            None => {}
        },
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

/// Sets the digits that continue the key of a case. It must differ from the other keys, and can if enough
/// digits may follow.
fn key_digits(core: &Core<'_>, vocab: &Vocab, written: &[u8], bits: &mut [u32]) {
    let Some(room) = room(written) else { return };
    let digits = written.iter().filter(|byte| byte.is_ascii_digit()).count();
    let (tokens, left) = match room {
        Room::First => (vocab.digits.up_to(WHOLE, true), EXACT),
        Room::More(left) => (vocab.digits.up_to(left, false), left.min(EXACT.saturating_sub(digits))),
        Room::Exponent(left) => (vocab.digits.up_to(left, false), 0),
    };
    let is_free = |token: u32| {
        let bytes = vocab.token(token);
        bytes.len() + KEY <= left && (room != Room::First || bytes != b"0")
    };
    for &token in tokens {
        if is_free(token) || keys::free_number(core, &[written, vocab.token(token)].concat(), KEY) {
            set(bits, token);
        }
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

/// Sets the tokens of at most so many digits, which may have to lead, that continue a number. Those that fill
/// it may make it too large.
fn digits_up_to(vocab: &Vocab, written: &[u8], (left, leading): (usize, bool), bits: &mut [u32]) {
    let all = vocab.digits.up_to(left, leading);
    let short = left.checked_sub(1).map_or(&[][..], |shorter| vocab.digits.up_to(shorter, leading));
    set_all(bits, short);
    let fits = |digits: &[u8]| {
        let text = [written, digits].concat();
        core::str::from_utf8(&text).is_ok_and(|text| number::parse(text).is_ok())
    };
    // Digits of one length are in ascending order.
    let long = all.get(short.len()..).unwrap_or_default();
    let end = long.partition_point(|&token| fits(vocab.token(token)));
    set_all(bits, long.get(..end).unwrap_or_default());
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
