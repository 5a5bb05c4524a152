//! The choices at a position, in the order of their bytes: those of a list that fit. A list is made for the
//! position, or it is one of the session, since a catalogue may have thousands of names.

use super::choice::{Act, Choice};
use super::machine::{Leads, Lex};
use super::values;
use crate::automaton::json_names::{END, JsonName};
use crate::automaton::offers::Words;
use crate::automaton::session::Session;
use crate::vocab::bits;
use ilo_asm::sorting::sort_by;
use std::sync::Arc;

/// Choices of which none is a prefix of another.
#[derive(Clone, Debug)]
pub(super) struct Choices {
    pub(super) of: List,
    pub(super) fits: Fits,
    /// The words that a value may begin with, for [`Act::Quote`].
    pub(super) words: Words,
}

/// A list in the order of its bytes.
#[derive(Clone, Debug)]
pub(super) enum List {
    Own(Arc<[Choice]>),
    /// The beginnings of values that do not depend on the position.
    Values,
    Tools,
    /// The keys of a record, which may be further ones, and its ends.
    Keys {
        further: bool,
    },
    /// The fields of a path, which may be in `${…}`: as the last one, or before others.
    Fields {
        hole: bool,
    },
}

/// The places of a list that have a choice.
#[derive(Clone, Debug)]
pub(super) enum Fits {
    All,
    Few(u128),
    Many(Arc<[u32]>),
}

impl Fits {
    /// All places of a list of this length, or none.
    pub(super) fn new(length: usize, all: bool) -> Fits {
        if length <= u128::BITS as usize {
            return Fits::Few(if all { u128::MAX } else { 0 });
        }
        let word = if all { u32::MAX } else { 0 };
        Fits::Many(core::iter::repeat_n(word, length.div_ceil(u32::BITS as usize)).collect())
    }

    /// Sets whether a place has a choice, if there is one.
    pub(super) fn put(&mut self, place: Option<u32>, fits: bool) {
        let Some(place) = place else { return };
        match self {
            Fits::All => {}
            Fits::Few(set) if fits => *set |= bit(place as usize),
            Fits::Few(set) => *set &= !bit(place as usize),
            Fits::Many(words) => {
                let put = if fits { bits::set } else { bits::clear };
                Arc::get_mut(words).into_iter().for_each(|words| put(words, place));
            }
        }
    }

    /// The first place with a choice, from this one on; a place behind all others if there is none.
    fn from(&self, place: usize) -> usize {
        match self {
            Fits::All => place,
            Fits::Few(set) => (set & !bit(place).wrapping_sub(1)).trailing_zeros() as usize,
            Fits::Many(words) => {
                let at = place / 32;
                let above = |word: usize| if word == at { u32::MAX << (place % 32) } else { u32::MAX };
                let all = words.iter().enumerate().skip(at).map(|it| (it.0, it.1 & above(it.0)));
                let first = { all }.find(|it| it.1 != 0);
                first.map_or(usize::MAX, |it| 32 * it.0 + it.1.trailing_zeros() as usize)
            }
        }
    }
}

/// The set of one place.
pub(super) fn bit(place: usize) -> u128 {
    u32::try_from(place).ok().and_then(|place| 1_u128.checked_shl(place)).unwrap_or_default()
}

impl Choices {
    /// These choices, which may be in any order and repeated.
    pub(super) fn listed(found: impl IntoIterator<Item = Choice>) -> Choices {
        let mut found: Vec<Choice> = found.into_iter().collect();
        if !found.is_sorted_by(|a, b| *a.bytes <= *b.bytes) {
            sort_by(&mut found, |a, b| a.bytes.cmp(&b.bytes));
        }
        found.dedup_by(|a, b| *a.bytes == *b.bytes);
        Choices::of(List::Own(found.into()), Fits::All)
    }

    pub(super) fn of(of: List, fits: Fits) -> Choices {
        Choices { of, fits, words: 0 }
    }

    pub(super) fn memory(&self) -> usize {
        let own = if let List::Own(all) = &self.of { all.len() * size_of::<Choice>() } else { 0 };
        own + if let Fits::Many(words) = &self.fits { 4 * words.len() } else { 0 }
    }
}

/// What some choices begin: a text that may be a reference, the key of a case that is a number, a number.
#[derive(Clone, Copy, Default)]
pub(super) struct Begins {
    pub(super) text: bool,
    pub(super) key: bool,
    pub(super) number: bool,
}

/// Choices with their list.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    all: All<'a>,
    fits: &'a Fits,
}

