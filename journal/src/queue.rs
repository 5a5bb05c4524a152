//! The queue of a thread that writes, and the tickets of those who wait for their writes.

use crate::error::{Error, ErrorCode, Result};
use crate::row::Live;
use crate::state::State as RunState;
use ilo_drive::locked::locked;
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
/// The age from which such a record is written with others. Most are replaced by the next record of their run
/// before, and cost no write.
const RIPE: Duration = Duration::from_millis(1);

/// A thread with its queue. When this is dropped, what is queued is written, and the thread ends.
pub(crate) struct Worker<J> {
    queue: Arc<Queue<J>>,
    thread: Option<JoinHandle<()>>,
}

/// Jobs, and records that nobody waits for.
pub(crate) struct Queue<J> {
    state: Mutex<Backlog<J>>,
    /// The thread waits here.
    filled: Condvar,
}

struct Backlog<J> {
    jobs: Vec<J>,
    /// The latest record of each run that nobody waits for.
    later: BTreeMap<i64, Later>,
    /// When the first of them is to be written, or before.
    due: Option<Instant>,
    /// A job wants what was recorded before it to be written before it.
    all: bool,
    /// Until when the thread waits by itself. To wake it costs a system call and a change of threads, which
    /// each answer would pay.
    sleep: Sleep,
    closed: bool,
}

/// A record that nobody waits for.
struct Later {
    since: Instant,
    due: Instant,
    live: Live,
}

/// What a job means for records that nobody waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    /// Nothing.
    Any,
    /// That of this run is out of date.
    Replaces(i64),
    /// They are written before it.
    AfterAll,
    /// Nothing, and another job follows at once, with which it is written.
    Before,
}

/// How long the thread waits unless it is woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sleep {
    /// It works, and looks for more after that.
    Awake,
    Until(Instant),
    Forever,
}

