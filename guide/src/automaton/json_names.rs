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
    /// The number of the tool or field.
    pub(crate) number: u32,
    /// Whether it is a field of a path that further ones follow.
    pub(crate) further: bool,
}

/// Names in the order of their bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct SortedNames(pub(crate) Vec<JsonName>);

impl SortedNames {
    fn new(mut all: Vec<JsonName>) -> SortedNames {
        sort_by(&mut all, |a, b| a.bytes.cmp(&b.bytes));
        all.dedup_by(|a, b| a.bytes == b.bytes);
        SortedNames(all)
    }

    /// The place of a name.
    pub(crate) fn place(&self, bytes: &str) -> Option<u32> {
        self.0.binary_search_by(|it| (*it.bytes).cmp(bytes)).ok().and_then(|at| u32::try_from(at).ok())
    }
}

/// The names of a session in JSON.
#[derive(Clone, Debug, Default)]
pub(crate) struct JsonNames {
    /// Tools and functions.
    pub(crate) tools: SortedNames,
    /// The named fields as the first key of a record, and as a further one.
    pub(crate) keys: [SortedNames; 2],
    /// Of each field by number: its place among the keys, if it has one.
    key_places: Vec<Option<u32>>,
    /// The fields of paths, and those of paths in `${…}`, made when they are needed.
    fields: [OnceLock<SortedNames>; 2],
    /// Whether all of them, and the texts that schemas list, consist of printable ASCII without blanks.
    pub(crate) plain: bool,
}

/// A field of a path, which may be in `${…}`, with the bytes after it.
pub(crate) fn in_path(name: &str, further: bool, hole: bool) -> String {
    let end = match (further, hole) {
        (true, _) => ".",
        (false, true) => "}",
        (false, false) => "\"",
    };
    [name, end].concat()
}

impl JsonNames {
    pub(super) fn new(session: &Session<'_>) -> JsonNames {
        let name = |bytes: String, number| JsonName { bytes: bytes.into(), number, further: false };
        let tools = (0..).zip(&session.tools).map(|(number, tool)| name(quoted(&tool.name), number));
        let tools = SortedNames::new(tools.collect());
        let named = session.named.iter().filter_map(|&number| Some((session.field(number)?, number)));
        let first = SortedNames::new(named.map(|it| name(quoted(it.0) + ":", it.1)).collect());
        let mut key_places = vec![None; session.fields.len()];
        for (place, key) in (0..).zip(&first.0) {
            if let Some(to) = key_places.get_mut(key.number as usize) {
                *to = Some(place);
            }
        }
        let further = first.0.iter().map(|key| name(format!(",{}", key.bytes), key.number));
        let further = SortedNames::new(further.collect());
        let listed = session.tools.iter().filter_map(|tool| match tool.callee {
            Some(Callee::Tool(tool)) => Some(tool.input().listed_texts().chain(tool.output().listed_texts())),
            _ => None,
        });
        let named = session.tools.iter().map(|tool| &*tool.name).chain(session.fields.iter().map(|it| &**it));
        let plain = named.chain(listed.flatten()).all(|name| name.bytes().all(|it| it.is_ascii_graphic()));
        JsonNames { tools, keys: [first, further], key_places, plain, fields: Default::default() }
    }

    /// The place of a field among the keys, if it has one.
    pub(crate) fn key_place(&self, field: u32) -> Option<u32> {
        self.key_places.get(field as usize).copied().flatten()
    }

    /// The fields that a path may have: as the last one, and before further ones.
    pub(crate) fn fields(&self, session: &Session<'_>, hole: bool) -> &SortedNames {
        self.fields[usize::from(hole)].get_or_init(|| {
            let named = session.named.iter().filter_map(|&it| Some((session.path_field(it)?, it)));
            let all = named.flat_map(|(name, number)| {
                [false, true].map(|further| {
                    let bytes = in_path(name, further, hole).into();
                    JsonName { bytes, number, further }
                })
            });
            SortedNames::new(all.collect())
        })
    }
}
