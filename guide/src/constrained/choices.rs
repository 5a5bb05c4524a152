//! The choices at a position, in the order of their bytes: listed for it, or names of which the session has
//! lists, since a catalogue may have thousands.

use super::acts::{Act, Choice};
use super::values::Values;
use crate::automaton::json_names::{Fields, JsonName, SortedNames};
use crate::automaton::session::Session;
use ilo_asm::sorting::sort_by;

/// Choices of which none is a prefix of another.
#[derive(Clone, Copy, Debug)]
pub(super) enum Choices {
    /// Those in a part of [`Lists::choices`].
    Listed(Span),
    Values(Values),
    /// Names of the session, and the end of a record.
    Names {
        of: Names,
        which: Which<Span>,
        end: Option<&'static str>,
    },
}

/// A list of names of the session.
#[derive(Clone, Copy, Debug)]
pub(super) enum Names {
    Tools,
    /// The keys of a record: the first one, or a further one.
    Keys {
        further: bool,
    },
    Fields(Fields),
}

/// Some names of a list, by their places in it, in order.
#[derive(Clone, Copy, Debug)]
pub(super) enum Which<S> {
    Only(S),
    All {
        except: S,
        /// Of the fields that further ones follow, only these.
        further: Option<S>,
    },
}

impl<S> Which<S> {
    fn map<T>(self, mut to: impl FnMut(S) -> T) -> Which<T> {
        match self {
            Which::Only(places) => Which::Only(to(places)),
            Which::All { except, further } => Which::All { except: to(except), further: further.map(to) },
        }
    }
}

impl Which<[u32; 0]> {
    pub(super) const ALL: Self = Which::All { except: [], further: None };
}

impl Which<&[u32]> {
    /// Whether the name at a place is one of them.
    fn has(self, place: usize, is_further: bool) -> bool {
        let has = |places: &[u32]| places.binary_search_by(|it| (*it as usize).cmp(&place)).is_ok();
        match self {
            Which::Only(places) => has(places),
            Which::All { further: Some(further), .. } if is_further => has(further),
            Which::All { except, .. } => !has(except),
        }
    }
}

/// A part of a list, of the machine or of its memo.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    from: u32,
    to: u32,
    in_memo: bool,
}

impl Span {
    fn new(from: usize, to: usize, in_memo: bool) -> Span {
        let number = |at| u32::try_from(at).unwrap_or(u32::MAX);
        Span { from: number(from), to: number(to), in_memo }
    }

    fn of<T>(self, all: &[T]) -> &[T] {
        all.get(self.from as usize..self.to as usize).unwrap_or_default()
    }
}

impl Choices {
    /// Whether they are in the lists of the memo.
    pub(super) fn are_in_memo(self) -> bool {
        match self {
            Choices::Listed(span)
            | Choices::Names { which: Which::Only(span) | Which::All { except: span, .. }, .. } => {
                span.in_memo
            }
            Choices::Values(_) => false,
        }
    }
}

/// The most entries of earlier positions that are kept when the program grows.
const MOST: usize = 256;

/// The data of choices. It grows, and is cut when the machine goes back.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    choices: Vec<Choice>,
    numbers: Vec<u32>,
    /// Whether they belong to the memo.
    in_memo: bool,
}

/// The lengths of the lists.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lengths(usize, usize);

impl Lists {
    /// Lists of the memo.
    pub(super) fn of_memo() -> Lists {
        Lists { in_memo: true, ..Lists::default() }
    }

    pub(super) fn lengths(&self) -> Lengths {
        Lengths(self.choices.len(), self.numbers.len())
    }

    pub(super) fn cut(&mut self, lengths: Lengths) {
        self.choices.truncate(lengths.0);
        self.numbers.truncate(lengths.1);
    }

    /// Whether there are many choices and numbers.
    pub(super) fn are_many(&self) -> bool {
        self.choices.len() + self.numbers.len() > MOST
    }

    /// Copies choices from other lists.
    pub(super) fn copy(&mut self, choices: Choices, from: &Lists) -> Choices {
        match choices {
            Choices::Listed(span) => {
                let start = self.choices.len();
                self.choices.extend_from_slice(span.of(&from.choices));
                Choices::Listed(Span::new(start, self.choices.len(), self.in_memo))
            }
            Choices::Names { of, which, end } => {
                Choices::Names { of, which: which.map(|span| self.numbers(span.of(&from.numbers))), end }
            }
            Choices::Values(_) => choices,
        }
    }

