//! How many calls may be under way at once, in all runs that share the number.

use ilo_spec::limits;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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

    /// How many.
    pub fn most(&self) -> usize {
        self.most
    }

    /// Whether there is room for one more that is started ahead.
    pub fn has_room(&self) -> bool {
        self.taken.load(Ordering::Relaxed) + 1 < self.most
    }

    /// Room for a call that is started ahead; one is left for that which waits.
    pub fn take(&self) -> Option<Slot> {
        let free = |taken: usize| (taken + 1 < self.most).then_some(taken + 1);
        let taken = self.taken.try_update(Ordering::Relaxed, Ordering::Relaxed, free);
        taken.is_ok().then(|| Slot(Arc::clone(&self.taken)))
    }
}

impl Default for CallSlots {
    fn default() -> CallSlots {
        CallSlots::new(limits::DEFAULT_CALLS_UNDER_WAY)
    }
}

/// The room of one call; it is free again once this is dropped.
#[derive(Debug)]
pub struct Slot(Arc<AtomicUsize>);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