#[derive(Clone, Copy)]
enum All<'a> {
    Choices(&'a [Choice]),
    Names(&'a [JsonName], fn(&JsonName) -> Act),
}

impl<'a> View<'a> {
    pub(super) const NONE: View<'a> = View { all: All::Choices(&[]), fits: &Fits::All };

    pub(super) fn new(choices: &'a Choices, session: &'a Session<'_>) -> Self {
        let all = match choices.of {
            List::Own(ref own) => All::Choices(own),
            List::Values => All::Choices(values::all()),
            List::Tools => All::Names(&session.json().tools.all, |it| Act::Tool(it.number)),
            List::Keys { further } => {
                All::Names(&session.json().keys[usize::from(further)].all, |it| match it.number {
                    END => Act::EndParts,
                    number => Act::Key(number),
                })
            }
            List::Fields { hole } => All::Names(&session.json().fields(session, hole).all, |it| {
                if it.further { Act::Field(it.number) } else { Act::LastField(it.number) }
            }),
        };
        View { all, fits: &choices.fits }
    }

    /// The number of places.
    pub(super) fn len(self) -> usize {
        match self.all {
            All::Choices(all) => all.len(),
            All::Names(all, _) => all.len(),
        }
    }

    /// The choice at a place that has one.
    pub(super) fn at(self, place: usize) -> Option<(&'a str, Act)> {
        match self.all {
            All::Choices(all) => all.get(place).map(|it| (&*it.bytes, it.act)),
            All::Names(all, act) => all.get(place).map(|it| (&*it.bytes, act(it))),
        }
    }

    /// The bytes at a place, which need not have a choice.
    pub(super) fn text(self, place: usize) -> Option<&'a [u8]> {
        match self.all {
            All::Choices(all) => all.get(place).map(|it| it.bytes.as_bytes()),
            All::Names(all, _) => all.get(place).map(|it| it.bytes.as_bytes()),
        }
    }

    /// The byte after this number of those at a place.
    pub(super) fn byte(self, place: usize, depth: usize) -> Option<u8> {
        self.text(place).and_then(|text| text.get(depth).copied())
    }

    /// The first place with a choice, from this one on; a place behind all others if there is none.
    pub(super) fn from(self, place: usize) -> usize {
        self.fits.from(place)
    }

    /// The first place, among those from `low` to `high` that begin alike, whose byte after this number is
    /// not less than another; the end if there is none. It may have no choice.
    pub(super) fn seek(self, low: usize, high: usize, depth: usize, byte: u8) -> usize {
        let is_less = |bytes: &str| bytes.as_bytes().get(depth) < Some(&byte);
        low + match self.all {
            All::Choices(all) => {
                all.get(low..high).unwrap_or_default().partition_point(|it| is_less(&it.bytes))
            }
            All::Names(all, _) => {
                all.get(low..high).unwrap_or_default().partition_point(|it| is_less(&it.bytes))
            }
        }
    }

    /// The end of the places from `low` to `high`, which begin alike, that have this byte after this number.
    /// Most are few, so that the steps grow.
    pub(super) fn alike(self, low: usize, high: usize, depth: usize, byte: u8) -> usize {
        let (mut end, mut step) = (low + 1, 1);
        while end < high && self.byte(end, depth) == Some(byte) {
            (end, step) = (end + step, 2 * step);
        }
        let above = byte.saturating_add(1);
        if step < 4 { end.min(high) } else { self.seek(end - step / 2 + 1, end.min(high), depth, above) }
    }

    /// The places, of those from `low` to `high`, that begin alike and have this byte after this number, from
    /// the first with a choice on.
    pub(super) fn narrow(self, low: usize, high: usize, depth: usize, byte: u8) -> Option<(usize, usize)> {
        let from = self.from(self.seek(low, high, depth, byte));
        let fits = from < high && self.byte(from, depth) == Some(byte);
        fits.then(|| (from, self.alike(from, high, depth, byte)))
    }

    /// The effect of that byte.
    pub(super) fn leads(self, (low, high): (usize, usize), depth: usize, byte: u8) -> Leads {
        let Some((low, high)) = self.narrow(low, high.min(self.len()), depth, byte) else {
            return Leads::Nowhere;
        };
        match self.at(low) {
            Some((bytes, act)) if bytes.len() == depth + 1 => Leads::Act(act),
            _ => Leads::On(Lex::Choice { low, high, depth: depth + 1 }),
        }
    }

    /// All choices, each with its place.
    pub(super) fn all(self, low: usize, high: usize) -> impl Iterator<Item = (usize, &'a str, Act)> {
        let mut next = low;
        core::iter::from_fn(move || {
            let place = self.from(next);
            let (bytes, act) = self.at(place).filter(|_| place < high)?;
            next = place + 1;
            Some((place, bytes, act))
        })
    }

    /// What some of them begin.
    pub(super) fn begins(self) -> Begins {
        match (self.all, self.fits) {
            (All::Choices(_), &Fits::Few(set)) => values::begins(set),
            (All::Choices(listed), _) => listed.iter().fold(Begins::default(), |begins, choice| Begins {
                text: begins.text || choice.act == Act::Quote,
                key: begins.key || choice.act == Act::NumberKey,
                number: begins.number || choice.act == Act::Number,
            }),
            (All::Names(..), _) => Begins::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_fit() {
        for length in [128, 129, 300] {
            let mut fits = Fits::new(length, false);
            [2, 4, 7, 127].into_iter().for_each(|place| fits.put(Some(place), true));
            fits.put(None, true);
            assert_eq!([0, 2, 3, 5, 8].map(|place| fits.from(place)), [2, 2, 4, 7, 127]);
            fits.put(Some(4), false);
            assert_eq!(fits.from(3), 7);
            assert!(fits.from(128) >= 128 && fits.from(1_000) >= 128);
            let mut but = Fits::new(length, true);
            [0, 1, 64].into_iter().for_each(|place| but.put(Some(place), false));
            assert_eq!([0, 2, 64, 127].map(|place| but.from(place)), [2, 2, 65, 127]);
        }
        let mut far = Fits::new(300, false);
        far.put(Some(299), true);
        assert_eq!([0, 299].map(|place| far.from(place)), [299, 299]);
        assert!(far.from(300) >= 300);
    }
}
