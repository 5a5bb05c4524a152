//! The choices at a position, in the order of their bytes: listed for it, or names of which the session has
//! lists, since a catalogue may have thousands.

use super::choice::{Act, Choice};
use super::values::Values;
use crate::automaton::json_names::{Fields, JsonName, SortedNames};
use crate::automaton::session::Session;
use ilo_asm::sorting::sort_by;
use std::sync::Arc;

/// Choices of which none is a prefix of another.
#[derive(Clone, Debug)]
pub(super) enum Choices {
    Listed(Arc<[Choice]>),
    Values(Values),
    /// Names of the session, and the end of a record.
    Names {
        of: Names,
        which: Which,
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
#[derive(Clone, Debug)]
pub(super) enum Which {
    Only(Arc<[u32]>),
    All {
        except: Arc<[u32]>,
        /// Of the fields that further ones follow, only these.
        further: Option<Arc<[u32]>>,
    },
}

impl Which {
    pub(super) fn all() -> Which {
        Which::All { except: Arc::default(), further: None }
    }

    /// Whether the name at a place is one of them.
    pub(super) fn has(&self, place: usize, is_further: bool) -> bool {
        let has = |places: &[u32]| places.binary_search_by(|it| (*it as usize).cmp(&place)).is_ok();
        match self {
            Which::Only(places) => has(places),
            Which::All { further: Some(further), .. } if is_further => has(further),
            Which::All { except, .. } => !has(except),
        }
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

    pub(super) fn memory(&self) -> usize {
        match self {
            Choices::Listed(all) => all.len() * size_of::<Choice>(),
            Choices::Values(_) => 0,
            Choices::Names { which: Which::Only(places) | Which::All { except: places, .. }, .. } => {
                4 * places.len()
            }
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
