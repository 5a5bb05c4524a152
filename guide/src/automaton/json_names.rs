//! The names of a session as JSON writes them, and lists of the names that a body in `constrained` may need
//! next, in the order of their bytes.

use crate::automaton::session::{Callee, Session};
use ilo_asm::sorting::{sort_by, sort_numbers};
use ilo_asm::text::is_name;
use std::sync::{Arc, OnceLock};

/// The names of a session in JSON, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct JsonNames {
    /// Tools and functions.
    pub(crate) tools: Vec<Arc<str>>,
    /// The numbers of all of them in the order of their bytes.
    pub(crate) sorted_tools: Vec<u32>,
    pub(crate) fields: Vec<JsonField>,
    /// The numbers of the named ones in the order of their keys.
    pub(crate) sorted_keys: Vec<u32>,
    /// The fields of unknown values, by [`Fields`], made when they are needed.
    sorted: [OnceLock<Vec<(u32, bool)>>; 8],
    /// Whether all of them, and the texts that schemas list, consist of printable ASCII without blanks.
    pub(crate) plain: bool,
}

/// The fields that may come next in a path: those that may be the last, those that further ones may follow,
/// and whether the path is in `${…}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fields {
    pub(crate) last: bool,
    pub(crate) further: bool,
    pub(crate) hole: bool,
}

/// A field in JSON.
#[derive(Clone, Debug)]
pub(crate) struct JsonField {
    /// As the first key of a record, and as a further one.
    pub(crate) keys: [Arc<str>; 2],
    /// At the end of a path, if a path can have it.
    pub(crate) last: Option<Arc<str>>,
    /// The same in `${…}`.
    last_in_hole: Option<Arc<str>>,
    /// In a path, before further fields.
    pub(crate) further: Option<Arc<str>>,
    /// Its position in the order of the keys of the named fields.
    pub(crate) place: u32,
}

impl JsonNames {
    pub(super) fn new(session: &Session<'_>) -> JsonNames {
        let quoted = |name: &str| serde_json::Value::from(name).to_string();
        let tools = session.tools.iter().map(|tool| quoted(&tool.name).into()).collect::<Vec<Arc<str>>>();
        let field = |name: &String| {
            let key = quoted(name) + ":";
            let last = is_name(name).then(|| format!("{name}\"").into());
            let last_in_hole = is_name(name).then(|| format!("{name}}}").into());
            let further = is_name(name).then(|| format!("{name}.").into());
            let keys = [key.as_str().into(), format!(",{key}").into()];
            JsonField { keys, last, last_in_hole, further, place: 0 }
        };
        let mut fields: Vec<JsonField> = session.fields.iter().map(field).collect();
        let mut sorted_keys = session.named.clone();
        let key = |number: u32| fields.get(number as usize).map(|field| &field.keys[0]);
        sort_numbers(&mut sorted_keys, &|a, b| key(a).cmp(&key(b)));
        for (place, &number) in (0..).zip(&sorted_keys) {
            if let Some(field) = fields.get_mut(number as usize) {
                field.place = place;
            }
        }
        let listed = session.tools.iter().filter_map(|tool| match tool.callee {
            Some(Callee::Tool(tool)) => Some(tool.input().listed_texts().chain(tool.output().listed_texts())),
            _ => None,
        });
        let named = session.tools.iter().map(|tool| &*tool.name).chain(session.fields.iter().map(|it| &**it));
        let plain = named.chain(listed.flatten()).all(|name| name.bytes().all(|it| it.is_ascii_graphic()));
        let mut sorted_tools: Vec<u32> = (0..).take(tools.len()).collect();
        sort_numbers(&mut sorted_tools, &|a, b| tools.get(a as usize).cmp(&tools.get(b as usize)));
        JsonNames { tools, sorted_tools, fields, sorted_keys, plain, sorted: Default::default() }
    }

    /// The bytes of a field in a path, with those after it.
    pub(crate) fn field(&self, fields: Fields, number: u32, further: bool) -> Option<&str> {
        let field = self.fields.get(number as usize)?;
        let bytes = match (further, fields.hole) {
            (true, _) => &field.further,
            (false, true) => &field.last_in_hole,
            (false, false) => &field.last,
        };
        bytes.as_deref()
    }

    /// The fields that may come next in a path through an unknown value, in the order of their bytes, and
    /// whether further ones follow.
    pub(crate) fn sorted_fields(&self, fields: Fields) -> &[(u32, bool)] {
        let place = usize::from(fields.last) + 2 * usize::from(fields.further) + 4 * usize::from(fields.hole);
        let Some(sorted) = self.sorted.get(place) else { return &[] };
        sorted.get_or_init(|| {
            let ways = [(false, fields.last), (true, fields.further)];
            let all = ways.into_iter().filter(|it| it.1).flat_map(|(further, _)| {
                let numbers = (0..).take(self.fields.len());
                numbers.map(move |number| (number, further))
            });
            let bytes = |&(number, further): &(u32, bool)| self.field(fields, number, further);
            let mut all: Vec<(u32, bool)> = all.filter(|it| bytes(it).is_some()).collect();
            sort_by(&mut all, |a, b| bytes(a).cmp(&bytes(b)));
            all.dedup_by(|a, b| bytes(a) == bytes(b));
            all
        })
    }
}
