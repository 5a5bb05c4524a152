//! Runs that outlive the server: the interface to a journal, and the runs on which the server works.
//!
//! The embedding program provides the journal as a [`Durable`]. This module starts runs on threads, continues
//! them when possible, and finds them by the text that their client got.

use super::progress::Watch;
use super::sender::Counted;
use super::slots::{Client, Slot};
use super::{Service, Shared, tasks};
use crate::interrupt::Interrupt;
use crate::run::{Ended, Observer, Options};
use crate::tools::Tools;
use ilo_asm::compile::OutputSchema;
use ilo_drive::data::Data;
use ilo_drive::locked::locked;
use ilo_vm::{FunctionId, Program};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// The longest interval between checks for changes by others.
const LOOK: Duration = Duration::from_secs(1);

/// The most runs of one owner that wait to be continued, and of those without an owner; others are found
/// again.
const QUEUED: usize = 64;
const QUEUED_OF_NOBODY: usize = 1_000;

/// More than nearly every run takes of a journal: of an owner with room for more, the size is looked at after
/// so many runs.
const LARGE: usize = 16 << 20;
/// The most owners of whom it is known.
const OWNERS: usize = 10_000;

/// Records runs in a journal. Its methods block; the errors are messages.
pub trait Durable: Send + Sync {
    /// Starts a run and drives it until it ends or waits for somebody. `begun` gets its number once it is in
    /// the journal.
    ///
    /// # Errors
    /// If something cannot be recorded.
    fn start(
        &self,
        new: &NewRun<'_>,
        work: DurableWork<'_>,
        begun: &mut dyn FnMut(u64),
    ) -> Result<(), String>;

    /// Continues a run, if that is possible now, until it ends or waits.
    ///
    /// # Errors
    /// If something cannot be recorded.
    fn resume(&self, run: u64, work: DurableWork<'_>) -> Result<(), String>;

    /// Whether there may be runs to continue: others have written since the last time, or one wakes now.
    ///
    /// # Errors
    /// If the journal cannot be used.
    fn has_news(&self) -> Result<bool, String>;

    /// The runs that can continue without a person.
    ///
    /// # Errors
    /// If the journal cannot be used.
    fn continuable(&self) -> Result<Vec<u64>, String>;

    /// The state of a run; `None` if there is no such run.
    ///
    /// # Errors
    /// If the journal cannot be used.
    fn seen(&self, run: u64) -> Result<Option<Seen>, String>;

    /// The owner of a run; `None` if it has none, or if there is no such run.
    ///
    /// # Errors
    /// If the journal cannot be used.
    fn owner(&self, run: u64) -> Result<Option<String>, String>;

    /// How many runs of an owner have not ended.
    ///
    /// # Errors
    /// If the journal cannot be used.
    fn unfinished(&self, owner: &str) -> Result<usize, String>;

    /// How many bytes of the journal the runs of an owner take.
    ///
    /// # Errors
    /// If the journal cannot be used.
    fn bytes_of(&self, owner: &str) -> Result<usize, String>;

    /// Records the decision of a person on a call; `who` is the owner of the request, if it has one.
    ///
    /// # Errors
    /// If the run no longer waits at that call.
    fn decide(&self, run: u64, call: u64, verdict: &Verdict, who: Option<&str>) -> Result<(), String>;

    /// Cancels a run; its rollback follows when it continues.
    ///
    /// # Errors
    /// If the journal cannot be used.
    fn cancel(&self, run: u64, who: Option<&str>) -> Result<(), String>;

    /// A text for a run and a purpose that nobody can guess; `None` if there is no such run.
    ///
    /// # Errors
    /// If the journal cannot be used.
    fn handle(&self, run: u64, part: &str) -> Result<Option<String>, String>;
}

/// A run to be started.
#[derive(Clone, Copy, Debug)]
pub struct NewRun<'r> {
    /// The program.
    pub program: &'r Program,
    /// Its function.
    pub function: FunctionId,
    /// The arguments: a record.
    pub input: &'r Data,
    /// The subject to whom it belongs, if clients have one.
    pub owner: Option<&'r str>,
    /// What its value must be.
    pub output: Option<&'r Arc<OutputSchema>>,
}

/// The environment of a run.
pub struct DurableWork<'w> {
    /// The tools.
    pub tools: &'w Tools,
    /// The limits; their `cancel` cancels the run with its rollback.
    pub options: Options,
    /// Makes the run stop at its next call, to be continued later.
    pub stop: Interrupt,
    /// The observer.
    pub observer: &'w mut dyn Observer,
}

/// The state of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// When it was started, in milliseconds since 1970.
    pub started: u64,
    /// When it entered this state, in milliseconds since 1970.
    pub since: u64,
    /// Its activity.
    pub now: Now,
}

