//! A flag that ends a run early. The host sets it; this crate handles no signals.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that is set once; its clones share it.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    set: AtomicBool,
    parents: Vec<Interrupt>,
}

impl Interrupt {
    /// A child flag: it is set if this one is, or on its own.
    #[must_use]
    pub fn child(&self) -> Interrupt {
        Interrupt(Arc::new(Flag { set: AtomicBool::new(false), parents: vec![self.clone()] }))
    }

    /// A flag that is set if this one or the other is.
    #[must_use]
    pub(crate) fn or(&self, other: &Interrupt) -> Interrupt {
        let parents = vec![self.clone(), other.clone()];
        Interrupt(Arc::new(Flag { set: AtomicBool::new(false), parents }))
    }

    /// Sets the flag. The run ends at its next check.
    pub fn set(&self) {
        self.0.set.store(true, Ordering::Relaxed);
    }

    /// Whether the flag is set.
    pub fn is_set(&self) -> bool {
        self.0.set.load(Ordering::Relaxed) || self.0.parents.iter().any(Interrupt::is_set)
    }
}
