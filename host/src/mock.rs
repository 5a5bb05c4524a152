//! Tools that answer with what the tools file says.
//!
//! How often an entry has served is counted over the life of the table, not of a run.

use crate::data::Data;
use crate::problem::shortened;
use crate::tool::{Failure, Provider, Request};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The longest pause between two looks at whether the run was interrupted.
const PAUSE: Duration = Duration::from_millis(20);

/// Fixed answers, the first that fits.
#[derive(Debug)]
pub(crate) struct Mock {
    /// The answers, in the order of the file.
    pub(crate) entries: Vec<Entry>,
}

/// One answer.
#[derive(Debug)]
pub(crate) struct Entry {
    /// What must be among the arguments.
    pub(crate) when: Option<Data>,
    /// How often it still serves; without it, for ever.
    pub(crate) left: Option<AtomicU64>,
    /// How long it waits first.
    pub(crate) delay: Duration,
    /// The value, or the failure.
    pub(crate) answer: Result<Data, Data>,
}

impl Entry {
    /// Whether it answers this call; one that serves a number of times has served once more.
    fn takes(&self, arguments: &Data) -> bool {
        self.when.as_ref().is_none_or(|when| when.fits(arguments))
            && self.left.as_ref().is_none_or(|left| {
                left.try_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok()
            })
    }
}

/// Waits, unless the call is over before.
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
        let Some(entry) = self.entries.iter().find(|entry| entry.takes(request.arguments)) else {
            let shown = shortened(&request.arguments.to_json(), 200);
            let message = format!("no entry of the mock `{}` fits the arguments {shown}", request.tool);
            return Err(Failure::text(message));
        };
        wait(entry.delay, request)?;
        entry.answer.clone().map_err(Failure::Failed)
    }

    /// One that counts how often an entry served answers by the order of its calls.
    fn may_run_ahead(&self) -> bool {
        self.entries.iter().all(|entry| entry.left.is_none())
    }
}
