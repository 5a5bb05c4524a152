//! The thread that writes: queued jobs become one transaction, and waiting callers are woken after its
//! commit.

use super::apply::Tables;
use crate::error::{Error, Result};
use crate::queue::{Order, Queue, Sender, Ticket, Worker, closed, ticket};
use crate::row::Live;

/// The thread and its queue.
#[derive(Debug)]
pub(crate) struct Writer(Worker<Box<dyn WriteJob>>);

/// A job in a transaction. It may run again if the transaction cannot be committed.
trait WriteJob: Send {
    /// Runs it. An error makes the transaction impossible.
    fn run(&mut self, tables: &Tables) -> Result<()>;
    /// The transaction has ended with this result.
    fn settle(&mut self, committed: Result<()>);
}

struct Work<T, F> {
    function: F,
    done: Option<Result<T>>,
    reply: Sender<T>,
}

impl<T: Send, F: FnMut(&Tables) -> Result<T> + Send> WriteJob for Work<T, F> {
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
        self.reply.settle(committed.and(done));
    }
}

impl Writer {
    pub(crate) fn start(tables: Tables) -> Result<Writer> {
        Worker::start(move |queue: &Queue<Box<dyn WriteJob>>| {
            while let Some((mut jobs, later)) = queue.take() {
                write(&tables, &mut jobs, &later);
            }
        })
        .map(Writer)
    }

    /// Queues a write that comes after all records.
    pub(crate) fn submit<T: Send + 'static>(
        &self,
        work: impl FnMut(&Tables) -> Result<T> + Send + 'static,
    ) -> Ticket<T> {
        self.submit_of(Order::AfterAll, work)
    }

    /// Queues a write at its place among the records that nobody waits for.
    pub(crate) fn submit_of<T: Send + 'static>(
        &self,
        order: Order,
        work: impl FnMut(&Tables) -> Result<T> + Send + 'static,
    ) -> Ticket<T> {
        let (reply, ticket) = ticket();
        if let Err((mut job, error)) =
            self.0.push(order, Box::new(Work { function: work, done: None, reply }))
        {
            job.settle(Err(error));
        }
        ticket
    }

    /// Queues a record that nobody waits for; it replaces one of the same run.
    pub(crate) fn later(&self, live: Live) {
        self.0.later(live);
    }
}

/// Writes jobs in one transaction; where that fails, each in its own.
fn write(tables: &Tables, jobs: &mut [Box<dyn WriteJob>], later: &[Live]) {
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
