//! The choices at a position, in the order of their bytes: listed for it, or names of which the session has
//! lists, since a catalogue may have thousands.

use super::choice::{Act, Choice};
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
    pub(super) fn map<T>(self, mut to: impl FnMut(S) -> T) -> Which<T> {
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
    pub(super) fn has(self, place: usize, is_further: bool) -> bool {
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

    pub(super) fn is_in_memo(self) -> bool {
        self.in_memo
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

    pub(super) fn listed(&self, span: Span) -> &[Choice] {
        span.of(&self.choices)
    }

    pub(super) fn places(&self, span: Span) -> &[u32] {
        span.of(&self.numbers)
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
                self.choices.extend_from_slice(from.listed(span));
                Choices::Listed(Span::new(start, self.choices.len(), self.in_memo))
            }
            Choices::Names { of, which, end } => {
                Choices::Names { of, which: which.map(|span| self.numbers(from.places(span))), end }
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
    pub(super) fn all<'s>(self, session: &'s Session<'_>) -> &'s SortedNames {
        let names = session.json();
        match self {
            Names::Tools => &names.tools,
            Names::Keys { further: false } => &names.keys[0],
            Names::Keys { further: true } => &names.keys[1],
            Names::Fields(fields) => names.fields(session, fields),
        }
    }

    pub(super) fn act(self, name: &JsonName) -> Act {
        match self {
            Names::Tools => Act::Tool(name.number),
            Names::Keys { .. } => Act::Key(name.number),
            Names::Fields(_) if name.further => Act::Field(name.number),
            Names::Fields(_) => Act::LastField(name.number),
        }
    }
}
