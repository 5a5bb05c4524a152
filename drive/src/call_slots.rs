//! Limits the number of calls under way at once, over all runs that share the limit.

use ilo_spec::limits;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of calls of read-only tools that may be under way at once: the one that a run waits for, and
/// those that were started ahead of it. Clones share the number; with 1 every run makes its calls one at a
/// time.
#[derive(Clone, Debug)]
pub struct CallSlots {
    most: usize,
    taken: Arc<AtomicUsize>,
}

impl CallSlots {
    /// Allows `most` calls at once, at least 1.
    pub fn new(most: usize) -> CallSlots {
        CallSlots { most: most.max(1), taken: Arc::default() }
    }

    /// The number of calls allowed at once.
    pub fn most(&self) -> usize {
        self.most
    }

    /// Whether another call can be started ahead.
    pub fn has_room(&self) -> bool {
        self.taken.load(Ordering::Relaxed) + 1 < self.most
    }

    /// Takes a slot for a call that is started ahead. One slot is left for the call that the run waits for.
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

/// The slot of one call, which is free again when this is dropped.
#[derive(Debug)]
pub struct Slot(Arc<AtomicUsize>);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
