//! Functions that block their thread refuse to do so in asynchronous code, where everything else on the
//! thread would wait, and perhaps what they wait for.

use ilo_drive::problem::Problem;
use ilo_spec::error::Code;

/// Refuses a call of `function` in asynchronous code.
///
/// # Errors
/// What to do instead.
pub(crate) fn refuse(function: &str, instead: &str) -> Result<(), Problem> {
    if !is_asynchronous() {
        return Ok(());
    }
    let message = format!(
        "`{function}` blocks its thread, and this is asynchronous code; await {instead}, or call it in \
         `tokio::task::spawn_blocking`"
    );
    Err(Problem::new(Code::BadUsage, "", message))
}

/// Whether the thread runs asynchronous code of tokio. Only such code has a budget, after which it has to
/// yield, so using a budget up tells; threads for blocking work have none.
#[cfg(any(feature = "mcp", feature = "serve", feature = "telemetry", feature = "tokio"))]
fn is_asynchronous() -> bool {
    use std::pin::pin;
    use std::task::{Context, Waker};

    /// More than tokio gives.
    const BUDGET: usize = 1_000;
    let mut context = Context::from_waker(Waker::noop());
    (0..BUDGET).any(|_| pin!(tokio::task::coop::consume_budget()).poll(&mut context).is_pending())
}

/// Without tokio there is none.
#[cfg(not(any(feature = "mcp", feature = "serve", feature = "telemetry", feature = "tokio")))]
fn is_asynchronous() -> bool {
    false
}
