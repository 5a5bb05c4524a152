//! The choices at a position, in the order of their bytes: listed for it, or names of which the session has
//! lists, since a catalogue may have thousands.

use super::acts::{Act, Choice};
use super::values::Values;
use crate::automaton::json_names::Fields;
use crate::automaton::session::Session;
use ilo_asm::sorting::sort_by;

/// Choices of which none is a prefix of another.
#[derive(Clone, Copy, Debug)]
pub(super) enum Choices {
    /// Those in a part of [`Lists::choices`].
    Listed(Span),
    Values(Values),
    /// The tools whose numbers are in a part of [`Lists::numbers`].
    Tools(Span),
    AllTools,
    /// The keys of a record, as first or further ones, except for some, whose positions are a part of
    /// [`Lists::numbers`] in order; then its end.
    Keys {
        further: bool,
        given: Span,
        end: Option<&'static str>,
    },
    /// The fields of a value about which nothing is known.
    Fields(Fields),
}

impl Choices {
    /// Whether they are in the lists of the memo.
    pub(super) fn are_in_memo(self) -> bool {
        match self {
            Choices::Listed(span) | Choices::Tools(span) | Choices::Keys { given: span, .. } => span.in_memo,
            Choices::Values(_) | Choices::AllTools | Choices::Fields(_) => false,
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
            Choices::Tools(span) => Choices::Tools(self.numbers(span.of(&from.numbers).iter().copied())),
            Choices::Keys { further, given, end } => {
                let given = self.numbers(given.of(&from.numbers).iter().copied());
                Choices::Keys { further, given, end }
            }
            Choices::Values(_) | Choices::AllTools | Choices::Fields(_) => choices,
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

    /// These numbers.
    pub(super) fn numbers(&mut self, numbers: impl IntoIterator<Item = u32>) -> Span {
        let from = self.numbers.len();
        self.numbers.extend(numbers);
        Span::new(from, self.numbers.len(), self.in_memo)
    }
}

/// Choices with their data.
#[derive(Clone, Copy)]
pub(super) struct View<'a, 'c> {
    pub(super) choices: Choices,
    pub(super) lists: &'a Lists,
    pub(super) memo: &'a Lists,
    pub(super) session: &'a Session<'c>,
}

impl<'a> View<'a, '_> {
    fn listed(self, span: Span) -> &'a [Choice] {
        span.of(if span.in_memo { &self.memo.choices } else { &self.lists.choices })
    }

    fn numbers(self, span: Span) -> &'a [u32] {
        span.of(if span.in_memo { &self.memo.numbers } else { &self.lists.numbers })
    }

    /// The number of places; some may have no choice.
    pub(super) fn len(self) -> usize {
        match self.choices {
            Choices::Listed(listed) => self.listed(listed).len(),
            Choices::Values(_) => Values::len(),
            Choices::Tools(tools) => self.numbers(tools).len(),
            Choices::AllTools => self.session.json().sorted_tools.len(),
            Choices::Keys { given, end, .. } => self.keys(given) + usize::from(end.is_some()),
            Choices::Fields(fields) => self.session.json().sorted_fields(fields).len(),
        }
    }

    /// The choice at a place, if it has one.
    pub(super) fn at(self, index: usize) -> Option<(&'a str, Act)> {
        let names = self.session.json();
        match self.choices {
            Choices::Listed(listed) => {
                let choice = self.listed(listed).get(index)?;
                Some((&*choice.bytes, choice.act))
            }
            Choices::Values(values) => values.at(index),
            Choices::Tools(tools) => self.tool(*self.numbers(tools).get(index)?),
            Choices::AllTools => self.tool(*names.sorted_tools.get(index)?),
            Choices::Keys { given, end, .. } if index == self.keys(given) => Some((end?, Act::EndFields)),
            Choices::Keys { further, given, .. } => {
                let skipped = |place: usize, &given: &u32| place + usize::from(given as usize <= place);
                let place = self.numbers(given).iter().fold(index, skipped);
                let number = *names.sorted_keys.get(place)?;
                let field = names.fields.get(number as usize)?;
                Some((field.keys.get(usize::from(further))?, Act::Key(number)))
            }
            Choices::Fields(fields) => {
                let &(number, further) = names.sorted_fields(fields).get(index)?;
                let act = if further { Act::Field(number) } else { Act::LastField(number) };
                Some((names.field(fields, number, further)?, act))
            }
        }
    }

    /// All choices, each with its place.
    pub(super) fn all(self, low: usize, high: usize) -> impl Iterator<Item = (usize, &'a str, Act)> {
        let all = low..high.min(self.len());
        all.filter_map(move |at| self.at(at).map(|(bytes, act)| (at, bytes, act)))
    }

    /// The byte of a choice after this number.
    pub(super) fn byte(self, index: usize, depth: usize) -> Option<u8> {
        self.at(index).and_then(|it| it.0.as_bytes().get(depth).copied())
    }

    /// The first place, among those from `low` to `high` whose choices begin alike, whose byte after this
    /// number is not less than another; the end if there is none. It may have no choice.
    pub(super) fn seek(self, low: usize, high: usize, depth: usize, byte: u8) -> usize {
        match self.choices {
            Choices::Listed(listed) => {
                let alike = self.listed(listed).get(low..high).unwrap_or_default();
                return low
                    + alike.partition_point(|choice| choice.bytes.as_bytes().get(depth) < Some(&byte));
            }
            Choices::Values(_) => return Values::seek(low, high, depth, byte),
            _ => {}
        }
        let (mut low, mut high) = (low, high);
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.byte(middle, depth) < Some(byte) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The end of the choices from `low` on that have this byte after this number.
    pub(super) fn alike(self, low: usize, high: usize, depth: usize, byte: u8) -> usize {
        if low + 1 >= high || self.byte(low + 1, depth).is_some_and(|next| next != byte) {
            return high.min(low + 1);
        }
        byte.checked_add(1).map_or(high, |above| self.seek(low + 1, high, depth, above))
    }

    /// The first place with a choice, from this one on.
    pub(super) fn from(self, index: usize) -> usize {
        if let Choices::Values(values) = self.choices { values.from(index) } else { index }
    }

    /// Whether some choice, which is no name of the session, has such an effect.
    pub(super) fn any(self, is: impl Fn(Act) -> bool) -> bool {
        match self.choices {
            Choices::Listed(listed) => self.listed(listed).iter().any(|choice| is(choice.act)),
            Choices::Values(values) => values.any(is),
            _ => false,
        }
    }

    /// The number of the keys that are left.
    fn keys(self, given: Span) -> usize {
        let given = self.numbers(given).len();
        self.session.json().sorted_keys.len().saturating_sub(given)
    }

    fn tool(self, number: u32) -> Option<(&'a str, Act)> {
        Some((self.session.json().tools.get(number as usize)?, Act::Tool(number)))
    }
}
