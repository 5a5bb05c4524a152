//! Backward dataflow analysis over the events, and liveness: whether a MATCH handles the slot to which a call
//! is bound, and whether anything reads it.
//!
//! What an iteration of a loop reaches is reached at its end too: the events are walked again until nothing
//! is added there. One iteration of a loop either does not touch a slot, or it alone determines what happens
//! to the slot, so the second walk is the last one, for nested loops too.

use super::facts::CallFacts;
use super::slot_events::{Event, Events};
use super::slot_set::{Bits, FEW, WORDS, put};
use smallvec::{SmallVec, smallvec};

/// What an analysis finds out about the paths from a point.
pub(super) trait Backward {
    /// What it knows at a point; nothing where the function has ended.
    type Ahead: Clone + Default;

    /// Adds what another path reaches. Returns whether that is more.
    fn join(&mut self, ahead: &mut Self::Ahead, other: &Self::Ahead) -> bool;

    /// Goes to before an event about a slot.
    fn pass(&mut self, ahead: &mut Self::Ahead, event: Event);
}

/// Walks the events of a function, last to first, until nothing is added.
pub(super) fn solve<B: Backward>(analysis: &mut B, events: &Events<'_>) {
    let mut handlers: SmallVec<[B::Ahead; 1]> = smallvec![B::Ahead::default(); events.tries as usize];
    let mut loops: SmallVec<[LoopAhead<B::Ahead>; 4]> = smallvec![LoopAhead::default(); events.yields.len()];
    while walk(analysis, &events.list, &mut handlers, &mut loops) {}
}

/// What is reached at the places of a loop from which control goes on elsewhere.
#[derive(Clone, Default)]
struct LoopAhead<A> {
    /// At its head.
    head: A,
    /// At the end of an iteration, where a SKIP goes on.
    end: A,
    /// After it and its ELSE, where a BREAK goes on.
    behind: A,
}

/// A branch or loop whose start the backward walk has not reached yet.
struct Unfinished<A> {
    /// What is reached after it.
    after: A,
    /// What its second path reaches, once the first one is visited.
    branch: A,
}

/// Walks the events. `handlers` are by [`super::slot_events::TryId`], `loops` by [`crate::ast::LoopId`].
/// Returns whether the head of a loop reaches more than it did in the walk before.
fn walk<B: Backward>(
    analysis: &mut B,
    events: &[Event],
    handlers: &mut [B::Ahead],
    loops: &mut [LoopAhead<B::Ahead>],
) -> bool {
    let mut adds = false;
    let mut ahead = B::Ahead::default();
    let mut open: SmallVec<[Unfinished<B::Ahead>; 8]> = SmallVec::new();
    for &event in events.iter().rev() {
        match event {
            Event::Statement(_) | Event::Register(_) | Event::Undo(_) => {}
            Event::Read(..) | Event::Match(..) | Event::Bind(..) | Event::BindCall(..) => {
                analysis.pass(&mut ahead, event);
            }
            Event::Handler(id, _) => {
                let after = open.last().map(|of| of.after.clone()).unwrap_or_default();
                put(handlers, id.0, core::mem::replace(&mut ahead, after));
            }
            Event::MayFail(to, _) => {
                if let Some(handler) = handlers.get(to.0 as usize) {
                    analysis.join(&mut ahead, handler);
                }
            }
            Event::Join(_) => {
                open.push(Unfinished { after: ahead.clone(), branch: B::Ahead::default() });
            }
            Event::Branch(_) => {
                if let Some(fork) = open.last_mut() {
                    fork.branch = core::mem::replace(&mut ahead, fork.after.clone());
                }
            }
            Event::Fork(..) => {
                if let Some(fork) = open.pop() {
                    analysis.join(&mut ahead, &fork.branch);
                }
            }
            Event::Repeat(id, _) => {
                open.push(Unfinished { after: ahead.clone(), branch: B::Ahead::default() });
                if let Some(of) = loops.get_mut(id.0 as usize) {
                    analysis.join(&mut ahead, &of.head);
                    of.end = ahead.clone();
                }
            }
            Event::Loop(id, _) => {
                if let (Some(of), Some(Unfinished { after, .. })) = (loops.get_mut(id.0 as usize), open.pop())
                {
                    // These two may be large, and are needed only in the loop.
                    of.behind = B::Ahead::default();
                    adds |= analysis.join(&mut core::mem::take(&mut of.end), &ahead);
                    of.head = ahead.clone();
                    analysis.join(&mut ahead, &after);
                }
            }
            Event::Break(id) => {
                ahead = loops.get(id.0 as usize).map(|of| of.behind.clone()).unwrap_or_default();
            }
            Event::Skip(id, _) => {
                ahead = loops.get(id.0 as usize).map(|of| of.end.clone()).unwrap_or_default();
            }
            Event::Done(id, _) => {
                if let Some(of) = loops.get_mut(id.0 as usize) {
                    of.behind = ahead.clone();
                }
            }
            Event::Exit(..) => ahead = B::Ahead::default(),
        }
    }
    adds
}

/// For each slot: what a path may reach before the slot is bound again.
#[derive(Clone, Copy, Default)]
struct Ahead<const W: usize> {
    /// A MATCH on the slot.
    matched: Bits<W>,
    /// A read of the slot or a MATCH on it.
    used: Bits<W>,
}

/// Notes how the slot is used to which LET binds a call: by [`crate::ast::CallId`].
pub(super) fn note_uses(events: &Events<'_>, slots: usize, calls: &mut [CallFacts]) {
    match slots {
        _ if calls.is_empty() => {}
        ..=FEW => solve(&mut Live::<1>(calls), events),
        _ => solve(&mut Live::<WORDS>(calls), events),
    }
}

struct Live<'f, const W: usize>(&'f mut [CallFacts]);

impl<const W: usize> Backward for Live<'_, W> {
    type Ahead = Ahead<W>;

    fn join(&mut self, ahead: &mut Ahead<W>, other: &Ahead<W>) -> bool {
        let adds = !(other.used.is_within(&ahead.used) && other.matched.is_within(&ahead.matched));
        ahead.matched.extend(&other.matched);
        ahead.used.extend(&other.used);
        adds
    }

    fn pass(&mut self, ahead: &mut Ahead<W>, event: Event) {
        match event {
            Event::Read(slot, _) => ahead.used.insert(slot),
            Event::Match(slot, _) => {
                ahead.used.insert(slot);
                ahead.matched.insert(slot);
            }
            _ => {
                let Some(slot) = event.binds() else { return };
                if let Event::BindCall(.., call) = event
                    && let Some(facts) = self.0.get_mut(call.0 as usize)
                {
                    (facts.checked, facts.unread) = (ahead.matched.has(slot), !ahead.used.has(slot));
                }
                ahead.used.remove(slot);
                ahead.matched.remove(slot);
            }
        }
    }
}
