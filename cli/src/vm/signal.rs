//! Handles Ctrl-C and similar signals: the first cancels the run, which rolls back what it has done; the
//! second ends it with its running tools, and a message names the interrupted call.

use super::{Exit, orphans, output};
use ilo_host::interrupt::Interrupt;
use ilo_vm::Run;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The message at the first signal.
const CANCELLING: &str =
    "cancelling: what the run has done is rolled back; a second signal ends the program at once\n";

/// The message at the first signal for a run with a journal.
#[cfg(feature = "journal")]
const STOPPING: &str = "stopping: the call under way is awaited, and `resume` continues the run; a second signal ends the program \
     at once\n";

/// The most rollbacks that are listed.
const LISTED: usize = 100;

/// The current call, and the requests to end the run.
#[derive(Clone, Default)]
pub(super) struct Signal {
    /// Set by the first signal.
    pub(super) cancel: Interrupt,
    /// Set by the second, if it comes during a call.
    pub(super) interrupt: Interrupt,
    tool: Arc<Mutex<Option<String>>>,
    /// Whether calls were started ahead of their turn: then the run's end is always left to it.
    ahead: Arc<AtomicBool>,
}

impl Signal {
    /// Listens from now on. The first signal leaves the end to the run. The second does so during a call;
    /// else the program ends at once. Unless the first one `cancels`, it is treated as the second.
    pub(super) fn listen(cancels: bool) -> Signal {
        Signal::listen_saying(cancels.then_some(CANCELLING))
    }

    /// Listens for the end of runs that a journal records: the first signal leaves them to be resumed.
    #[cfg(feature = "journal")]
    pub(super) fn listen_durably() -> Signal {
        Signal::listen_saying(Some(STOPPING))
    }

    /// Listens; the first signal says this, if there is something to say.
    fn listen_saying(first: Option<&'static str>) -> Signal {
        let signal = Signal::default();
        let heard = signal.clone();
        let handler = move || {
            // While this is locked no call begins.
            let tool = heard.tool();
            if let Some(text) = first.filter(|_| !heard.cancel.is_set()) {
                heard.cancel.set_for("a signal has ended the process");
                output::error(text);
                return;
            }
            heard.interrupt.set();
            if tool.is_none() && !heard.ahead.load(Ordering::Relaxed) {
                output::error("interrupted; no tool call was under way\n");
                orphans::end();
                std::process::exit(i32::from(Exit::Interrupted as u8));
            }
        };
        // Where nobody can listen, the system ends the program, as it does with others.
        drop(ctrlc::set_handler(handler));
        signal
    }

    fn tool(&self) -> MutexGuard<'_, Option<String>> {
        self.tool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call is started ahead of its turn.
    pub(super) fn ahead(&self) {
        self.ahead.store(true, Ordering::Relaxed);
    }

    /// A call begins.
    pub(super) fn begin(&self, tool: &str) {
        *self.tool() = Some(tool.to_owned());
    }

    /// The call has ended; after an interruption its name is kept, to be told.
    pub(super) fn end(&self) {
        let mut tool = self.tool();
        if !self.interrupt.is_set() {
            *tool = None;
        }
    }

    /// Reports what was interrupted.
    pub(super) fn tell(&self) -> Exit {
        let message = match self.tool().take() {
            Some(tool) => {
                format!("interrupted during the call of tool `{tool}`; whether it took effect is not known")
            }
            None => "interrupted; only read-only tool calls were under way".to_owned(),
        };
        output::error(&format!("{}\n", output::plain(&message)));
        Exit::Interrupted
    }
}

/// Reports the rollbacks of an interrupted run that were not made.
pub(super) fn tell_open_rollbacks(run: &Run) {
    let mut open = run.open_rollbacks();
    for (tool, arguments) in open.by_ref().take(LISTED) {
        output::error(&format!("{}\n", output::plain(&format!("not rolled back: `{tool}` {arguments}"))));
    }
    if open.next().is_some() {
        output::error("not rolled back: more, which are not listed\n");
    }
}
