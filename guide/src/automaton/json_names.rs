//! The names of a session as JSON writes them, and lists of the names that a body in `constrained` may need
//! next, in the order of their bytes.

use crate::automaton::session::{Callee, Session};
use ilo_asm::sorting::sort_by;
use ilo_spec::json::quoted;
use std::sync::OnceLock;

/// A name, with the bytes around it.
#[derive(Clone, Debug)]
pub(crate) struct JsonName {
    pub(crate) bytes: Box<str>,
    /// The number of the tool or field, or [`END`].
    pub(crate) number: u32,
    /// Whether it is a field of a path that further ones follow.
    pub(crate) further: bool,
}

/// The number of an end of a record.
pub(crate) const END: u32 = u32::MAX;

/// Names in the order of their bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct SortedNames {
    pub(crate) all: Vec<JsonName>,
    /// The place of each number that has one: as it is, and with further fields.
    places: [Vec<Option<u32>>; 2],
}

impl SortedNames {
    fn new(mut all: Vec<JsonName>) -> SortedNames {
        sort_by(&mut all, |a, b| a.bytes.cmp(&b.bytes));
        all.dedup_by(|a, b| a.bytes == b.bytes);
        let mut places: [Vec<Option<u32>>; 2] = Default::default();
        for (place, name) in (0..).zip(&all).filter(|it| it.1.number != END) {
            let places = &mut places[usize::from(name.further)];
            let number = name.number as usize;
            places.resize(places.len().max(number + 1), None);
            places.get_mut(number).into_iter().for_each(|to| *to = Some(place));
        }
        SortedNames { all, places }
    }

    /// The place of a tool or field.
    pub(crate) fn place(&self, number: u32, further: bool) -> Option<u32> {
        self.places[usize::from(further)].get(number as usize).copied().flatten()
    }
}

/// The names of a session in JSON.
#[derive(Clone, Debug, Default)]
pub(crate) struct JsonNames {
    /// Tools and functions.
    pub(crate) tools: SortedNames,
    /// The named fields as the first key of a record, and as a further one, each with the ends.
    pub(crate) keys: [SortedNames; 2],
    /// The fields of paths, and those of paths in `${…}`, made when they are needed.
    fields: [OnceLock<SortedNames>; 2],
    /// Whether all of them, and the texts that schemas list, consist of printable ASCII without blanks.
    pub(crate) plain: bool,
}

impl JsonNames {
    pub(super) fn new(session: &Session<'_>) -> JsonNames {
        let name = |bytes: String, number| JsonName { bytes: bytes.into(), number, further: false };
        let tools = (0..).zip(&session.tools).map(|(number, tool)| name(quoted(&tool.name), number));
        let tools = SortedNames::new(tools.collect());
        let named = session.named.iter().filter_map(|&number| Some((session.field(number)?, number)));
        let named: Vec<(String, u32)> = named.map(|it| (quoted(it.0) + ":", it.1)).collect();
        let keys = ["", ","].map(|before| {
            let keys = named.iter().map(|it| name([before, &it.0].concat(), it.1));
            SortedNames::new(keys.chain(["}", "}}"].map(|end| name(end.to_owned(), END))).collect())
        });
        let listed = session.tools.iter().filter_map(|tool| match tool.callee {
            Some(Callee::Tool(tool)) => Some(tool.input().listed_texts().chain(tool.output().listed_texts())),
            _ => None,
        });
        let named = session.tools.iter().map(|tool| &*tool.name).chain(session.fields.iter().map(|it| &**it));
        let plain = named.chain(listed.flatten()).all(|name| name.bytes().all(|it| it.is_ascii_graphic()));
        JsonNames { tools, keys, plain, fields: Default::default() }
    }

    /// The fields that a path may have: as the last one, and before further ones.
    pub(crate) fn fields(&self, session: &Session<'_>, hole: bool) -> &SortedNames {
        self.fields[usize::from(hole)].get_or_init(|| {
            let named = session.named.iter().filter_map(|&it| Some((session.path_field(it)?, it)));
            let all = named.flat_map(|(name, number)| {
                let last = if hole { "}" } else { "\"" };
                [(last, false), (".", true)].map(|(end, further)| {
                    let bytes = [name, end].concat().into();
                    JsonName { bytes, number, further }
                })
            });
            SortedNames::new(all.collect())
        })
    }
}
