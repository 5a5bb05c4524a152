//! The progress line for runs that take longer than a second: the current tool, the number of completed
//! calls, and the elapsed time.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

/// Shorter runs show nothing.
const QUIET: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(100);

/// A line on standard error that appears after a while and is removed at the end.
pub(super) struct Progress {
    bar: ProgressBar,
    /// Calls that were started ahead of their turn, and are neither made nor dropped yet.
    ahead: u64,
    /// Dropping it ends the wait for the line to appear.
    _waiting: Sender<()>,
}

impl Progress {
    /// Shows progress if standard error is a terminal. The line has no colours.
    pub(super) fn start() -> Option<Progress> {
        if !std::io::stderr().is_terminal() {
            return None;
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        let (waiting, over) = mpsc::channel::<()>();
        let shown = bar.clone();
        std::thread::spawn(move || {
            if over.recv_timeout(QUIET) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(TICK);
            }
        });
        bar.set_message("running");
        Some(Progress { bar, ahead: 0, _waiting: waiting })
    }

    /// The line, for who has to put it aside.
    pub(super) fn bar(&self) -> ProgressBar {
        self.bar.clone()
    }

    /// The run makes a call; as many are done as its number.
    pub(super) fn call(&self, seq: u64, tool: &str) {
        self.bar.set_message(message(seq, tool, self.ahead));
    }

    /// A call is started ahead of its turn.
    pub(super) fn started_ahead(&mut self) {
        self.ahead += 1;
    }

    /// A call that was started ahead has had its turn, or will not have one.
    pub(super) fn no_more_ahead(&mut self) {
        self.ahead = self.ahead.saturating_sub(1);
    }
}

/// What is shown of a run while it waits for a call.
fn message(done: u64, tool: &str, ahead: u64) -> String {
    let name: String = tool.chars().filter(|c| !c.is_control()).take(60).collect();
    let calls = if done == 1 { "call" } else { "calls" };
    let beside = if ahead == 0 { String::new() } else { format!(", {ahead} more started") };
    format!("{name}: {done} {calls} done{beside}")
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::message;

    #[test]
    fn it_names_the_call_and_counts_those_that_are_done_and_those_that_are_started() {
        assert_eq!(message(0, "get-user", 0), "get-user: 0 calls done");
        assert_eq!(message(1, "get-user", 15), "get-user: 1 call done, 15 more started");
        let hostile = format!("\u{1b}[2J{}", "x".repeat(1_000));
        assert_eq!(message(2, &hostile, 0), format!("[2J{}: 2 calls done", "x".repeat(57)));
    }
}
