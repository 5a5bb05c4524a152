//! The writer thread: queued writes become one transaction, and waiting callers are woken after its commit.

use crate::error::{Error, ErrorCode, Result};
use crate::row::Live;
use crate::transactions::Tables;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The most jobs in one transaction.
const GROUP: usize = 1024;
/// The most jobs in the queue; each has a row.
const QUEUED: usize = 100_000;
/// How long a record without a waiting caller may stay unwritten, if nothing else is written.
const LATER: Duration = Duration::from_millis(100);

/// The thread and its queue.
#[derive(Debug)]
pub(crate) struct Writer {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    /// The thread waits here.
    filled: Condvar,
}

#[derive(Default)]
struct State {
    jobs: Vec<Box<dyn Job>>,
    /// The latest record of each run that nobody waits for.
    later: BTreeMap<i64, Live>,
    /// When the oldest of them was queued.
    since: Option<Instant>,
    /// The thread waits: to wake one that does not costs a system call too.
    idle: bool,
    closed: bool,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} jobs", self.jobs.len())
    }
}

/// A job in a transaction. It may run again if the transaction cannot be committed.
trait Job: Send {
    /// Runs it. An error makes the transaction impossible.
    fn run(&mut self, tables: &Tables) -> std::result::Result<(), Error>;
    /// The transaction has ended with this result.
    fn settle(&mut self, committed: Result<()>);
}

/// What one transaction writes: jobs, and records that nobody waits for.
type Group = (Vec<Box<dyn Job>>, Vec<Live>);

struct Work<T, F> {
    function: F,
    done: Option<Result<T>>,
    slot: Arc<Slot<T>>,
}

#[derive(Debug)]
struct Slot<T> {
    reply: Mutex<Reply<T>>,
    filled: Condvar,
}

/// The result of a write, which is taken once.
#[derive(Debug)]
enum Reply<T> {
    Open { awaited: bool },
    Here(Result<T>),
    Taken,
}

/// A queued write. Until [`Ticket::wait`] has returned `Ok`, nothing is certain.
#[must_use = "a write is certain only once its ticket was waited for"]
#[derive(Debug)]
pub struct Ticket<T>(Arc<Slot<T>>);

