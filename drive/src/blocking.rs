//! Whether a function may block its thread: in asynchronous code everything else on the thread would wait,
//! and perhaps what it waits for.

/// Whether the thread runs asynchronous code of tokio. Only such code has a budget, after which it has to
/// yield, so using a budget up tells; threads for blocking work have none.
#[cfg(feature = "tokio")]
pub fn is_asynchronous() -> bool {
    use std::pin::pin;
    use std::task::{Context, Waker};

    /// More than tokio gives.
    const BUDGET: usize = 1_000;
    if tokio::runtime::Handle::try_current().is_err() {
        return false;
    }
    let mut context = Context::from_waker(Waker::noop());
    (0..BUDGET).any(|_| pin!(tokio::task::coop::consume_budget()).poll(&mut context).is_pending())
}

/// Whether the thread runs asynchronous code: without tokio there is none.
#[cfg(not(feature = "tokio"))]
pub fn is_asynchronous() -> bool {
    false
}
