//! Formats runs, times and texts for display.

pub(super) use ilo_host::data::write::quote as quoted;
use ilo_journal::{At, Programs, Store, Summary};
pub(super) use ilo_vm::calendar::to_second as time;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long ago a time was, for people.
pub(super) fn age(milliseconds: i64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let then = u64::try_from(milliseconds / 1000).unwrap_or(0);
    match now.saturating_sub(then) {
        seconds @ ..60 => format!("{seconds} s ago"),
        seconds @ ..3_600 => format!("{} min ago", seconds / 60),
        seconds @ ..172_800 => format!("{} h ago", seconds / 3_600),
        seconds => format!("{} days ago", seconds / 86_400),
    }
}

/// How long it is until a time; nothing if it is past the end of all clocks.
pub(super) fn until(milliseconds: i64) -> Option<Duration> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let wake = Duration::from_millis(u64::try_from(milliseconds).ok()?);
    Some(wake.saturating_sub(now))
}

/// A run as one line of JSON, without its end, so that more can follow.
pub(super) fn line(store: &Store, programs: &mut Programs, summary: &Summary) -> String {
    let mut line = format!("{{\"run\":{}", summary.run);
    if let Some(name) = &summary.name {
        line.extend([format!(",\"name\":{}", quoted(name))]);
    }
    match &summary.at {
        At::Ended { ended, outcome } => {
            let outcome = String::from_utf8_lossy(outcome);
            line.extend([format!(
                ",\"state\":\"ended\",\"since\":\"{}\",\"outcome\":{outcome}",
                time(*ended)
            )]);
        }
        At::Live(live) => {
            let arguments = programs.arguments(store, summary, live);
            line.extend([format!(
                ",\"state\":\"{}\",\"since\":\"{}\",\"call\":{{\"number\":{},\"tool\":{},\"args\":{}}}",
                live.status().name(),
                time(live.since),
                live.call,
                quoted(&live.tool),
                arguments.as_deref().unwrap_or("null")
            )]);
            if let Some(used) = summary.used_up() {
                line.extend([format!(",\"limit\":\"{}\"", used.name())]);
            }
            if live.cancel {
                line.push_str(",\"cancelled\":true");
            }
            if let Some(why) = &live.blocked {
                line.extend([format!(",\"blocked\":{}", quoted(why))]);
            }
            if let Some(wake) = live.wake {
                line.extend([format!(",\"wake\":\"{}\"", time(wake))]);
            }
        }
    }
    line
}
