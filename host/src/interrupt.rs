//! A flag that ends a run early. The host sets it; this crate handles no signals.

use ilo_drive::locked::locked;
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// The longest interval between checks while a thread waits.
const LOOK: Duration = Duration::from_millis(20);

/// A flag that is set once; its clones share it.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    set: AtomicBool,
    reason: OnceLock<String>,
    parents: Vec<Interrupt>,
    /// Tasks that wait for it, by the number of their wait.
    waiting: Mutex<HashMap<u64, Waker>>,
}

impl Flag {}

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
        self.0.set.store(true, Ordering::SeqCst);
        let waiting = std::mem::take(&mut *locked(&self.0.waiting));
        waiting.into_values().for_each(Waker::wake);
    }

    /// Ends once the flag is set. It needs no runtime.
    pub fn wait(&self) -> Wait {
        static WAITS: AtomicU64 = AtomicU64::new(0);
        Wait { interrupt: self.clone(), number: WAITS.fetch_add(1, Ordering::Relaxed) }
    }

    /// Blocks the thread until a time. False, before it, if the flag is set.
    pub fn sleep_until(&self, end: Instant) -> bool {
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || self.is_set() {
                return left.is_zero();
            }
            thread::sleep(left.min(LOOK));
        }
    }

    /// Calls a function with this flag and all above it.
    fn each(&self, visit: &mut impl FnMut(&Flag)) {
        visit(&self.0);
        self.0.parents.iter().for_each(|parent| parent.each(visit));
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
        self.0.set.load(Ordering::SeqCst) || self.0.parents.iter().any(Interrupt::is_set)
    }
}

/// Waits until an [`Interrupt`] is set.
#[derive(Debug)]
#[must_use = "a future does nothing before it is awaited"]
pub struct Wait {
    interrupt: Interrupt,
    number: u64,
}

impl Future for Wait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.interrupt.each(&mut |flag| {
            locked(&flag.waiting).insert(self.number, context.waker().clone());
        });
        // A flag that was set meanwhile has woken nobody.
        if self.interrupt.is_set() { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        self.interrupt.each(&mut |flag| {
            locked(&flag.waiting).remove(&self.number);
        });
    }
}
