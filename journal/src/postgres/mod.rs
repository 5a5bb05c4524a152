//! A journal in PostgreSQL, which processes on several machines share.
//!
//! One thread writes, one reads, and one beats and listens; each has a connection and a runtime of its own.
//! No lock is held across a round trip: what was read is replaced only if it is still that row.

mod apply;
mod cluster;
mod jobs;
mod link;
mod owners;
mod reading;
mod reads;
mod rows;
mod schema;
mod target;
#[cfg(test)]
pub(crate) mod tests;
mod tls;
mod vacuum;
mod writer;

#[cfg(test)]
pub(crate) use writer::Fate;

use crate::backend::{Backend, Decide, Outcome, Ownership, ReadAccess, Tell, Write, Written};
use crate::cipher::Cipher;
use crate::error::{Error, ErrorCode, Result};
use crate::queue::{Order, Ticket, Worker, ticket};
use crate::row::Live;
use jobs::Job;
use link::Link;
use owners::Heart;
use reads::Request;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use target::Target;

/// A journal in PostgreSQL. Its parts are dropped in this order: what is queued is written, and then the
/// owner says that it has ended.
pub(crate) struct Postgres {
    writer: Worker<Job>,
    reader: Worker<Request>,
    heart: Heart,
    schema: String,
    random: Cipher,
    warnings: Vec<String>,
    target: Arc<Target>,
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Postgres").field("place", &self.target.shown).finish_non_exhaustive()
    }
}

impl Postgres {
    /// Opens the journal at an address, or makes its tables.
    pub(crate) fn open(address: &str, create: bool, cipher: &Cipher) -> Result<Postgres> {
        let target = Arc::new(Target::read(address)?);
        let unheard = Arc::new(AtomicI64::new(0));
        let mut link = Link::open(&target, &unheard)?;
        let warnings = schema::open(&mut link, create, cipher, false)?;
        let heart = Heart::start(&target, cipher)?;
        let reader = reads::start(Link::open(&target, &unheard)?)?;
        let writer = writer::start(link, heart.shared().clone())?;
        let schema = target.schema.clone();
        Ok(Postgres { writer, reader, heart, schema, random: Cipher::new(None), warnings, target })
    }

    /// Accepts the server at an address, though it is another one than before. Returns how many calls are in
    /// doubt.
    pub(crate) fn after_failover(address: &str, cipher: &Cipher, now: i64) -> Result<usize> {
        let target = Arc::new(Target::read(address)?);
        let mut link = Link::open(&target, &Arc::new(AtomicI64::new(0)))?;
        schema::open(&mut link, false, cipher, true)?;
        cluster::accept(&mut link, &target.schema, now)
    }

    fn push(&self, order: Order, job: Job) {
        if let Err((job, error)) = self.writer.push(order, job) {
            job.fail(&error);
        }
    }
}

impl Backend for Postgres {
    fn submit(&self, write: Write) -> Ticket<Written> {
        let (reply, ticket) = ticket();
        let order = write.order();
        match self.random.random() {
            Ok(token) => self.push(order, Job::Write { write, token, reply, sent: false }),
            Err(error) => reply.settle(Err(error)),
        }
        ticket
    }

    fn later(&self, live: Live) {
        self.writer.later(live);
    }

    fn change(&self, run: i64, decide: Decide) -> Ticket<Outcome> {
        let (reply, ticket) = ticket();
        match self.random.random() {
            Ok(token) => self
                .push(Order::AfterAll, Job::Change { run, decide, token, reply, attempts: 0, tried: None }),
            Err(error) => reply.settle(Err(error)),
        }
        ticket
    }

    fn reads(&self) -> ReadAccess<'_> {
        ReadAccess::Server(self)
    }

    fn owner(&self) -> &dyn Ownership {
        &**self.heart.shared()
    }

    fn now(&self) -> i64 {
        self.heart.shared().now()
    }

    fn version(&self) -> Result<i64> {
        Ok(self.heart.shared().news.load(Ordering::Relaxed))
    }

    fn set(&self, settings: &[(&'static str, i64)]) -> Result<()> {
        self.store_settings(settings)
    }

    fn prune(&self, before: i64) -> Result<usize> {
        self.remove(before)
    }

    fn path(&self) -> Option<&Path> {
        None
    }

    fn limit_pages(&self, _most: Option<u32>) -> Result<()> {
        Err(Error::new(ErrorCode::Value, "only a journal in a file has pages of its own"))
    }

    fn tell(&self, tell: Tell) {
        drop(self.target.teller.tell.set(tell));
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
