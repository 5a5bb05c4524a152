//! Liveness analysis: whether a MATCH handles the slot to which a call is bound, and whether anything reads
//! it.
//!
//! It is a backward dataflow analysis over the events. One iteration of a loop either does not touch a slot,
//! or it alone determines what happens to the slot. So the effect of a loop is one set, computed once, and
//! the time is linear for nested loops too.

use super::slot_events::{Event, Events, Failing, LeftLoop, TryId};
use super::slot_set::{Bits, FEW, WORDS, put};
use crate::ast::{LoopId, Slot};
use smallvec::{SmallVec, smallvec};

/// For each slot: what a path may reach before the slot is bound again.
#[derive(Clone, Copy, Default)]
struct Ahead<const W: usize> {
    /// A MATCH on the slot.
    matched: Bits<W>,
    /// A read of the slot or a MATCH on it.
    used: Bits<W>,
    /// A BREAK out of the innermost loop.
    broken: Bits<W>,
    /// A failure that leaves the innermost loop and goes to the handler of a TRY.
    failed: Bits<W>,
}

impl<const W: usize> Ahead<W> {
    fn extend(&mut self, other: &Ahead<W>) {
        self.matched.extend(&other.matched);
        self.used.extend(&other.used);
        self.broken.extend(&other.broken);
        self.failed.extend(&other.failed);
    }

    fn bind(&mut self, slot: Slot) {
        self.used.remove(slot);
        self.matched.remove(slot);
        self.broken.remove(slot);
        self.failed.remove(slot);
    }

    /// Adds what is reached after a loop, for the slots that leave the loop by a BREAK or a failure.
    fn extend_by(&mut self, behind: &Ahead<W>, reach: &Bits<W>) {
        let mut behind = *behind;
        behind.matched.keep(reach);
        behind.used.keep(reach);
        behind.broken.keep(reach);
        behind.failed.keep(reach);
        self.extend(&behind);
    }
}

/// How the slot to which a call is bound is used.
#[derive(Clone, Copy, Default)]
pub(super) struct Binding {
    pub(super) checked: bool,
    pub(super) unread: bool,
}

/// By [`crate::ast::CallId`].
pub(super) type Bindings = SmallVec<[Binding; 16]>;

/// Computes the use of each call that LET binds.
pub(super) fn bindings(events: &Events<'_>, slots: usize) -> Bindings {
    match slots {
        _ if events.calls.is_empty() => Bindings::new(),
        ..=FEW => of_width::<1>(events),
        _ => of_width::<WORDS>(events),
    }
}

fn of_width<const W: usize>(events: &Events<'_>) -> Bindings {
    let mut backward = Backward::<'_, W> {
        events: &events.list,
        left: &events.left,
        handlers: smallvec![Ahead::default(); events.tries as usize],
        loops: smallvec![Ahead::default(); events.yields.len()],
        behind: smallvec![Ahead::default(); events.yields.len()],
        ends: smallvec![Ahead::default(); events.yields.len()],
        bindings: smallvec![Binding::default(); events.calls.len()],
    };
    if !events.yields.is_empty() {
        backward.run(false);
    }
    backward.run(true);
    backward.bindings
}

struct Backward<'e, const W: usize> {
    events: &'e [Event],
    /// Where the failures go that leave a loop, by [`LoopId`].
    left: &'e [LeftLoop],
    /// What the handler of each TRY reaches, by [`super::slot_events::TryId`].
    handlers: SmallVec<[Ahead<W>; 1]>,
    /// What an iteration of the loop reaches, by [`LoopId`].
    loops: SmallVec<[Ahead<W>; 4]>,
    /// What is reached after a loop with a BREAK and its ELSE, by [`LoopId`].
    behind: SmallVec<[Ahead<W>; 4]>,
    /// What the end of an iteration reaches, by [`LoopId`].
    ends: SmallVec<[Ahead<W>; 4]>,
    bindings: Bindings,
}

/// A branch or loop whose start the backward walk has not reached yet.
struct Unfinished<const W: usize> {
    /// What is reached after it.
    after: Ahead<W>,
    /// What the branches visited so far reach.
    branches: Ahead<W>,
}

