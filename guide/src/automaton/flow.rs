//! The possible contents of each slot at a point: nothing, a plain value, or the results of calls that a
//! MATCH may take.
//!
//! A result is undecided at first. A read, another binding or an exit with a value makes it plain on all
//! paths. A MATCH before these makes it a result that every path must match or fail with. The checker
//! instead looks ahead to see whether a MATCH takes a result.

use crate::automaton::session::Session;
use crate::automaton::state::{Core, LOOPS, NONE, SLOTS, add, entry};
use crate::automaton::want::{Arena, either, no_case};
use ilo_asm::check::ValueInfo;

/// The state of the slots at a point.
#[derive(Clone)]
pub(crate) struct Slots {
    /// Slots that may be unset, and those that may hold a plain value.
    pub(crate) unset: u64,
    pub(crate) plain: u64,
    /// Slots that may be as they were when the pass of each open loop began.
    pub(crate) kept: [u64; LOOPS as usize],
    /// The calls whose results a slot may hold.
    pub(crate) calls: [u64; SLOTS as usize],
    /// The values. For a call, the value of its success.
    pub(crate) values: [u32; SLOTS as usize],
}

pub(crate) fn bit(slot: u8) -> u64 {
    1_u64.checked_shl(slot.into()).unwrap_or_default()
}

impl Slots {
    pub(crate) fn new<'s>(session: &'s Session<'_>, arena: &mut Arena<'s>) -> Slots {
        let (calls, values) = ([0; SLOTS as usize], [0; SLOTS as usize]);
        let mut slots = Slots { unset: u64::MAX, plain: 0, kept: [0; LOOPS as usize], calls, values };
        for (slot, value) in (0..SLOTS).zip(session.inputs()) {
            slots.set(slot, arena.add_value(value), 0);
        }
        slots
    }

    pub(crate) fn calls(&self, slot: u8) -> u64 {
        self.calls.get(slot as usize).copied().unwrap_or_default()
    }

    pub(crate) fn value(&self, slot: u8) -> u32 {
        self.values.get(slot as usize).copied().unwrap_or_default()
    }

    /// Sets the slots that may be as they were when the pass of a loop began.
    pub(crate) fn keep(&mut self, at: u8, kept: u64) {
        self.kept.iter_mut().skip(at.into()).take(1).for_each(|place| *place = kept);
    }

    /// All calls whose results some slot may hold.
    pub(crate) fn held(&self) -> u64 {
        self.calls.iter().fold(0, |all, calls| all | calls)
    }

    /// Sets a slot to a plain value, or to the results of calls.
    pub(crate) fn set(&mut self, slot: u8, value: u32, calls: u64) {
        self.unset &= !bit(slot);
        self.plain = if calls == 0 { self.plain | bit(slot) } else { self.plain & !bit(slot) };
        self.kept.iter_mut().for_each(|kept| *kept &= !bit(slot));
        if let Some(place) = self.calls.get_mut(slot as usize) {
            *place = calls;
        }
        if let Some(place) = self.values.get_mut(slot as usize) {
            *place = value;
        }
    }

    /// Adds another value that a slot may have.
    fn join_value(&mut self, slot: u8, other: u32, arena: &mut Arena<'_>) {
        if let Some(value) = self.values.get_mut(slot as usize).filter(|value| **value != other) {
            let (one, two) = (arena.value(*value), arena.value(other));
            *value = match (one.same(no_case()), two.same(no_case())) {
                (true, _) => other,
                (_, true) => *value,
                _ => arena.add_value(one.join(two)),
            };
        }
    }

    pub(crate) fn clear(&mut self, slot: u8) {
        self.set(slot, 0, 0);
        self.plain &= !bit(slot);
        self.unset |= bit(slot);
    }
}

