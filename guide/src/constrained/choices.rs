//! The choices at a position, in the order of their bytes: listed for it, or one of the lists of names that a
//! session keeps, since a catalogue may have thousands.

use super::acts::{Act, Choice};
use crate::automaton::json_names::Fields;
use crate::automaton::session::Session;
use std::sync::Arc;

/// Choices of which none is a prefix of another.
#[derive(Clone, Debug)]
pub(super) enum Choices {
    Listed(Arc<[Choice]>),
    /// Tools, by number.
    Tools(Arc<[u32]>),
    AllTools,
    /// The keys of a record, as first or further ones, except for some, of which these are the positions in
    /// order; then its end.
    Keys {
        further: bool,
        given: Arc<[u32]>,
        end: Option<&'static str>,
    },
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
            Choices::Tools(tools) => tools.len(),
            Choices::AllTools => session.json().sorted_tools.len(),
            Choices::Keys { given, end, .. } => keys(session, given) + usize::from(end.is_some()),
            Choices::Fields(fields) => session.json().sorted_fields(*fields).len(),
        }
    }

    /// The choice at an index.
    pub(super) fn at<'a>(&'a self, session: &'a Session<'_>, index: usize) -> Option<(&'a str, Act)> {
        match self {
            Choices::Listed(listed) => listed.get(index).map(|choice| (&*choice.bytes, choice.act)),
            Choices::Tools(tools) => tool(session, *tools.get(index)?),
            Choices::AllTools => tool(session, *session.json().sorted_tools.get(index)?),
            Choices::Keys { given, end, .. } if index == keys(session, given) => {
                Some(((*end)?, Act::EndFields))
            }
            Choices::Keys { further, given, .. } => {
                let skipped = |place: usize, &given: &u32| place + usize::from(given as usize <= place);
                let place = given.iter().fold(index, skipped);
                let number = *session.json().sorted_keys.get(place)?;
                let field = session.json().fields.get(number as usize)?;
                Some((field.keys.get(usize::from(*further))?, Act::Key(number)))
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
        if let Choices::Listed(listed) = self {
            let alike = listed.get(low..high).unwrap_or_default();
            return low + alike.partition_point(|choice| choice.bytes.as_bytes().get(depth) < Some(&byte));
        }
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

/// The number of the keys that are left.
fn keys(session: &Session<'_>, given: &[u32]) -> usize {
    session.json().sorted_keys.len().saturating_sub(given.len())
}

fn tool<'a>(session: &'a Session<'_>, number: u32) -> Option<(&'a str, Act)> {
    Some((session.json().tools.get(number as usize)?, Act::Tool(number)))
}
