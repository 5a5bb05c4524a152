//! Webs: the bindings of a slot and the reads that they may reach. A program may use one slot, or one name,
//! for values that have nothing to do with each other; each of them is a web of its own.
//!
//! Reads that are reached from one point are of one web, and so are the bindings that reach them.

use super::liveness::{Backward, solve};
use super::slot_events::{Event, Events};
use crate::ast::{Function, Slot};
use crate::span::Span;
use hashbrown::HashMap;
use ilo_spec::limits::REGISTERS;

/// The webs of a function.
#[derive(Default)]
pub(super) struct Webs {
    /// By the place where a slot is read or bound.
    webs: HashMap<(Slot, Span), u32>,
    /// A number above that of each web.
    pub(super) end: usize,
}

impl Webs {
    /// None of a function with too many slots, which is not compiled.
    pub(super) fn of(function: &Function<'_>, events: &Events<'_>) -> Webs {
        let slots = function.slots.len();
        if slots > REGISTERS {
            return Webs { end: 1, ..Webs::default() };
        }
        let mut reads = ReadSets::default();
        solve(&mut reads, events);
        let ReadSets { mut sets, mut places } = reads;
        places.values_mut().for_each(|web| *web = sets.root(*web));
        Webs { webs: places, end: sets.0.len() }
    }

    /// The web of a slot that is read or bound at a place.
    pub(super) fn at(&self, slot: Slot, place: Span) -> Option<usize> {
        self.webs.get(&(slot, place)).map(|&web| web as usize)
    }
}

/// The places so far, and which of them are of one web.
#[derive(Default)]
struct ReadSets {
    sets: Sets,
    places: HashMap<(Slot, Span), u32>,
}

/// For each slot: a read that a path may reach before the slot is bound again.
type NextReads = Vec<Option<u32>>;

impl Backward for ReadSets {
    type Ahead = NextReads;

    fn join(&mut self, ahead: &mut NextReads, other: &NextReads) -> bool {
        let mut adds = false;
        ahead.resize(ahead.len().max(other.len()), None);
        for (known, &other) in ahead.iter_mut().zip(other) {
            match (*known, other) {
                (Some(one), Some(other)) => adds |= self.sets.unite(one, other),
                (None, Some(_)) => (*known, adds) = (other, true),
                (_, None) => {}
            }
        }
        adds
    }

    fn pass(&mut self, ahead: &mut NextReads, event: Event) {
        let (slot, place, binds) = match event {
            Event::Read(slot, place) | Event::Match(slot, place) => (slot, place, false),
            Event::Bind(slot, _, place) | Event::BindCall(slot, _, place, _) => (slot, place, true),
            _ => return,
        };
        let web = *self.places.entry((slot, place)).or_insert_with(|| self.sets.add());
        let at = slot.0 as usize;
        ahead.resize(ahead.len().max(at + 1), None);
        if let Some(next) = ahead.get_mut(at) {
            if let Some(next) = *next {
                self.sets.unite(web, next);
            }
            *next = Some(web).filter(|_| !binds);
        }
    }
}

/// Disjoint sets of places: each with one of its set, a root with itself.
#[derive(Default)]
struct Sets(Vec<u32>);

impl Sets {
    /// Another place, alone in its set.
    fn add(&mut self) -> u32 {
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        self.0.push(next);
        next
    }

    fn root(&mut self, mut value: u32) -> u32 {
        while let Some(&above) = self.0.get(value as usize).filter(|&&above| above != value) {
            let next = self.0.get(above as usize).copied().unwrap_or(above);
            if let Some(place) = self.0.get_mut(value as usize) {
                *place = next;
            }
            value = next;
        }
        value
    }

    /// Returns whether they were two sets.
    fn unite(&mut self, one: u32, other: u32) -> bool {
        let (one, other) = (self.root(one), self.root(other));
        if let Some(place) = self.0.get_mut(one.max(other) as usize) {
            *place = one.min(other);
        }
        one != other
    }
}
