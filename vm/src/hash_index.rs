//! A hash table from hashes to small numbers, for names and shapes.
//!
//! It stores numbers only; the owner keeps what they refer to and compares. The seed is a constant, so
//! nothing is random. Keys may be chosen by an attacker: if a probe becomes longer than chance allows, the
//! table is rebuilt with the next seed, under which the colliding keys no longer collide.

use alloc::vec::Vec;
use core::hash::BuildHasher as _;

/// A longer probe at half load is an attack, not chance.
const LONGEST_PROBE: usize = 64;
/// Seeds tried before long probes are accepted.
const SEEDS: u64 = 8;

/// The table.
#[derive(Clone, Debug, Default)]
pub(crate) struct HashIndex {
    /// The hash in the upper half, the number + 1 in the lower; 0 is empty. The length is 0 or a power of
    /// two.
    slots: Vec<u64>,
    used: usize,
    seed: u64,
}

impl HashIndex {
    #[inline]
    pub(crate) fn hash_text(&self, text: &str) -> u64 {
        foldhash::fast::FixedState::with_seed(self.seed).hash_one(text)
    }

    #[inline]
    pub(crate) fn hash_list(&self, list: &[u32]) -> u64 {
        foldhash::fast::FixedState::with_seed(self.seed).hash_one(list)
    }

    /// The number with this hash for which `same` holds.
    #[inline]
    pub(crate) fn find(&self, hash: u64, mut same: impl FnMut(u32) -> bool) -> Option<u32> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut place = start(hash, mask);
        loop {
            let slot = self.slots[place];
            if slot == 0 {
                return None;
            }
            let number = number(slot);
            if slot >> 32 == hash >> 32 && same(number) {
                return Some(number);
            }
            place = (place + 1) & mask;
        }
    }

    /// An empty table with room for `count` entries.
    #[inline]
    pub(crate) fn with_room(count: usize) -> HashIndex {
        HashIndex { slots: alloc::vec![0; (count * 2).next_power_of_two()], used: 0, seed: 0 }
    }

    /// Adds a number unless the table has one for which `same` holds; returns whether it was added. For
    /// `hash_of` see [`HashIndex::insert`].
    #[inline]
    pub(crate) fn insert_new(
        &mut self,
        new: u32,
        mut same: impl FnMut(u32) -> bool,
        hash_of: impl Fn(&HashIndex, u32) -> u64,
    ) -> bool {
        if (self.used + 1) * 2 > self.slots.len() {
            self.refill((self.slots.len() * 2).max(16), &hash_of);
        }
        let hash = hash_of(self, new);
        let mask = self.slots.len() - 1;
        let mut place = start(hash, mask);
        let mut probe = 0;
        while self.slots[place] != 0 {
            let slot = self.slots[place];
            if slot >> 32 == hash >> 32 && same(number(slot)) {
                return false;
            }
            place = (place + 1) & mask;
            probe += 1;
        }
        self.slots[place] = entry(hash, new);
        self.used += 1;
        if probe > LONGEST_PROBE && self.seed < SEEDS {
            self.seed += 1;
            self.refill(self.slots.len(), &hash_of);
        }
        true
    }

    /// Adds a number that the table does not have. `hash_of` computes a number's hash with the table's seed.
    pub(crate) fn insert(&mut self, new: u32, hash_of: impl Fn(&HashIndex, u32) -> u64) {
        if (self.used + 1) * 2 > self.slots.len() {
            let room = (self.slots.len() * 2).max(16);
            self.refill(room, &hash_of);
        }
        if self.place(new, hash_of(self, new)) > LONGEST_PROBE && self.seed < SEEDS {
            self.seed += 1;
            self.refill(self.slots.len(), &hash_of);
        }
    }

    /// Puts a number into the first free place; returns the length of the probe.
    fn place(&mut self, new: u32, hash: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut place = start(hash, mask);
        let mut probe = 0;
        while self.slots[place] != 0 {
            place = (place + 1) & mask;
            probe += 1;
        }
        self.slots[place] = entry(hash, new);
        self.used += 1;
        probe
    }

    fn refill(&mut self, room: usize, hash_of: &impl Fn(&HashIndex, u32) -> u64) {
        let old = core::mem::replace(&mut self.slots, alloc::vec![0; room]);
        self.used = 0;
        for slot in old.into_iter().filter(|&slot| slot != 0) {
            let known = number(slot);
            let hash = hash_of(self, known);
            self.place(known, hash);
        }
    }

    /// Removes all entries, but keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.slots.fill(0);
        self.used = 0;
    }
}

#[inline]
fn start(hash: u64, mask: usize) -> usize {
    (hash & 0xffff_ffff) as u32 as usize & mask
}

#[inline]
fn entry(hash: u64, number: u32) -> u64 {
    (hash >> 32 << 32) | (u64::from(number) + 1)
}

#[inline]
fn number(slot: u64) -> u32 {
    ((slot & 0xffff_ffff) as u32).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_put_in_and_nothing_else() {
        let mut index = HashIndex::default();
        let names: Vec<alloc::string::String> = (0..5_000).map(|n| alloc::format!("name {n}")).collect();
        let hash_of = |index: &HashIndex, n: u32| index.hash_text(&names[n as usize]);
        for n in 0..4_000 {
            index.insert(n, hash_of);
        }
        for (n, name) in (0..).zip(&names) {
            let found = index.find(index.hash_text(name), |m| &names[m as usize] == name);
            assert_eq!(found, (n < 4_000).then_some(n));
        }
    }

    #[test]
    fn keys_that_all_meet_are_parted_by_another_seed() {
        let mut index = HashIndex::default();
        let hash_of =
            |index: &HashIndex, n: u32| if index.seed == 0 { 7 } else { u64::from(n) << 33 | u64::from(n) };
        for n in 0..1_000 {
            index.insert(n, hash_of);
        }
        assert_eq!(index.seed, 1);
        for n in 0..1_000 {
            assert_eq!(index.find(hash_of(&index, n), |m| m == n), Some(n));
        }
    }
}