impl<J> fmt::Debug for Worker<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} jobs", locked(&self.queue.state).jobs.len())
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
    /// If it could not be written: then nothing of it is visible. With the feature `tokio`, also in
    /// asynchronous code of tokio: then it is queued, and may be written.
    pub fn wait(self) -> Result<T> {
        #[cfg(feature = "tokio")]
        if ilo_drive::blocking::is_asynchronous() {
            return Err(Error::new(
                ErrorCode::Blocks,
                "`wait` blocks its thread, and this is asynchronous code",
            ));
        }
        self.block()
    }

    /// The same in any code.
    pub(crate) fn block(self) -> Result<T> {
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
        let mut reply = locked(&self.reply);
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
        let mut reply = locked(&self.reply);
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
        let mut reply = locked(&self.0.reply);
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

pub(crate) fn closed() -> Error {
    Error::new(ErrorCode::Closed, "the journal is closed")
}

impl<J: Send + 'static> Worker<J> {
    /// Starts a thread that serves a queue until [`Queue::take`] gives nothing.
    pub(crate) fn start(serve: impl FnOnce(&Queue<J>) + Send + 'static) -> Result<Worker<J>> {
        let state = Backlog {
            jobs: Vec::new(),
            later: BTreeMap::new(),
            due: None,
            all: false,
            sleep: Sleep::Awake,
            closed: false,
        };
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
    /// Queues a job. One that cannot be queued comes back with the error.
    pub(crate) fn push(&self, order: Order, job: J) -> std::result::Result<(), (J, Error)> {
        let mut state = locked(&self.queue.state);
        if state.closed {
            return Err((job, closed()));
        }
        if state.jobs.len() >= QUEUED {
            let message = format!("more than {QUEUED} writes are waiting");
            return Err((job, Error::new(ErrorCode::Busy, message)));
        }
        match order {
            Order::Any | Order::Before => {}
            Order::Replaces(run) => drop(state.later.remove(&run)),
            Order::AfterAll => state.all = true,
        }
        state.jobs.push(job);
        if !matches!(order, Order::Before) {
            self.queue.wake(state);
        }
        Ok(())
    }

    /// Queues a record that nobody waits for; it replaces one of the same run.
    pub(crate) fn later(&self, live: Live) {
        let mut state = locked(&self.queue.state);
        if state.closed || state.later.len() >= QUEUED {
            return;
        }
        let within = if live.state == RunState::Answered { SOON } else { LATER };
        let since = Instant::now();
        let due = since + within;
        state.later.insert(live.run, Later { since, due, live });
        if state.due.is_none_or(|first| due < first) {
            state.due = Some(due);
            if state.sleep > Sleep::Until(due) {
                self.queue.wake(state);
            }
        }
    }
}

impl<J> Drop for Worker<J> {
    fn drop(&mut self) {
        let mut state = locked(&self.queue.state);
        state.closed = true;
        self.queue.wake(state);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl<J> Backlog<J> {
    /// The records that are written with the next jobs.
    fn take_later(&mut self, now: Instant) -> Vec<Live> {
        let all = std::mem::take(&mut self.all) || self.closed;
        let ripe = |later: &Later| all || later.since + RIPE <= now;
        let taken = self.later.extract_if(.., |_, later| ripe(later)).map(|(_, later)| later.live).collect();
        self.due = self.later.values().map(|later| later.due).min();
        taken
    }
}

impl<J> Queue<J> {
    /// Wakes the thread if it waits.
    fn wake(&self, mut state: MutexGuard<'_, Backlog<J>>) {
        let sleep = std::mem::replace(&mut state.sleep, Sleep::Awake);
        drop(state);
        if sleep != Sleep::Awake {
            self.filled.notify_one();
        }
    }

    /// Whether the store is being closed.
    #[cfg(feature = "postgres")]
    pub(crate) fn is_closed(&self) -> bool {
        locked(&self.state).closed
    }

    /// Waits for work; nothing when the store is closed and all is written.
    pub(crate) fn take(&self) -> Option<(Vec<J>, Vec<Live>)> {
        let mut state = locked(&self.state);
        // Who works often enough writes the answers of others in time, so it need not be woken for them.
        let mut look_again = Some(Instant::now() + SOON);
        loop {
            let due = state.due;
            let now = Instant::now();
            if !state.jobs.is_empty() || due.is_some_and(|due| due <= now) || state.closed {
                let count = state.jobs.len().min(GROUP);
                let jobs: Vec<_> = state.jobs.drain(..count).collect();
                let later = state.take_later(now);
                state.sleep = Sleep::Awake;
                if jobs.is_empty() && later.is_empty() {
                    if state.closed {
                        return None;
                    }
                    // What was due has been replaced.
                    continue;
                }
                return Some((jobs, later));
            }
            look_again = look_again.filter(|again| *again > now);
            let until = due.into_iter().chain(look_again).min();
            state.sleep = until.map_or(Sleep::Forever, Sleep::Until);
            state = match until {
                None => self.filled.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(until) => {
                    let left = until.saturating_duration_since(now);
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
            let mut state = locked(&self.0.state);
            state.closed = true;
            std::mem::take(&mut state.jobs)
        };
        // Each tells who waits for it.
        drop(jobs);
    }
}

#[cfg(test)]
mod tests {
    use super::{Order, Worker};
    use crate::policy::Effect;
    use crate::row::Live;
    use crate::state::State;
    use std::sync::mpsc::{Receiver, channel};

    fn answer(run: i64) -> Live {
        Live { run, owner: Some(1), state: State::Answered, ..Live::blank(Effect::Changes) }
    }

    /// The runs whose records are written, and the jobs.
    type Group = (Vec<i64>, Vec<u32>);

    /// A worker that begins with the first word it gets, and says the runs and jobs of each group.
    fn worker() -> (Worker<u32>, impl FnOnce(), Receiver<Group>) {
        let ((begin, begun), (groups, written)) = (channel(), channel());
        let worker = Worker::start(move |queue| {
            begun.recv().unwrap();
            while let Some((jobs, later)) = queue.take() {
                groups.send((later.iter().map(|live| live.run).collect(), jobs)).unwrap();
            }
        });
        (worker.unwrap(), move || begin.send(()).unwrap(), written)
    }

    #[test]
    fn an_answer_is_not_written_once_the_next_record_of_its_run_is_there() {
        let (worker, begin, written) = worker();
        worker.later(answer(1));
        worker.push(Order::Replaces(1), 10).unwrap();
        begin();
        assert_eq!(written.recv().unwrap(), (vec![], vec![10]));
    }

    #[test]
    fn what_is_recorded_is_written_before_a_job_that_comes_after_all() {
        let (worker, begin, written) = worker();
        worker.later(answer(1));
        worker.later(answer(2));
        worker.push(Order::AfterAll, 10).unwrap();
        begin();
        assert_eq!(written.recv().unwrap(), (vec![1, 2], vec![10]));
    }

    #[test]
    fn an_answer_is_written_by_itself_also_when_the_thread_was_asleep_for_long() {
        let (worker, begin, written) = worker();
        begin();
        worker.later(answer(1));
        assert_eq!(written.recv().unwrap(), (vec![1], vec![]));
        std::thread::sleep(super::SOON * 4);
        worker.later(answer(1));
        assert_eq!(written.recv().unwrap(), (vec![1], vec![]));
    }

    #[test]
    fn a_closed_queue_writes_what_it_has() {
        let (worker, begin, written) = worker();
        worker.later(answer(1));
        begin();
        drop(worker);
        assert_eq!(written.recv().unwrap(), (vec![1], vec![]));
        assert!(written.recv().is_err());
    }
}
