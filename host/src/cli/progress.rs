//! What a person at a terminal sees of a run that takes longer than a second: the tool that is under way.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

/// Shorter runs show nothing.
const QUIET: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(100);

/// A line on standard error that appears after a while and is gone at the end.
pub(super) struct Progress {
    bar: ProgressBar,
    /// Dropping it ends the wait for the line to appear.
    _waiting: Sender<()>,
}

impl Progress {
    /// Shows progress, where standard error is a terminal. The line has no colours.
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
        Some(Progress { bar, _waiting: waiting })
    }

    /// The line, for who has to put it aside.
    pub(super) fn bar(&self) -> ProgressBar {
        self.bar.clone()
    }

    /// A call begins.
    pub(super) fn call(&self, seq: u64, tool: &str) {
        let name: String = tool.chars().filter(|c| !c.is_control()).take(60).collect();
        self.bar.set_message(format!("call {}: {name}", seq.saturating_add(1)));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
