//! The time of the system, which may be set back: nothing depends on its order but what people see, when old
//! runs are removed, and when a run wakes.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970; before that, 0.
pub(crate) fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// The time after so much more, as far as it can be counted.
pub(crate) fn after(time: Duration) -> i64 {
    now().saturating_add(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
}
