//! Tools that answer with what the tools file says.
//!
//! How often an entry has served is counted over the life of the table, not of a run.

use super::{Failure, Provider, Request};
use crate::data::Data;
use crate::problem::shortened;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

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

impl Provider for Mock {
    fn call(&self, request: &Request<'_>) -> Result<Data, Failure> {
        let Some(entry) = self.entries.iter().find(|entry| entry.takes(request.arguments)) else {
            let shown = shortened(&request.arguments.to_json(), 200);
            let message = format!("no entry of the mock `{}` fits the arguments {shown}", request.tool);
            return Err(Failure::text(message));
        };
        let left = request.deadline.saturating_duration_since(Instant::now());
        std::thread::sleep(entry.delay.min(left));
        if entry.delay > left {
            return Err(Failure::TimedOut);
        }
        entry.answer.clone().map_err(Failure::Failed)
    }
}
