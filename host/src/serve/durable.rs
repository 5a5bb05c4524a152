//! Runs that outlive the server: what the server asks of a journal, and the runs that it works on.
//!
//! The journal itself is elsewhere: whoever embeds the server gives a [`Durable`]. Here runs are started on
//! threads, taken up again when they can go on, and known by the text that their client got.

use super::progress::Watch;
use super::slots::{Client, Slot};
use super::{Shared, tasks};
use crate::interrupt::Interrupt;
use crate::run::{Ended, Observer, Options};
use crate::tools::Tools;
use ilo_drive::data::Data;
use ilo_vm::{FunctionId, Program};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// The longest time between two looks at what others have written.
const LOOK: Duration = Duration::from_secs(1);

/// Keeps runs in a journal. Its methods block; the errors are texts for people.
pub trait Durable: Send + Sync {
    /// Starts a run and drives it until it ends or waits for somebody. `begun` gets its number once it is in
    /// the journal.
    ///
    /// # Errors
    /// What could not be recorded.
    fn start(&self, new: &NewRun<'_>, work: Work<'_>, begun: &mut dyn FnMut(u64)) -> Result<(), String>;

    /// Goes on with a run, if that is possible now, until it ends or waits.
    ///
    /// # Errors
    /// What could not be recorded.
    fn resume(&self, run: u64, work: Work<'_>) -> Result<(), String>;

    /// Whether there may be runs to go on with: others have written since the last time, or one wakes now.
    ///
    /// # Errors
    /// Those of the journal.
    fn has_news(&self) -> Result<bool, String>;

    /// The runs that can go on without a person.
    ///
    /// # Errors
    /// Those of the journal.
    fn continuable(&self) -> Result<Vec<u64>, String>;

    /// Where a run is; `None` if there is no such run.
    ///
    /// # Errors
    /// Those of the journal.
    fn seen(&self, run: u64) -> Result<Option<Seen>, String>;

    /// Writes what a person decided on a call.
    ///
    /// # Errors
    /// Where the run no longer waits at that call.
    fn decide(&self, run: u64, call: u64, verdict: &Verdict) -> Result<(), String>;

    /// Cancels a run; its rollback follows when it goes on.
    ///
    /// # Errors
    /// Those of the journal.
    fn cancel(&self, run: u64) -> Result<(), String>;

    /// A text for a run and a part of it that nobody guesses; `None` if there is no such run.
    ///
    /// # Errors
    /// Those of the journal.
    fn handle(&self, run: u64, part: &str) -> Result<Option<String>, String>;
}

/// A run to be started.
#[derive(Clone, Copy, Debug)]
pub struct NewRun<'r> {
    /// The program.
    pub program: &'r Program,
    /// The function of it.
    pub function: FunctionId,
    /// The arguments: a record.
    pub input: &'r Data,
}

/// What a run is driven with.
pub struct Work<'w> {
    /// The tools.
    pub tools: &'w Tools,
    /// The limits, and in `cancel` what cancels the run with its rollback.
    pub options: Options,
    /// Lets the run stop at its next call, to be continued later.
    pub stop: Interrupt,
    /// Who watches.
    pub observer: &'w mut dyn Observer,
}

/// Where a run is.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// When it was started, in milliseconds since 1970.
    pub started: u64,
    /// When it came to where it is, in milliseconds since 1970.
    pub since: u64,
    /// What it does.
    pub now: Now,
}

/// What a run does.
#[derive(Clone, Debug, PartialEq)]
pub enum Now {
    /// It works, or waits for something that no client decides; which.
    Works(String),
    /// A person has to decide on a call.
    Asks(Call),
    /// It has ended, with this outcome as JSON.
    Ended(String),
}

/// A call that a person decides on.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Its number.
    pub number: u64,
    /// Its tool.
    pub tool: String,
    /// Its arguments, where they can be read.
    pub arguments: Data,
    /// Whether it may have been made; else it needs an approval.
    pub in_doubt: bool,
}

/// What a person decides.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The call may be made, or made again.
    Make,
    /// The call may not be made.
    Deny,
    /// The call was made, with this value as JSON.
    Made(String),
    /// The call has failed, with this message.
    Failed(String),
}

/// The runs of a journal, as the server works on them.
pub(super) struct Keeping {
    pub(super) durable: Arc<dyn Durable>,
    under_way: Mutex<HashMap<u64, UnderWay>>,
    /// For whom runs go on that have no client.
    own: Arc<Client>,
    /// Somebody has decided something.
    news: Notify,
}

/// A run on a thread of this process.
struct UnderWay {
    cancel: Interrupt,
    /// The tool that it calls.
    tool: String,
    calls: u64,
}

/// Holds the place of a run under way.
struct Entered<'k>(&'k Keeping, u64);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.under_way().remove(&self.1);
    }
}

/// Passes on what happens in a run, and keeps where it is.
struct Follow<'k> {
    keeping: &'k Keeping,
    /// Its number, once it has one.
    run: Arc<Mutex<Option<u64>>>,
    watch: Watch,
}

impl Observer for Follow<'_> {
    fn started(&mut self, seq: u64, tool: &str) {
        let run = *self.run.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(run) = run {
            self.keeping.calls(run, seq + 1, tool);
        }
        self.watch.started(seq, tool);
    }

    fn ended(&mut self, call: &Ended<'_>) {
        self.watch.ended(call);
    }

    fn ahead(&mut self, tool: &str) {
        self.watch.ahead(tool);
    }

    fn untaken(&mut self, tool: &str) {
        self.watch.untaken(tool);
    }
}

