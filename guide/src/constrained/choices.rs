//! The choices at a position, in the order of their bytes: listed for it, or one of the lists of names that a
//! session keeps, since a catalogue may have thousands.

use super::acts::{Act, Choice};
use crate::automaton::session::{Fields, Session};
use std::sync::Arc;

/// Choices of which none is a prefix of another.
#[derive(Clone, Debug)]
pub(super) enum Choices {
    Listed(Arc<[Choice]>),
    /// All tools.
    Tools,
    /// The fields of a value about which nothing is known.
    Fields(Fields),
}

impl Choices {
    /// These choices, which may be in any order and repeated.
    pub(super) fn new(mut found: Vec<Choice>) -> Choices {
        found.sort_by(|a, b| a.bytes.cmp(&*b.bytes));
        found.dedup_by(|a, b| *a.bytes == *b.bytes);
        Choices::Listed(found.into())
    }

    pub(super) fn len(&self, session: &Session<'_>) -> usize {
        match self {
            Choices::Listed(listed) => listed.len(),
            Choices::Tools => session.json().sorted_tools.len(),
            Choices::Fields(fields) => session.json().sorted_fields(*fields).len(),
        }
    }

    /// The choice at an index.
    pub(super) fn at<'a>(&'a self, session: &'a Session<'_>, index: usize) -> Option<(&'a str, Act)> {
        match self {
            Choices::Listed(listed) => listed.get(index).map(|choice| (&*choice.bytes, choice.act)),
            Choices::Tools => {
                let number = *session.json().sorted_tools.get(index)?;
                let (name, _) = session.json().tools.get(number as usize)?;
                Some((name, Act::Tool(number)))
            }
            Choices::Fields(fields) => {
                let &(number, further) = session.json().sorted_fields(*fields).get(index)?;
                let act = if further { Act::Field(number) } else { Act::LastField(number) };
                Some((session.json().field(*fields, number, further)?, act))
            }
        }
    }

    /// The byte of a choice after this number.
    pub(super) fn byte(&self, session: &Session<'_>, index: usize, depth: usize) -> Option<u8> {
        self.at(session, index).and_then(|it| it.0.as_bytes().get(depth).copied())
    }

    /// The first of some choices that begin alike whose byte after this number is not less than another; the
    /// end if there is none.
    pub(super) fn seek(
        &self,
        session: &Session<'_>,
        (low, high): (usize, usize),
        depth: usize,
        byte: u8,
    ) -> usize {
        let (mut low, mut high) = (low, high);
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.byte(session, middle, depth) < Some(byte) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The listed choices; none if they are names of the session.
    pub(super) fn listed(&self) -> &[Choice] {
        if let Choices::Listed(listed) = self { listed } else { &[] }
    }
}
