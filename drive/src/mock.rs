//! Tools that answer with fixed values.
//!
//! The number of calls that an entry has answered is counted over the life of the mock, not of a run. The
//! host waits for the delay of an answer.

use crate::data::Data;
use crate::failure::Failure;
use crate::problem::shortened;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Fixed answers, of which the first match is used.
#[derive(Debug)]
pub struct Mock {
    /// The answers, in the order of the file.
    pub entries: Vec<Entry>,
}

/// One answer.
#[derive(Debug)]
pub struct Entry {
    /// Fields that the arguments must contain.
    pub when: Option<Data>,
    /// The number of further calls that it answers; without it, any number.
    pub left: Option<AtomicU64>,
    /// The delay of the answer.
    pub delay: Duration,
    /// The value, or the failure.
    pub answer: Result<Data, Data>,
}

impl Entry {
    /// Whether it answers this call. If it has a number of calls, this uses up one.
    fn takes(&self, arguments: &Data) -> bool {
        self.when.as_ref().is_none_or(|when| when.fits(arguments))
            && self.left.as_ref().is_none_or(|left| {
                left.try_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok()
            })
    }
}

impl Mock {
    /// The answer to a call, and its delay. The call counts as made.
    pub fn answer(&self, tool: &str, arguments: &Data) -> (Duration, Result<Data, Failure>) {
        match self.entries.iter().find(|entry| entry.takes(arguments)) {
            Some(entry) => (entry.delay, entry.answer.clone().map_err(Failure::Failed)),
            None => {
                let shown = shortened(&arguments.to_json(), 200);
                let message = format!("no entry of the mock `{tool}` fits the arguments {shown}");
                (Duration::ZERO, Err(Failure::text(message)))
            }
        }
    }

    /// Whether calls may begin in any order. If an entry counts its calls, the answers depend on the order.
    pub fn may_run_ahead(&self) -> bool {
        self.entries.iter().all(|entry| entry.left.is_none())
    }
}
