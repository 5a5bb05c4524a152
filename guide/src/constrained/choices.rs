//! The choices at a position, in the order of their bytes: listed for it, or names of which the session has
//! lists, since a catalogue may have thousands.

use super::choice::{Act, Choice};
use super::values::Values;
use crate::automaton::json_names::{JsonName, SortedNames};
use crate::automaton::session::Session;
use ilo_asm::sorting::sort_by;
use std::sync::Arc;

/// Choices of which none is a prefix of another.
#[derive(Clone, Debug)]
pub(super) enum Choices {
    Listed(Arc<[Choice]>),
    Values(Values),
    /// Names of the session, those of fields that further ones follow, and the end of a record.
    Names {
        of: Names,
        last: Places,
        further: Places,
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
    /// The fields of a path, which may be in `${…}`.
    Fields {
        hole: bool,
    },
}

/// Places in a list, in order: these, or all others.
#[derive(Clone, Debug)]
pub(super) enum Places {
    Only(Arc<[u32]>),
    But(Arc<[u32]>),
}

impl Places {
    /// All places, or none.
    pub(super) fn all(all: bool) -> Places {
        if all { Places::But(Arc::default()) } else { Places::Only(Arc::default()) }
    }

    pub(super) fn listed(&self) -> &[u32] {
        let (Places::Only(places) | Places::But(places)) = self;
        places
    }

    pub(super) fn has(&self, place: usize) -> bool {
        let is_listed = self.listed().binary_search_by(|it| (*it as usize).cmp(&place)).is_ok();
        is_listed == matches!(self, Places::Only(_))
    }
}

impl Choices {
    /// These choices, which may be in any order and repeated.
    pub(super) fn listed(found: impl IntoIterator<Item = Choice>) -> Choices {
        let mut found: Vec<Choice> = found.into_iter().collect();
        if !found.is_sorted_by(|a, b| *a.bytes <= *b.bytes) {
            sort_by(&mut found, |a, b| a.bytes.cmp(&b.bytes));
        }
        found.dedup_by(|a, b| *a.bytes == *b.bytes);
        Choices::Listed(found.into())
    }

    /// Names at these places, which no further ones follow.
    pub(super) fn names(of: Names, last: Places, end: Option<&'static str>) -> Choices {
        Choices::Names { of, last, further: Places::all(false), end }
    }

    pub(super) fn memory(&self) -> usize {
        match self {
            Choices::Listed(all) => all.len() * size_of::<Choice>(),
            Choices::Values(_) => 0,
            Choices::Names { last, further, .. } => 4 * (last.listed().len() + further.listed().len()),
        }
    }
}

impl Names {
    pub(super) fn all<'s>(self, session: &'s Session<'_>) -> &'s SortedNames {
        let names = session.json();
        match self {
            Names::Tools => &names.tools,
            Names::Keys { further: false } => &names.keys[0],
            Names::Keys { further: true } => &names.keys[1],
            Names::Fields { hole } => names.fields(session, hole),
        }
    }

    pub(super) fn act(self, name: &JsonName) -> Act {
        match self {
            Names::Tools => Act::Tool(name.number),
            Names::Keys { .. } => Act::Key(name.number),
            Names::Fields { .. } if name.further => Act::Field(name.number),
            Names::Fields { .. } => Act::LastField(name.number),
        }
    }
}