impl<const W: usize> Backward<'_, W> {
    fn of_loop(&self, id: LoopId) -> Ahead<W> {
        self.loops.get(id.0 as usize).copied().unwrap_or_default()
    }

    fn behind(&self, id: LoopId) -> Ahead<W> {
        self.behind.get(id.0 as usize).copied().unwrap_or_default()
    }

    /// Adds what the iterations of a loop reach, in the loop and after it by a BREAK or a failure.
    fn add_passes(&self, ahead: &mut Ahead<W>, id: LoopId, judge: bool) {
        let Ahead { matched, used, broken, failed } = self.of_loop(id);
        ahead.extend(&Ahead { matched, used, ..Ahead::default() });
        ahead.extend_by(&self.behind(id), &broken);
        if let Some((to, from)) = self.left.get(id.0 as usize).copied().flatten() {
            ahead.extend_by(&self.failing(to, from, judge), &failed);
        }
    }

    /// What a failure reaches that goes to a TRY and leaves the loop `from`, if any.
    fn failing(&self, to: TryId, from: Option<LoopId>, judge: bool) -> Ahead<W> {
        if judge || from.is_none() {
            self.handlers.get(to.0 as usize).copied().unwrap_or_default()
        } else {
            Ahead { failed: Bits::all(), ..Ahead::default() }
        }
    }

    /// Runs the analysis: first to find what an iteration of each loop reaches, then, with that, to judge the
    /// bindings.
    fn run(&mut self, judge: bool) {
        let mut ahead = Ahead::default();
        let mut open: SmallVec<[Unfinished<W>; 8]> = SmallVec::new();
        for &event in self.events.iter().rev() {
            match event {
                Event::Statement(_) | Event::Register(_) | Event::Undo(_) => {}
                Event::Handler(id) => {
                    put(&mut self.handlers, id.0, ahead);
                    ahead = open.last().map_or(ahead, |of| of.after);
                }
                Event::Try(_) => {
                    open.pop();
                }
                Event::MayFail(Failing { to, from, .. }) => ahead.extend(&self.failing(to, from, judge)),
                Event::Read(slot, _) => ahead.used.insert(slot),
                Event::Match(slot, _) => {
                    ahead.used.insert(slot);
                    ahead.matched.insert(slot);
                }
                Event::Bind(slot, _) | Event::BindCall(slot, _, _) => {
                    if let (Event::BindCall(_, _, call), true) = (event, judge) {
                        let found =
                            Binding { checked: ahead.matched.has(slot), unread: !ahead.used.has(slot) };
                        put(&mut self.bindings, call.0, found);
                    }
                    ahead.bind(slot);
                }
                Event::Join | Event::Caught => {
                    open.push(Unfinished { after: ahead, branches: Ahead::default() });
                }
                Event::Branch => {
                    if let Some(fork) = open.last_mut() {
                        fork.branches.extend(&ahead);
                        ahead = fork.after;
                    }
                }
                Event::Fork(..) => ahead = open.pop().map_or(ahead, |fork| fork.branches),
                Event::Repeat(id) => {
                    open.push(Unfinished { after: ahead, branches: Ahead::default() });
                    if judge {
                        self.add_passes(&mut ahead, id, judge);
                    } else {
                        ahead = Ahead::default();
                    }
                    put(&mut self.ends, id.0, ahead);
                }
                Event::Loop(id, _) => {
                    if !judge {
                        put(&mut self.loops, id.0, ahead);
                    }
                    ahead = open.pop().map_or(ahead, |of| of.after);
                    self.add_passes(&mut ahead, id, judge);
                }
                Event::Break(..) if !judge => {
                    ahead = Ahead { broken: Bits::all(), ..Ahead::default() };
                }
                Event::Break(id) => ahead = self.behind(id),
                Event::Skip(id, _) => ahead = self.ends.get(id.0 as usize).copied().unwrap_or_default(),
                Event::Done(id) => put(&mut self.behind, id.0, ahead),
                Event::Exit(..) => ahead = Ahead::default(),
            }
        }
    }
}
