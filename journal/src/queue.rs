//! The queue of a thread that writes, and the tickets of those who wait for their writes.

use crate::error::{Error, ErrorCode, Result};
use crate::row::Live;
use crate::state::State as RunState;
use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The most jobs that are written together.
pub(crate) const GROUP: usize = 1024;
/// The most jobs in the queue; each has a row.
const QUEUED: usize = 100_000;
/// How long a record without a waiting caller may stay unwritten, if nothing else is written.
const LATER: Duration = Duration::from_millis(100);
/// The same for the answer of a call that changes something: until it is on disk, a crash leaves the call in
/// doubt.
const SOON: Duration = Duration::from_millis(5);

/// A thread with its queue. When this is dropped, what is queued is written, and the thread ends.
pub(crate) struct Worker<J> {
    queue: Arc<Queue<J>>,
    thread: Option<JoinHandle<()>>,
}

/// Jobs, and records that nobody waits for.
pub(crate) struct Queue<J> {
    state: Mutex<State<J>>,
    /// The thread waits here.
    filled: Condvar,
}

struct State<J> {
    jobs: Vec<J>,
    /// The latest record of each run that nobody waits for.
    later: BTreeMap<i64, Live>,
    /// When the first of them is to be written.
    due: Option<Instant>,
    /// The thread waits: to wake one that does not costs a system call too.
    idle: bool,
    closed: bool,
}

impl<J> fmt::Debug for Worker<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} jobs", lock(&self.queue.state).jobs.len())
    }
}

#[derive(Debug)]
struct Slot<T> {
    reply: Mutex<Reply<T>>,
    filled: Condvar,
}

/// The result of a write, which is taken once.
#[derive(Debug)]
enum Reply<T> {
    /// Whether a thread waits, and the task that does.
    Open {
        awaited: bool,
        task: Option<Waker>,
    },
    Here(Result<T>),
    Taken,
}

/// The other end of a ticket. Dropped, it tells who waits that the journal is closed.
#[derive(Debug)]
pub(crate) struct Sender<T>(Arc<Slot<T>>);

/// A queued write. Until [`Ticket::wait`] or awaiting the ticket has given `Ok`, nothing is certain.
#[must_use = "a write is certain only once its ticket was waited for"]
pub struct Ticket<T>(Box<dyn Awaited<T>>);

/// A result that comes later.
trait Awaited<T>: Send {
    /// Blocks until it is there.
    fn wait(self: Box<Self>) -> Result<T>;
    /// The result if it is there, else the task is woken when it comes.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<T>>;
}

/// What a function makes of a result.
struct Then<T, F> {
    ticket: Ticket<T>,
    made: Option<F>,
}

impl<T> fmt::Debug for Ticket<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ticket(..)")
    }
}

impl<T: 'static> Ticket<T> {
    /// Blocks the thread until the write is on disk. Asynchronous code awaits the ticket instead.
    ///
    /// # Errors
    /// If it could not be written. Then nothing of it is visible.
    pub fn wait(self) -> Result<T> {
        self.0.wait()
    }

    /// A ticket that gives what a function makes of the result, in the thread that waits.
    pub(crate) fn then<U: 'static>(self, made: impl FnOnce(T) -> Result<U> + Send + 'static) -> Ticket<U> {
        Ticket(Box::new(Then { ticket: self, made: Some(made) }))
    }
}

impl<T> Future for Ticket<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        self.0.poll(context)
    }
}

impl<T, U, F: FnOnce(T) -> Result<U> + Send> Awaited<U> for Then<T, F> {
    fn wait(self: Box<Self>) -> Result<U> {
        let Then { ticket, made } = *self;
        let result = ticket.0.wait()?;
        made.map_or_else(|| Err(closed()), |made| made(result))
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<U>> {
        let result = match self.ticket.0.poll(context) {
            Poll::Ready(result) => result,
            Poll::Pending => return Poll::Pending,
        };
        let made = self.made.take();
        Poll::Ready(result.and_then(|result| made.map_or_else(|| Err(closed()), |made| made(result))))
    }
}

/// A ticket and its other end.
pub(crate) fn ticket<T: Send + 'static>() -> (Sender<T>, Ticket<T>) {
    let reply = Mutex::new(Reply::Open { awaited: false, task: None });
    let slot = Arc::new(Slot { reply, filled: Condvar::new() });
    (Sender(slot.clone()), Ticket(Box::new(slot)))
}

