//! Choices with their data, in the order of their bytes.

use super::choice::{Act, Choice};
use super::choices::{Choices, Names, Places};
use super::machine::{Leads, Lex};
use super::values::Values;
use crate::automaton::json_names::{JsonName, SortedNames};
use crate::automaton::session::Session;

/// Choices in the order of their bytes, each at a place. Some places may have no choice.
pub(super) trait Sorted<'a>: Copy {
    /// The number of places.
    fn len(self) -> usize;

    /// The choice at a place, if it has one.
    fn at(self, place: usize) -> Option<(&'a str, Act)>;

    /// The bytes at a place, which need not have a choice.
    fn text(self, place: usize) -> Option<&'a str>;

    /// The byte after this number of those at a place.
    fn byte(self, place: usize, depth: usize) -> Option<u8> {
        self.text(place).and_then(|text| text.as_bytes().get(depth).copied())
    }

    /// The first place with a choice, from this one on; a place behind all others if there is none.
    fn from(self, place: usize) -> usize;

    /// The first place, among those from `low` to `high` that begin alike, whose byte after this number is
    /// not less than another; the end if there is none. It may have no choice.
    fn seek(self, low: usize, high: usize, depth: usize, byte: u8) -> usize;

    /// The end of the places from `low` to `high`, which begin alike, that have this byte after this number.
    /// Most are few, so that the steps grow.
    fn alike(self, low: usize, high: usize, depth: usize, byte: u8) -> usize {
        let (mut end, mut step) = (low + 1, 1);
        while end < high && self.byte(end, depth) == Some(byte) {
            (end, step) = (end + step, 2 * step);
        }
        let above = byte.saturating_add(1);
        if step < 4 { end.min(high) } else { self.seek(end - step / 2 + 1, end.min(high), depth, above) }
    }

    /// The effect of a byte after this number of those of the places from `low` to `high`.
    fn narrow(self, (low, high): (usize, usize), depth: usize, byte: u8) -> Leads {
        let high = high.min(self.len());
        let from = self.from(self.seek(low, high, depth, byte));
        let Some((bytes, act)) = self.at(from).filter(|_| from < high) else {
            return Leads::Nowhere;
        };
        if bytes.as_bytes().get(depth) != Some(&byte) {
            return Leads::Nowhere;
        }
        if bytes.len() == depth + 1 {
            return Leads::Act(act);
        }
        let to = self.alike(from, high, depth, byte);
        Leads::On(Lex::Choice { low: from, high: to, depth: depth + 1 })
    }
}