/// The activity of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Now {
    /// It works, or waits for something that no client can decide; a description.
    Works(String),
    /// A person must decide on a call.
    Asks(Call),
    /// It has ended with this outcome as JSON.
    Ended(String),
}

/// A call on which a person must decide.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Its number.
    pub number: u64,
    /// Its tool.
    pub tool: String,
    /// Its arguments, if they can be read.
    pub arguments: Data,
    /// Whether it may have been made; otherwise it needs an approval.
    pub in_doubt: bool,
}

/// The decision of a person.
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

/// The runs of a journal on which the server works.
pub(super) struct Keeping {
    pub(super) durable: Arc<dyn Durable>,
    under_way: Mutex<HashMap<u64, KeptRun>>,
    /// The runs that wait for a slot to be continued, with their owners.
    queued: Mutex<BTreeMap<u64, Option<String>>>,
    /// How many runs an owner may start before the size of its runs is looked at again.
    allowed: Mutex<HashMap<String, usize>>,
    /// The client for runs without an owner.
    own: Arc<Client>,
    /// Signals that somebody has made a decision.
    news: Notify,
}

/// A run on a thread of this process.
struct KeptRun {
    cancel: Interrupt,
    /// The tool that it is calling.
    tool: String,
    calls: u64,
}

/// Marks a run as being worked on, until it is dropped.
struct Entered<'k>(&'k Keeping, u64);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        locked(&self.0.under_way).remove(&self.1);
    }
}

/// An observer that forwards events and tracks the current call.
struct Follow<'k> {
    keeping: &'k Keeping,
    /// Its number, once it has one.
    run: Arc<Mutex<Option<u64>>>,
    watch: Watch,
}

impl Observer for Follow<'_> {
    fn started(&mut self, seq: u64, tool: &str) {
        let run = *locked(&self.run);
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
        let (under_way, queued, allowed) = (Mutex::default(), Mutex::default(), Mutex::default());
        Keeping { durable, under_way, queued, allowed, own, news: Notify::new() }
    }

    /// Counts a run that an owner starts. The error is that its runs take this much of the journal, or why
    /// that is not known.
    pub(super) fn has_room(&self, owner: &str, most: usize) -> Result<(), String> {
        let allowed = || locked(&self.allowed);
        let known = allowed().remove(owner).filter(|left| *left > 0);
        let left = match known {
            Some(left) => left,
            None => most.saturating_sub(self.durable.bytes_of(owner)?).div_ceil(LARGE),
        };
        let left = left.checked_sub(1).ok_or_else(|| {
            let most = most >> 20;
            format!(
                "the runs of this subject take {most} MiB of the journal (`--max-client-journal`); ended ones are \
                 removed after 30 days, or with `ilo-vm runs prune`"
            )
        })?;
        let mut allowed = allowed();
        if allowed.len() >= OWNERS {
            allowed.clear();
        }
        allowed.insert(owner.to_owned(), left);
        Ok(())
    }

    /// Notes that a run waits for a slot; `None` if it does already, and false if its owner has too many.
    fn queue(&self, run: u64, owner: Option<&String>) -> Option<bool> {
        let mut queued = locked(&self.queued);
        if queued.contains_key(&run) {
            return None;
        }
        let most = if owner.is_some() { QUEUED } else { QUEUED_OF_NOBODY };
        let fits = queued.values().filter(|of| of.as_ref() == owner).count() < most;
        if fits {
            queued.insert(run, owner.cloned());
        }
        Some(fits)
    }

    /// Notes that a run waits no more. If others of its owner were left, they are looked for in time.
    fn unqueue(&self, run: u64) {
        let mut queued = locked(&self.queued);
        let Some(owner) = queued.remove(&run) else { return };
        let most = if owner.is_some() { QUEUED } else { QUEUED_OF_NOBODY };
        if queued.values().filter(|of| **of == owner).count() == most / 2 {
            self.news.notify_one();
        }
    }

    /// Marks a run as being worked on; `None` if a thread already works on it.
    fn enter(&self, run: u64, cancel: &Interrupt) -> Option<Entered<'_>> {
        let mut under_way = locked(&self.under_way);
        if under_way.contains_key(&run) {
            return None;
        }
        under_way.insert(run, KeptRun { cancel: cancel.clone(), tool: String::new(), calls: 0 });
        Some(Entered(self, run))
    }

    /// Whether a thread works on a run.
    pub(super) fn is_under_way(&self, run: u64) -> bool {
        locked(&self.under_way).contains_key(&run)
    }

    /// Records that a run of this process makes a call.
    fn calls(&self, run: u64, calls: u64, tool: &str) {
        if let Some(entry) = locked(&self.under_way).get_mut(&run) {
            tool.clone_into(&mut entry.tool);
            entry.calls = calls;
        }
    }

    /// What a run of this process is doing.
    pub(super) fn doing(&self, run: u64) -> Option<String> {
        let under_way = locked(&self.under_way);
        let entry = under_way.get(&run).filter(|entry| entry.calls > 0)?;
        Some(format!("call {}: `{}`", entry.calls, entry.tool))
    }

    /// Starts a run on this thread and drives it until it ends or waits; `begun` gets its number.
    pub(super) fn start(
        &self,
        service: &Service,
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
            *locked(&number) = Some(run);
            if let Some(begun) = begun.take() {
                // A client that has left does not ask again.
                let _ = begun.send(run);
            }
        };
        let (cancel, output) = (cancel.clone(), new.output.cloned());
        let options = Options { cancel, ask: None, output, ..service.options.clone() };
        let (tools, stop) = (&service.tools, slot.cancel().clone());
        let work = DurableWork { tools, options, stop, observer: &mut follow };
        let started = self.durable.start(new, work, &mut tell);
        drop(entered);
        self.news.notify_one();
        started
    }

    /// Continues a run on this thread until it ends or waits.
    pub(super) fn resume(&self, service: &Service, slot: &Slot, run: u64) -> Result<(), String> {
        let cancel = Interrupt::default();
        let Some(_entered) = self.enter(run, &cancel) else { return Ok(()) };
        let mut follow =
            Follow { keeping: self, run: Arc::new(Mutex::new(Some(run))), watch: Watch::new(None) };
        let options = Options { cancel, ask: None, ..service.options.clone() };
        let (tools, stop) = (&service.tools, slot.cancel().clone());
        self.durable.resume(run, DurableWork { tools, options, stop, observer: &mut follow })
    }

    /// Records a decision, and lets the run continue.
    pub(super) fn decide(
        &self,
        run: u64,
        call: u64,
        verdict: &Verdict,
        who: Option<&str>,
    ) -> Result<(), String> {
        self.durable.decide(run, call, verdict, who)?;
        self.news.notify_one();
        Ok(())
    }

    /// Cancels a run, whoever works on it.
    pub(super) fn cancel(&self, run: u64, who: Option<&str>) -> Result<(), String> {
        self.durable.cancel(run, who)?;
        if let Some(entry) = locked(&self.under_way).get(&run) {
            entry.cancel.set_for("its task was cancelled");
        }
        self.news.notify_one();
        Ok(())
    }
}

