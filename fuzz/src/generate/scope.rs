//! The state of slots at one point of a function that is being written, and how paths join.

use super::kind::Kind;
use std::collections::BTreeSet;

/// The state of a slot at one point.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Slot {
    Unset,
    Plain(Kind),
    /// It holds the result of a call until its MATCH.
    Checked,
}

/// The state of all slots at one point.
pub(super) type Slots = Vec<Slot>;

/// A function that is being written.
#[derive(Debug)]
pub(super) struct Scope {
    pub(super) slots: Slots,
    /// The tools and fields that were used, for the registries.
    pub(super) tools: BTreeSet<usize>,
    pub(super) fields: BTreeSet<usize>,
    pub(super) ok: Kind,
    /// The kind of the failure, in a result function.
    pub(super) err: Option<Kind>,
    /// Slots whose MATCH is still to come.
    pub(super) open: usize,
    /// Whether it contains an ELSE, which belongs to the right IF only with indentation.
    pub(super) has_else: bool,
}

impl Scope {
    pub(super) fn new(parameters: impl Iterator<Item = Kind>, ok: Kind, err: Option<Kind>) -> Scope {
        Scope {
            slots: parameters.map(Slot::Plain).collect(),
            tools: BTreeSet::new(),
            fields: BTreeSet::new(),
            ok,
            err,
            open: 0,
            has_else: false,
        }
    }

    /// A slot that was not used before.
    pub(super) fn fresh(&mut self) -> usize {
        self.slots.push(Slot::Unset);
        self.slots.len() - 1
    }

    pub(super) fn bind(&mut self, slot: usize, kind: Kind) {
        self.slots[slot] = Slot::Plain(kind);
    }
}

/// The state where two paths join. A path that has ended does not count.
pub(super) fn join(a: Option<Slots>, b: Option<Slots>) -> Option<Slots> {
    let (Some(a), Some(b)) = (a.clone(), b.clone()) else { return a.or(b) };
    let both = (0..a.len().max(b.len())).map(|slot| match (a.get(slot), b.get(slot)) {
        (Some(Slot::Checked), Some(Slot::Checked)) => Slot::Checked,
        (Some(Slot::Plain(a)), Some(Slot::Plain(b))) => Slot::Plain(if a.does_for(b) {
            b.clone()
        } else if b.does_for(a) {
            a.clone()
        } else {
            Kind::Any
        }),
        _ => Slot::Unset,
    });
    Some(both.collect())
}
