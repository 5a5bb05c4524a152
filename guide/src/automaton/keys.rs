//! Constants that may be written: those that a position allows, and keys of cases, which must differ.

use crate::automaton::arms;
use crate::automaton::constants::integers;
use crate::automaton::formats;
use crate::automaton::numbers::{Begun, Room, room};
use crate::automaton::offers::{self, BOOL, NIL, NUMBER, TEXT, type_of};
use crate::automaton::state::{Core, Frame, Phase};
use ilo_asm::ast::Literal;
use ilo_asm::catalog::SchemaShape;
use ilo_asm::rules;
use ilo_spec::number;
use ilo_spec::program::Number;
use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The digits that are tried after a number that is the key of another case. With this many, it can become
/// more numbers than a MATCH_MAP has cases.
const KEY: usize = 2;
/// Different numbers of this many digits and [`KEY`] more are never the same double.
pub(crate) const SURE: usize = 13;

/// The kinds of keys that a case may have, as bits.
pub(crate) fn key_kinds(core: &Core<'_>) -> u8 {
    let Some(frame) = core.frame() else { return 0 };
    let subject = core.arena.value(frame.first).ty;
    let mut kinds = 0;
    for kind in [TEXT, NUMBER, NIL, BOOL] {
        let used = match kind {
            NIL => has_key(core, &frame, Literal::Nil),
            BOOL => [true, false].into_iter().all(|truth| has_key(core, &frame, Literal::Bool(truth))),
            _ => false,
        };
        if !used && rules::may_be_equal(subject, type_of(kind).ty) {
            kinds |= 1 << kind;
        }
    }
    kinds
}

fn has_key(core: &Core<'_>, frame: &Frame, constant: Literal<'_>) -> bool {
    let key = key_of(constant);
    core.list(frame.given).any(|given| given == key)
}

/// Whether a constant may be written here, if its kind may be.
pub(crate) fn fits(core: &Core<'_>, constant: Literal<'_>) -> bool {
    let Some(frame) = core.frame() else { return false };
    if core.state.phase == Phase::CaseKey {
        return !matches!(constant, Literal::Text("_")) && !has_key(core, &frame, constant);
    }
    let shape = offers::shape(core, frame.want);
    match constant {
        Literal::Text(text) if let Some(names) = offers::key_names(core) => names.contains(&text),
        Literal::Text(text) => shape.is_none_or(|shape| {
            let format = formats::of(shape);
            shape.refuses_text(text).is_none()
                && format.is_none_or(|format| format.fits(text))
                && arms::selectable(core).is_none_or(|arms| arms.iter().any(|arm| arm.text == text))
        }),
        Literal::Number(number) => shape.is_none_or(|shape| shape.refuses_number(number).is_none()),
        Literal::Nil => true,
        Literal::Bool(truth) => shape.is_none_or(|shape| shape.refuses_bool(truth).is_none()),
    }
}

/// The only texts that may be written here.
pub(crate) fn texts<'c>(core: &Core<'c>) -> Option<impl Iterator<Item = &'c str> + use<'c>> {
    let frame = core.frame().filter(|_| core.state.phase != Phase::CaseKey)?;
    let names = offers::key_names(core);
    let listed = match offers::shape(core, frame.want).and_then(SchemaShape::texts) {
        None if names.is_none() => return None,
        listed => listed.unwrap_or_default(),
    };
    let arms = arms::selectable(core);
    let listed = if arms.is_some() { &[] } else { listed };
    let listed = listed.iter().map(|it| &**it).chain(arms.into_iter().flatten().map(|it| it.text));
    Some(listed.chain(names.into_iter().flatten()))
}

/// The only numbers that may be written here: these, or the integers of a range.
pub(crate) fn numbers<'c>(core: &Core<'c>) -> Numbers<'c> {
    let shape = core.frame().filter(|_| core.state.phase != Phase::CaseKey);
    shape.and_then(|frame| offers::shape(core, frame.want)).map_or(Numbers::All, Numbers::of)
}

