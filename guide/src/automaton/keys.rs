//! Constants that may be written: those that a position allows, and keys of cases, which must differ.

use crate::automaton::constants::integers;
use crate::automaton::formats;
use crate::automaton::numbers::{Begun, Room, room};
use crate::automaton::offers::{BOOL, NIL, NUMBER, TEXT, type_of};
use crate::automaton::state::{Core, Frame, Phase, entry};
use crate::automaton::want::field;
use ilo_asm::ast::Literal;
use ilo_asm::catalog::SchemaShape;
use ilo_asm::rules;
use ilo_spec::node::Word;
use ilo_spec::number;
use ilo_spec::program::Number;
use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The digits that are tried after a number that is the key of another case. With this many, it can become
/// more numbers than a MATCH_MAP has cases.
pub(crate) const KEY: usize = 2;

impl<'c> Core<'c> {
    /// The kinds of keys that a case may have, as bits.
    pub(crate) fn key_kinds(&self) -> u8 {
        let Some(frame) = self.frame() else { return 0 };
        let subject = self.arena.value(frame.first).ty;
        let mut kinds = 0;
        for kind in [TEXT, NUMBER, NIL, BOOL] {
            let used = match kind {
                NIL => self.has_key(&frame, Literal::Nil),
                BOOL => [true, false].into_iter().all(|truth| self.has_key(&frame, Literal::Bool(truth))),
                _ => false,
            };
            if !used && rules::may_be_equal(subject, type_of(kind).ty) {
                kinds |= 1 << kind;
            }
        }
        kinds
    }

    fn has_key(&self, frame: &Frame, constant: Literal<'_>) -> bool {
        let key = key_of(constant);
        self.list(frame.given).any(|given| given == key)
    }

    /// Whether a constant may be written here, if its kind may be.
    pub(crate) fn fits(&self, constant: Literal<'_>) -> bool {
        let Some(frame) = self.frame() else { return false };
        if self.state.phase == Phase::CaseKey {
            return !matches!(constant, Literal::Text("_")) && !self.has_key(&frame, constant);
        }
        let shape = self.shape(frame.want);
        match constant {
            Literal::Text(text) if let Some(names) = self.key_names() => names.contains(&text),
            Literal::Text(text) => match entry(&self.frames, frame.parent) {
                Some(parent) if parent.word == Word::At && parent.index == 1 => {
                    let known = field(self.arena.value(parent.first), text);
                    self.arena.takes(self.session, parent.want, known)
                }
                _ => shape.is_none_or(|shape| {
                    let format = formats::of(shape);
                    shape.refuses_text(text).is_none()
                        && format.is_none_or(|format| format.fits(text))
                        && self.selectable().is_none_or(|arms| arms.iter().any(|arm| arm.text == text))
                }),
            },
            Literal::Number(number) => shape.is_none_or(|shape| shape.refuses_number(number).is_none()),
            Literal::Nil => true,
            Literal::Bool(truth) => shape.is_none_or(|shape| shape.refuses_bool(truth).is_none()),
        }
    }

    /// The only texts that may be written here.
    pub(crate) fn texts(&self) -> Option<impl Iterator<Item = &'c str> + use<'c>> {
        let frame = self.frame().filter(|_| self.state.phase != Phase::CaseKey)?;
        let names = self.key_names();
        let listed = match self.shape(frame.want).and_then(SchemaShape::texts) {
            None if names.is_none() => return None,
            listed => listed.unwrap_or_default(),
        };
        let arms = self.selectable();
        let listed = if arms.is_some() { &[] } else { listed };
        let listed = listed.iter().map(|it| &**it).chain(arms.into_iter().flatten().map(|it| it.text));
        Some(listed.chain(names.into_iter().flatten()))
    }

    /// The value of which the unfinished literal names a field, if its fields are known.
    pub(crate) fn in_at(&self) -> Option<SchemaShape<'c>> {
        let parent = self.frame().and_then(|frame| entry(&self.frames, frame.parent));
        parent.and_then(|parent| self.at_shape(parent))
    }

    /// The same for the value that is next, if it is a text.
    pub(crate) fn opens_in_at(&self) -> Option<SchemaShape<'c>> {
        self.frame().and_then(|frame| self.at_shape(&frame))
    }

    fn at_shape(&self, frame: &Frame) -> Option<SchemaShape<'c>> {
        let is_name = frame.word == Word::At && frame.index == 1;
        self.arena.value(frame.first).part.shape().filter(|_| is_name)
    }

    /// The only numbers that may be written here: these, or the integers of a range.
    pub(crate) fn numbers(&self) -> Numbers<'c> {
        let shape = self.frame().filter(|_| self.state.phase != Phase::CaseKey);
        shape.and_then(|frame| self.shape(frame.want)).map_or(Numbers::All, Numbers::of)
    }

    /// Whether any number may be written here.
    pub(crate) fn takes_any_number(&self) -> bool {
        self.state.phase != Phase::CaseKey && matches!(self.numbers(), Numbers::All)
    }

    /// Whether a number with this beginning may come next.
    pub(crate) fn number_goes_on(&self, text: &[u8]) -> bool {
        let Ok(written) = core::str::from_utf8(text) else { return false };
        match self.numbers() {
            Numbers::Listed(all) => all.iter().any(|number| number.to_string().starts_with(written)),
            Numbers::Integers(low, high) => {
                Begun::of(text).is_some_and(|begun| begun.may_be_within(low, high))
            }
            Numbers::All => match room(text) {
                Some(Room::First | Room::More(_)) if self.state.phase != Phase::CaseKey => true,
                // An exponent can be too large.
                Some(_) => self.free_number(text, KEY),
                None => false,
            },
        }
    }

    /// Whether a number differs from all other keys, or does so with more digits.
    pub(crate) fn free_number(&self, text: &[u8], digits: usize) -> bool {
        let Some(room) = room(text) else { return false };
        let whole = core::str::from_utf8(text).ok().and_then(|text| number::parse(text).ok());
        if whole.is_some_and(|number| self.takes_constant(Literal::Number(number))) {
            return true;
        }
        let is_full = matches!(room, Room::More(0) | Room::Exponent(0));
        !is_full
            && digits > 0
            && (b'0'..=b'9').any(|digit| self.free_number(&[text, &[digit]].concat(), digits - 1))
    }

    /// The first number with this beginning that may come next, digit by digit.
    pub(crate) fn first_number(&self, begun: &[u8]) -> Option<String> {
        let fits =
            |text: &str| number::parse(text).is_ok_and(|number| self.takes_constant(Literal::Number(number)));
        if let Numbers::Listed(all) = self.numbers() {
            let mut texts = all.iter().map(ToString::to_string);
            return texts.find(|text| text.as_bytes().starts_with(begun));
        }
        let mut text = core::str::from_utf8(begun).ok()?.to_owned();
        while !fits(&text) {
            let next = |digit: &char| self.number_goes_on(format!("{text}{digit}").as_bytes());
            let digit = "0123456789-".chars().find(next)?;
            text.push(digit);
        }
        Some(text)
    }
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
