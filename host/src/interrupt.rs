//! A flag that ends a run early. The host sets it; this crate handles no signals.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// A flag that is set once; its clones share it.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    set: AtomicBool,
    reason: OnceLock<String>,
    parents: Vec<Interrupt>,
}

impl Interrupt {
    /// A child flag: it is set if this one is, or on its own.
    #[must_use]
    pub fn child(&self) -> Interrupt {
        Interrupt(Arc::new(Flag { parents: vec![self.clone()], ..Flag::default() }))
    }

    /// A flag that is set if this one or the other is.
    #[must_use]
    pub(crate) fn or(&self, other: &Interrupt) -> Interrupt {
        let parents = vec![self.clone(), other.clone()];
        Interrupt(Arc::new(Flag { parents, ..Flag::default() }))
    }

    /// Sets the flag. The run ends at its next check.
    pub fn set(&self) {
        self.0.set.store(true, Ordering::Relaxed);
    }

    /// Sets the flag for a reason, which the outcome of a cancelled run has.
    pub fn set_for(&self, reason: &str) {
        // The first reason stays.
        drop(self.0.reason.set(reason.to_owned()));
        self.set();
    }

    /// Why it was set, if that was said.
    pub fn reason(&self) -> Option<String> {
        let own = self.0.reason.get().cloned();
        own.or_else(|| self.0.parents.iter().find_map(Interrupt::reason))
    }

    /// Whether the flag is set.
    pub fn is_set(&self) -> bool {
        self.0.set.load(Ordering::Relaxed) || self.0.parents.iter().any(Interrupt::is_set)
    }
}