    pub(super) fn memory(&self) -> usize {
        self.choices.capacity() * size_of::<Choice>() + 4 * self.numbers.capacity()
    }

    /// These choices, which may be in any order and repeated.
    pub(super) fn add(&mut self, found: impl IntoIterator<Item = Choice>) -> Choices {
        let from = self.choices.len();
        self.choices.extend(found);
        let added = self.choices.get_mut(from..).unwrap_or_default();
        if !added.is_sorted_by(|a, b| *a.bytes <= *b.bytes) {
            sort_by(added, |a, b| a.bytes.cmp(&*b.bytes));
        }
        if added.windows(2).any(|pair| matches!(pair, [a, b] if *a.bytes == *b.bytes)) {
            let mut added = self.choices.split_off(from);
            added.dedup_by(|a, b| *a.bytes == *b.bytes);
            self.choices.append(&mut added);
        }
        Choices::Listed(Span::new(from, self.choices.len(), self.in_memo))
    }

    /// Some names of the session, and the end of a record.
    pub(super) fn names<S: AsRef<[u32]>>(
        &mut self,
        of: Names,
        which: Which<S>,
        end: Option<&'static str>,
    ) -> Choices {
        Choices::Names { of, which: which.map(|places| self.numbers(places.as_ref())), end }
    }

    fn numbers(&mut self, numbers: &[u32]) -> Span {
        let from = self.numbers.len();
        self.numbers.extend_from_slice(numbers);
        Span::new(from, self.numbers.len(), self.in_memo)
    }
}

impl Names {
    fn all<'s>(self, session: &'s Session<'_>) -> &'s SortedNames {
        let names = session.json();
        match self {
            Names::Tools => &names.tools,
            Names::Keys { further: false } => &names.keys[0],
            Names::Keys { further: true } => &names.keys[1],
            Names::Fields(fields) => names.fields(session, fields),
        }
    }

    fn act(self, name: &JsonName) -> Act {
        match self {
            Names::Tools => Act::Tool(name.number),
            Names::Keys { .. } => Act::Key(name.number),
            Names::Fields(_) if name.further => Act::Field(name.number),
            Names::Fields(_) => Act::LastField(name.number),
        }
    }
}

/// Choices with their data.
#[derive(Clone, Copy)]
pub(super) enum View<'a> {
    Listed(&'a [Choice]),
    Values(Values),
    Names(Named<'a>),
}

/// Names of the session, and the end of a record, which is behind them.
#[derive(Clone, Copy)]
pub(super) struct Named<'a> {
    of: Names,
    names: &'a SortedNames,
    which: Which<&'a [u32]>,
    end: Option<&'static str>,
}

impl<'a> Named<'a> {
    fn len(self) -> usize {
        self.names.all.len() + 1
    }

    fn at(self, place: usize) -> Option<(&'a str, Act)> {
        let act = self.names.all.get(place).map_or(Act::EndFields, |name| self.of.act(name));
        Some((self.text(place)?, act))
    }

    fn text(self, place: usize) -> Option<&'a str> {
        match self.names.all.get(place) {
            Some(name) if self.which.has(place, name.further) => Some(&name.bytes),
            None if place == self.names.all.len() => self.end,
            _ => None,
        }
    }

    /// The first place with a choice, from this one on.
    fn from(self, place: usize) -> usize {
        if let Which::Only(places) = self.which {
            let next = places.get(places.partition_point(|&it| (it as usize) < place));
            return next.map_or(self.names.all.len(), |&it| it as usize);
        }
        let rest = self.names.all.iter().enumerate().skip(place);
        let next = rest.into_iter().find(|(place, name)| self.which.has(*place, name.further));
        next.map_or(self.names.all.len().max(place), |it| it.0)
    }

    fn seek(self, low: usize, high: usize, depth: usize, byte: u8) -> usize {
        let alike = self.names.all.get(low..high.min(self.names.all.len())).unwrap_or_default();
        let found = low + alike.partition_point(|name| name.bytes.as_bytes().get(depth) < Some(&byte));
        let is_end = found == self.names.all.len() && self.byte_of_end(depth) < Some(byte);
        (found + usize::from(is_end)).min(high)
    }

    fn byte_of_end(self, depth: usize) -> Option<u8> {
        self.end.and_then(|end| end.as_bytes().get(depth).copied())
    }
}

