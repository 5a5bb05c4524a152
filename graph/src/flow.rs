//! Finds the nodes that a value comes from: the bindings that reach each read of a slot.
//!
//! A read is resolved at the end of a function, when the bindings at the end of loops are known. A slot that
//! two paths may have bound is a join of both, so branches cost only what they bind, and nothing is copied.

use super::model::NodeId;
use ilo_asm::ast::Slot;
use ilo_asm::sorting::sort_by_key;
use smallvec::SmallVec;

/// Sources shown for one read. More could not be told apart in a picture.
pub(super) const SOURCES: usize = 8;
/// Joins that are followed for one read, so that a chain of branches takes linear time.
const STEPS: usize = 64;

/// A binding, or a join of bindings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Def(usize);

#[derive(Debug)]
enum Source {
    Node(NodeId),
    Join([Option<Def>; 2]),
}

/// The bindings on a path through a branch, by slot; none if the path does not reach the end of the branch.
pub(super) type Changes = Option<Vec<(usize, Option<Def>)>>;

/// The bindings of a function.
#[derive(Debug, Default)]
pub(super) struct Flow {
    sources: Vec<Source>,
    state: Vec<Option<Def>>,
    /// The binding that each binding replaced.
    log: Vec<(usize, Option<Def>)>,
}

impl Flow {
    pub(super) fn new(slots: usize) -> Flow {
        Flow { state: vec![None; slots], ..Flow::default() }
    }

    fn source(&mut self, source: Source) -> Def {
        self.sources.push(source);
        Def(self.sources.len() - 1)
    }

    /// A value that a node makes.
    pub(super) fn node(&mut self, node: NodeId) -> Def {
        self.source(Source::Node(node))
    }

    pub(super) fn bind(&mut self, slot: Slot, def: Option<Def>) {
        self.set(slot.0 as usize, def);
    }

    fn set(&mut self, slot: usize, def: Option<Def>) {
        if let Some(place) = self.state.get_mut(slot) {
            self.log.push((slot, *place));
            *place = def;
        }
    }

    pub(super) fn of(&self, slot: Slot) -> Option<Def> {
        self.state.get(slot.0 as usize).copied().flatten()
    }

    /// The binding of the slot with this number.
    pub(super) fn at(&self, slot: usize) -> Option<Def> {
        self.state.get(slot).copied().flatten()
    }

    /// Joins a path on which a slot has this binding.
    pub(super) fn meet(&mut self, slot: usize, def: Option<Def>) {
        let now = self.at(slot);
        let joined = self.joined([now, def]);
        self.set(slot, joined);
    }

    /// A mark to which [`Self::leave`] returns after a path through a branch.
    pub(super) fn mark(&self) -> usize {
        self.log.len()
    }

    /// Undoes every change since the mark and returns the changes.
    pub(super) fn leave(&mut self, mark: usize, comes_out: bool) -> Changes {
        let mut changes: Vec<_> =
            self.log[mark..].iter().map(|&(slot, _)| (slot, self.state[slot])).collect();
        for (slot, before) in self.log.drain(mark..).rev() {
            self.state[slot] = before;
        }
        sort_by_key(&mut changes, |&(slot, _)| slot);
        changes.dedup_by_key(|&mut (slot, _)| slot);
        comes_out.then_some(changes)
    }

    /// Joins the two paths of a branch.
    pub(super) fn join(&mut self, ways: [Changes; 2]) {
        match ways {
            [None, None] => {}
            [Some(changes), None] | [None, Some(changes)] => {
                changes.into_iter().for_each(|(slot, def)| self.set(slot, def));
            }
            [Some(one), Some(two)] => {
                let mut slots: Vec<usize> = one.iter().chain(&two).map(|&(slot, _)| slot).collect();
                sort_by_key(&mut slots, |slot| *slot);
                slots.dedup();
                for slot in slots {
                    let now = self.state[slot];
                    let way = |changes: &[(usize, Option<Def>)]| {
                        changes.binary_search_by_key(&slot, |&(slot, _)| slot).map_or(now, |at| changes[at].1)
                    };
                    let sides = [way(&one), way(&two)];
                    let joined = self.joined(sides);
                    self.set(slot, joined);
                }
            }
        }
    }

    fn joined(&mut self, sides: [Option<Def>; 2]) -> Option<Def> {
        match sides {
            [None, other] | [other, None] => other,
            [Some(one), Some(two)] if one == two => Some(one),
            _ => Some(self.source(Source::Join(sides))),
        }
    }

    /// Begins a loop that binds a slot. Its reads may see what an earlier pass bound.
    pub(super) fn begin_loop(&mut self, slot: usize) -> Option<(usize, Def)> {
        let before = *self.state.get(slot)?;
        let join = self.source(Source::Join([before, None]));
        self.set(slot, Some(join));
        Some((slot, join))
    }

    /// Ends the loop.
    pub(super) fn end_loop(&mut self, (slot, join): (usize, Def), comes_out: bool) {
        let last = self.state[slot];
        if let Source::Join(sides) = &mut self.sources[join.0]
            && comes_out
            && last != Some(join)
        {
            sides[1] = last;
        }
        self.set(slot, Some(join));
    }

    /// The nodes that a value may come from, at most [`SOURCES`].
    pub(super) fn origins(&self, def: Def) -> SmallVec<[NodeId; SOURCES]> {
        let mut found = SmallVec::new();
        let mut seen: SmallVec<[Def; STEPS]> = SmallVec::new();
        seen.push(def);
        let mut at = 0;
        while at < seen.len() && found.len() < SOURCES {
            match &self.sources[seen[at].0] {
                Source::Node(node) => found.push(*node),
                Source::Join(sides) => {
                    for &side in sides.iter().flatten() {
                        if seen.len() < STEPS && !seen.contains(&side) {
                            seen.push(side);
                        }
                    }
                }
            }
            at += 1;
        }
        sort_by_key(&mut found, |node| *node);
        found.dedup();
        found
    }

    /// All nodes that any of these values may come from.
    pub(super) fn reached(&self, from: impl Iterator<Item = Def>, mut each: impl FnMut(NodeId)) {
        let mut seen = vec![false; self.sources.len()];
        let mut open: Vec<Def> = from.collect();
        while let Some(def) = open.pop() {
            if std::mem::replace(&mut seen[def.0], true) {
                continue;
            }
            match &self.sources[def.0] {
                Source::Node(node) => each(*node),
                Source::Join(sides) => open.extend(sides.iter().flatten()),
            }
        }
    }
}
