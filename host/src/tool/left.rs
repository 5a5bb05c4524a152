//! Calls that went on after their deadline, and are left behind: a thread cannot be ended, nor a task that
//! does not await anything. They are counted until they end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

/// The most calls that may be left behind before no new run is started.
pub(crate) const MOST: usize = 32;

const UNDER_WAY: u8 = 0;
const LEFT: u8 = 1;
const ENDED: u8 = 2;

/// The number of calls that were left behind and have not ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Left(Arc<AtomicUsize>);

impl Left {
    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    /// The two sides of a call that begins.
    pub(crate) fn call(&self) -> (Watched, Working) {
        let state = Arc::new(AtomicU8::new(UNDER_WAY));
        (Watched { left: self.clone(), state: Arc::clone(&state) }, Working { left: self.clone(), state })
    }
}

/// The side of the run, which waits for the call.
#[derive(Debug)]
pub(crate) struct Watched {
    left: Left,
    state: Arc<AtomicU8>,
}

impl Watched {
    /// Leaves the call behind, unless it has ended.
    pub(crate) fn leave(self) {
        self.left.0.fetch_add(1, Ordering::SeqCst);
        if self.state.compare_exchange(UNDER_WAY, LEFT, Ordering::SeqCst, Ordering::SeqCst).is_err() {
            self.left.0.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// The side of the call. Dropping it says that the call has ended.
#[derive(Debug)]
pub(crate) struct Working {
    left: Left,
    state: Arc<AtomicU8>,
}

impl Drop for Working {
    fn drop(&mut self) {
        if self.state.swap(ENDED, Ordering::SeqCst) == LEFT {
            self.left.0.fetch_sub(1, Ordering::SeqCst);
        }
    }
}