impl<T> Ticket<T> {
    /// Waits until the write is on disk.
    ///
    /// # Errors
    /// If it could not be written. Then nothing of it is visible.
    pub fn wait(self) -> Result<T> {
        let mut reply = lock(&self.0.reply);
        loop {
            match std::mem::replace(&mut *reply, Reply::Taken) {
                Reply::Here(result) => return result,
                Reply::Taken => return Err(closed()),
                Reply::Open { .. } => *reply = Reply::Open { awaited: true },
            }
            reply = self.0.filled.wait(reply).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn closed() -> Error {
    Error::new(ErrorCode::Closed, "the journal is closed")
}

impl<T: Send, F: FnMut(&Tables) -> Result<T> + Send> Job for Work<T, F> {
    fn run(&mut self, tables: &Tables) -> Result<()> {
        match (self.function)(tables) {
            Err(error) if error.aborts => Err(error),
            result => {
                self.done = Some(result);
                Ok(())
            }
        }
    }

    fn settle(&mut self, committed: Result<()>) {
        let done = self.done.take().unwrap_or_else(|| Err(closed()));
        let result = match committed {
            Ok(()) => done,
            Err(error) => Err(error),
        };
        let mut reply = lock(&self.slot.reply);
        if let Reply::Open { awaited } = *reply {
            *reply = Reply::Here(result);
            drop(reply);
            if awaited {
                self.slot.filled.notify_one();
            }
        }
    }
}

impl Writer {
    pub(crate) fn start(tables: Tables) -> Result<Writer> {
        let queue = Arc::new(Queue::default());
        let own = queue.clone();
        let thread = thread::Builder::new()
            .name("ilo-journal".to_owned())
            .spawn(move || own.serve(&tables))
            .map_err(|error| Error::new(ErrorCode::Io, format!("no thread can be started: {error}")))?;
        Ok(Writer { queue, thread: Some(thread) })
    }

    /// Queues a write.
    pub(crate) fn submit<T: Send + 'static>(
        &self,
        work: impl FnMut(&Tables) -> Result<T> + Send + 'static,
    ) -> Ticket<T> {
        self.submit_of(None, work)
    }

    /// Queues a write to a run: a record of it that nobody waits for is out of date.
    pub(crate) fn submit_of<T: Send + 'static>(
        &self,
        run: Option<i64>,
        work: impl FnMut(&Tables) -> Result<T> + Send + 'static,
    ) -> Ticket<T> {
        let slot =
            Arc::new(Slot { reply: Mutex::new(Reply::Open { awaited: false }), filled: Condvar::new() });
        let mut job = Box::new(Work { function: work, done: None, slot: slot.clone() });
        let mut state = lock(&self.queue.state);
        if state.closed || state.jobs.len() >= QUEUED {
            let full = !state.closed;
            drop(state);
            let message = format!("more than {QUEUED} writes are waiting");
            job.settle(Err(if full { Error::new(ErrorCode::Busy, message) } else { closed() }));
            return Ticket(slot);
        }
        if let Some(run) = run {
            state.later.remove(&run);
        }
        state.jobs.push(job);
        self.queue.wake(state);
        Ticket(slot)
    }

    /// Queues a record that nobody waits for; it replaces one of the same run.
    pub(crate) fn later(&self, live: Live) {
        let mut state = lock(&self.queue.state);
        if state.closed || state.later.len() >= QUEUED {
            return;
        }
        state.later.insert(live.run, live);
        if state.since.is_none() {
            state.since = Some(Instant::now());
            self.queue.wake(state);
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let mut state = lock(&self.queue.state);
        state.closed = true;
        self.queue.wake(state);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl Queue {
    /// Wakes the thread if it waits.
    fn wake(&self, mut state: MutexGuard<'_, State>) {
        let idle = std::mem::take(&mut state.idle);
        drop(state);
        if idle {
            self.filled.notify_one();
        }
    }

    fn serve(&self, tables: &Tables) {
        let _guard = Closing(self);
        while let Some((mut jobs, later)) = self.take() {
            write(tables, &mut jobs, &later);
        }
    }

    /// Waits for work; nothing when the store is closed and all is written.
    fn take(&self) -> Option<Group> {
        let mut state = lock(&self.state);
        loop {
            let due = state.since.map(|since| since + LATER);
            let now = Instant::now();
            if !state.jobs.is_empty() || due.is_some_and(|due| due <= now) || state.closed {
                let count = state.jobs.len().min(GROUP);
                let jobs: Vec<_> = state.jobs.drain(..count).collect();
                let later: Vec<_> = std::mem::take(&mut state.later).into_values().collect();
                (state.since, state.idle) = (None, false);
                return (!jobs.is_empty() || !later.is_empty()).then_some((jobs, later));
            }
            state.idle = true;
            state = match due {
                None => self.filled.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(due) => {
                    let left = due.saturating_duration_since(now);
                    self.filled.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

/// Waiting callers are woken even if the thread panics.
struct Closing<'q>(&'q Queue);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.closed = true;
        for mut job in state.jobs.drain(..) {
            job.settle(Err(closed()));
        }
    }
}

/// Writes jobs in one transaction; where that fails, each in its own.
fn write(tables: &Tables, jobs: &mut [Box<dyn Job>], later: &[Live]) {
    let whole = transaction(tables, |tables| {
        for live in later {
            // Who has lost the run learns it when it waits for a write.
            match tables.record(live) {
                Err(error) if error.aborts => return Err(error),
                _ => {}
            }
        }
        jobs.iter_mut().try_for_each(|job| job.run(tables))
    });
    match whole {
        Ok(()) => jobs.iter_mut().for_each(|job| job.settle(Ok(()))),
        Err(error) if jobs.len() == 1 && later.is_empty() => {
            jobs.iter_mut().for_each(|job| job.settle(Err(error.clone())));
        }
        Err(_) => {
            for job in jobs {
                let alone = transaction(tables, |tables| job.run(tables));
                job.settle(alone);
            }
        }
    }
}

/// Runs a function in a transaction, which is committed if that succeeds.
pub(crate) fn transaction(tables: &Tables, work: impl FnOnce(&Tables) -> Result<()>) -> Result<()> {
    let aborted = |mut error: Error| {
        error.aborts = true;
        error
    };
    let execute = |statement| -> Result<()> {
        tables.connection.prepare_cached(statement)?.execute([])?;
        Ok(())
    };
    execute("BEGIN IMMEDIATE")?;
    let worked = work(tables).and_then(|()| execute("COMMIT"));
    if worked.is_err() && !tables.connection.is_autocommit() {
        // Where even this fails, SQLite has rolled back by itself, or does so when the file is opened again.
        drop(tables.connection.execute_batch("ROLLBACK"));
    }
    worked.map_err(aborted)
}
