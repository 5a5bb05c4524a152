//! The names in scope of a function: its registries and slots, and the remaining budget of comparisons for
//! better messages.

use crate::ast::Slot;
use crate::syntax::id_table::Slots;
use crate::syntax::registry::{self, Registries};
use crate::text::nearest;

/// The most comparisons of names for the messages of a file: enough for a thousand errors with sixty names.
/// Without this limit the work would grow with errors times names.
const SEARCHES: usize = 1 << 20;

/// The names of a function. The object is reused for the next function.
pub(crate) struct Names<'a> {
    pub(crate) registries: Registries<'a>,
    pub(crate) slots: Slots<'a>,
    /// The tools and fields that the function names but no registry has.
    missing: Vec<(registry::Kind, &'a str)>,
    /// The remaining comparisons of names.
    searches: usize,
}

impl<'a> Names<'a> {
    pub(crate) fn new() -> Names<'a> {
        Names { registries: Registries::new(), slots: Slots::new(), missing: Vec::new(), searches: SEARCHES }
    }

    /// Clears the names before the next function.
    pub(crate) fn clear(&mut self) {
        self.registries.clear();
        self.slots.clear();
        self.missing.clear();
    }

    /// The slot with a number. At its first occurrence a new slot is created.
    #[inline]
    pub(crate) fn slot(&mut self, number: u32) -> Slot {
        let registries = &self.registries;
        self.slots.slot(number, || registries.vars.name(number))
    }

    fn may_search(&mut self, names: usize) -> bool {
        let enough = names <= self.searches;
        if enough {
            self.searches -= names;
        }
        enough
    }

    /// The id of a name in a registry.
    pub(crate) fn id_of(&mut self, kind: registry::Kind, name: &str) -> Option<u32> {
        let names = self.registries.get(kind).entries.len();
        if self.may_search(names) { self.registries.get(kind).id(name) } else { None }
    }

    /// The name in a registry that is nearest to another.
    pub(crate) fn nearest_of(&mut self, kind: registry::Kind, name: &str) -> Option<&'a str> {
        // Computing the distance of two names costs about this many comparisons.
        const COST: usize = 16;
        let names = self.registries.get(kind).entries.len();
        if !self.may_search(names.saturating_mul(COST)) {
            return None;
        }
        nearest(name, self.registries.get(kind).entries.iter().map(|entry| entry.name))
    }

    /// The number of the slot with a name.
    pub(crate) fn slot_of(&mut self, name: &str) -> Option<u32> {
        if !self.may_search(self.slots.list().len()) {
            return None;
        }
        let parameter = self.slots.list().iter().find(|info| info.name == Some(name));
        let number = parameter.and_then(|info| info.number);
        number.or_else(|| self.id_of(registry::Kind::Vars, name))
    }

    /// A free id for a name that is in no registry, for the fix of a message.
    pub(crate) fn next_id(&mut self, kind: registry::Kind, name: &'a str) -> u32 {
        if !self.may_search(self.missing.len() + self.registries.get(kind).entries.len()) {
            return 0;
        }
        let free = self.registries.get(kind).entries.iter().map(|entry| entry.id.saturating_add(1)).max();
        let mut id = free.unwrap_or(0);
        for &(other, missing) in &self.missing {
            if other == kind && missing == name {
                return id;
            }
            id = id.saturating_add(u32::from(other == kind));
        }
        self.missing.push((kind, name));
        id
    }
}