/// Continues runs as soon as possible: at first those that an earlier server has left, later those about
/// which people have decided or that wake. Ends with the server.
pub(super) async fn supervise(shared: Weak<Shared>) {
    // A run whose tool is missing would be blocked.
    let mut stand = {
        let Some(shared) = shared.upgrade() else { return };
        shared.stand.subscribe()
    };
    if stand.wait_for(|stand| stand.starting.is_empty()).await.is_err() {
        return;
    }
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
            let runs = if look || news { asked.durable.continuable()? } else { Vec::new() };
            // A run that cannot be read is reported when it is continued.
            let owned = |run: u64| (run, asked.durable.owner(run).unwrap_or_default());
            Ok::<_, String>(runs.into_iter().map(owned).collect::<Vec<_>>())
        });
        let mut left = false;
        match found.await {
            Ok(Ok(runs)) => {
                for (run, owner) in runs {
                    left |= !continue_run(&shared, &keeping, run, owner);
                }
            }
            Ok(Err(error)) => tracing::error!("the journal: {error}"),
            Err(error) => tracing::error!("looking at the journal broke: {error}"),
        }
        drop(shared);
        // A decision of a client counts even if this process wrote it.
        first = timeout(LOOK, keeping.news.notified()).await.is_ok() || left;
    }
}

/// Continues one run on a thread when there is room, which its owner's runs share with those that the owner
/// starts. Returns false if the owner has so many in line that it must be found again.
fn continue_run(shared: &Arc<Shared>, keeping: &Arc<Keeping>, run: u64, owner: Option<String>) -> bool {
    if locked(&keeping.under_way).contains_key(&run) || shared.slots.is_stopping() {
        return true;
    }
    match keeping.queue(run, owner.as_ref()) {
        None => return true,
        Some(false) => return false,
        Some(true) => {}
    }
    let client = match owner {
        Some(owner) => shared.slots.client_at(&Counted::Owner(owner.into())),
        None => Arc::clone(&keeping.own),
    };
    let (shared, keeping) = (Arc::clone(shared), Arc::clone(keeping));
    tokio::spawn(async move {
        let slot = shared.slots.run(client).await;
        keeping.unqueue(run);
        let Ok(slot) = slot else { return };
        spawn_blocking(move || {
            if let Err(error) = keeping.resume(&shared.now().service, &slot, run) {
                tracing::error!("{}", tasks::of_run(run, &error));
            }
        });
    });
    true
}
