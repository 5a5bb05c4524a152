//! How many calls may be under way at once, in all runs that share the number.

use ilo_spec::limits;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How many calls of read-only tools may be under way at once: the one that a run waits for, and those that
/// were started ahead of it. Clones share the number; with 1 every run makes its calls one at a time.
#[derive(Clone, Debug)]
pub struct CallSlots {
    most: usize,
    taken: Arc<AtomicUsize>,
}

impl CallSlots {
    /// So many calls at once, at least 1.
    pub fn new(most: usize) -> CallSlots {
        CallSlots { most: most.max(1), taken: Arc::default() }
    }

    pub(super) fn most(&self) -> usize {
        self.most
    }

    pub(super) fn has_room(&self) -> bool {
        self.taken.load(Ordering::Relaxed) + 1 < self.most
    }

    /// Room for a call that is started ahead; one is left for that which waits.
    pub(super) fn take(&self) -> Option<Slot> {
        let free = |taken: usize| (taken + 1 < self.most).then_some(taken + 1);
        let taken = self.taken.try_update(Ordering::Relaxed, Ordering::Relaxed, free);
        taken.is_ok().then(|| Slot { taken: Arc::clone(&self.taken), free: AtomicBool::new(false) })
    }
}

impl Default for CallSlots {
    fn default() -> CallSlots {
        CallSlots::new(limits::DEFAULT_CALLS_UNDER_WAY)
    }
}

/// The room of one call; it is free again once this is dropped, or before.
#[derive(Debug)]
pub(super) struct Slot {
    taken: Arc<AtomicUsize>,
    free: AtomicBool,
}

impl Slot {
    /// Frees it.
    pub(super) fn free(&self) {
        if !self.free.swap(true, Ordering::Relaxed) {
            self.taken.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.free();
    }
}
