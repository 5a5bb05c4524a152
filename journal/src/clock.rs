//! The system time, which may be set back: only the displayed order, the removal of old runs and the waking
//! of runs depend on it.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970; before that, 0.
pub(crate) fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
