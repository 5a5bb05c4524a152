//! What is known of slots at one point of a function that is being written, and how paths meet.

use super::kind::Kind;
use std::collections::BTreeSet;

/// A slot at one point.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Slot {
    Unset,
    Plain(Kind),
    /// Holds a call's result until its MATCH.
    Checked,
}

/// The slots at one point.
pub(super) type Slots = Vec<Slot>;

/// A function that is being written.
#[derive(Debug)]
pub(super) struct Scope {
    pub(super) slots: Slots,
    /// Tools and fields that were used, which its registries name.
    pub(super) tools: BTreeSet<usize>,
    pub(super) fields: BTreeSet<usize>,
    pub(super) ok: Kind,
    /// The failure's kind, in a result function.
    pub(super) err: Option<Kind>,
    /// Slots that wait for their MATCH.
    pub(super) open: usize,
    /// Whether an ELSE stands in it, which only indentation gives to the right IF.
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

/// What is known where two paths meet; a path that ended is none.
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