/// Whether some choices begin a text that may be a reference, the key of a case that is a number, or a
/// number.
#[derive(Clone, Copy, Default)]
pub(super) struct Begins {
    pub(super) text: bool,
    pub(super) key: bool,
    pub(super) number: bool,
}

impl<'a> View<'a> {
    pub(super) fn new(choices: Choices, lists: &'a Lists, memo: &'a Lists, session: &'a Session<'_>) -> Self {
        let from = |span: Span| if span.in_memo { memo } else { lists };
        match choices {
            Choices::Listed(span) => View::Listed(span.of(&from(span).choices)),
            Choices::Values(values) => View::Values(values),
            Choices::Names { of, which, end } => {
                let which = which.map(|span| span.of(&from(span).numbers));
                View::Names(Named { of, names: of.all(session), which, end })
            }
        }
    }

    /// The number of places; some may have no choice.
    pub(super) fn len(self) -> usize {
        match self {
            View::Listed(listed) => listed.len(),
            View::Values(_) => Values::len(),
            View::Names(named) => named.len(),
        }
    }

    pub(super) fn is_empty(self) -> bool {
        self.all(0, usize::MAX).next().is_none()
    }

    /// The choice at a place, if it has one.
    pub(super) fn at(self, index: usize) -> Option<(&'a str, Act)> {
        match self {
            View::Listed(listed) => listed.get(index).map(|choice| (&*choice.bytes, choice.act)),
            View::Values(values) => values.at(index),
            View::Names(named) => named.at(index),
        }
    }

    /// The bytes of the choice at a place, if it has one.
    #[inline]
    pub(super) fn bytes(self, place: usize) -> Option<&'a [u8]> {
        match self {
            View::Listed(listed) => listed.get(place).map(|choice| choice.bytes.as_bytes()),
            View::Values(values) => values.bytes(place),
            View::Names(named) => named.text(place).map(str::as_bytes),
        }
    }

    /// All choices, each with its place.
    pub(super) fn all(self, low: usize, high: usize) -> impl Iterator<Item = (usize, &'a str, Act)> {
        let all = low..high.min(self.len());
        all.filter_map(move |at| self.at(at).map(|(bytes, act)| (at, bytes, act)))
    }

    /// The byte of a choice after this number.
    pub(super) fn byte(self, place: usize, depth: usize) -> Option<u8> {
        self.bytes(place).and_then(|bytes| bytes.get(depth).copied())
    }

    /// The first place, among those from `low` to `high` whose choices begin alike, whose byte after this
    /// number is not less than another; the end if there is none. It may have no choice.
    pub(super) fn seek(self, low: usize, high: usize, depth: usize, byte: u8) -> usize {
        match self {
            View::Listed(listed) => {
                let alike = listed.get(low..high).unwrap_or_default();
                low + alike.partition_point(|choice| choice.bytes.as_bytes().get(depth) < Some(&byte))
            }
            View::Values(_) => Values::seek(low, high, depth, byte),
            View::Names(named) => named.seek(low, high, depth, byte),
        }
    }

    /// The end of the choices from `low` on that have this byte after this number.
    pub(super) fn alike(self, low: usize, high: usize, depth: usize, byte: u8) -> usize {
        match self {
            View::Listed(_) if low + 1 >= high => high.min(low + 1),
            View::Listed(_) => {
                byte.checked_add(1).map_or(high, |above| self.seek(low + 1, high, depth, above))
            }
            View::Values(_) => Values::alike(low, depth).min(high),
            View::Names(named) => named.names.alike(low, depth).min(high),
        }
    }

    /// The first place with a choice, from this one on.
    pub(super) fn from(self, place: usize) -> usize {
        match self {
            View::Listed(_) => place,
            View::Values(values) => values.from(place),
            View::Names(named) => named.from(place),
        }
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