/// Whether any number may be written here.
pub(crate) fn takes_any_number(core: &Core<'_>) -> bool {
    core.state.phase != Phase::CaseKey && matches!(numbers(core), Numbers::All)
}

/// Whether a number with this beginning may come next.
pub(crate) fn number_goes_on(core: &Core<'_>, text: &[u8]) -> bool {
    let Ok(written) = core::str::from_utf8(text) else { return false };
    match numbers(core) {
        Numbers::Listed(all) => all.iter().any(|number| number.to_string().starts_with(written)),
        Numbers::Integers(low, high) => Begun::of(text).is_some_and(|begun| begun.may_be_within(low, high)),
        Numbers::All => match room(text) {
            Some(Room::First | Room::More(_)) if core.state.phase != Phase::CaseKey => true,
            Some(Room::First | Room::More(1..)) if count_digits(text) <= SURE => true,
            // An exponent can be too large.
            Some(_) => free_number(core, text, KEY),
            None => false,
        },
    }
}

pub(crate) fn count_digits(text: &[u8]) -> usize {
    text.iter().filter(|byte| byte.is_ascii_digit()).count()
}

/// Whether a number differs from all other keys, or does so with more digits.
fn free_number(core: &Core<'_>, text: &[u8], digits: usize) -> bool {
    let Some(room) = room(text) else { return false };
    let whole = core::str::from_utf8(text).ok().and_then(|text| number::parse(text).ok());
    if whole.is_some_and(|number| core.takes_constant(Literal::Number(number))) {
        return true;
    }
    let is_full = matches!(room, Room::More(0) | Room::Exponent(0));
    !is_full
        && digits > 0
        && (b'0'..=b'9').any(|digit| free_number(core, &[text, &[digit]].concat(), digits - 1))
}

/// The first number with this beginning that may come next, digit by digit.
pub(crate) fn first_number(core: &Core<'_>, begun: &[u8]) -> Option<String> {
    let fits =
        |text: &str| number::parse(text).is_ok_and(|number| core.takes_constant(Literal::Number(number)));
    if let Numbers::Listed(all) = numbers(core) {
        let mut texts = all.iter().map(ToString::to_string);
        return texts.find(|text| text.as_bytes().starts_with(begun));
    }
    let mut text = core::str::from_utf8(begun).ok()?.to_owned();
    while !fits(&text) {
        let next = |digit: &char| number_goes_on(core, format!("{text}{digit}").as_bytes());
        let digit = "0123456789-".chars().find(next)?;
        text.push(digit);
    }
    Some(text)
}

/// The numbers that a position allows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Numbers<'c> {
    All,
    Listed(&'c [Number]),
    Integers(i64, i64),
}

impl<'c> Numbers<'c> {
    /// Those of a shape that may be written.
    pub(crate) fn of(shape: SchemaShape<'c>) -> Numbers<'c> {
        if let Some(listed) = shape.numbers() {
            return Numbers::Listed(listed);
        }
        let bounded = shape.is_whole() || shape.range().0.is_some() || shape.range().1.is_some();
        match integers(shape).filter(|_| bounded) {
            Some((low, high)) => Numbers::Integers(low, high),
            None if bounded => Numbers::Listed(&[]),
            None => Numbers::All,
        }
    }
}

/// A key of `MATCH_MAP` as a hash. A collision of two keys is practically impossible, and would only refuse a
/// key that could have been allowed. Equal numbers have one key: 1 and 1.0 are equal.
pub(crate) fn key_of(constant: Literal<'_>) -> u64 {
    let text = match constant {
        // Each end asks for these.
        Literal::Nil => return 0,
        Literal::Bool(truth) => return 1 + u64::from(truth),
        Literal::Text(text) => Cow::Borrowed(text),
        // Without an exponent, and without the sign of a zero.
        Literal::Number(Number::Double(double)) => format!("{}", double + 0.0).into(),
        Literal::Number(Number::Int(_)) => constant.written().into(),
    };
    let mut hasher = DefaultHasher::new();
    (constant.kind(), text).hash(&mut hasher);
    hasher.finish()
}
