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

/// A loop whose body is being written.
#[derive(Debug)]
pub(super) struct Loop {
    /// How many slots waited for a MATCH where the body begins; `None` if no BREAK may end the loop.
    pub(super) open: Option<usize>,
    /// The state at its BREAKs, joined.
    pub(super) broken: Option<Slots>,
    /// The state at its SKIPs, joined.
    pub(super) skipped: Option<Slots>,
    /// The kind of what its YIELDs add, if it has any.
    pub(super) yields: Option<Kind>,
}

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
    /// Whether it contains an ELSE, which belongs to the right IF or FOR only with indentation.
    pub(super) has_else: bool,
    /// The loops around.
    pub(super) loops: Vec<Loop>,
    /// The slots that were bound, in order.
    pub(super) bound: Vec<usize>,
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
            loops: Vec::new(),
            bound: Vec::new(),
        }
    }

    /// A slot that was not used before.
    pub(super) fn fresh(&mut self) -> usize {
        self.slots.push(Slot::Unset);
        self.slots.len() - 1
    }

    /// Begins the body of a loop, which a BREAK may end or not.
    pub(super) fn begin_loop(&mut self, breaks: bool) {
        let open = breaks.then_some(self.open);
        self.loops.push(Loop { open, broken: None, skipped: None, yields: None });
    }

    /// Ends the body of a loop; gives the state at its BREAKs and at its SKIPs.
    pub(super) fn end_loop(&mut self) -> (Option<Slots>, Option<Slots>) {
        self.loops.pop().map_or((None, None), |of| (of.broken, of.skipped))
    }

    /// The kind of what the YIELDs of the innermost loop add, if it has any.
    pub(super) fn yields(&self) -> Option<Kind> {
        self.loops.last().and_then(|of| of.yields.clone())
    }

    /// Notes the state at a SKIP.
    pub(super) fn note_skip(&mut self) {
        if let Some(of) = self.loops.last_mut() {
            of.skipped = join(of.skipped.take(), Some(self.slots.clone()));
        }
    }

    /// Whether a BREAK may be written here: no result of the loop's own waits for its MATCH.
    pub(super) fn may_break(&self) -> bool {
        self.loops.last().is_some_and(|of| of.open == Some(self.open))
    }

    /// Notes the state at a BREAK.
    pub(super) fn note_break(&mut self) {
        if let Some(of) = self.loops.last_mut() {
            of.broken = join(of.broken.take(), Some(self.slots.clone()));
        }
    }

    pub(super) fn bind(&mut self, slot: usize, kind: Kind) {
        self.bound.push(slot);
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