impl Core<'_> {
    pub(crate) fn slots_at(&self, at: u32) -> &Slots {
        // The first one is always there.
        entry(&self.slots, at).unwrap_or(&self.slots[0])
    }

    pub(crate) fn now(&self) -> &Slots {
        self.slots_at(self.state.slots)
    }

    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Slots)) {
        let mut slots = self.now().clone();
        change(&mut slots);
        self.state.slots = add(&mut self.slots, slots);
    }

    /// Whether every path has set a slot to something that may be read.
    pub(crate) fn readable(&self, slot: u8) -> bool {
        let (now, loops) = (self.now(), self.block().loops as usize);
        let is_set = slot < SLOTS && now.unset & bit(slot) == 0;
        let mut open = self.state.loops.iter().zip(now.kept).take(loops);
        is_set
            && now.calls(slot) & self.state.checked == 0
            && open.all(|(of, kept)| of.unset_in & kept & bit(slot) == 0)
    }

    pub(crate) fn read(&mut self, slot: u8) {
        self.state.plain |= self.now().calls(slot);
        let (kept, loops) = (self.now().kept, self.block().loops as usize);
        for (of, kept) in self.state.loops.iter_mut().zip(kept).take(loops) {
            of.read_first |= kept & bit(slot);
        }
    }

    /// Whether a slot may be bound without losing its last result.
    pub(crate) fn bindable(&self, slot: u8) -> bool {
        slot < SLOTS && slot <= self.state.next && self.now().calls(slot) & self.state.checked == 0
    }

    pub(crate) fn bind(&mut self, slot: u8, value: u32, call: u64) {
        let calls = self.now().calls(slot);
        self.state.plain |= calls;
        self.change_handler(|slots, arena| {
            if slots.unset & bit(slot) == 0 {
                slots.plain |= bit(slot);
                slots.join_value(slot, value, arena);
            }
        });
        self.state.next = self.state.next.max(slot.saturating_add(1).min(SLOTS));
        self.change(|slots| slots.set(slot, value, call));
    }

    /// Whether a MATCH may take the results in a slot.
    pub(crate) fn matchable(&self, slot: u8) -> bool {
        let (now, block) = (self.now(), self.block());
        let calls = now.calls(slot);
        let loops = block.loops as usize;
        slot < SLOTS
            && calls != 0
            && (now.unset | now.plain) & bit(slot) == 0
            && calls & (self.state.plain | block.before | block.held) == 0
            && self.state.loops.iter().take(loops).all(|of| of.read_first & bit(slot) == 0)
    }

    /// Takes the results in a slot. Returns the failure's value.
    pub(crate) fn take(&mut self, slot: u8) -> (u32, u32) {
        let (calls, ok) = (self.now().calls(slot), self.now().value(slot));
        self.state.checked |= calls;
        self.change_handler(|slots, _| slots.clear(slot));
        let loops = self.block().loops as usize;
        self.state.loops.iter_mut().take(loops).for_each(|of| of.unset_in |= bit(slot));
        let failures = (0_u32..).zip(&self.failures).filter(|(call, _)| calls >> call & 1 == 1);
        let joined = failures.map(|it| *it.1).reduce(either).unwrap_or(ValueInfo::ANY);
        let err = self.arena.add_value(joined);
        self.change(|slots| slots.clear(slot));
        (ok, err)
    }

    /// Changes the slots in the handler of the innermost TRY.
    fn change_handler(&mut self, change: impl FnOnce(&mut Slots, &mut Arena<'_>)) {
        if self.state.tried != NONE {
            let mut slots = self.slots_at(self.state.tried).clone();
            change(&mut slots, &mut self.arena);
            self.state.tried = add(&mut self.slots, slots);
        }
    }

    /// Whether some slot holds a result that must be matched.
    pub(crate) fn owes(&self) -> bool {
        self.owes_in_loop(0)
    }

    /// The slots whose results must be matched before a pass ends.
    pub(crate) fn owes_in_loop(&self, before: u64) -> bool {
        self.now().held() & self.state.checked & !before != 0
    }

    /// The function ends with a value, so held results are plain.
    pub(crate) fn leave(&mut self) {
        self.state.plain |= self.now().held();
    }

    /// Whether no result that must be matched is held on only one of two paths.
    pub(crate) fn joinable(&self, a: u32, b: u32) -> bool {
        if a == NONE || b == NONE {
            return true;
        }
        let (a, b) = (self.slots_at(a), self.slots_at(b));
        let checked = self.state.checked;
        (0..SLOTS).all(|slot| {
            let (left, right) = (a.calls(slot) & checked, b.calls(slot) & checked);
            let other = (a.unset | b.unset | a.plain | b.plain) & bit(slot) != 0;
            (left | right) == 0 || (left != 0 && right != 0 && !other)
        })
    }

    /// Joins two paths. The result is `NONE` if neither continues.
    pub(crate) fn join(&mut self, a: u32, b: u32) -> u32 {
        if a == NONE || a == b {
            return b;
        }
        if b == NONE {
            return a;
        }
        let mut slots = self.slots_at(a).clone();
        let other = self.slots_at(b).clone();
        slots.unset |= other.unset;
        slots.plain |= other.plain;
        slots.kept.iter_mut().zip(other.kept).for_each(|(kept, more)| *kept |= more);
        for slot in 0..SLOTS {
            let calls = slots.calls(slot) | other.calls(slot);
            if (slots.unset | slots.plain) & bit(slot) != 0 {
                self.state.plain |= calls;
            }
            if slots.unset & bit(slot) == 0 {
                slots.join_value(slot, other.value(slot), &mut self.arena);
            }
            if let Some(place) = slots.calls.get_mut(slot as usize) {
                *place = calls;
            }
        }
        add(&mut self.slots, slots)
    }
}