impl Keeping {
    pub(super) fn new(durable: Arc<dyn Durable>, own: Arc<Client>) -> Keeping {
        Keeping { durable, under_way: Mutex::default(), own, news: Notify::new() }
    }

    fn under_way(&self) -> MutexGuard<'_, HashMap<u64, UnderWay>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the place of a run; `None` if a thread works on it already.
    fn enter(&self, run: u64, cancel: &Interrupt) -> Option<Entered<'_>> {
        let mut under_way = self.under_way();
        if under_way.contains_key(&run) {
            return None;
        }
        under_way.insert(run, UnderWay { cancel: cancel.clone(), tool: String::new(), calls: 0 });
        Some(Entered(self, run))
    }

    /// Whether a thread works on a run.
    pub(super) fn is_under_way(&self, run: u64) -> bool {
        self.under_way().contains_key(&run)
    }

    /// A run that works here makes a call.
    fn calls(&self, run: u64, calls: u64, tool: &str) {
        if let Some(entry) = self.under_way().get_mut(&run) {
            tool.clone_into(&mut entry.tool);
            entry.calls = calls;
        }
    }

    /// What a run that works here does.
    pub(super) fn doing(&self, run: u64) -> Option<String> {
        let under_way = self.under_way();
        let entry = under_way.get(&run).filter(|entry| entry.calls > 0)?;
        Some(format!("call {}: `{}`", entry.calls, entry.tool))
    }

    /// Starts a run on this thread and drives it until it ends or waits. `begun` gets its number.
    pub(super) fn start(
        &self,
        shared: &Shared,
        slot: &Slot,
        new: &NewRun<'_>,
        watch: Watch,
        begun: oneshot::Sender<u64>,
    ) -> Result<(), String> {
        let (cancel, number) = (Interrupt::default(), Arc::new(Mutex::new(None)));
        let mut follow = Follow { keeping: self, run: Arc::clone(&number), watch };
        let (mut begun, mut entered) = (Some(begun), None);
        let mut tell = |run: u64| {
            entered = self.enter(run, &cancel);
            *number.lock().unwrap_or_else(PoisonError::into_inner) = Some(run);
            if let Some(begun) = begun.take() {
                // A client that has gone asks no more.
                let _ = begun.send(run);
            }
        };
        let options = Options { cancel: cancel.clone(), ask: None, ..shared.service.options.clone() };
        let (tools, stop) = (&shared.service.tools, slot.cancel().clone());
        let work = Work { tools, options, stop, observer: &mut follow };
        let started = self.durable.start(new, work, &mut tell);
        drop(entered);
        self.news.notify_one();
        started
    }

    /// Goes on with a run on this thread until it ends or waits.
    pub(super) fn resume(&self, shared: &Shared, slot: &Slot, run: u64) -> Result<(), String> {
        let cancel = Interrupt::default();
        let Some(_entered) = self.enter(run, &cancel) else { return Ok(()) };
        let mut follow =
            Follow { keeping: self, run: Arc::new(Mutex::new(Some(run))), watch: Watch::new(None) };
        let options = Options { cancel, ask: None, ..shared.service.options.clone() };
        let (tools, stop) = (&shared.service.tools, slot.cancel().clone());
        self.durable.resume(run, Work { tools, options, stop, observer: &mut follow })
    }

    /// Writes what was decided, and lets the run go on.
    pub(super) fn decide(&self, run: u64, call: u64, verdict: &Verdict) -> Result<(), String> {
        self.durable.decide(run, call, verdict)?;
        self.news.notify_one();
        Ok(())
    }

    /// Cancels a run, whoever works on it.
    pub(super) fn cancel(&self, run: u64) -> Result<(), String> {
        self.durable.cancel(run)?;
        if let Some(entry) = self.under_way().get(&run) {
            entry.cancel.set();
        }
        self.news.notify_one();
        Ok(())
    }
}

/// Goes on with runs as they can: at once with those that a server before this one has left, later with those
/// that people have decided on or that wake. Ends with the server.
pub(super) async fn supervise(shared: Weak<Shared>) {
    let mut first = true;
    loop {
        let Some(shared) = shared.upgrade() else { return };
        let Some(keeping) = shared.keeping.clone() else { return };
        if shared.slots.is_stopping() {
            return;
        }
        let asked = Arc::clone(&keeping);
        let look = first;
        let found = spawn_blocking(move || {
            let news = asked.durable.has_news()?;
            if look || news { asked.durable.continuable() } else { Ok(Vec::new()) }
        });
        match found.await {
            Ok(Ok(runs)) => {
                for run in runs {
                    go_on(&shared, &keeping, run).await;
                }
            }
            Ok(Err(error)) => tracing::error!("the journal: {error}"),
            Err(error) => tracing::error!("looking at the journal broke: {error}"),
        }
        drop(shared);
        // A decision of a client is looked at even if it was this process that wrote it.
        first = timeout(LOOK, keeping.news.notified()).await.is_ok();
    }
}

/// Goes on with one run on a thread, once there is room.
async fn go_on(shared: &Arc<Shared>, keeping: &Arc<Keeping>, run: u64) {
    if keeping.under_way().contains_key(&run) || shared.slots.is_stopping() {
        return;
    }
    let Some(slot) = shared.slots.run(Arc::clone(&keeping.own)).await else { return };
    let (shared, keeping) = (Arc::clone(shared), Arc::clone(keeping));
    spawn_blocking(move || {
        if let Err(error) = keeping.resume(&shared, &slot, run) {
            tracing::error!("{}", tasks::of_run(run, &error));
        }
    });
}
