//! A flag that asks a run to end now. The host sets it; this crate handles no signals.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that is set once; its clones share it.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    set: AtomicBool,
    parent: Option<Interrupt>,
}

impl Interrupt {
    /// A flag for a part of what this one ends: set where this is, or by itself.
    #[must_use]
    pub fn child(&self) -> Interrupt {
        Interrupt(Arc::new(Flag { set: AtomicBool::new(false), parent: Some(self.clone()) }))
    }

    /// Asks for the end of the run, which comes where it next looks.
    pub fn set(&self) {
        self.0.set.store(true, Ordering::Relaxed);
    }

    /// Whether the end was asked for.
    pub fn is_set(&self) -> bool {
        self.0.set.load(Ordering::Relaxed) || self.0.parent.as_ref().is_some_and(Interrupt::is_set)
    }
}