/// Choices with their data.
#[derive(Clone, Copy)]
pub(super) enum View<'a> {
    Listed(&'a [Choice]),
    Values(Values),
    Names(NamedChoices<'a>),
}

/// Runs this with the choices of a view, each kind by code of its own.
macro_rules! with {
    ($view:expr, $sorted:ident => $run:expr) => {
        match $view {
            View::Listed($sorted) => $run,
            View::Values($sorted) => $run,
            View::Names($sorted) => $run,
        }
    };
}
pub(super) use with;

/// What some choices begin: a text that may be a reference, the key of a case that is a number, a number.
#[derive(Clone, Copy, Default)]
pub(super) struct Begins {
    pub(super) text: bool,
    pub(super) key: bool,
    pub(super) number: bool,
}

impl<'a> View<'a> {
    pub(super) fn new(choices: &'a Choices, session: &'a Session<'_>) -> Self {
        match *choices {
            Choices::Listed(ref listed) => View::Listed(listed),
            Choices::Values(values) => View::Values(values),
            Choices::Names { of, ref last, ref further, end } => {
                View::Names(NamedChoices { of, names: of.all(session), last, further, end })
            }
        }
    }

    pub(super) fn is_empty(self) -> bool {
        self.all(0, usize::MAX).next().is_none()
    }

    /// The number of places.
    pub(super) fn len(self) -> usize {
        with!(self, choices => choices.len())
    }

    /// The choice at a place, if it has one.
    pub(super) fn at(self, place: usize) -> Option<(&'a str, Act)> {
        with!(self, choices => choices.at(place))
    }

    /// All choices, each with its place.
    pub(super) fn all(self, low: usize, high: usize) -> impl Iterator<Item = (usize, &'a str, Act)> {
        let mut next = low;
        core::iter::from_fn(move || {
            let place = with!(self, choices => choices.from(next));
            let (bytes, act) = self.at(place).filter(|_| place < high)?;
            next = place + 1;
            Some((place, bytes, act))
        })
    }

    /// What some of them begin.
    pub(super) fn begins(self) -> Begins {
        match self {
            View::Listed(listed) => listed.iter().fold(Begins::default(), |begins, choice| Begins {
                text: begins.text || matches!(choice.act, Act::Quote(_)),
                key: begins.key || choice.act == Act::NumberKey,
                number: begins.number || choice.act == Act::Number,
            }),
            View::Values(values) => values.begins(),
            View::Names(_) => Begins::default(),
        }
    }
}

impl<'a> Sorted<'a> for &'a [Choice] {
    fn len(self) -> usize {
        <[Choice]>::len(self)
    }

    fn at(self, place: usize) -> Option<(&'a str, Act)> {
        self.get(place).map(|choice| (&*choice.bytes, choice.act))
    }

    fn text(self, place: usize) -> Option<&'a str> {
        self.get(place).map(|choice| &*choice.bytes)
    }

    fn from(self, place: usize) -> usize {
        place
    }

    fn seek(self, low: usize, high: usize, depth: usize, byte: u8) -> usize {
        let alike = self.get(low..high).unwrap_or_default();
        low + alike.partition_point(|choice| choice.bytes.as_bytes().get(depth) < Some(&byte))
    }
}

/// Names of the session, and the end of a record, which is behind them.
#[derive(Clone, Copy)]
pub(super) struct NamedChoices<'a> {
    of: Names,
    names: &'a SortedNames,
    last: &'a Places,
    further: &'a Places,
    end: Option<&'static str>,
}

impl NamedChoices<'_> {
    pub(super) fn are_tools(self) -> bool {
        matches!(self.of, Names::Tools)
    }

    fn has(self, place: usize, name: &JsonName) -> bool {
        if name.further { self.further.has(place) } else { self.last.has(place) }
    }
}

impl<'a> Sorted<'a> for NamedChoices<'a> {
    fn len(self) -> usize {
        self.names.0.len() + 1
    }

    fn at(self, place: usize) -> Option<(&'a str, Act)> {
        let name = self.names.0.get(place);
        if !name.is_none_or(|name| self.has(place, name)) {
            return None;
        }
        Some((self.text(place)?, name.map_or(Act::EndParts, |name| self.of.act(name))))
    }

    fn text(self, place: usize) -> Option<&'a str> {
        match self.names.0.get(place) {
            Some(name) => Some(&name.bytes),
            None => self.end.filter(|_| place == self.names.0.len()),
        }
    }

    fn from(self, place: usize) -> usize {
        let end = self.names.0.len().max(place);
        let next = |places: &Places, further: bool| match places {
            Places::Only(all) => {
                let next = all.get(all.partition_point(|&it| (it as usize) < place));
                next.map_or(end, |&it| it as usize)
            }
            Places::But(_) => {
                let mut rest = self.names.0.iter().enumerate().skip(place);
                let found = rest.find(|it| it.1.further == further && places.has(it.0));
                found.map_or(end, |it| it.0)
            }
        };
        next(self.last, false).min(next(self.further, true))
    }

    fn seek(self, low: usize, high: usize, depth: usize, byte: u8) -> usize {
        let names = self.names.0.get(low..high.min(self.names.0.len())).unwrap_or_default();
        let found = low + names.partition_point(|name| name.bytes.as_bytes().get(depth) < Some(&byte));
        let is_end = found == self.names.0.len() && self.byte(found, depth) < Some(byte);
        (found + usize::from(is_end)).min(high)
    }
}
