//! Mocks as tools: the pause before an answer.

use crate::tool::{Failure, Provider, Request};
use ilo_drive::data::Data;
use ilo_drive::mock::Mock;
use std::time::{Duration, Instant};

/// The longest interval between checks for an interrupt.
const PAUSE: Duration = Duration::from_millis(20);

/// Waits, unless the call ends before.
fn wait(delay: Duration, request: &Request<'_>) -> Result<(), Failure> {
    let begun = Instant::now();
    loop {
        let left = delay.saturating_sub(begun.elapsed());
        let time = request.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        } else if request.interrupt.is_set() {
            return Err(Failure::Interrupted);
        } else if time.is_zero() {
            return Err(Failure::TimedOut);
        }
        std::thread::sleep(left.min(time).min(PAUSE));
    }
}

impl Provider for Mock {
    fn call(&self, request: &Request<'_>) -> Result<Data, Failure> {
        let (delay, answer) = self.answer(request.tool, request.arguments);
        wait(delay, request)?;
        answer
    }

    fn may_run_ahead(&self) -> bool {
        Mock::may_run_ahead(self)
    }
}