impl<T: Send> Awaited<T> for Arc<Slot<T>> {
    fn wait(self: Box<Self>) -> Result<T> {
        let mut reply = lock(&self.reply);
        loop {
            match std::mem::replace(&mut *reply, Reply::Taken) {
                Reply::Here(result) => return result,
                Reply::Taken => return Err(closed()),
                Reply::Open { task, .. } => *reply = Reply::Open { awaited: true, task },
            }
            reply = self.filled.wait(reply).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<T>> {
        let mut reply = lock(&self.reply);
        match std::mem::replace(&mut *reply, Reply::Taken) {
            Reply::Here(result) => Poll::Ready(result),
            Reply::Taken => Poll::Ready(Err(closed())),
            Reply::Open { awaited, .. } => {
                *reply = Reply::Open { awaited, task: Some(context.waker().clone()) };
                Poll::Pending
            }
        }
    }
}

impl<T> Sender<T> {
    /// Gives the result, unless it was given.
    pub(crate) fn settle(&self, result: Result<T>) {
        let mut reply = lock(&self.0.reply);
        if !matches!(*reply, Reply::Open { .. }) {
            return;
        }
        let before = std::mem::replace(&mut *reply, Reply::Here(result));
        drop(reply);
        let Reply::Open { awaited, task } = before else { return };
        if awaited {
            self.0.filled.notify_one();
        }
        if let Some(task) = task {
            task.wake();
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        // Waiting callers are woken even if the thread panics.
        self.settle(Err(closed()));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn closed() -> Error {
    Error::new(ErrorCode::Closed, "the journal is closed")
}

impl<J: Send + 'static> Worker<J> {
    /// Starts a thread that serves a queue until [`Queue::take`] gives nothing.
    pub(crate) fn start(serve: impl FnOnce(&Queue<J>) + Send + 'static) -> Result<Worker<J>> {
        let state = State { jobs: Vec::new(), later: BTreeMap::new(), due: None, idle: false, closed: false };
        let queue = Arc::new(Queue { state: Mutex::new(state), filled: Condvar::new() });
        let own = queue.clone();
        let thread = thread::Builder::new()
            .name("ilo-journal".to_owned())
            .spawn(move || {
                let _guard = Closing(&own);
                serve(&own);
            })
            .map_err(|error| Error::new(ErrorCode::Io, format!("no thread can be started: {error}")))?;
        Ok(Worker { queue, thread: Some(thread) })
    }
}

impl<J> Worker<J> {
    /// Queues a job. If it writes to a run, a record of that run that nobody waits for is out of date. A job
    /// that cannot be queued comes back with the error.
    pub(crate) fn push(&self, run: Option<i64>, job: J) -> std::result::Result<(), (J, Error)> {
        let mut state = lock(&self.queue.state);
        if state.closed {
            return Err((job, closed()));
        }
        if state.jobs.len() >= QUEUED {
            let message = format!("more than {QUEUED} writes are waiting");
            return Err((job, Error::new(ErrorCode::Busy, message)));
        }
        if let Some(run) = run {
            state.later.remove(&run);
        }
        state.jobs.push(job);
        self.queue.wake(state);
        Ok(())
    }

    /// Queues a record that nobody waits for; it replaces one of the same run.
    pub(crate) fn later(&self, live: Live) {
        let mut state = lock(&self.queue.state);
        if state.closed || state.later.len() >= QUEUED {
            return;
        }
        let within = if live.state == RunState::Answered { SOON } else { LATER };
        let due = Instant::now() + within;
        state.later.insert(live.run, live);
        if state.due.is_none_or(|first| due < first) {
            state.due = Some(due);
            self.queue.wake(state);
        }
    }
}

impl<J> Drop for Worker<J> {
    fn drop(&mut self) {
        let mut state = lock(&self.queue.state);
        state.closed = true;
        self.queue.wake(state);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl<J> Queue<J> {
    /// Wakes the thread if it waits.
    fn wake(&self, mut state: MutexGuard<'_, State<J>>) {
        let idle = std::mem::take(&mut state.idle);
        drop(state);
        if idle {
            self.filled.notify_one();
        }
    }

    /// Whether the store is being closed.
    #[cfg(feature = "postgres")]
    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.state).closed
    }

    /// Waits for work; nothing when the store is closed and all is written.
    pub(crate) fn take(&self) -> Option<(Vec<J>, Vec<Live>)> {
        let mut state = lock(&self.state);
        loop {
            let due = state.due;
            let now = Instant::now();
            if !state.jobs.is_empty() || due.is_some_and(|due| due <= now) || state.closed {
                let count = state.jobs.len().min(GROUP);
                let jobs: Vec<_> = state.jobs.drain(..count).collect();
                let later: Vec<_> = std::mem::take(&mut state.later).into_values().collect();
                (state.due, state.idle) = (None, false);
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

/// Takes no more jobs once the thread has ended, even if it panics.
struct Closing<'q, J>(&'q Queue<J>);

impl<J> Drop for Closing<'_, J> {
    fn drop(&mut self) {
        let jobs = {
            let mut state = lock(&self.0.state);
            state.closed = true;
            std::mem::take(&mut state.jobs)
        };
        // Each tells who waits for it.
        drop(jobs);
    }
}
