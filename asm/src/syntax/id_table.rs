//! Tables indexed by the ids of a source, dense for small ids; and a check for duplicate names.

use crate::ast::{Slot, SlotInfo};
use crate::span::Span;
use hashbrown::HashMap;
use std::hash::Hash;

/// Ids below this are looked up in an array, whose used part is cheap to clear.
const DIRECT: u32 = 256;

/// The number of entries by which an array grows.
const STEP: usize = 16;

/// Up to this number, names are compared one by one.
const FEW: usize = 16;

/// Reports each item that has the name of an earlier one, with the span of that one.
pub(crate) fn repeated<T, K: Eq + Hash>(
    items: &[T],
    name: impl Fn(&T) -> (K, Span),
    mut report: impl FnMut(&T, Span),
) {
    if items.len() <= FEW {
        for (index, item) in items.iter().enumerate().skip(1) {
            let (found, _) = name(item);
            let before = items.iter().take(index).map(&name).find(|(before, _)| *before == found);
            if let Some((_, before)) = before {
                report(item, before);
            }
        }
        return;
    }
    let mut seen: HashMap<K, Span> = HashMap::with_capacity(items.len());
    for item in items {
        let (found, span) = name(item);
        if let Some(before) = seen.insert(found, span) {
            report(item, before);
        }
    }
}

/// A table from ids to small values.
#[derive(Clone, Debug)]
pub(crate) struct IdMap<T> {
    direct: Vec<Option<T>>,
    rest: HashMap<u32, T>,
}

impl<T: Copy> IdMap<T> {
    pub(crate) fn new() -> IdMap<T> {
        IdMap { direct: Vec::new(), rest: HashMap::new() }
    }

    pub(crate) fn get(&self, id: u32) -> Option<T> {
        if id < DIRECT {
            self.direct.get(id as usize).copied().flatten()
        } else {
            self.rest.get(&id).copied()
        }
    }

    pub(crate) fn insert(&mut self, id: u32, value: T) {
        if id >= DIRECT {
            self.rest.insert(id, value);
            return;
        }
        let index = id as usize;
        if self.direct.len() <= index {
            // In steps, since ids are usually consecutive.
            self.direct.resize((index + 1).next_multiple_of(STEP), None);
        }
        if let Some(place) = self.direct.get_mut(index) {
            *place = Some(value);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.direct.clear();
        self.rest.clear();
    }
}

/// The slots of a function in the order of their first appearance.
#[derive(Debug)]
pub(crate) struct Slots<'a> {
    dense: IdMap<Slot>,
    list: Vec<SlotInfo<'a>>,
}

impl<'a> Slots<'a> {
    pub(crate) fn new() -> Slots<'a> {
        Slots { dense: IdMap::new(), list: Vec::new() }
    }

    pub(crate) fn clear(&mut self) {
        self.dense.clear();
        self.list.clear();
    }

    pub(crate) fn list(&self) -> &[SlotInfo<'a>] {
        &self.list
    }

    pub(crate) fn knows(&self, number: u32) -> bool {
        self.dense.get(number).is_some()
    }

    /// The slot with this number in the source. At its first occurrence a new slot is created.
    pub(crate) fn slot(&mut self, number: u32, name: impl FnOnce() -> Option<&'a str>) -> Slot {
        if let Some(slot) = self.dense.get(number) {
            return slot;
        }
        let slot = Slot(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
        self.dense.insert(number, slot);
        self.list.push(SlotInfo { number: Some(number), name: name() });
        slot
    }
}
