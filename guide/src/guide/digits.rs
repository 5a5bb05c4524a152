//! Masks of tokens that consist of digits, in ID text: integers are searched, numbers are in `surface`.

use super::lex::{InToken, LineMachine};
use crate::automaton::integers;
use crate::automaton::offers::{self, NUMBER};
use crate::automaton::state::Phase;
use crate::surface::digits::{number_digits, set_path};
use crate::vocab::Vocab;
use ilo_spec::node::Word;

/// Sets the tokens that are digits alone.
pub(super) fn digits(machine: &mut LineMachine<'_>, vocab: &Vocab, bits: &mut [u32]) {
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

/// Whether all fields that may be written here leave the same possibilities after them: those of records
/// without a known shape.
pub(crate) fn has_alike_fields(machine: &LineMachine<'_>) -> bool {
    let core = &machine.core;
    let is_pair = matches!(core.state.phase, Phase::PairField | Phase::MergeMore);
    let free = core.frame().is_some_and(|it| it.word != Word::Call && offers::shape(core, it.want).is_none());
    matches!(machine.lex, InToken::Start | InToken::Integer(_)) && is_pair && free
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
